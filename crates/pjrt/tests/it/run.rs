//! Programs compile and run; what fails says why.

use crate::client::*;
use stablo_pjrt::abi::*;

const SUM: &str =
    "module @sum { func.func @main(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.add %x, %y : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
} }";

const X: [f32; 6] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];

#[test]
fn a_program_runs() {
    let client = client(1);
    let program = compile(&client, SUM).unwrap();
    let x = buffer(&client, &[2, 3], &X);
    let sum = execute(&program, &[x, x]).unwrap();
    assert_eq!(elements(sum, 6).unwrap(), [2.0, 4.0, 6.0, 8.0, 10.0, 12.0]);
}

/// Strides are those of a matrix whose columns come first.
#[test]
fn elements_in_another_order_are_transposed() {
    let client = client(1);
    let mut devices: ClientDevices = args();
    devices.client = client.client;
    call("Client_Devices", &mut devices).unwrap();
    let mut create: ClientBufferFromHostBuffer = args();
    create.client = client.client;
    (create.data, create.element_type) = (X.as_ptr().cast(), 11);
    (create.dims, create.num_dims) = ([3i64, 2].as_ptr(), 2);
    (create.byte_strides, create.num_byte_strides) = ([4i64, 12].as_ptr(), 2);
    // SAFETY: there is at least one device.
    create.device = unsafe { devices.devices.read() };
    call("Client_BufferFromHostBuffer", &mut create).unwrap();
    assert_eq!(elements(create.buffer, 6).unwrap(), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
}

#[test]
fn donated_buffers_are_gone() {
    let client = client(1);
    let text =
        SUM.replace("%x: tensor<2x3xf32>", "%x: tensor<2x3xf32> {tf.aliasing_output = 0 : i32}");
    let program = compile(&client, &text).unwrap();
    let (x, y) = (buffer(&client, &[2, 3], &X), buffer(&client, &[2, 3], &X));
    let (code, message) = execute(&program, &[x, x]).err().unwrap();
    assert_eq!((code, message.contains("cannot be donated and used")), (3, true), "{message}");
    execute(&program, &[x, y]).unwrap();
    let mut deleted: BufferIsDeleted = args();
    deleted.buffer = x.buffer;
    call("Buffer_IsDeleted", &mut deleted).unwrap();
    assert!(deleted.is_deleted.is_set());
    assert_eq!(elements(y.buffer, 6).unwrap(), X);
    let (code, message) = elements(x.buffer, 6).err().unwrap();
    assert_eq!((code, message.contains("deleted or donated")), (3, true), "{message}");
}

/// The place, the caret and the label of the diagnostic are in the message.
#[test]
fn wrong_programs_are_refused_with_the_diagnostic() {
    let client = client(1);
    let (code, message) =
        compile(&client, &SUM.replace("2x3xf32>, %y", "2x4xf32>, %y")).err().unwrap();
    assert_eq!(code, 3);
    assert!(message.contains("program:2:") && message.contains("^"), "{message}");
    let unknown = "func.func @main() -> tensor<f32> {
      %0 = stablehlo.custom_call @nothing_like_it() : () -> tensor<f32>
      return %0 : tensor<f32>
    }";
    let (code, message) = compile(&client, unknown).err().unwrap();
    assert_eq!((code, message.contains("`nothing_like_it` is unknown")), (12, true), "{message}");
}

#[test]
fn arguments_of_another_number_or_shape_are_refused() {
    let client = client(1);
    let program = compile(&client, SUM).unwrap();
    let x = buffer(&client, &[2, 3], &X);
    let (_, message) = execute(&program, &[x]).err().unwrap();
    assert_eq!(message, "the program takes 2 arguments, found 1");
    let (_, message) = execute(&program, &[x, buffer(&client, &[6], &X)]).err().unwrap();
    assert_eq!(message, "argument 1 has shape [6] of f32, the program takes [2, 3] of f32");
}
