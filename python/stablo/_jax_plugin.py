"""The JAX plugin: JAX calls `initialize` when it looks for platforms.

`JAX_PLATFORMS=stablo` chooses stablo; otherwise nothing is registered. The platform reports itself
as `cpu`, so that JAX's lowering rules, tolerances and lists of platforms for the CPU apply.
"""

from __future__ import annotations

import ctypes
import importlib
import importlib.abc
import importlib.machinery
import itertools
import json
import os
import sys
import traceback
import weakref
from functools import partial
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


class _Buffer:
    """What `jax.experimental.buffer_callback` gives a function for an operand or a result."""

    def __init__(self, array: np.ndarray[Any, Any], writeable: bool) -> None:
        self._array = array
        self._array.flags.writeable = writeable

    @property
    def writeable(self) -> bool:
        return self._array.flags.writeable

    @property
    def dtype(self) -> np.dtype[Any]:
        dtype: np.dtype[Any] = self._array.dtype
        return dtype

    @property
    def ndim(self) -> int:
        return self._array.ndim

    @property
    def shape(self) -> tuple[int, ...]:
        shape: tuple[int, ...] = self._array.shape
        return shape

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.array(self._array, dtype, copy=copy)

    def __dlpack__(self, **options: Any) -> Any:
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._array.__dlpack_device__()


class _Execution:
    """The execution that calls a function with buffers."""

    @property
    def stage(self) -> Any:
        return importlib.import_module("jax.experimental.buffer_callback").ExecutionStage.EXECUTE

    @property
    def stream(self) -> int:
        errors = importlib.import_module("jax.errors")
        raise errors.JaxRuntimeError("XLA FFI GPU context is not available: stablo is a CPU")


def _answer(function: Any, arguments: list[_Array], results: list[_Array]) -> None:
    """Calls a function on copies of the arguments, and copies what it returns to the results."""
    values = []
    for argument in arguments:
        is_token = argument.element_type == _TOKEN
        value = None if is_token else argument.view().copy()
        if value is not None:
            value.flags.writeable = False
        values.append(value)
    for result, output in zip(results, function(*values)):
        if result.element_type != _TOKEN:
            view = result.view()
            view[...] = np.asarray(output, view.dtype)


def _answer_in_place(function: Any, arguments: list[_Array], results: list[_Array]) -> None:
    """Calls a function that writes the results."""
    aliased = {result.data for result in results}
    buffers = [_Buffer(own.view(), own.data in aliased) for own in arguments]
    function(_Execution(), *buffers, *(_Buffer(own.view(), True) for own in results))


def _report(error: BaseException, message: int, message_size: int) -> None:
    """Writes an error to memory for a message."""
    text = "".join(traceback.format_exception(error)).encode(errors="replace")
    # Python's message is at the end.
    text = b"CpuCallback error calling callback: " + text
    if len(text) >= message_size:
        text = text[:40] + b" ... " + text[46 + len(text) - message_size :]
    ctypes.memmove(message, text + b"\0", len(text) + 1)


def _reporting(answer: Any) -> Any:
    """Makes a function that programs call, which writes what went wrong to the message."""

    def call(
        function: Any,
        num_arguments: int,
        arguments: Any,
        num_results: int,
        results: Any,
        message: int,
        message_size: int,
    ) -> bool:
        try:
            answer(function, arguments[:num_arguments], results[:num_results])
            return True
        except BaseException as error:  # Nothing may unwind into the caller.
            _report(error, message, message_size)
            return False

    return _CallPython(call)


_Inspect = ctypes.CFUNCTYPE(
    ctypes.c_bool,
    ctypes.c_void_p,
    ctypes.c_size_t,
    ctypes.c_void_p,
    ctypes.c_size_t,
    ctypes.c_void_p,
    ctypes.c_size_t,
)

# The functions that are told a sharding when a program is compiled, by keys within programs. JAX
# keeps them for as long as it keeps the program.
_INSPECTORS: weakref.WeakValueDictionary[bytes, Any] = weakref.WeakValueDictionary()
_INSPECTOR_NUMBERS = itertools.count()


