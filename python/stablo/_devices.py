"""Devices of PJRT plugins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _stablo

if TYPE_CHECKING:
    from . import Program


class Device:
    """A device of a PJRT plugin, such as XLA's for CPUs, GPUs and TPUs. The text is `pjrt:`, the path of the plugin's shared library,
    and options of the plugin, as in `pjrt:plugin.so,name=value`. The code of the plugin runs within this process."""

    __slots__ = ("_native", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._native = _stablo.Device(text)

    def __repr__(self) -> str:
        return f"<stablo.Device {self._text}: {self.description}>"

    @property
    def description(self) -> str:
        """Kind and platform of the device, and the versions of PJRT and StableHLO that it takes."""
        return self._native.describe()

    def run(self, program: Program, *arrays: Any, **named: Any) -> tuple[Any, ...]:
        """Runs the function of a program on the device, with arguments and results as of `Program.run`. The program is compiled each
        time, for the shapes of the arguments if it is dynamic. Raises `Error` if the device refuses the program or fails."""
        return self._native.run(program._native, program._given(arrays, named))
