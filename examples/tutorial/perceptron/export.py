"""Exports a perceptron from PyTorch through torch_xla, with an input and the output of PyTorch."""

import numpy as np
import torch
from torch_xla.stablehlo import exported_program_to_stablehlo

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3)).eval()
image = torch.randn(1, 4)

exported = torch.export.export(model, (image,))
program = exported_program_to_stablehlo(exported)
with open("module.mlir", "w") as file:
    file.write(program.get_stablehlo_text("forward"))

# The arguments of @main are the weights and the input, in an order that the export chooses.
signature = program._bundle.stablehlo_funcs[0].meta.input_locations
for number, location in enumerate(signature):
    is_input = location.position >= 0
    array = image.numpy() if is_input else program._bundle.state_dict[location.name]
    np.save(f"input_{number}.npy", np.asarray(array))
np.save("output_0.npy", model(image).detach().numpy())
