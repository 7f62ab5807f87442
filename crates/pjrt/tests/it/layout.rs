//! Sizes and places of fields, as `offsetof` and `sizeof` of C give them for the header 0.114.

use pjrt_abi::*;
use stablo_pjrt::table::{API, Api};
use std::mem::offset_of;

/// The end of the last field, which the header calls the size of the structure.
macro_rules! end {
    ($name:ident, $($field:ident).+, $size:expr) => {
        offset_of!($name, $($field).+) + $size
    };
}

#[test]
fn structures_have_the_sizes_of_the_header() {
    assert_eq!(end!(ClientCreate, kv_try_get_user_arg, 8), 88);
    assert_eq!(end!(ClientBufferFromHostBuffer, buffer, 8), 120);
    assert_eq!(end!(ClientCreateViewOfDeviceBuffer, memory, 8), 112);
    assert_eq!(end!(ClientCreateErrorBuffer, num_payload, 8), 112);
    assert_eq!(end!(DeviceMemoryStats, peak_allocated_bytes.is_set, 1), 201);
    assert_eq!(end!(ExecuteOptions, num_hlo_output_callbacks, 8), 144);
    assert_eq!(end!(LoadedExecute, execute_device, 8), 80);
    assert_eq!(end!(ExecutableMemoryStats, peak_unpadded_heap_bytes, 8), 144);
    assert_eq!(end!(ExecutableDeserializeAndLoad, load_options, 8), 72);
    assert_eq!(end!(BufferGetMemoryLayout, layout.kind, 4) + 4, 104);
    assert_eq!(end!(BufferToHostBuffer, event, 8), 56);
    assert_eq!(end!(NamedValue, value_size, 8), 56);
    assert_eq!(end!(MemoryLayout, kind, 4), 76);
    assert_eq!(size_of::<ShapeSpec>(), 40);
    assert_eq!(end!(ClientCreateBuffersForAsyncTransfer, manager, 8), 72);
    assert_eq!(end!(TransferData, done, 8), 72);
    assert_eq!(end!(TransferLiteral, done, 8), 80);
    assert_eq!(end!(TransferSetError, error_message_size, 8), 48);
    assert_eq!(end!(ClientCreateAliasBuffer, fulfillment, 8), 80);
    assert_eq!(end!(ClientFulfillAliasBuffer, fulfillment, 8), 64);
    assert_eq!(end!(BufferCopyRawToHostFuture, callback, 8), 64);
    assert_eq!(end!(BufferDonateWithDependency, donated, 8), 48);
    assert_eq!(end!(TopologySerialize, deleter, 8), 56);
}

#[test]
fn fields_are_where_the_header_has_them() {
    assert_eq!(offset_of!(ExecuteOptions, context), 72);
    assert_eq!(offset_of!(ExecuteOptions, hlo_output_callbacks), 128);
    assert_eq!(offset_of!(DeviceMemoryStats, bytes_limit), 80);
    assert_eq!(offset_of!(ClientBufferFromHostBuffer, host_buffer_semantics), 72);
}

/// The table begins with its size, extensions and version, 40 bytes in all; functions follow.
#[test]
fn functions_are_where_the_header_has_them() {
    let offset = |slot: Slot| 40 + 8 * slot as usize;
    for (slot, place) in [
        (Slot::Event_Destroy, 80),
        (Slot::Client_Compile, 200),
        (Slot::LoadedExecutable_Execute, 480),
        (Slot::Buffer_CopyToMemory, 776),
        (Slot::Event_Create, 1048),
        (Slot::Error_ForEachPayload, 1096),
        (Slot::Executable_ParameterMemoryKinds, 1112),
    ] {
        assert_eq!(offset(slot), place, "{slot:?}");
    }
    assert_eq!(size_of::<Api>(), 1144);
    assert!(std::ptr::eq(stablo_pjrt::GetPjrtApi(), &API));
}