def _inspector_key(function: Any) -> bytes:
    """Notes a function, and returns the key that programs have."""
    key = b"stablo inspector %d" % next(_INSPECTOR_NUMBERS)
    _INSPECTORS[key] = function
    return key


def _inspect_sharding(
    key: int, key_size: int, text: int, text_size: int, message: int, message_size: int
) -> bool:
    """Tells the function of a key a sharding, unless the program is from another process."""
    try:
        function = _INSPECTORS.get(ctypes.string_at(key, key_size))
        if function is not None:
            client = importlib.import_module("jax._src.lib").xla_client
            sharding = ctypes.string_at(text, text_size).decode()
            function(client.HloSharding.from_string(sharding))
        return True
    except BaseException as error:  # Nothing may unwind into the caller.
        _report(error, message, message_size)
        return False


_Deliver = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t)
_Partition = ctypes.CFUNCTYPE(
    ctypes.c_bool,
    ctypes.c_void_p,
    ctypes.c_size_t,
    _Deliver,
    ctypes.c_void_p,
    ctypes.c_void_p,
    ctypes.c_size_t,
)


def _partition(
    request: int, size: int, deliver: Any, context: int, message: int, message_size: int
) -> bool:
    """Asks the functions of `jax.experimental.custom_partitioning` to divide an op."""
    try:
        answer = _partitioned(ctypes.string_at(request, size).decode())
        deliver(context, answer, len(answer))
        return True
    except BaseException as error:  # Nothing may unwind into the caller.
        _report(error, message, message_size)
        return False


def _partitioned(request: str) -> bytes:
    """The axes of the mesh, their names, the dimensions of shardings of operands and of results for
    the program for a device, those of results for the rest, and the program."""
    partitioning = importlib.import_module("jax._src.custom_partitioning")
    client = importlib.import_module("jax._src.lib").xla_client
    key, *lines = request.split("\n")
    found: dict[str, list[tuple[Any, Any]]] = {"operand": [], "result": []}
    for line in lines:
        kind, number, sizes, sharding = line.split(" ", 3)
        dims = tuple(int(size) for size in sizes.split(",") if size)
        shape = client.Shape.array_shape(np.dtype(_DTYPES[int(number)]), dims)
        found[kind].append((shape, client.HloSharding.from_string(sharding)))
    shapes, shardings = ([own[at] for own in found["operand"]] for at in (0, 1))
    results = [shape for shape, _ in found["result"]]
    if len(results) == 1:
        result, of_result = found["result"][0]
    else:
        result = client.Shape.tuple_shape(results)
        of_result = client.HloSharding.tuple_sharding(result, [own for _, own in found["result"]])
    program, shardings, of_result = partitioning._custom_partitioning_partition(
        shapes, shardings, result, of_result, key.encode()
    )
    of_results = [of_result] if len(results) == 1 else of_result.tuple_elements()
    mesh = partitioning._sharding_callbacks[key.encode()].mesh
    axes = ", ".join(f"{json.dumps(name)}={size}" for name, size in mesh.shape.items())
    names = ", ".join(json.dumps(name) for name in mesh.axis_names)
    header = [
        f"[{axes}]",
        f"{{{names}}}",
        _shardy(mesh, shapes, shardings),
        _shardy(mesh, results, of_results),
        _shardy(mesh, results, [own for _, own in found["result"]]),
        "",
    ]
    return "\n".join(header).encode() + bytes(program)


def _shardy(mesh: Any, shapes: list[Any], shardings: list[Any]) -> str:
    """The axes of each dimension as Shardy writes them, for shardings of XLA on a mesh; tabs between
    shardings."""
    read = importlib.import_module("jax._src.sharding_impls").parse_flatten_op_sharding
    texts = []
    for shape, sharding in zip(shapes, shardings):
        dims = []
        for dim in read(sharding, mesh)[0]:
            names = (dim,) if isinstance(dim, str) else dim or ()
            dims.append("{" + ", ".join(json.dumps(name) for name in names) + "}")
        dims += ["{}"] * (len(shape.dimensions()) - len(dims))
        texts.append(f"[{', '.join(dims)}]")
    return "\t".join(texts)


