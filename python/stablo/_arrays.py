"""Arrays as the native part takes them: element type as MLIR spells it, shape, bytes."""

from __future__ import annotations

import functools
import sys
from typing import Any, Callable, Optional, Sequence

import numpy

from . import _stablo
from ._signature import Value, described, signature_of
from ._stablo import Error

Arrays = list[tuple[str, list[int], Any]]

_NAMES = {
    "bool": "i1", "int2": "i2", "int4": "i4", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
    "uint2": "ui2", "uint4": "ui4", "uint8": "ui8", "uint16": "ui16", "uint32": "ui32", "uint64": "ui64",
    "bfloat16": "bf16", "float16": "f16", "float32": "f32", "float64": "f64",
    "complex64": "complex<f32>", "complex128": "complex<f64>",
    "float4_e2m1fn": "f4E2M1FN", "float6_e2m3fn": "f6E2M3FN", "float6_e3m2fn": "f6E3M2FN",
    "float8_e3m4": "f8E3M4", "float8_e4m3": "f8E4M3", "float8_e4m3b11fnuz": "f8E4M3B11FNUZ", "float8_e4m3fn": "f8E4M3FN",
    "float8_e4m3fnuz": "f8E4M3FNUZ", "float8_e5m2": "f8E5M2", "float8_e5m2fnuz": "f8E5M2FNUZ", "float8_e8m0fnu": "f8E8M0FNU",
}  # fmt: skip
_DTYPES = {name: dtype for dtype, name in _NAMES.items()}


@functools.lru_cache(maxsize=None)
def numpy_dtype(name: str) -> numpy.dtype[Any]:
    """The NumPy type of an element type; ml_dtypes has those that NumPy lacks."""
    if name == "index":
        return numpy.dtype("int64")
    try:
        return numpy.dtype(_DTYPES[name])
    except TypeError:
        try:
            import ml_dtypes
        except ImportError:
            raise Error(f"arrays of {name} need the package ml_dtypes: pip install ml_dtypes") from None
        dtype: numpy.dtype[Any] = numpy.dtype(getattr(ml_dtypes, _DTYPES[name]))
        return dtype


def to_native(
    inputs: Sequence[Value], arrays: Sequence[Any], named: dict[str, Any], find: Callable[[str], int], narrows: bool = False
) -> Arrays:
    """The arguments in order; `find` gives the position of a name."""
    given = dict(enumerate(arrays))
    for name, array in named.items():
        index = find(name)
        if index in given:
            raise Error(f"{described(index, inputs[index])} is given twice")
        given[index] = array
    missing = [described(index, value) for index, value in enumerate(inputs) if index not in given]
    if missing or len(given) != len(inputs):
        lacks = f", but not {missing[0]}" if missing else ""
        raise Error(f"{len(given)} argument{' is' if len(given) == 1 else 's are'} given{lacks}; {signature_of(inputs)}")
    return [to_array(value, given[index], index, narrows=narrows) for index, value in enumerate(inputs)]


# Types of JAX for NumPy's, unless 64 bits are enabled there.
_NARROW = {"float64": "float32", "int64": "int32", "uint64": "uint32", "complex128": "complex64"}


def to_array(value: Value, given: Any, index: int, what: str = "argument", narrows: bool = False) -> tuple[str, list[int], Any]:
    """An argument. If it `narrows`, as JAX does, arrays of 64 bits are those of 32."""
    if value.dtype is None:
        raise Error(f"{described(index, value, what)} is a {value.type}, which no array stands for")
    expected = numpy_dtype(value.dtype)
    if _is_key(given):
        given = sys.modules["jax"].random.key_data(given)
    if is_masked(given):
        raise Error(f"{described(index, value, what)} is a {value.type}, which has no mask; a masked array was given, whose `filled` has none")
    try:
        if isinstance(given, (bool, int, float, complex, list, tuple)):
            array = of_numbers(given, value.dtype)
        elif hasattr(given, "__dlpack__") and expected.type.__module__ == "ml_dtypes" and not hasattr(given, "__array_interface__"):
            try:
                array = _of_dlpack(given)
            except (BufferError, TypeError, RuntimeError, Error):
                # Arrays of several devices, and types that DLPack has not.
                array = numpy.asarray(given)
        elif hasattr(given, "__dlpack__") and not hasattr(given, "__array__"):
            array = numpy.from_dlpack(given)
        else:
            array = numpy.asarray(given)
    except (ValueError, TypeError, OverflowError, BufferError, RuntimeError) as error:
        raise Error(f"{described(index, value, what)} is a {value.type}, which {shortened(given)} does not make: {error}") from error
    is_raw = array.dtype.type is numpy.void and array.dtype.names is None and array.dtype.itemsize == expected.itemsize
    if is_raw and expected.type.__module__ == "ml_dtypes":
        # `numpy.save` writes the types of ml_dtypes as raw bytes.
        array = array.view(expected)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    if narrows and _NARROW.get(array.dtype.name) == expected.name:
        array = _narrowed(array, expected, described(index, value, what))
    if array.dtype.names == ("float0",) and value.dtype == "i1":
        # Derivatives of integers.
        array = numpy.zeros(array.shape, numpy.bool_)
    if array.dtype != expected:
        is_array = isinstance(given, numpy.ndarray) or array.dtype != object
        found = f"an array of {array.dtype}" if is_array else shortened(given)
        raise Error(f"{described(index, value, what)} is a {value.type}, with elements of {expected}; {found} was given")
    # Copied only if the order is another.
    flat = numpy.ascontiguousarray(array).reshape(-1).view(numpy.uint8)
    return value.dtype, list(array.shape), flat


