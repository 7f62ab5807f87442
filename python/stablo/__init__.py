"""StableHLO programs in Python: read, check, run, refine, transform and write them, with NumPy alone.

>>> import numpy, stablo
>>> program = stablo.parse('''
... func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
...   %0 = stablehlo.add %x, %x : tensor<?xf32>
...   return %0 : tensor<?xf32>
... }''')
>>> program(numpy.array([1, 2, 3], numpy.float32))
array([2., 4., 6.], dtype=float32)
>>> program.refine(types="tensor<3xf32>").signature
Signature(inputs=[Value(name='x', type='tensor<3xf32>', dtype='f32', shape=(3,))], outputs=[Value(name=None, type='tensor<3xf32>', dtype='f32', shape=(3,))])
"""

from __future__ import annotations

import errno
import operator
import os
from types import EllipsisType
from typing import Any, Callable, Collection, Iterator, Mapping, NamedTuple, Optional, Sequence, Union

import numpy

from . import _jax, _stablo, _torch, compat
from ._arrays import Arrays, numpy_dtype, shortened, to_array, to_bytes, to_native, to_outputs
from ._builder import Builder
from ._custom_calls import CustomCall
from ._devices import Device
from ._errors import LimitError, MemoryLimitError, StepLimitError, TimeLimitError
from ._signature import Signature, Value, signature_of, value_of
from ._stablo import Error, Op, SSAValue, __version__
from ._trees import Convention, convention

__all__ = [
    "Builder", "CustomCall", "Device", "Error", "LimitError", "MemoryLimitError", "Op", "Profile", "Program", "SSAValue", "Signature", "StepLimitError",
    "TimeLimitError", "TracedValue", "Value", "View", "__version__", "compat", "from_exported", "from_jax", "from_torch", "inspect", "load",
    "parse",
]  # fmt: skip

Source = Union[str, os.PathLike[str], bytes, bytearray, memoryview]


def __dir__() -> list[str]:
    return sorted({*__all__, "__all__", "__doc__", "__file__", "__name__", "__path__"})


class TracedValue(NamedTuple):
    """A value of a run."""

    op: Op
    """The op that computed it."""
    index: int  # type: ignore[assignment]
    """The index among its results."""
    value: Any
    """An array."""


def _read(source: Source) -> tuple[bytes, str]:
    if isinstance(source, bytes):
        return source, "<memory>"
    if not isinstance(source, (str, os.PathLike)):
        try:
            return memoryview(source).tobytes(), "<memory>"
        except TypeError:
            hint = "; stablo.from_jax takes functions and what jax made of them" if callable(source) or hasattr(source, "in_tree") else ""
            raise TypeError(f"a program is read from a path or from bytes, not from {type(source).__name__}{hint}") from None
    if isinstance(source, str) and ("\n" in source or "{" in source) and not os.path.exists(source):
        raise FileNotFoundError(errno.ENOENT, "there is no such file; stablo.parse reads programs given as text", source)
    with open(source, "rb") as file:
        return file.read(), os.fspath(source)


def _folder_of(source: Source) -> Optional[str]:
    return os.fspath(source) if isinstance(source, (str, os.PathLike)) and os.path.isdir(source) else None


def load(source: Source, *, verify: bool = True, platform: Optional[str] = None) -> Program:
    """Reads a program: a path or the bytes of MLIR text, MLIR bytecode, a portable artifact of any version, or what `jax.export`
    serializes; or the path of a folder that torch_xla (with its weights, which become constants) or TensorFlow saved. Raises `Error` if it
    is not valid; `verify=False` only requires that it can be read. What `jax.export` lowered for several platforms is the program for
    `platform`, else for `cpu`."""
    folder = _folder_of(source)
    if folder is not None:
        file = _stablo.program_in_folder(folder)
        return _torch.bound(load(file, verify=verify, platform=platform), file, folder)
    data, name = _read(source)
    program = Program(_stablo.load(data, name, verify, platform, None))
    found = _stablo.calling_convention(data)
    if found is not None:
        program._set_convention(convention(*found, data))
    return program


def parse(text: str, *, verify: bool = True) -> Program:
    """Reads a program in MLIR text."""
    if not isinstance(text, str):
        raise TypeError(f"a program in text is a str, not {type(text).__name__}; stablo.load reads bytes and files")
    return Program(_stablo.load(text.encode(), "<text>", verify, None, None))


