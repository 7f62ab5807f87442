//! Drives a plugin with the crate `pjrt` of crates.io, a client of an interface of another year:
//! transfers, programs, errors. `.ci/pjrt` makes a package around it. Usage: `client PLUGIN.so`.

use pjrt::ProgramFormat::MLIR;
use pjrt::{Client, HostBuffer, LoadedExecutable, Program, Result};

const PRODUCT: &str = "func.func @main(%x: tensor<2x3xf32>, %y: tensor<3x2xf32>) -> (tensor<2x2xf32>, tensor<2xf32>) {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2x2xf32>, tensor<f32>) -> tensor<2xf32>
  return %0, %1 : tensor<2x2xf32>, tensor<2xf32>
}";

/// A program with a mistake: the types of operands differ.
const WRONG: &str = "func.func @main(%x: tensor<2xf32>, %y: tensor<3xf32>) -> tensor<2xf32> {
  %0 = \"stablehlo.add\"(%x, %y) : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}";

/// A matrix as a buffer of the host.
fn matrix(dims: [i64; 2], elements: [f32; 6]) -> HostBuffer {
    HostBuffer::builder().data(elements.to_vec()).dims(dims.to_vec()).build()
}

/// The elements of a buffer of floats.
fn floats(buffer: &HostBuffer) -> &[f32] {
    match buffer {
        HostBuffer::F32(typed) => typed.data(),
        other => panic!("floats are expected, found {other:?}"),
    }
}

fn main() -> Result<()> {
    let path = std::env::args().nth(1).expect("the path of a plugin");
    let api = pjrt::plugin(path).load()?;
    let client = Client::builder(&api).build()?;
    let devices = client.addressable_devices();
    println!("{} on {} of {:?}", client.platform_name(), devices.len(), api.version());

    let loaded = LoadedExecutable::builder(&client, &Program::new(MLIR, PRODUCT)).build()?;
    for _ in 0..3 {
        let x = matrix([2, 3], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).copy_to_sync(&client)?;
        let y = matrix([3, 2], [1.0, 0.0, 0.0, 1.0, 2.0, -1.0]).copy_to_sync(&devices[0])?;
        assert_eq!((x.dims(), x.on_device_size(), x.is_on_cpu()), (vec![2, 3], 24, true));
        let results = loaded.execution([x, y]).run_sync()?;
        let product = results[0][0].copy_to_host_sync()?;
        assert_eq!((product.dims(), floats(&product)), (&[2, 2][..], &[7.0, -1.0, 16.0, -1.0][..]));
        assert_eq!(floats(&results[0][1].copy_to_host_sync()?), [6.0, 15.0]);
    }

    let wrong = LoadedExecutable::builder(&client, &Program::new(MLIR, WRONG)).build();
    let message = wrong.err().expect("a wrong program").to_string();
    assert!(message.contains("stablehlo.add"), "{message}");
    println!("the crate pjrt: passed");
    Ok(())
}