def _is_key(given: Any) -> bool:
    """True for arrays of keys of random numbers, which `jax.random.key` makes."""
    if isinstance(given, (numpy.ndarray, numpy.generic)) or sys.modules.get("jax") is None:
        return False
    dtype = getattr(given, "dtype", None)
    return dtype is not None and not isinstance(dtype, numpy.dtype) and str(dtype).startswith("key<")


def _narrowed(array: numpy.ndarray[Any, Any], expected: numpy.dtype[Any], name: str) -> numpy.ndarray[Any, Any]:
    with numpy.errstate(over="ignore"):
        narrow = array.astype(expected)
    if expected.kind in "iu" and not numpy.array_equal(narrow, array):
        raise Error(f"{name} has elements that are no values of {expected}, which JAX makes of {array.dtype}")
    return narrow


class Output:
    """An array of the caller for a result."""

    def __init__(self, value: Value, given: Any, index: int) -> None:
        self._name = f"result {index}" if value.name is None else f"result {index} ({value.name})"
        self._dtype, array = value.dtype, _writable(given)
        if self._dtype is None:
            raise Error(f"{self._name} is a {value.type}, which no array stands for")
        if array is None:
            raise Error(f"{self._name} is a {value.type}; the object given for it, {shortened(given)}, is no array that can be written")
        expected = numpy_dtype(self._dtype)
        if array.dtype != expected:
            raise Error(f"{self._name} is a {value.type}, with elements of {expected}; an array of {array.dtype} was given for it")
        self._array = array
        # Where elements are in another order, the result is made elsewhere.
        is_plain = array.flags.c_contiguous and array.flags.aligned
        self._memory = array if is_plain else numpy.empty(array.shape, array.dtype)

    def native(self) -> tuple[str, list[int], Any]:
        """The memory as the native part takes it."""
        assert self._dtype is not None
        return self._dtype, list(self._memory.shape), self._memory.reshape(-1).view(numpy.uint8)

    def overlaps(self, other: Output) -> bool:
        """True if the results share memory and one is made elsewhere. The native part compares the others."""
        arrays = self._array, other._array
        is_copied = self._memory is not self._array or other._memory is not other._array
        return is_copied and numpy.shares_memory(*arrays)

    def finish(self) -> None:
        """Puts a result that was made elsewhere into the array."""
        if self._memory is not self._array:
            self._array[...] = self._memory


def to_outputs(outputs: Sequence[Value], given: Sequence[Any]) -> list[Output]:
    """The arrays for the results in order."""
    if len(given) != len(outputs):
        types = ", ".join(value.type for value in outputs)
        raise Error(f"{len(given)} array{' is' if len(given) == 1 else 's are'} given for the results; the program returns ({types})")
    made = [Output(value, array, index) for index, (value, array) in enumerate(zip(outputs, given))]
    for index, output in enumerate(made):
        for other in range(index):
            if output.overlaps(made[other]):
                raise Error(f"results {other} and {index} share memory")
    return made


def _writable(given: Any) -> Optional[numpy.ndarray[Any, Any]]:
    """An array over the memory of an object; none if it gives out none that can be written."""
    array: Optional[numpy.ndarray[Any, Any]] = None
    if is_masked(given):
        return None
    if isinstance(given, numpy.ndarray):
        array = given
    elif hasattr(given, "__dlpack__"):
        try:
            name, shape, strides, memory = _stablo.from_dlpack(given.__dlpack__(max_version=(1, 0)))
            array = numpy.ndarray(shape, numpy_dtype(name), memory, strides=strides)
        except (TypeError, ValueError, BufferError, RuntimeError):
            return None
    else:
        try:
            array = numpy.asarray(memoryview(given))
        except TypeError:
            return None
    return array if array.flags.writeable else None


def is_masked(array: Any) -> bool:
    """True for arrays of `numpy.ma`, whose elements are not all valid."""
    return isinstance(array, numpy.ndarray) and hasattr(array, "mask")


def _of_dlpack(given: Any) -> numpy.ndarray[Any, Any]:
    """An array of DLPack with elements of a type that NumPy does not know. It is not copied."""
    name, shape, strides, memory = _stablo.from_dlpack(given.__dlpack__())
    return numpy.ndarray(shape, numpy_dtype(name), memory, strides=strides)


def of_numbers(given: Any, name: str) -> numpy.ndarray[Any, Any]:
    """Numbers, by themselves, in lists or in arrays, as elements of a type. Floats are rounded; `ValueError` for numbers of which a part
    would be dropped: fractions as integers, and others than 0 and 1 as truth values."""
    if is_masked(given):
        raise ValueError("a masked array has elements that are not valid; its `filled` has none")
    dtype = numpy_dtype(name)
    array = numpy.asarray(given, dtype)
    if name.startswith(("i", "ui")):
        # Types of ml_dtypes are compared as integers of NumPy.
        whole = array if dtype.kind in "biu" else array.astype(numpy.int64)
        if not numpy.array_equal(whole, numpy.asarray(given)):
            raise ValueError(f"{'no value' if array.ndim == 0 else 'not all are values'} of {dtype}")
    return array


def shortened(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def to_bytes(array: Any) -> tuple[str, list[int], bytes]:
    """An array as a constant has it."""
    if is_masked(array):
        raise Error("masked arrays are no constants; `filled` makes one that is")
    array = numpy.asarray(array)
    if array.dtype.name not in _NAMES:
        raise Error(f"arrays of {array.dtype} are no constants")
    return _NAMES[array.dtype.name], list(array.shape), array.astype(array.dtype.newbyteorder("="), copy=False).tobytes()
