//! No call ends the process, whatever clients pass within the contract.

use crate::client::*;
use pjrt_abi::*;
use std::ffi::c_void;

/// Functions that free an object, which accept null, and functions without arguments.
const NULL_IS_FINE: &[&str] = &[
    "Error_Destroy",
    "Error_Message",
    "Error_GetCode",
    "Error_ForEachPayload",
    "Event_Destroy",
    "Event_Create",
    "Client_Create",
    "Client_Destroy",
    "Executable_Destroy",
    "LoadedExecutable_Destroy",
    "Buffer_Destroy",
    "ExecuteContext_Create",
    "ExecuteContext_Destroy",
    "TopologyDescription_Create",
    "TopologyDescription_Destroy",
    "Plugin_Initialize",
    "Plugin_Attributes",
    "AsyncHostToDeviceTransferManager_Destroy",
    "AsyncTrackingEvent_Destroy",
];

#[test]
fn every_function_answers_nulls() {
    for &slot in Slot::ALL {
        let name = slot.name();
        // More than any structure of arguments has.
        let mut zeros = [0usize; 64];
        zeros[0] = size_of_val(&zeros);
        match call_raw(slot, zeros.as_mut_ptr().cast()) {
            Ok(()) => assert!(NULL_IS_FINE.contains(&name), "{name} succeeds"),
            Err((12, message)) => {
                assert_eq!(message, format!("PJRT_{name} is not implemented by stablo"));
            }
            Err((code, message)) => assert_eq!(code, 3, "{name}: {message}"),
        }
        let none = call_raw(slot, std::ptr::null_mut());
        assert!(none.is_err(), "{name} takes null for its arguments");
    }
}

/// A structure of an older client ends before fields that ours has; one of a newer goes on.
#[test]
fn shorter_and_longer_structures_work() {
    for size in [80, size_of::<ClientCreate>(), 256] {
        let mut memory = [usize::MAX; 32];
        memory[..size / 8].fill(0);
        memory[0] = size;
        assert_eq!(call_raw(Slot::Client_Create, memory.as_mut_ptr().cast()), Ok(()));
        assert!(memory[8] != 0, "there is a client");
        assert!(memory[size / 8..].iter().all(|&word| word == usize::MAX), "{size}");
        let mut destroy: ClientDestroy = args();
        destroy.client = Handle::from_pointer(memory[8] as *mut c_void);
        call(Slot::Client_Destroy, &mut destroy).unwrap();
    }
}

/// Older headers define the size of this structure without its last field.
#[test]
fn attributes_are_counted_for_clients_that_state_too_small_a_size() {
    let mut memory = [24usize, 0, 0, 77];
    assert_eq!(call_raw(Slot::Plugin_Attributes, memory.as_mut_ptr().cast()), Ok(()));
    assert_eq!(memory[3], 3);
}

/// Structures of results come with any bits.
#[test]
fn results_need_not_be_initialized() {
    let client = client(1);
    let x = buffer(&client, &[1], &[1.0]);
    let mut memory = [0xA5A5_A5A5_A5A5_A5A5_u64; 8];
    memory[0] = 32;
    memory[2] = x.buffer.pointer() as u64;
    assert_eq!(call_raw(Slot::Buffer_IsDeleted, memory.as_mut_ptr().cast()), Ok(()));
    assert_eq!(memory[3] & 0xFF, 0);
}