class _DLTensor(ctypes.Structure):
    """An array of another framework, as DLPack describes it."""

    data: int | None
    device_type: int
    rank: int
    byte_offset: int
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int),
        ("device_id", ctypes.c_int),
        ("rank", ctypes.c_int),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]

    def is_on_cpu(self) -> bool:
        return bool(self.device_type == 1)

    def is_aligned(self) -> bool:
        """True if the plugin uses the memory where it is."""
        return bool(((self.data or 0) + self.byte_offset) % 16 == 0)

    def minor_to_major(self) -> list[int]:
        """The dimensions from the one that varies fastest on."""
        dims = range(self.rank)
        if not self.strides:
            return list(reversed(dims))
        return sorted(dims, key=lambda dim: (self.strides[dim], self.shape[dim] != 1, -dim))

    def copy(self) -> np.ndarray[Any, Any] | None:
        """A copy of the elements; `None` for element types that have no names here."""
        kinds = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 5: "complex"}
        name = "bool" if self.code == 6 else f"{kinds.get(self.code)}{self.bits}"
        dtype = next((own for own in _DTYPES.values() if own and np.dtype(own).name == name), None)
        if dtype is None or self.lanes != 1:
            return None
        shape = tuple(self.shape[: self.rank])
        if 0 in shape:
            return np.empty(shape, dtype)
        width = np.dtype(dtype).itemsize
        strides = self.strides[: self.rank] if self.strides else None
        if strides is None:
            strides = [int(np.prod(shape[dim + 1 :], dtype=np.int64)) for dim in range(self.rank)]
        size = 1 + sum((extent - 1) * stride for extent, stride in zip(shape, strides))
        if self.data is None or min([*strides, 0]) < 0:
            return None
        memory = (ctypes.c_char * (size * width)).from_address(self.data + self.byte_offset)
        elements = np.frombuffer(memory, dtype)
        distances = [stride * width for stride in strides]
        return np.lib.stride_tricks.as_strided(elements, shape, distances).copy()


def _importing(original: Any, set_view_order: Any) -> Any:
    """Makes a function that takes an array of another framework by DLPack, as the one of jaxlib.

    That one asks plugins for a kind of copy which it does not pass on to them, and lists the
    dimensions of views in memory that it has freed.
    """
    read, is_named = ctypes.pythonapi.PyCapsule_GetPointer, ctypes.pythonapi.PyCapsule_IsValid
    read.restype = ctypes.c_void_p
    read.argtypes = is_named.argtypes = [ctypes.py_object, ctypes.c_char_p]

    # The tensor of a capsule. The versioned struct has four words before it: version, context,
    # deleter and flags.
    def tensor_of(capsule: Any) -> _DLTensor:
        versioned = b"dltensor_versioned"
        if is_named(capsule, versioned):
            return _DLTensor.from_address(read(capsule, versioned) + 32)
        return _DLTensor.from_address(read(capsule, b"dltensor"))

    # Older releases have no argument for copies.
    def take(capsule: Any, device: Any, stream: Any, *rest: Any) -> Any:
        copy = rest[0] if rest else None
        if getattr(device, "device_kind", None) != PLATFORM:
            return original(capsule, device, stream, *rest)
        tensor = tensor_of(capsule)
        if not tensor.is_on_cpu():
            return original(capsule, device, stream, *rest)
        if copy or (copy is None and not tensor.is_aligned()):
            elements = tensor.copy()
            if elements is not None:
                return importlib.import_module("jax").device_put(elements, device)
        order = tensor.minor_to_major()
        set_view_order((ctypes.c_int64 * len(order))(*order), len(order))
        try:
            return original(capsule, device, stream, *rest)
        finally:
            set_view_order(None, 0)

    return take


def _take_arrays(library: ctypes.CDLL) -> None:
    """Makes arrays of other frameworks, by DLPack, reach stablo."""
    module = getattr(importlib.import_module("jax._src.lib"), "_jax", None)
    name = "dlpack_managed_tensor_to_buffer"
    original = getattr(module, name, None)
    if original is not None:
        set_view_order = library.stablo_pjrt_set_view_order
        set_view_order.argtypes = [ctypes.POINTER(ctypes.c_int64), ctypes.c_size_t]
        setattr(module, name, _importing(original, set_view_order))


