//! Programs compile and run; what fails says why.

use crate::client::*;
use pjrt_abi::*;
use std::ffi::c_void;
use std::ptr::null_mut;

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
    call(Slot::Client_Devices, &mut devices).unwrap();
    let mut create: ClientBufferFromHostBuffer = args();
    create.client = client.client;
    (create.data, create.element_type) = (X.as_ptr().cast(), 11);
    (create.dims, create.num_dims) = ([3i64, 2].as_ptr(), 2);
    (create.byte_strides, create.num_byte_strides) = ([4i64, 12].as_ptr(), 2);
    // SAFETY: there is at least one device.
    create.device = unsafe { devices.devices.read() };
    call(Slot::Client_BufferFromHostBuffer, &mut create).unwrap();
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
    call(Slot::Buffer_IsDeleted, &mut deleted).unwrap();
    assert!(deleted.is_deleted.is_set());
    assert_eq!(elements(y.buffer, 6).unwrap(), X);
    let (code, message) = elements(x.buffer, 6).err().unwrap();
    assert_eq!((code, message.contains("deleted or donated")), (3, true), "{message}");
}

/// A donor for which the program states no result is gone only if a result has its number of bytes.
#[test]
fn donors_that_no_result_fits_stay() {
    let client = client(1);
    for (size, result, is_gone) in [
        (4, "tensor<2x2xf32>, tensor<3xf32>", true),
        (6, "tensor<2x2xf32>, tensor<3xf32>", false),
        // The only result that fits is that of another argument.
        (3, "tensor<2x2xf32>, tensor<3xf32>", false),
    ] {
        let text = format!(
            "func.func @main(%x: tensor<{size}xf32> {{jax.buffer_donor = true}},
                 %y: tensor<3xf32> {{tf.aliasing_output = 1 : i32}}) -> ({result}) {{
               %0 = stablehlo.constant dense<1.0> : tensor<2x2xf32>
               return %0, %y : {result}
             }}"
        );
        let program = compile(&client, &text).unwrap();
        let x = buffer(&client, &[size], &vec![1.0; size as usize]);
        let mut outputs = [null_mut::<c_void>(); 2];
        let inputs = [x.buffer, buffer(&client, &[3], &[1.0; 3]).buffer];
        let (lists, places) = ([inputs.as_ptr()], [outputs.as_mut_ptr().cast()]);
        let options: ExecuteOptions = args();
        let mut execute: LoadedExecute = args();
        (execute.executable, execute.options) = (program.executable, &options);
        (execute.argument_lists, execute.num_devices) = (lists.as_ptr(), 1);
        (execute.num_args, execute.output_lists) = (2, places.as_ptr());
        call(Slot::LoadedExecutable_Execute, &mut execute).unwrap();
        let mut deleted: BufferIsDeleted = args();
        deleted.buffer = x.buffer;
        call(Slot::Buffer_IsDeleted, &mut deleted).unwrap();
        assert_eq!(deleted.is_deleted.is_set(), is_gone, "{size}");
    }
}

/// Clients tell an error of memory by its code, 8.
#[test]
fn values_that_no_memory_holds_are_an_error_of_resources() {
    let client = client(1);
    let text = "func.func @main(%x: tensor<f32>) -> tensor<1099511627776x64xf32> {
      %0 = stablehlo.broadcast_in_dim %x, dims = [] : (tensor<f32>) -> tensor<1099511627776x64xf32>
      return %0 : tensor<1099511627776x64xf32>
    }";
    let program = compile(&client, text).unwrap();
    let x = buffer(&client, &[], &[1.0]);
    let failure = execute(&program, &[x]).and_then(|result| elements(result, 1));
    let (code, message) = failure.err().unwrap();
    assert_eq!(
        (code, message.contains("no memory for 281474976710656 bytes")),
        (8, true),
        "{message}"
    );
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

/// Serialized options with `num_partitions`, field 5 of the build options, or `num_replicas`, 4.
pub(crate) fn devices(field: u8, count: u8) -> [u8; 4] {
    [3 << 3 | 2, 2, field << 3, count]
}

