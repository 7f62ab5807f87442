"""The JAX plugin: JAX calls `initialize` when it looks for platforms.

`JAX_PLATFORMS=stablo` chooses stablo; otherwise nothing is registered. The platform reports itself
as `cpu`, so that JAX's lowering rules, tolerances and lists of platforms for the CPU apply.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import traceback
from typing import Any

import ml_dtypes
import numpy as np

PLATFORM = "stablo"

# NumPy's types by PJRT's numbers.
_DTYPES: dict[int, Any] = {
    1: np.bool_,
    2: np.int8,
    3: np.int16,
    4: np.int32,
    5: np.int64,
    6: np.uint8,
    7: np.uint16,
    8: np.uint32,
    9: np.uint64,
    10: np.float16,
    11: np.float32,
    12: np.float64,
    13: ml_dtypes.bfloat16,
    14: np.complex64,
    15: np.complex128,
    16: ml_dtypes.float8_e5m2,
    17: ml_dtypes.float8_e4m3fn,
    18: ml_dtypes.float8_e4m3b11fnuz,
    19: ml_dtypes.float8_e5m2fnuz,
    20: ml_dtypes.float8_e4m3fnuz,
    21: ml_dtypes.int4,
    22: ml_dtypes.uint4,
    24: getattr(ml_dtypes, "int2", None),
    25: getattr(ml_dtypes, "uint2", None),
    26: getattr(ml_dtypes, "float8_e4m3", None),
    27: getattr(ml_dtypes, "float8_e3m4", None),
    28: getattr(ml_dtypes, "float8_e8m0fnu", None),
    29: getattr(ml_dtypes, "float4_e2m1fn", None),
    32: getattr(ml_dtypes, "float6_e2m3fn", None),
    33: getattr(ml_dtypes, "float6_e3m2fn", None),
}
_TOKEN = 23


class _Array(ctypes.Structure):
    """An argument or result of a Python function that a program calls."""

    _fields_ = [
        ("element_type", ctypes.c_int),
        ("rank", ctypes.c_int),
        ("dims", ctypes.POINTER(ctypes.c_int64)),
        ("data", ctypes.c_void_p),
    ]

    def view(self) -> np.ndarray[Any, Any]:
        """The elements in memory, as an array."""
        dtype = np.dtype(_DTYPES[self.element_type])
        shape = tuple(self.dims[: self.rank])
        size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        if size == 0:
            return np.empty(shape, dtype)
        memory = (ctypes.c_char * size).from_address(self.data)
        return np.frombuffer(memory, dtype).reshape(shape)


_CallPython = ctypes.CFUNCTYPE(
    ctypes.c_bool,
    ctypes.py_object,
    ctypes.c_size_t,
    ctypes.POINTER(_Array),
    ctypes.c_size_t,
    ctypes.POINTER(_Array),
    ctypes.c_void_p,
    ctypes.c_size_t,
)


def _call_python(
    function: Any,
    num_arguments: int,
    arguments: Any,
    num_results: int,
    results: Any,
    message: int,
    message_size: int,
) -> bool:
    """Calls a Python function on the arguments, and copies what it returns to the results."""
    try:
        values = []
        for argument in arguments[:num_arguments]:
            is_token = argument.element_type == _TOKEN
            value = None if is_token else argument.view().copy()
            if value is not None:
                value.flags.writeable = False
            values.append(value)
        outputs = function(*values)
        for result, output in zip(results[:num_results], outputs):
            if result.element_type != _TOKEN:
                view = result.view()
                view[...] = np.asarray(output, view.dtype)
        return True
    except BaseException as error:  # Nothing may unwind into the caller.
        text = "".join(traceback.format_exception(error)).encode(errors="replace")
        # Python's message is at the end.
        text = b"CpuCallback error calling callback: " + text
        if len(text) >= message_size:
            text = text[:40] + b" ... " + text[46 + len(text) - message_size :]
        ctypes.memmove(message, text + b"\0", len(text) + 1)
        return False


# Kept for as long as programs may call it.
_CALL_PYTHON = _CallPython(_call_python)


def _xla_bridge() -> Any:
    """JAX's module of platforms."""
    return importlib.import_module("jax._src.xla_bridge")


def _library() -> str:
    """The path of the plugin: that of the package's extension module, which exports it."""
    if path := os.environ.get("STABLO_PJRT_LIBRARY"):
        return path
    module = importlib.import_module("stablo._stablo")
    return str(module.__file__)


def _options() -> dict[str, str | int]:
    """The options of a client, from JAX's configuration and the environment."""
    options: dict[str, str | int] = {"platform_name": "cpu"}
    if "STABLO_NUM_DEVICES" not in os.environ:
        # The flag has moved between releases.
        bridge = _xla_bridge()
        flags = [getattr(module, "num_cpu_devices", None) for module in (bridge, bridge.config)]
        count = next((int(flag.value) for flag in flags if flag is not None), -1)
        prefix = "--xla_force_host_platform_device_count="
        for word in os.environ.get("XLA_FLAGS", "").split():
            if count < 1 and word.startswith(prefix):
                count = int(word[len(prefix) :])
        if count >= 1:
            options["num_devices"] = count
    return options


def _answer_for_cpu(client: Any) -> None:
    """Makes JAX's own uses of the platform `cpu`, such as for callbacks, find stablo."""
    bridge = _xla_bridge()
    chosen = (bridge.config.jax_platforms.value or "").split(",")
    if "cpu" not in chosen and client.devices()[0].device_kind == PLATFORM:
        bridge._backends.setdefault("cpu", client)


def initialize() -> None:
    """Registers the platform with JAX, if it is chosen."""
    bridge = _xla_bridge()
    if PLATFORM not in (bridge.config.jax_platforms.value or "").split(","):
        return
    path = _library()
    bridge.register_plugin(PLATFORM, priority=-100, library_path=path, options=_options())
    ctypes.CDLL(path).stablo_pjrt_set_call_python(_CALL_PYTHON)
    # Releases before 0.7 have no hooks: there, `jax.devices("cpu")` finds no platform.
    if hasattr(bridge, "register_backend_initialization_hook"):
        bridge.register_backend_initialization_hook(_answer_for_cpu)
