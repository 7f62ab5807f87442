"""A PyTorch module as a StableHLO program: runs it, and compares with PyTorch. Needs torch, and torchax or torch_xla.

    python python/examples/from_torch.py
"""

from __future__ import annotations

import numpy
import stablo
import torch


class Perceptron(torch.nn.Module):
    """Two layers, from a dictionary to a dictionary."""

    def __init__(self) -> None:
        super().__init__()
        self.hidden = torch.nn.Linear(16, 32)
        self.output = torch.nn.Linear(32, 4)

    def forward(self, inputs: dict[str, torch.Tensor], *, scale: torch.Tensor) -> dict[str, torch.Tensor]:
        hidden = torch.nn.functional.gelu(self.hidden(inputs["x"]))
        return {"scores": self.output(hidden) * scale, "hidden": hidden}


def main() -> None:
    torch.manual_seed(0)
    module = Perceptron().eval()
    inputs, scale = {"x": torch.randn(8, 16)}, torch.tensor(0.5)
    program = stablo.from_torch(module, inputs, scale=scale)
    expected = module(inputs, scale=scale)
    found = program({"x": inputs["x"].numpy()}, scale=scale.numpy())
    for name, value in expected.items():
        numpy.testing.assert_allclose(found[name], value.detach().numpy(), rtol=1e-5, atol=1e-5)
    ops = [op.name for op in program.ops if op.name.startswith("stablehlo.")]
    print(f"the program {program!r} of {len(ops)} ops computes what PyTorch computes")


if __name__ == "__main__":
    main()