def _of_jax(parts: _jax.Parts, platform: Optional[str]) -> Program:
    data, name, platforms, called = parts
    program = Program(_stablo.load(data, name, True, platform, platforms))
    program._narrows = True
    if called is not None:
        program._set_convention(called)
    return program


def from_exported(exported: Any, *, platform: Optional[str] = None) -> Program:
    """The program of a `jax.export.Exported`, which is not serialized for that: classes need not be registered. If it was lowered for
    several platforms, the program is that for `platform`, else for `cpu`."""
    return _of_jax(_jax.of_exported(exported), platform)


def from_jax(
    function: Any,
    /,
    *arguments: Any,
    platforms: Optional[Sequence[str]] = None,
    disabled_checks: Sequence[Any] = (),
    platform: Optional[str] = None,
    **keywords: Any,
) -> Program:
    """The program of a JAX function for arguments like these, which are arrays, `jax.ShapeDtypeStruct`s, keys of `jax.random.key`, and
    nested structures of them, also of classes that jax knows. It is called as the function is, and returns what that returns, with arrays of
    NumPy. Static arguments of `jax.jit` are given as the ones here, or left out. The function may also be what `jax.jit(…).trace(…)`,
    `.lower(…)` or `jax.export.export(…)(…)` made.

    `platforms` and `disabled_checks` are those of `jax.export.export`; a name among the latter allows the custom call. `platform` is one of
    the `platforms`, else `cpu`.

    >>> import jax.numpy                                                    # doctest: +SKIP
    >>> from_jax(jax.numpy.sin, numpy.float32(0)).signature.outputs[0].type # doctest: +SKIP
    'tensor<f32>'
    """
    return _of_jax(_jax.of_function(function, arguments, keywords, platforms, disabled_checks), platform)


def from_torch(module: Any, *arguments: Any, **named: Any) -> Program:
    """The program of a `torch.nn.Module` for arguments like these, or of what `torch.export.export` made; weights are constants. It takes and
    returns lists, tuples and dictionaries of arrays as the module does. Needs torch, and torch_xla or torchax.

    >>> import torch                                                                       # doctest: +SKIP
    >>> from_torch(torch.nn.Linear(3, 4), torch.zeros(2, 3)).signature.outputs[0].type     # doctest: +SKIP
    'tensor<2x4xf32>'
    """
    return _torch.from_torch(load, module, arguments, named)


def inspect(source: Source) -> dict[str, Any]:
    """What is in a program file: format, version, functions, ops, constants, custom calls and the oldest version that can express it."""
    folder = _folder_of(source)
    data, name = _read(source if folder is None else _stablo.program_in_folder(folder))
    return _stablo.inspect(data, name)


# What `inspect` says of a file rather than of the program in it.
_OF_FILES = ("bytes", "format", "exported")


class View:
    """A self-contained page in HTML that shows a program as a graph; `str` is its text."""

    __slots__ = ("_page",)

    def __init__(self, page: str) -> None:
        self._page = page

    def __str__(self) -> str:
        return self._page

    def save(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes the page to a file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self._page)

    def __repr__(self) -> str:
        return f"<stablo.View of {len(self._page)} characters>"

    def _repr_html_(self) -> str:
        page = self._page.replace("&", "&amp;").replace('"', "&quot;")
        return f'<iframe srcdoc="{page}" style="width: 100%; height: 640px; border: 1px solid #8888"></iframe>'