/// Rows are divided over two devices, columns of the result, too: the sums are of whole tensors.
#[test]
fn shards_are_put_together_and_divided() {
    let client = client(2);
    let text = "sdy.mesh @mesh = <[\"a\"=2]>
      func.func @main(%x: tensor<4x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\"}, {}]>})
          -> (tensor<4x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {\"a\"}]>}) {
        %0 = stablehlo.reverse %x, dims = [0] : tensor<4x2xf32>
        return %0 : tensor<4x2xf32>
      }";
    let program = compile_with(&client, text, &devices(5, 2)).unwrap();
    let first = buffer_on(&client, 0, &[2, 2], &[1.0, 2.0, 3.0, 4.0]);
    let second = buffer_on(&client, 1, &[2, 2], &[5.0, 6.0, 7.0, 8.0]);
    let results = execute_on(&program, &[&[first], &[second]]).unwrap();
    assert_eq!(elements(results[0], 4).unwrap(), [7.0, 5.0, 3.0, 1.0]);
    assert_eq!(elements(results[1], 4).unwrap(), [8.0, 6.0, 4.0, 2.0]);
    let mut device: BufferDevice = args();
    device.buffer = Handle::from_pointer(results[1]);
    call(Slot::Buffer_Device, &mut device).unwrap();
    assert!(device.device == second.device);
    let (_, message) = execute_on(&program, &[&[first]]).err().unwrap();
    assert_eq!(message, "the program is for 2 devices, there are arguments for 1");
}

#[test]
fn dimensions_that_cannot_be_divided_are_refused() {
    let client = client(2);
    let text = "func.func @main(%x: tensor<3xf32> {mhlo.sharding = \"{devices=[2]<=[2]}\"})
      -> tensor<3xf32> { return %x : tensor<3xf32> }";
    let (code, message) = compile_with(&client, text, &devices(5, 2)).err().unwrap();
    let expected = "dimension 0 of size 3 cannot be divided into 2 equal tiles";
    assert_eq!((code, message.contains(expected)), (12, true), "{message}");
}

#[test]
fn replicas_add_what_each_has() {
    let client = client(2);
    let text = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
      %0 = \"stablehlo.all_reduce\"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %1 = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %1 : tensor<f32>
      }) : (tensor<2xf32>) -> tensor<2xf32>
      return %0 : tensor<2xf32>
    }";
    let program = compile_with(&client, text, &devices(4, 2)).unwrap();
    let first = buffer_on(&client, 0, &[2], &[1.0, 2.0]);
    let second = buffer_on(&client, 1, &[2], &[10.0, 20.0]);
    for result in execute_on(&program, &[&[first], &[second]]).unwrap() {
        assert_eq!(elements(result, 2).unwrap(), [11.0, 22.0]);
    }
}

/// Programs that are not short run on another thread: what depends on them waits.
#[test]
fn executions_that_wait_for_others_have_their_values() {
    let client = client(1);
    // So large that it is not taken to be short.
    let count = 100_000;
    let text = "func.func @main(%x: tensor<100000xf32>) -> tensor<100000xf32> {
      %0 = stablehlo.add %x, %x : tensor<100000xf32>
      return %0 : tensor<100000xf32>
    }";
    let program = compile(&client, text).unwrap();
    let mut x = buffer(&client, &[count], &vec![1.0; count as usize]);
    for _ in 0..20 {
        let result = execute(&program, &[x]).unwrap();
        x.buffer = Handle::from_pointer(result);
    }
    let last = elements(x.buffer, count as usize).unwrap();
    assert!(last.iter().all(|&element| element == 1048576.0));
}

#[test]
fn serialized_executables_run() {
    let client = client(1);
    let program = compile(&client, SUM).unwrap();
    let mut executable: LoadedGetExecutable = args();
    executable.loaded = program.executable;
    call(Slot::LoadedExecutable_GetExecutable, &mut executable).unwrap();
    let mut bytes: ExecutableBytes = args();
    bytes.executable = executable.executable;
    call(Slot::Executable_Serialize, &mut bytes).unwrap();
    let mut load: ExecutableDeserializeAndLoad = args();
    (load.client, load.serialized, load.serialized_size) =
        (client.client, bytes.bytes, bytes.bytes_size);
    call(Slot::Executable_DeserializeAndLoad, &mut load).unwrap();
    let mut program = program;
    program.executable = load.loaded_executable;
    let x = buffer(&client, &[2, 3], &X);
    assert_eq!(elements(execute(&program, &[x, x]).unwrap(), 6).unwrap()[5], 12.0);
    load.serialized_size -= 20;
    assert_eq!(call(Slot::Executable_DeserializeAndLoad, &mut load).unwrap_err().0, 3);
    // SAFETY: the plugin gave these bytes, which live on.
    let whole = unsafe { std::slice::from_raw_parts(bytes.bytes.cast::<u8>(), bytes.bytes_size) };
    for at in 0..whole.len() {
        let mut damaged = whole.to_vec();
        damaged[at] ^= 0x10;
        (load.serialized, load.serialized_size) = (damaged.as_ptr().cast(), damaged.len());
        let (code, message) = call(Slot::Executable_DeserializeAndLoad, &mut load).unwrap_err();
        assert_eq!((code, message.contains("damaged")), (3, true), "byte {at}: {message}");
    }
}

