"""Tests of what users do by mistake: messages say what was given and what is required."""

import copy
import io
import mmap
import pickle
import tempfile
import unittest

import numpy as np

import stablo
from stablo import compat

ADD = "func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> { %0 = stablehlo.add %x, %x : tensor<3xf32>  return %0 : tensor<3xf32> }"
INVALID = "func.func @main(%x: tensor<3xf32>) -> tensor<4xf32> { return %x : tensor<3xf32> }"


class Mistakes(unittest.TestCase):
    def test_other_types_than_programs(self) -> None:
        program = stablo.parse(ADD)
        for attempt in (program.diff, program.compare, program.bisect, lambda other: program.view(beside=other)):
            with self.assertRaisesRegex(TypeError, "the other program must be a stablo.Program, not str; stablo.load reads files"):
                attempt("other.mlir")
        with self.assertRaisesRegex(TypeError, "programs are made by stablo.load"):
            stablo.Program(ADD)  # type: ignore[arg-type]
        with self.assertRaisesRegex(TypeError, "as a dictionary .* not as list"):
            program.bind([np.ones(3, np.float32)])  # type: ignore[arg-type]
        self.assertTrue(program.diff(program, ignore="value")["equal"])

    def test_arrays_with_masks(self) -> None:
        program, x = stablo.parse(ADD), np.ma.array(np.ones(3, np.float32), mask=[0, 1, 0])
        with self.assertRaisesRegex(stablo.Error, "argument 0 .x. is a tensor<3xf32>, which has no mask; a masked array was given"):
            program(x)
        np.testing.assert_array_equal(program(x.filled(5)), [2, 10, 2])

    def test_subclasses_and_layouts(self) -> None:
        class Own(np.ndarray):
            pass

        program, x = stablo.parse(ADD), np.arange(6, dtype=np.float32)
        for given in (x[::2], x[4::-2][::-1], x[::2].view(Own), x[::2].astype(">f4"), np.broadcast_to(np.float32(2), 3), x[:3].tolist()):
            np.testing.assert_array_equal(program(given), 2 * np.asarray(given))

    def test_bytes_in_other_objects(self) -> None:
        code = stablo.parse(ADD).bytecode()
        with tempfile.TemporaryFile() as file:
            file.write(code)
            file.flush()
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
                for source in (mapped, bytearray(code), memoryview(code), np.frombuffer(code, np.uint8)):
                    self.assertEqual(stablo.load(source).text(), stablo.parse(ADD).text())
        for source in (5, None, io.BytesIO(code), ["a"]):
            with self.assertRaisesRegex(TypeError, "from a path or from bytes, not from"):
                stablo.load(source)  # type: ignore[arg-type]

    def test_cut_files(self) -> None:
        """Each beginning of a file is a program or an error."""
        program = stablo.parse(ADD)
        for data in (program.bytecode(), program.serialize(), program.text().encode()):
            for end in range(len(data)):
                try:
                    stablo.load(data[:end])
                except stablo.Error as error:
                    self.assertTrue(error.diagnostics, str(error))

    def test_copies(self) -> None:
        """Programs do not change: copies are the same. What is not valid stays so when it is pickled."""
        program = stablo.parse(ADD)
        self.assertIs(copy.copy(program), program)
        self.assertIs(copy.deepcopy({"a": program})["a"], program)
        invalid = pickle.loads(pickle.dumps(stablo.parse(INVALID, verify=False)))
        with self.assertRaisesRegex(stablo.Error, "value 0 has type tensor<3xf32>"):
            invalid.verify()

    def test_shows_itself(self) -> None:
        builder = stablo.Builder()
        function = builder.function("tensor<f32>", name="f")(lambda x: x)
        self.assertEqual([repr(builder), repr(function)], ["<stablo.Builder>", "<function @f of a stablo.Builder>"])
        self.assertRegex(repr(stablo.parse(ADD).view()), r"^<stablo.View of \d+ characters>$")

    def test_requirements_by_name(self) -> None:
        of = compat.get_version_from_compatibility_requirement
        self.assertEqual(of("WEEK_4"), of(compat.StablehloCompatibilityRequirement.WEEK_4))  # type: ignore[arg-type]
        with self.assertRaisesRegex(ValueError, "WEEK_5"):
            of("WEEK_5")  # type: ignore[arg-type]