class Profile:
    """How long each step of the runs of a program took. It prints as the table of `stablo run --profile`."""

    __slots__ = ("_data", "_native")

    def __init__(self, native: _stablo.Profile) -> None:
        self._native = native
        self._data: Optional[dict[str, Any]] = None

    def _get(self, name: str) -> Any:
        if self._data is None:
            self._data = self._native.data()
        return self._data[name]

    @property
    def runs(self) -> int:
        """Number of runs."""
        return self._get("runs")  # type: ignore[no-any-return]

    @property
    def seconds(self) -> float:
        """The time of all runs."""
        return self._get("seconds")  # type: ignore[no-any-return]

    @property
    def steps(self) -> list[dict[str, Any]]:
        """The steps, the longest first: `title`, `types` of results, `kind`, `calls`, `seconds` without those of steps in it and
        `total_seconds` with them; `flops`, `transcendentals` and `bytes` of an execution, `None` if they are not known; the share of the
        `roofline` that it reaches, or `None`; the `op` to which it is attributed, with its `function`, `source` and `scope`, and the
        place of the `call` around it; and all `ops` that it computes, likewise."""
        return self._get("steps")  # type: ignore[no-any-return]

    @property
    def kinds(self) -> list[dict[str, Any]]:
        """The kinds of steps: `kind`, `seconds`, `calls` and the number of `steps`."""
        return self._get("kinds")  # type: ignore[no-any-return]

    @property
    def roofline(self) -> Optional[dict[str, Any]]:
        """The limits of the machine, as measured with so many `threads`: `flops` and `bytes` a second."""
        return self._get("roofline")  # type: ignore[no-any-return]

    def save(self, path: Union[str, os.PathLike[str]]) -> int:
        """Writes each execution of a step for ui.perfetto.dev and chrome://tracing: the first million. Returns the number of those that
        were left out."""
        return self._native.write_trace(path)

    def __str__(self) -> str:
        return self._native.table()

    def __repr__(self) -> str:
        return f"<stablo.Profile of {self.runs} run{'' if self.runs == 1 else 's'}: {self.seconds:.3g} s>"


class _Settings(NamedTuple):
    """How a program is run."""

    entry: str = "main"
    threads: Optional[int] = None
    engine: str = "fast"
    like: Optional[str] = None
    max_memory: Union[int, str, None] = None
    max_time: Optional[float] = None
    max_steps: Optional[int] = None
    custom_calls: tuple[tuple[str, Callable[..., Any]], ...] = ()