/// Options are messages of Protocol Buffers: field 3 has the numbers of replicas and partitions,
/// fields 4 and 5 of it, and field 4 is true if the program runs on any device.
#[test]
fn programs_for_any_device_have_an_assignment() {
    let client = client(2);
    let program = compile_with(&client, SUM, &[4 << 3, 1]).unwrap();
    let mut assignment: LoadedGetDeviceAssignment = args();
    assignment.executable = program.executable;
    call(Slot::LoadedExecutable_GetDeviceAssignment, &mut assignment).unwrap();
    // SAFETY: the plugin gave these bytes.
    let bytes =
        unsafe { std::slice::from_raw_parts(assignment.bytes.cast::<u8>(), assignment.bytes_size) };
    // One replica of one computation, which is on device 0.
    assert_eq!(bytes, [1 << 3, 1, 2 << 3, 1, (3 << 3) | 2, 3, (1 << 3) | 2, 1, 0]);
}

#[test]
fn more_devices_than_there_can_be_are_refused() {
    let client = client(1);
    // 2^42 - 1 replicas.
    let replicas = [(3 << 3) | 2, 7, 4 << 3, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F];
    let partitions = [(3 << 3) | 2, 7, 5 << 3, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F];
    for options in [replicas, partitions] {
        let (code, message) = compile_with(&client, SUM, &options).map(drop).unwrap_err();
        assert_eq!((code, message.contains("at most 1024 devices")), (3, true), "{message}");
    }
}

/// The fingerprint of a program is that of the one that was compiled first.
fn fingerprint(client: &ClientCreate, text: &str) -> String {
    let program = compile(client, text).unwrap();
    let mut args: LoadedFingerprint = args();
    args.executable = program.executable;
    call(Slot::LoadedExecutable_Fingerprint, &mut args).unwrap();
    // SAFETY: the text has this length and lives as long as the executable.
    let text = unsafe { std::slice::from_raw_parts(args.text.cast(), args.text_size) };
    let text = String::from_utf8_lossy(text).into_owned();
    let mut destroy: LoadedDestroy = self::args();
    destroy.executable = program.executable;
    call(Slot::LoadedExecutable_Destroy, &mut destroy).unwrap();
    text
}

/// Locations and names of values are no part of a program; all else is.
#[test]
fn programs_of_the_same_content_are_compiled_once() {
    let client = client(1);
    let text = "module @cached { func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
      %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
      %1 = stablehlo.add %x, %0 : tensor<2xf32>
      return %1 : tensor<2xf32>
    } }";
    let first = fingerprint(&client, text);
    let located = text.replace("%1 = ", "%sum = ").replace("%1", "%sum");
    let located =
        located.replace("%x, %0 : tensor<2xf32>", "%x, %0 : tensor<2xf32> loc(\"f.py\":1:2)");
    assert_ne!(located, text);
    assert_eq!(fingerprint(&client, &located), first);
    for (from, to) in [
        ("[1.0, 2.0]", "[1.0, 3.0]"),
        ("%x, %0", "%0, %x"),
        ("%x, %0", "%x, %x"),
        ("return %1", "return %0"),
        ("stablehlo.add", "stablehlo.subtract"),
        ("@cached", "@other"),
        ("%x: tensor<2xf32>", "%x: tensor<2xf32> {tf.aliasing_output = 0 : i32}"),
    ] {
        let other = text.replace(from, to);
        assert_ne!(other, text);
        assert_ne!(fingerprint(&client, &other), first, "{to}");
    }
}

