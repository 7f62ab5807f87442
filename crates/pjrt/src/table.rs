//! The table of functions.

use crate::call::call;
use crate::error::{Code, Error, Failure};
use crate::handle::Handle;
use crate::layouts::LAYOUTS_EXTENSION;
use crate::{buffer, client, deferred, device, error, event, executable, execute, platform};
use pjrt_abi::{ApiHeader, ApiVersion, Function, MAJOR, MINOR, Slot, for_each_slot};
use std::ffi::c_void;

/// A function that is not implemented: it says which.
extern "C" fn unimplemented<const INDEX: usize>(_: *mut c_void) -> Handle<Error> {
    not_implemented(Slot::ALL[INDEX])
}

#[cold]
fn not_implemented(slot: Slot) -> Handle<Error> {
    let message = format!("PJRT_{} is not implemented by stablo", slot.name());
    Failure::new(Code::Unimplemented, message).into_error()
}

/// A table whose functions are not implemented.
macro_rules! unimplemented_slots {
    ($($name:ident)*) => { [$(unimplemented::<{ Slot::$name as usize }>),*] };
}

/// Declares the functions that are implemented.
macro_rules! slots {
    ($($name:ident = $function:path,)*) => {
        const SLOTS: [Function; NUM_SLOTS] = {
            let mut slots: [Function; NUM_SLOTS] = for_each_slot!(unimplemented_slots);
            $(slots[Slot::$name as usize] = {
                extern "C" fn slot(args: *mut c_void) -> Handle<Error> {
                    call(args, $function)
                }
                slot
            };)*
            slots
        };
    };
}

/// Number of functions.
const NUM_SLOTS: usize = Slot::ALL.len();

/// `PJRT_Api`.
#[repr(C)]
pub struct Api {
    header: ApiHeader,
    slots: [Function; NUM_SLOTS],
}

impl Api {
    /// A function.
    pub fn function(&self, slot: Slot) -> Function {
        self.slots[slot as usize]
    }
}

// SAFETY: nothing changes the table.
unsafe impl Sync for Api {}

/// The table that clients get.
pub static API: Api = Api {
    header: ApiHeader {
        struct_size: size_of::<Api>(),
        extension_start: (&raw const LAYOUTS_EXTENSION).cast(),
        version: ApiVersion {
            struct_size: size_of::<ApiVersion>(),
            extension_start: std::ptr::null_mut(),
            major_version: MAJOR,
            minor_version: MINOR,
        },
    },
    slots: SLOTS,
};