class Program:
    """A StableHLO program. It does not change: what transforms it returns another one."""

    __slots__ = ("_convention", "_narrows", "_native", "_settings", "_signature")

    def __init__(self, native: _stablo.Program) -> None:
        if not isinstance(native, _stablo.Program):
            raise TypeError("programs are made by stablo.load, stablo.parse, stablo.Builder and functions such as stablo.from_jax")
        self._native = native
        self._signature: Optional[Signature] = None
        self._convention: Optional[Convention] = None
        self._settings = _Settings()
        # True if arrays of 64 bits are arguments of 32, as in JAX.
        self._narrows = False

    def _set_convention(self, convention: Convention) -> None:
        # That of a program with ordered effects is another one.
        if not convention.is_plain() and convention.fits(*map(len, self.signature)):
            self._convention = convention

    def _changed(self, native: _stablo.Program, bound: Collection[int] = ()) -> Program:
        """A program that is called as this one, but for arguments that became constants, by their numbers."""
        program = Program(native)
        program._settings, program._narrows = self._settings, self._narrows
        convention = self._convention
        if convention is not None:
            program._set_convention(convention.bound(bound) if bound else convention)
        return program

    @property
    def signature(self) -> Signature:
        """The arguments and the results of `main`, or of the `entry` of `with_options`."""
        if self._signature is None:
            inputs, outputs = (list(map(value_of, values)) for values in self._native.signature())
            self._signature = Signature(inputs, outputs)
        return self._signature

    @property
    def ops(self) -> list[Op]:
        """All ops, parents before children; the module is the first."""
        return self._native.ops()

    def text(self, *, debug_info: bool = False, generic: bool = False) -> str:
        """The MLIR text, with locations if `debug_info`, and in the generic form if `generic`."""
        return self._native.text(debug_info, generic)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        try:
            inputs, outputs = (", ".join(value.type for value in values) for values in self.signature)
        except Error:
            names = [op.attributes.get("sym_name") for op in self.ops if op.name == "func.func"]
            return f"<stablo.Program without @main, of the functions {names}>" if names else "<stablo.Program without functions>"
        return f"<stablo.Program ({inputs}) -> ({outputs})>"

    def verify(self) -> None:
        """Checks the program against the specification. Raises `Error` with all that is wrong."""
        self._native.verify()

    def refine(
        self, dims: Optional[Mapping[str, int]] = None, *, batch: Optional[int] = None, types: Optional[str] = None
    ) -> Program:
        """A static program: `dims` are sizes by the names that the exporter gave dimensions, `batch` is the size of the first
        dimension of each argument where that is dynamic, and `types` are the types of all arguments, as in `tensor<2xf32>, i32`."""
        if dims is not None and not isinstance(dims, Mapping):
            raise TypeError(f"sizes are a dictionary by names of dimensions, not {type(dims).__name__}; types of arguments are `types=`")
        return self._changed(self._native.refine(dict(dims or {}), batch, types))

    def with_threads(self, threads: Optional[int]) -> Program:
        """The same program, whose runs use up to so many threads; `None` stands for one for each core. Results do not depend on it.
        Where several processes run programs, as on a cluster, one each is best."""
        return self.with_options(threads=threads)

    def with_options(
        self,
        *,
        entry: Union[str, EllipsisType] = ...,
        custom_calls: Optional[Mapping[str, Callable[..., Any]]] = None,
        like: Union[str, EllipsisType, None] = ...,
        max_memory: Union[int, str, EllipsisType, None] = ...,
        max_time: Union[float, EllipsisType, None] = ...,
        max_steps: Union[int, EllipsisType, None] = ...,
        threads: Union[int, EllipsisType, None] = ...,
        engine: Union[str, EllipsisType] = ...,
    ) -> Program:
        """The same program, run in another way; what is not given stays.

        `entry` names the function that runs, in the place of `main`. `custom_calls` has a function for each target, beside those that the program has
        already: it takes arrays of NumPy and returns one, or a tuple of several, of the types that the call returns. With a parameter `call`
        for a keyword alone, it gets a `CustomCall`, with attributes and types. `like="xla"` computes what XLA computes where it is known to
        differ from the specification.

        Each run may take `max_memory` bytes (also `"2G"`) for inputs and values, `max_time` seconds and `max_steps` ops, counting repetitions;
        more is a `MemoryLimitError`, `TimeLimitError` or `StepLimitError`. `None` takes a limit away. `threads` is that of `with_threads`, and
        `engine="reference"` the interpreter.

        >>> program = parse("func.func @main(%x: tensor<f32>) -> tensor<f32> { %0 = stablehlo.custom_call @my.double(%x) : (tensor<f32>) -> tensor<f32> return %0 : tensor<f32> }")
        >>> program.with_options(custom_calls={"my.double": lambda x: 2 * x}, max_steps=10)(3.0)
        array(6., dtype=float32)
        """
        if isinstance(threads, int) and threads < 1:
            raise ValueError(f"a run uses at least one thread, not {threads}; None stands for one for each core")
        for name, limit in (("max_memory", max_memory), ("max_time", max_time), ("max_steps", max_steps)):
            if isinstance(limit, (int, float)) and limit < 0:
                raise ValueError(f"{name} is a limit of at least 0, not {limit}")
        if max_memory is not ... and max_memory is not None and not isinstance(max_memory, str):
            operator.index(max_memory)
        if isinstance(entry, str):
            entry = entry.removeprefix("@")
        functions = dict(self._settings.custom_calls)
        if custom_calls is not None and not isinstance(custom_calls, Mapping):
            raise TypeError(f"custom calls are a dictionary of functions by target, not {type(custom_calls).__name__}")
        for target, function in (custom_calls or {}).items():
            if not callable(function):
                raise TypeError(f"the custom call {target!r} is computed by a function, not by {shortened(function)}")
            functions[target] = function
        given: dict[str, Any] = {"entry": entry, "like": like, "max_memory": max_memory, "max_time": max_time, "max_steps": max_steps, "threads": threads, "engine": engine}
        settings = self._settings._replace(
            custom_calls=tuple(functions.items()), **{name: value for name, value in given.items() if value is not ...}
        )
        program = self._changed(self._native.with_settings((*settings[:-1], list(settings.custom_calls))))
        program._settings = settings
        # The arguments of another function are not those of the exported one.
        if settings.entry != self._settings.entry:
            program._convention = None
        return program

    def bind(self, values: Mapping[Union[int, str], Any]) -> Program:
        """The program with constants in the place of these arguments, by number or name as in `signature`; the others are left. Where
        arguments are nested, those that are left are given as before: a dictionary without the entries that became constants, and no
        argument of which all arrays did.

        >>> program = parse("func.func @main(%w: tensor<f32>, %x: tensor<f32>) -> tensor<f32> { %0 = stablehlo.multiply %w, %x : tensor<f32> return %0 : tensor<f32> }")
        >>> program.bind({0: 2})(3.0)
        array(6., dtype=float32)
        """
        if not isinstance(values, Mapping):
            raise TypeError(f"values are bound as a dictionary of numbers or names of arguments, not as {type(values).__name__}")
        inputs = self.signature.inputs
        given = []
        for key, value in values.items():
            number = self._native.argument(key) if isinstance(key, str) else operator.index(key)
            if not 0 <= number < len(inputs):
                raise Error(f"there is no argument {key!r}; {signature_of(inputs)}")
            dtype, shape, flat = to_array(inputs[number], value, number, narrows=self._narrows)
            # A copy: programs do not change.
            given.append((number, (dtype, shape, bytes(flat))))
        return self._changed(self._native.bind(given), [number for number, _ in given])

    def compile(self) -> Program:
        """The program with its large constants, such as those of `bind`, also in the order in which kernels read them, as `stablo compile`
        writes it: the artifact that `serialize` makes of it loads without copies of its constants, and runs at full speed at once.

        >>> program = parse("func.func @main(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }")
        >>> load(program.compile().serialize())(2.0)
        array(2., dtype=float32)
        """
        return self._changed(self._native.compile())

    def run_passes(self, pipeline: str) -> Program:
        """The program after passes, as in `canonicalize,cse`, verified."""
        return self._changed(self._native.run_passes(pipeline))

    def optimize(self, *, exact: bool = True) -> Program:
        """A simpler program that computes the same: calls are inlined, constants folded, equal ops merged, and those without a use removed.
        Unless `exact`, also by rewrites that may change the last bits of floats.

        >>> program = parse("func.func @main(%x: tensor<f32>) -> tensor<f32> { %0 = stablehlo.constant dense<1.0> : tensor<f32> %1 = stablehlo.multiply %x, %0 : tensor<f32> %2 = stablehlo.multiply %1, %0 : tensor<f32> return %2 : tensor<f32> }")
        >>> [op.name for op in program.optimize(exact=False).ops if op.name.startswith("stablehlo")]
        []
        """
        rewrites = f"stablehlo-target-independent-optimization{{optimize-float={str(not exact).lower()}}}"
        return self.run_passes(f"inline,func.func(stablehlo-aggressive-folder,{rewrites}),cse,symbol-dce")

    def inspect(self) -> dict[str, Any]:
        """What is in the program: functions, number of ops by name, constants, custom calls, composites, and the oldest version that can
        express it. `stablo.inspect` says of a file also how it is written.

        >>> parse("func.func @main(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }").inspect()["oldest_target"]
        '0.9.0'
        """
        of_file = inspect(self.bytecode())
        return {key: value for key, value in of_file.items() if key not in _OF_FILES}

    def serialize(self, target: Optional[str] = None) -> bytes:
        """The portable artifact for readers of a version: `1.16.2`, `current` (as without one), `minimum`, `WEEK_4` or `WEEK_12`."""
        return self._native.serialize("current" if target is None else target)

    def bytecode(self) -> bytes:
        """MLIR bytecode of the dialects as they are, for readers of the same version."""
        return self._native.bytecode()

    def run(self, *arrays: Any, out: Any = None, **named: Any) -> tuple[Any, ...]:
        """Runs `main` and returns all results. Arguments are arrays or what NumPy makes arrays of,
        in order or by the names in `signature`. A number or list of numbers takes the element type of the argument; an array has
        it. Arrays in row-major order are not copied, and must not change before the run ends. Results own their memory. Raises
        `Error` if arguments do not fit, or if an op fails.

        With `out`, results are written into arrays of the caller, which are returned: one array, or a sequence with one for each
        result, of its shape and element type. They are arrays of NumPy, or others that give out memory to be written by the buffer
        protocol or by DLPack. Loops and kernels write there if elements are in row-major order. An array may be that of an argument, too,
        which is copied then. Nothing is written if arguments or `out` do not fit; arguments of the name `out` are given in order.

        >>> double = parse("func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> { %0 = stablehlo.add %x, %x : tensor<3xf32> return %0 : tensor<3xf32> }")
        >>> x = numpy.ones(3, numpy.float32)
        >>> double.run(x, out=x)[0] is x
        True
        >>> x
        array([2., 2., 2.], dtype=float32)
        """
        if out is not None:
            return self._run_into(arrays, named, out)
        # Contiguous arrays of the right types need no conversion.
        results = None if named else self._native.call(arrays)
        return self._converted(arrays, named) if results is None else results

    def _run_into(self, arrays: tuple[Any, ...], named: dict[str, Any], out: Any) -> tuple[Any, ...]:
        results = tuple(out) if isinstance(out, (tuple, list)) else (out,)
        if named or not self._native.call_into(arrays, results):
            inputs = self._given(arrays, named)
            outputs = to_outputs(self.signature.outputs, results)
            self._native.run_into(inputs, [output.native() for output in outputs])
            for output in outputs:
                output.finish()
        return results

    def _given(self, arrays: Sequence[Any], named: dict[str, Any]) -> Arrays:
        return to_native(self.signature.inputs, arrays, named, self._native.argument, self._narrows)

    def _taken(self, arrays: tuple[Any, ...], named: dict[str, Any]) -> Arrays:
        """The arguments of a run, nested as those of a call or in order."""
        leaves = None if self._convention is None else self._convention.flatten(arrays, named)
        return self._given(arrays, named) if leaves is None else self._given(leaves, {})

    def _converted(self, arrays: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
        return self._native.run(self._given(arrays, named))

    def __call__(self, *arrays: Any, out: Any = None, **named: Any) -> Any:
        """As `run`; a single result is not in a tuple. A program that `jax.export` wrote takes and returns dictionaries, lists, tuples
        and `None` as the exported function does, or its arrays in order; `out` has its arrays in order."""
        if self._convention is not None:
            return self._call_nested(self._convention, arrays, out, named)
        if out is not None:
            results: Optional[tuple[Any, ...]] = self._run_into(arrays, named, out)
        else:
            results = None if named else self._native.call(arrays)
        if results is None:
            results = self._converted(arrays, named)
        return results[0] if len(results) == 1 else results

    def _call_nested(self, convention: Convention, arguments: tuple[Any, ...], out: Any, named: dict[str, Any]) -> Any:
        leaves = convention.flatten(arguments, named)
        given = [*arguments, *named.values()]
        if leaves is None and (len(given) != len(self.signature.inputs) or any(isinstance(value, (dict, type(None))) for value in given)):
            raise Error(f"the arguments are not nested as those of the exported function, ({convention}), where * is an array")
        return convention.unflatten(self.run(*arguments, out=out, **named) if leaves is None else self.run(*leaves, out=out))

    def trace(self, *arrays: Any, **named: Any) -> list[TracedValue]:
        """Runs `main` as `run` does, and returns the value of each result of each op as it is computed, those in loops and functions
        each time. All are kept in memory.

        >>> program = parse("func.func @main(%x: tensor<f32>) -> tensor<f32> { %0 = stablehlo.sqrt %x : tensor<f32> return %0 : tensor<f32> }")
        >>> [(value.op.name, value.value) for value in program.trace(9.0)]
        [('stablehlo.sqrt', array(3., dtype=float32))]
        """
        values = self._native.trace(self._taken(arrays, named))
        return [TracedValue(*value) for value in values]

    def profile(self, *arrays: Any, runs: int = 1, **named: Any) -> Profile:
        """Runs `main` as `run` does, `runs` times, and returns how long each step of the runs took: a step computes one op, or several
        in one loop. Arguments of the name `runs` are given in order.

        >>> program = parse("func.func @main(%x: tensor<f32>) -> tensor<f32> { %0 = stablehlo.sqrt %x : tensor<f32> return %0 : tensor<f32> }")
        >>> [(op["op"], step["calls"]) for step in program.profile(9.0, runs=3).steps for op in step["ops"]]
        [('stablehlo.sqrt', 3)]
        """
        if runs < 1:
            raise ValueError(f"a profile is of at least one run, not of {runs}")
        return Profile(self._native.profile(self._taken(arrays, named), runs))

    def cost(self) -> dict[str, Any]:
        """The cost of a run, by formulas of the types: `flops`, `transcendentals`, `bytes` moved, `arguments`, `constants`, `results`,
        `peak_memory`, `doubts`, which say what is not exact, and `ops` with the cost of each op, its source and scope.

        >>> parse("func.func @main(%x: tensor<5xf32>) -> tensor<5xf32> { %0 = stablehlo.abs %x : tensor<5xf32> return %0 : tensor<5xf32> }").cost()["flops"]
        5
        """
        return self._native.cost()

    def diff(self, other: Program, *, ignore: Sequence[str] = ()) -> dict[str, Any]:
        """The differences to another program but for names, locations and the order of independent ops: `equal`, `same`, the number of
        equal ops, and `changes`, each with `left` and `right`, an op or none, and `details`. Attributes named in `ignore` do not count."""
        return self._native.diff(_native(other), [ignore] if isinstance(ignore, str) else list(ignore))

    def compare(
        self, other: Program, *arrays: Any, seeds: Sequence[int] = range(3), ulps: int = 0, atol: float = 0.0, rtol: float = 0.0, **named: Any
    ) -> list[dict[str, Any]]:
        """Runs both programs on these arguments, or on random ones for each of the `seeds` if none is given, and compares their results. For each:
        its number `result`, its `name`, the `seed`, whether it is `close`, the number of `differing` elements, the position of the `worst`,
        and the largest distance, as a number (`max_distance`) and in units in the last place (`max_ulps`). Elements are close if they are
        at most so many `ulps`, or at most `atol + rtol * abs(expected)` apart.

        >>> of = lambda op: parse(f"func.func @main(%x: tensor<f32>) -> tensor<f32> {{ %0 = stablehlo.{op} %x : tensor<f32> return %0 : tensor<f32> }}")
        >>> [(result["differing"], result["max_distance"]) for result in of("floor").compare(of("ceil"), 2.5)]
        [(1, 1.0)]
        """
        names = [value.name for value in self.signature.outputs]
        found = []
        for seed, inputs in self._trials(arrays, named, seeds):
            results = _stablo.compare(self._native, _native(other), inputs, (ulps, atol, rtol))
            for index, result in enumerate(results):
                if result is None:
                    continue
                differing, worst, distance, in_ulps = result
                entry = {"result": index, "name": names[index], "seed": seed, "close": differing == 0}
                found.append({**entry, "differing": differing, "worst": worst, "max_distance": distance, "max_ulps": in_ulps})
        return found

    def bisect(
        self, other: Program, *arrays: Any, seeds: Sequence[int] = range(3), ulps: int = 0, atol: float = 0.0, rtol: float = 0.0, **named: Any
    ) -> Optional[dict[str, Any]]:
        """The first op whose values differ in runs of both programs, for arguments, seeds and distances as of `compare`; `None` if results agree. A
        dictionary: the op of this program (`left`) and of the other one (`right`), ops `around` it, the `iteration` of a loop, and the
        number of its `result` with its value here (`expected`) and there (`found`), its `operands` as pairs of a name and an array, and the
        `inputs` of `main` that show it.

        >>> of = lambda op: parse(f"func.func @main(%x: tensor<f32>) -> tensor<f32> {{ %0 = stablehlo.{op} %x : tensor<f32> %1 = stablehlo.abs %0 : tensor<f32> return %1 : tensor<f32> }}")
        >>> parting = of("floor").bisect(of("ceil"), 2.5)
        >>> parting["left"]["op"], parting["expected"], parting["found"]
        ('stablehlo.floor', array(2., dtype=float32), array(3., dtype=float32))
        """
        distances = (ulps, atol, rtol)
        for seed, inputs in self._trials(arrays, named, seeds):
            # This run ends with Ctrl-C; the one that is recorded does not.
            if all(result is None or result[0] == 0 for result in _stablo.compare(self._native, _native(other), inputs, distances)):
                continue
            parting = _stablo.bisect(self._native, _native(other), inputs, distances)
            if parting is not None:
                description, operands, expected, value = parting
                given = tuple(numpy.array(flat).view(numpy_dtype(dtype)).reshape(shape) for dtype, shape, flat in inputs)
                return {**description, "seed": seed, "operands": operands, "expected": expected, "found": value, "inputs": given}
        return None

    def judge(self, results: Any, *arrays: Any, model: str = "ieee", **named: Any) -> dict[str, Any]:
        """Judges results that another backend has computed with these arguments, one or a sequence: are they within the bounds of correct
        rounding? A dictionary: `verdict`, which is "inside", "outside" or "undecided"; `outputs`, each with the number of elements of each
        verdict, the distance from the true values in units in the last place, and the worst element; `doubts`, decisions that rounding can
        flip; `licences` that explain what is outside. The `model` of rounding is "ieee", "xla-cpu", "xla-gpu", "tpu", or the text of a file.

        >>> program = parse("func.func @main(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> { %0 = stablehlo.divide %x, %y : tensor<f32> return %0 : tensor<f32> }")
        >>> program.judge(numpy.float32(1 / 3), 1.0, 3.0)["verdict"], program.judge(numpy.float32(0.333), 1.0, 3.0)["verdict"]
        ('inside', 'outside')
        """
        outputs = self.signature.outputs
        given = list(results) if isinstance(results, (list, tuple)) else [results]
        if len(given) != len(outputs):
            raise Error(f"{len(given)} result{' is' if len(given) == 1 else 's are'} given; the program has {len(outputs)}")
        found = [to_array(value, result, index, "result") for index, (value, result) in enumerate(zip(outputs, given))]
        return _stablo.judge(self._native, found, self._taken(arrays, named), model)

    def _trials(self, arrays: tuple[Any, ...], named: dict[str, Any], seeds: Sequence[int]) -> Iterator[tuple[Optional[int], Arrays]]:
        if arrays or named:
            yield None, self._taken(arrays, named)
            return
        for seed in seeds:
            yield seed, self._given(_stablo.random_inputs(self._native, seed), {})

    def random_inputs(self, seed: int = 0) -> tuple[Any, ...]:
        """Arguments of `main` that follow from the seed, as the command-line tool makes them: small integers, truth values, and floats from
        [0, 1) for the seed 0, from [-2, 2) for others."""
        return _stablo.random_inputs(self._native, seed)

    def reduce(self, test: Callable[[Program], Any], *, max_tests: int = 10_000) -> Program:
        """The smallest program found for which the test, a function of a program, is true, as it must be for this one: ops become zeros, operands or
        arguments, regions take the place of their ops, functions, results and arguments go, dimensions shrink. Only valid programs are tested.

        >>> program = parse("func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> { %0 = stablehlo.sine %x : tensor<64xf32> %1 = stablehlo.tanh %0 : tensor<64xf32> return %1 : tensor<64xf32> }")
        >>> [op.name for op in program.reduce(lambda candidate: "tanh" in candidate.text()).ops if op.name.startswith("stablehlo")]
        ['stablehlo.constant', 'stablehlo.tanh']
        """
        if not test(self):
            raise Error("the program itself does not pass the test: there is nothing to keep")
        reduced, _ = _stablo.reduce(self._native, lambda candidate: test(Program(candidate)), max_tests)
        return Program(reduced)

    def view(
        self,
        name: str = "program",
        *,
        beside: Optional[Program] = None,
        profile: Optional[Profile] = None,
        trace: Optional[Sequence[TracedValue]] = None,
    ) -> View:
        """A page that shows the program as a graph, with costs, constants and specifications, under a name of your choice. `beside` is
        another program to show next to it, with the differences. `profile` and `trace` are results of these methods: the page shows the
        times of ops and statistics of their last values. It shows itself in notebooks, as a program does.

        >>> page = parse("func.func @main(%x: tensor<f32>) -> tensor<f32> { %0 = stablehlo.abs %x : tensor<f32> return %0 : tensor<f32> }").view()
        >>> str(page).startswith("<!doctype html>")
        True
        """
        other = None if beside is None else ("other", _native(beside))
        values = None if trace is None else [(value.op, value.index, to_bytes(value.value)) for value in trace]
        return View(self._native.view(name, other, None if profile is None else profile._native, values))

    def _repr_html_(self) -> str:
        return self.view()._repr_html_()

    def lint(self) -> list[dict[str, Any]]:
        """Warnings about what is valid, but probably not meant, or costs for nothing: dictionaries as the diagnostics of `Error`."""
        return self._native.lint()

    def without_lint(self) -> Program:
        """The program without what `lint` warns of, where that can be mended without changing results: dead ops and functions are removed,
        deprecated ops replaced by their successors, and expressions of constants folded."""
        return self._changed(self._native.without_lint())

    def __copy__(self) -> Program:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Program:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self._native.named_bytecode(), self._convention, tuple(self._settings), self._native.is_verified, self._narrows)


def _native(program: Program) -> _stablo.Program:
    """The native part of another program."""
    if not isinstance(program, Program):
        raise TypeError(f"the other program must be a stablo.Program, not {type(program).__name__}; stablo.load reads files")
    return program._native


def _restored(bytecode: bytes, convention: Optional[Convention], settings: tuple[Any, ...], is_verified: bool, narrows: bool) -> Program:
    given = _Settings(*settings)._asdict()
    program = load(bytecode, verify=is_verified)
    if settings != tuple(_Settings()):
        program = program.with_options(**{**given, "custom_calls": dict(given["custom_calls"])})
    program._convention, program._narrows = convention, narrows
    return program