/// Devices have terms of a sum: ops that are linear compute terms from terms.
#[test]
fn devices_have_the_terms_of_unreduced_values() {
    let client = client(2);
    let sharding = "sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={\"a\"}>";
    let text = format!(
        "sdy.mesh @mesh = <[\"a\"=2]>
        func.func @main(%x: tensor<2xf32> {{{sharding}}}) -> (tensor<2xf32> {{{sharding}}}) {{
          %0 = stablehlo.negate %x : tensor<2xf32>
          return %0 : tensor<2xf32>
        }}"
    );
    let program = compile_with(&client, &text, &devices(5, 2)).unwrap();
    let first = buffer_on(&client, 0, &[2], &[1.0, 2.0]);
    let second = buffer_on(&client, 1, &[2], &[10.0, 20.0]);
    let results = execute_on(&program, &[&[first], &[second]]).unwrap();
    assert_eq!(elements(results[0], 2).unwrap(), [-1.0, -2.0]);
    assert_eq!(elements(results[1], 2).unwrap(), [-10.0, -20.0]);
    let text = optimized(&program);
    let expected = "mhlo.spmd_output_sharding = \"{devices=[1,2]0,1 last_tile_dims={unreduced}}\"";
    assert!(text.contains(expected), "{text}");
}

/// The text of a compiled program.
pub(crate) fn optimized(program: &ClientCompile) -> String {
    let mut executable: LoadedGetExecutable = args();
    executable.loaded = program.executable;
    call(Slot::LoadedExecutable_GetExecutable, &mut executable).unwrap();
    let mut place: Program = args();
    let mut get: ExecutableOptimizedProgram = args();
    (get.executable, get.program) = (executable.executable, &mut place);
    call(Slot::Executable_OptimizedProgram, &mut get).unwrap();
    let mut text = vec![0u8; place.code_size];
    let mut filled = Program { code: text.as_mut_ptr().cast(), ..place };
    get.program = &mut filled;
    call(Slot::Executable_OptimizedProgram, &mut get).unwrap();
    String::from_utf8(text).unwrap()
}

/// As XLA propagates it: through elementwise ops and calls, not to constants.
#[test]
fn results_have_the_shardings_of_what_they_are_made_of() {
    let client = client(2);
    let text = "module {
      sdy.mesh @mesh = <[\"a\"=2]>
      func.func private @f(%x: tensor<2xf32>, %y: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
        %0 = stablehlo.add %y, %y : tensor<2xf32>
        return %x, %0 : tensor<2xf32>, tensor<2xf32>
      }
      func.func @main(%x: tensor<2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\"}]>})
          -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
        %0 = stablehlo.sine %x : tensor<2xf32>
        %1:2 = call @f(%0, %0) : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
        %2 = stablehlo.constant dense<1.0> : tensor<2xf32>
        return %1#0, %1#1, %2 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
      }
    }";
    let program = compile_with(&client, text, &devices(5, 2)).unwrap();
    let text = optimized(&program);
    let expected = "spmd_output_sharding = \"{{devices=[2]0,1}, {devices=[2]0,1}, {replicated}}\"";
    assert!(text.contains(expected), "{text}");
}

/// Serialized options with one option of the compiler, a text.
fn compiler_option(name: &str, value: &str) -> Vec<u8> {
    let field = |number: u8, content: &[u8]| {
        [&[number << 3 | 2, content.len() as u8][..], content].concat()
    };
    let value = field(2, &field(1, value.as_bytes()));
    field(7, &[field(1, name.as_bytes()), value].concat())
}

/// Options of XLA are accepted, and others refused with the message that clients look for.
#[test]
fn options_of_the_compiler_are_checked() {
    let client = client(1);
    for (name, value) in [("xla_dump_to", "x"), ("xla_embed_ir_in_executable", "True")] {
        compile_with(&client, SUM, &compiler_option(name, value)).unwrap();
    }
    for (name, value, expected) in [
        ("nope", "true", "No such compile option: 'nope'"),
        ("xla_embed_ir_in_executable", "maybe", "must be true or false: \"maybe\" is not a valid"),
        ("xla_cpu_enable_fast_math", "1", "must be true or false: \"1\" is not a valid"),
    ] {
        let options = compiler_option(name, value);
        let (code, message) = compile_with(&client, SUM, &options).err().unwrap();
        assert_eq!((code, message.contains(expected)), (3, true), "{message}");
    }
}
