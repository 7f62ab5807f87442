#!/usr/bin/env python3
"""Drives the plugin with the client pypjrt: programs, transfers, aliases, serialized executables.

    pip install pypjrt
    python tools/pjrt_client.py target/release/libstablo_pjrt.so
"""

import array
import sys

import pypjrt

F32 = 11
SUM = """func.func @main(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.add %x, %y : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}"""


def numbers(buffer):
    """The elements of a buffer of f32."""
    return list(array.array("f", bytes(buffer.to_host())))


def main():
    client = pypjrt.Client.create(pypjrt.Plugin(sys.argv[1]))
    with client.devices() as devices:
        check(client, devices[0])
    print("pypjrt: passed")


def check(client, device):
    """Runs programs on a device."""
    x = array.array("f", [1, 2, 3, 4, 5, 6])
    executable = client.compile(SUM)
    one = client.buffer_from_host(x, F32, [2, 3], device)
    (doubled,) = executable(one, one)
    assert numbers(doubled) == [2, 4, 6, 8, 10, 12]

    (again,) = client.deserialize_executable(executable.serialize())(one, doubled)
    assert numbers(again) == [3, 6, 9, 12, 15, 18]

    # Elements that arrive in chunks, the last one first.
    transfer = client.async_transfer([pypjrt.ShapeSpec(F32, (2, 3))], device=device)
    transfer.transfer(0, x[3:], offset=12, last=False)
    transfer.transfer(0, x[:3], offset=0, last=True)
    (tripled,) = executable(transfer.retrieve(0), doubled)
    assert numbers(tripled) == [3, 6, 9, 12, 15, 18]

    # A buffer whose promise fails.
    alias = client.alias_buffer(device.default_memory(), F32, [2, 3])
    client.fulfill_alias_buffer(alias, code=10, message="no data")
    try:
        numbers(alias)
    except Exception as error:
        assert "no data" in str(error), error
    else:
        raise AssertionError("a promise that failed has a value")

    try:
        client.compile(SUM.replace("2x3xf32>, %y", "2x4xf32>, %y"))
    except Exception as error:
        assert "program:2:" in str(error), error
    else:
        raise AssertionError("a wrong program compiled")

if __name__ == "__main__":
    main()
