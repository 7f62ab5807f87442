"""Devices of PJRT plugins: the package is one itself."""

import unittest

import numpy as np
import stablo
import stablo._stablo

TEXT = """func.func @main(%x: tensor<?xf32>, %n: tensor<i32>) -> (tensor<?xf32>, tensor<i32>) {
  %0 = stablehlo.add %x, %x : tensor<?xf32>
  return %0, %n : tensor<?xf32>, tensor<i32>
}"""


class Devices(unittest.TestCase):
    def test_programs_run(self):
        device = stablo.Device(f"pjrt:{stablo._stablo.__file__},num_devices=2")
        self.assertRegex(device.description, r"^stablo \(stablo\), PJRT 0\.\d+, .*, 2 devices$")
        program = stablo.parse(TEXT)
        for size in (0, 3):
            doubled, n = device.run(program, np.arange(size, dtype=np.float32), n=5)
            np.testing.assert_array_equal(doubled, 2 * np.arange(size, dtype=np.float32))
            self.assertEqual(n, 5)
        with self.assertRaisesRegex(stablo.Error, "the function takes 2 arguments|argument"):
            device.run(program)

    def test_errors_have_reasons(self):
        with self.assertRaisesRegex(stablo.Error, "it does not begin with `pjrt:`"):
            stablo.Device("cpu")
        with self.assertRaisesRegex(stablo.Error, "cannot be loaded as a shared library"):
            stablo.Device("pjrt:/missing.so")


if __name__ == "__main__":
    unittest.main()
