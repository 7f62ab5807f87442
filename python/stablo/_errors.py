"""Exceptions of limits, which the native part raises."""

from ._stablo import Error


class LimitError(Error):
    """A run reached one of its limits."""


class TimeLimitError(LimitError, TimeoutError):
    """A run took longer than `max_time`."""


class MemoryLimitError(LimitError, MemoryError):
    """A run needs more memory than `max_memory`."""


class StepLimitError(LimitError):
    """A run executed more ops than `max_steps`."""


for _class in (LimitError, TimeLimitError, MemoryLimitError, StepLimitError):
    _class.__module__ = "stablo"