def _is_stablo(sharding: Any) -> bool:
    """True for a device of stablo, and for a sharding over such devices."""
    devices = getattr(sharding, "_internal_device_list", [sharding])
    return getattr(devices[0], "device_kind", None) == PLATFORM


_COLOCATED = "jax.experimental.colocated_python.serialization"


def _find_devices(module: Any) -> None:
    """Makes `jax.experimental.colocated_python` find the devices of stablo, which are those of this
    processor: it looks for devices of the kind `cpu`."""
    original = module._get_cpu_device_map

    def devices() -> dict[int, Any]:
        local = _xla_bridge().local_devices()[0]
        own = local.client._get_all_devices() if _is_stablo(local) else []
        return {device.id: device for device in own} or original()

    module._get_cpu_device_map = devices


class _ColocatedFinder(importlib.abc.MetaPathFinder):
    """Calls `_find_devices` when the module is imported."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        if name != _COLOCATED:
            return None
        sys.meta_path.remove(self)
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        loader = getattr(spec, "loader", None)
        if spec is None or loader is None:
            return None
        load = loader.exec_module

        def exec_module(module: Any) -> None:
            load(module)
            _find_devices(module)

        loader.exec_module = exec_module
        return spec


def _take_colocated_functions() -> None:
    """Makes functions of `jax.experimental.colocated_python`, and arrays of strings, which these
    pass to each other, work on stablo."""
    if _COLOCATED in sys.modules:
        _find_devices(sys.modules[_COLOCATED])
    else:
        sys.meta_path.insert(0, _ColocatedFinder())
    api = importlib.import_module("jax._src.api")
    name = "_check_string_compatible_sharding"
    # A function, or from JAX 0.12 on a cache of one.
    original = getattr(api, name, None)
    if original is not None:
        check = lambda sharding: None if _is_stablo(sharding) else original(sharding)
        setattr(api, name, check)


# Kept for as long as programs may call them.
_CALL_PYTHON = _reporting(_answer)
_CALL_IN_PLACE = _reporting(_answer_in_place)
_INSPECT_SHARDING = _Inspect(_inspect_sharding)
_PARTITION = _Partition(_partition)


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
    if not os.environ.get("STABLO_NUM_DEVICES"):
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
    kinds = [getattr(device, "device_kind", None) for device in client.devices()[:1]]
    if "cpu" not in chosen and kinds == [PLATFORM]:
        bridge._backends.setdefault("cpu", client)
        # Programs have keys in place of the addresses that XLA calls.
        xla_client = importlib.import_module("jax._src.lib").xla_client
        setattr(xla_client, "encode_inspect_sharding_callback", _inspector_key)


def _register(bridge: Any, path: str) -> None:
    """Registers the plugin, and has `_answer_for_cpu` called with its client."""
    register = partial(bridge.register_plugin, PLATFORM, priority=-100, library_path=path)
    make_client = getattr(bridge, "make_pjrt_c_api_client", None)
    if make_client is None:
        # JAX before 0.7: there, `jax.devices("cpu")` finds no platform.
        register(options=_options())
        return

    def factory() -> Any:
        client = make_client(PLATFORM, options=_options())
        _answer_for_cpu(client)
        return client

    register(factory=factory)


def initialize() -> None:
    """Registers the platform with JAX, if it is chosen."""
    bridge = _xla_bridge()
    if PLATFORM not in (bridge.config.jax_platforms.value or "").split(","):
        return
    path = _library()
    _register(bridge, path)
    library = ctypes.CDLL(path)
    library.stablo_pjrt_set_call_python(_CALL_PYTHON)
    library.stablo_pjrt_set_call_in_place(_CALL_IN_PLACE)
    library.stablo_pjrt_set_inspect_sharding(_INSPECT_SHARDING)
    library.stablo_pjrt_set_partition(_PARTITION)
    _take_arrays(library)
    _take_colocated_functions()