/// Statistics that are not known are zeros that are not set, whatever the client had there.
#[test]
fn statistics_that_are_not_known_are_cleared() {
    let client = client(1);
    let x = buffer(&client, &[1], &[1.0]);
    let mut memory = [0xA5u8; 8 * 32];
    let word = |memory: &mut [u8], at: usize, value: usize| {
        memory[8 * at..][..8].copy_from_slice(&value.to_ne_bytes());
    };
    word(&mut memory, 0, size_of::<DeviceMemoryStats>());
    word(&mut memory, 2, x.device.pointer().addr());
    assert_eq!(call_raw(Slot::Device_MemoryStats, memory.as_mut_ptr().cast()), Ok(()));
    let flags: Vec<u8> = (0..11).map(|stat| memory[40 + 16 * stat]).collect();
    assert_eq!(flags, [1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
    let program = compile(
        &client,
        "func.func @main(%x: tensor<1xf32>) -> tensor<1xf32> { return %x : tensor<1xf32> }",
    )
    .unwrap();
    let mut executable: LoadedGetExecutable = args();
    executable.loaded = program.executable;
    call(Slot::LoadedExecutable_GetExecutable, &mut executable).unwrap();
    let mut stats: ExecutableMemoryStats = args();
    (stats.executable, stats.temp_size_in_bytes) = (executable.executable, 77);
    stats.host_temp_size_in_bytes = 77;
    call(Slot::Executable_GetCompiledMemoryStats, &mut stats).unwrap();
    assert_eq!((stats.argument_size_in_bytes, stats.output_size_in_bytes), (4, 4));
    assert_eq!((stats.temp_size_in_bytes, stats.host_temp_size_in_bytes), (0, 0));
}

#[test]
fn objects_are_freed_in_any_order() {
    let client = client(2);
    let program = compile(
        &client,
        "func.func @main(%x: tensor<1xf32>) -> tensor<1xf32> { return %x : tensor<1xf32> }",
    )
    .unwrap();
    let x = buffer(&client, &[1], &[2.5]);
    let result = execute(&program, &[x]).unwrap();
    let mut destroy: ClientDestroy = args();
    destroy.client = client.client;
    call(Slot::Client_Destroy, &mut destroy).unwrap();
    let mut destroy: BufferDestroy = args();
    destroy.buffer = x.buffer;
    call(Slot::Buffer_Destroy, &mut destroy).unwrap();
    let mut destroy: LoadedDestroy = args();
    destroy.executable = program.executable;
    call(Slot::LoadedExecutable_Destroy, &mut destroy).unwrap();
    assert_eq!(elements(result, 1), Ok(vec![2.5]));
    let mut device: BufferDevice = args();
    device.buffer = Handle::from_pointer(result);
    call(Slot::Buffer_Device, &mut device).unwrap();
    let mut id: DeviceLocalHardwareId = args();
    id.device = device.device;
    call(Slot::Device_LocalHardwareId, &mut id).unwrap();
    assert_eq!(id.local_hardware_id, 0);
}

/// Objects are used from many threads, while the client that made them is destroyed.
#[test]
fn objects_are_used_from_many_threads() {
    let text = "func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
      %0 = stablehlo.add %x, %x : tensor<64xf32>
      return %0 : tensor<64xf32>
    }";
    let client = client(1);
    let program = compile(&client, text).unwrap();
    let own: Vec<_> = (0..8).map(|n| buffer(&client, &[64], &[n as f32; 64])).collect();
    let address = |handle: *mut c_void| handle as usize;
    let program = address(program.executable.pointer().cast());
    let buffers: Vec<usize> = own.iter().map(|own| address(own.buffer.pointer().cast())).collect();
    std::thread::scope(|scope| {
        for (n, &buffer) in buffers.iter().enumerate() {
            scope.spawn(move || {
                for _ in 0..50 {
                    let mut loaded: ClientCompile = args();
                    loaded.executable = Handle::from_pointer(program as *mut c_void);
                    let mut input: ClientBufferFromHostBuffer = args();
                    input.buffer = Handle::from_pointer(buffer as *mut c_void);
                    let result = execute(&loaded, &[input]).unwrap();
                    assert_eq!(elements(result, 64).unwrap(), [2.0 * n as f32; 64]);
                    let mut destroy: BufferDestroy = args();
                    destroy.buffer = Handle::from_pointer(result);
                    call(Slot::Buffer_Destroy, &mut destroy).unwrap();
                }
            });
        }
        let mut destroy: ClientDestroy = args();
        destroy.client = client.client;
        call(Slot::Client_Destroy, &mut destroy).unwrap();
    });
}

/// Bytes of memory that the process holds.
#[cfg(target_os = "linux")]
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    4096 * text.split(' ').nth(1).unwrap().parse::<usize>().unwrap()
}

/// Neither executions nor compilations leave anything behind, but for the programs that are kept.
#[test]
#[cfg(target_os = "linux")]
fn memory_does_not_grow() {
    const ALONE: &str = "STABLO_TEST_ALONE";
    if std::env::var_os(ALONE).is_none() {
        // Other tests of this process allocate at the same time.
        let mut own = std::process::Command::new(std::env::current_exe().unwrap());
        own.args(["--exact", "contract::memory_does_not_grow"]).env(ALONE, "1");
        let output = own.output().unwrap();
        return assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
    let client = client(1);
    let text = |n: usize| {
        format!(
            "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {{
              %0 = stablehlo.constant dense<{n}.0> : tensor<2xf32>
              %1 = stablehlo.add %x, %0 : tensor<2xf32>
              return %1 : tensor<2xf32>
            }}"
        )
    };
    let x = buffer(&client, &[2], &[1.0, 2.0]);
    let program = compile(&client, &text(0)).unwrap();
    let run = |count: usize| {
        for _ in 0..count {
            let mut destroy: BufferDestroy = args();
            destroy.buffer = Handle::from_pointer(execute(&program, &[x]).unwrap());
            call(Slot::Buffer_Destroy, &mut destroy).unwrap();
        }
    };
    let compile_all = |numbers: std::ops::Range<usize>| {
        for n in numbers {
            let mut destroy: LoadedDestroy = args();
            destroy.executable = compile(&client, &text(n)).unwrap().executable;
            call(Slot::LoadedExecutable_Destroy, &mut destroy).unwrap();
        }
    };
    run(1000);
    let before = resident();
    run(10_000);
    let grown = resident().saturating_sub(before);
    assert!(grown < 4 << 20, "10,000 executions leave {grown} bytes");
    // More than are kept.
    compile_all(1..700);
    let before = resident();
    compile_all(700..1700);
    let grown = resident().saturating_sub(before);
    assert!(grown < 8 << 20, "1,000 compilations leave {grown} bytes");
}