slots! {
    Error_Destroy = error::destroy,
    Error_Message = error::message,
    Error_GetCode = error::get_code,
    Plugin_Initialize = platform::initialize,
    Plugin_Attributes = platform::attributes,
    Event_Destroy = event::destroy,
    Event_IsReady = event::is_ready,
    Event_Error = event::error,
    Event_Await = event::await_,
    Event_OnReady = event::on_ready,
    Client_Create = client::create,
    Client_Destroy = client::destroy,
    Client_PlatformName = client::platform_name,
    Client_ProcessIndex = client::process_index,
    Client_PlatformVersion = client::platform_version,
    Client_Devices = client::all_devices,
    Client_AddressableDevices = client::all_devices,
    Client_LookupDevice = client::lookup_device,
    Client_LookupAddressableDevice = client::lookup_device,
    Client_AddressableMemories = client::addressable_memories,
    Client_Compile = executable::compile_and_load,
    Client_DefaultDeviceAssignment = client::default_device_assignment,
    Client_BufferFromHostBuffer = buffer::from_host,
    DeviceDescription_Id = device::description_id,
    DeviceDescription_ProcessIndex = device::description_process_index,
    DeviceDescription_Attributes = device::description_attributes,
    DeviceDescription_Kind = device::description_kind,
    DeviceDescription_DebugString = device::description_name,
    DeviceDescription_ToString = device::description_name,
    Device_GetDescription = device::get_description,
    Device_IsAddressable = device::is_addressable,
    Device_LocalHardwareId = device::local_hardware_id,
    Device_AddressableMemories = device::addressable_memories,
    Device_DefaultMemory = device::default_memory,
    Device_MemoryStats = device::memory_stats,
    Memory_Id = device::memory_id,
    Memory_Kind = device::memory_kind,
    Memory_DebugString = device::memory_name,
    Memory_ToString = device::memory_name,
    Memory_AddressableByDevices = device::memory_devices,
    Executable_Destroy = executable::destroy,
    Executable_Name = executable::name,
    Executable_NumReplicas = executable::num_replicas,
    Executable_NumPartitions = executable::num_partitions,
    Executable_NumOutputs = executable::num_outputs,
    Executable_SizeOfGeneratedCodeInBytes = executable::code_size,
    Executable_GetCostAnalysis = executable::cost_analysis,
    Executable_OutputMemoryKinds = executable::output_memory_kinds,
    Executable_OptimizedProgram = executable::optimized_program,
    Executable_Serialize = executable::serialize,
    LoadedExecutable_Destroy = executable::loaded_destroy,
    LoadedExecutable_GetExecutable = executable::get_executable,
    LoadedExecutable_AddressableDevices = executable::addressable_devices,
    LoadedExecutable_Delete = executable::delete,
    LoadedExecutable_IsDeleted = executable::is_deleted,
    LoadedExecutable_Execute = execute::execute,
    Executable_DeserializeAndLoad = executable::deserialize_and_load,
    LoadedExecutable_Fingerprint = executable::loaded_fingerprint,
    Buffer_Destroy = buffer::destroy,
    Buffer_ElementType = buffer::element_type,
    Buffer_Dimensions = buffer::dimensions,
    Buffer_UnpaddedDimensions = buffer::dimensions,
    Buffer_DynamicDimensionIndices = buffer::dynamic_dimensions,
    Buffer_GetMemoryLayout = buffer::memory_layout,
    Buffer_OnDeviceSizeInBytes = buffer::size_in_bytes,
    Buffer_Device = buffer::device,
    Buffer_Memory = buffer::memory,
    Buffer_Delete = buffer::delete,
    Buffer_IsDeleted = buffer::is_deleted,
    Buffer_CopyToDevice = buffer::copy_to_device,
    Buffer_ToHostBuffer = buffer::to_host,
    Buffer_IsOnCpu = buffer::is_on_cpu,
    Buffer_ReadyEvent = buffer::ready_event,
    Buffer_UnsafePointer = buffer::pointer,
    Buffer_IncreaseExternalReferenceCount = buffer::increase_references,
    Buffer_DecreaseExternalReferenceCount = buffer::decrease_references,
    Buffer_OpaqueDeviceMemoryDataPointer = buffer::pointer,
    TopologyDescription_Create = device::topology_create,
    TopologyDescription_Destroy = device::topology_destroy,
    TopologyDescription_PlatformName = device::topology_platform_name,
    TopologyDescription_PlatformVersion = device::topology_platform_version,
    TopologyDescription_GetDeviceDescriptions = device::topology_descriptions,
    TopologyDescription_Serialize = device::topology_serialize,
    TopologyDescription_Attributes = device::topology_attributes,
    Compile = executable::compile,
    Executable_OutputElementTypes = executable::output_types,
    Executable_OutputDimensions = executable::output_dimensions,
    Buffer_CopyToMemory = buffer::copy_to_memory,
    Client_CreateViewOfDeviceBuffer = buffer::view,
    Executable_Fingerprint = executable::fingerprint,
    Client_TopologyDescription = client::topology,
    Executable_GetCompiledMemoryStats = executable::memory_stats,
    Memory_Kind_Id = device::memory_kind_id,
    ExecuteContext_Create = execute::create_context,
    ExecuteContext_Destroy = execute::destroy_context,
    Buffer_CopyRawToHost = buffer::raw_to_host,
    AsyncHostToDeviceTransferManager_Destroy = deferred::destroy_transfers,
    AsyncHostToDeviceTransferManager_TransferData = deferred::transfer_data,
    Client_CreateBuffersForAsyncHostToDevice = deferred::create_transfers,
    AsyncHostToDeviceTransferManager_RetrieveBuffer = deferred::retrieve_transfer,
    AsyncHostToDeviceTransferManager_Device = deferred::transfer_device,
    AsyncHostToDeviceTransferManager_BufferCount = deferred::transfer_count,
    AsyncHostToDeviceTransferManager_BufferSize = deferred::transfer_size,
    AsyncHostToDeviceTransferManager_SetBufferError = deferred::transfer_error,
    AsyncHostToDeviceTransferManager_AddMetadata = deferred::transfer_metadata,
    Client_DmaMap = client::dma_map,
    Client_DmaUnmap = client::dma_unmap,
    Client_CreateUninitializedBuffer = buffer::uninitialized,
    Client_UpdateGlobalProcessInfo = client::update_global_process_info,
    TopologyDescription_Deserialize = device::topology_deserialize,
    Client_CreateAliasBuffer = deferred::create_alias,
    Client_FulfillAliasBuffer = deferred::fulfill_alias,
    LoadedExecutable_GetDeviceAssignment = executable::device_assignment,
    Client_CreateErrorBuffer = buffer::error_buffer,
    AsyncHostToDeviceTransferManager_TransferLiteral = deferred::transfer_literal,
    Buffer_CopyRawToHostFuture = deferred::copy_raw_to_future,
    Device_CreateAsyncTrackingEvent = deferred::create_tracking,
    AsyncTrackingEvent_Destroy = deferred::destroy_tracking,
    Executable_GetCompileOptions = executable::compile_options,
    Buffer_DonateWithControlDependency = deferred::donate_with_dependency,
    Event_Create = event::create,
    Event_Set = event::set,
    Device_GetAttributes = device::get_attributes,
    Client_Load = executable::load,
    LoadedExecutable_AddressableDeviceLogicalIds = executable::logical_ids,
    Buffer_Bitcast = buffer::bitcast,
    Error_ForEachPayload = error::for_each_payload,
    TopologyDescription_Fingerprint = device::topology_fingerprint,
    Executable_ParameterMemoryKinds = executable::parameter_memory_kinds,
    Device_ClearMemoryStats = device::clear_memory_stats,
    TopologyDescription_GetMemorySpaceKindIds = device::topology_memory_kind_ids,
}
