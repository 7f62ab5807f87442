//! The table of functions.

use crate::handle::Handle;
use crate::structures::{ApiVersion, Error};
use std::ffi::c_void;

/// A function of the interface. Two of them return nothing, which is all the same to the caller.
pub type Function = unsafe extern "C" fn(*mut c_void) -> Handle<Error>;

/// `PJRT_Api`, up to the functions: pointers, as many as its size has room for.
#[repr(C)]
pub struct ApiHeader {
    /// Bytes of the table of the plugin.
    pub struct_size: usize,
    /// The first extension.
    pub extension_start: *const c_void,
    /// The version of the interface that the plugin was built for.
    pub version: ApiVersion,
}

/// Declares the functions, in the order of the header.
macro_rules! slots {
    ($($name:ident)*) => {
        /// The functions, by their names without the prefix `PJRT_`.
        #[allow(non_camel_case_types, clippy::enum_variant_names, reason = "the header's names")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Slot { $($name),* }

        impl Slot {
            /// All functions, in order.
            pub const ALL: &[Slot] = &[$(Slot::$name),*];

            /// The name without the prefix `PJRT_`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                [$(stringify!($name)),*][self as usize]
            }
        }
    };
}

/// Calls a macro with the names of all functions, in the order of the header.
#[macro_export]
macro_rules! for_each_slot {
    ($callback:ident) => {
        $callback! {
            Error_Destroy
            Error_Message
            Error_GetCode
            Plugin_Initialize
            Plugin_Attributes
            Event_Destroy
            Event_IsReady
            Event_Error
            Event_Await
            Event_OnReady
            Client_Create
            Client_Destroy
            Client_PlatformName
            Client_ProcessIndex
            Client_PlatformVersion
            Client_Devices
            Client_AddressableDevices
            Client_LookupDevice
            Client_LookupAddressableDevice
            Client_AddressableMemories
            Client_Compile
            Client_DefaultDeviceAssignment
            Client_BufferFromHostBuffer
            DeviceDescription_Id
            DeviceDescription_ProcessIndex
            DeviceDescription_Attributes
            DeviceDescription_Kind
            DeviceDescription_DebugString
            DeviceDescription_ToString
            Device_GetDescription
            Device_IsAddressable
            Device_LocalHardwareId
            Device_AddressableMemories
            Device_DefaultMemory
            Device_MemoryStats
            Memory_Id
            Memory_Kind
            Memory_DebugString
            Memory_ToString
            Memory_AddressableByDevices
            Executable_Destroy
            Executable_Name
            Executable_NumReplicas
            Executable_NumPartitions
            Executable_NumOutputs
            Executable_SizeOfGeneratedCodeInBytes
            Executable_GetCostAnalysis
            Executable_OutputMemoryKinds
            Executable_OptimizedProgram
            Executable_Serialize
            LoadedExecutable_Destroy
            LoadedExecutable_GetExecutable
            LoadedExecutable_AddressableDevices
            LoadedExecutable_Delete
            LoadedExecutable_IsDeleted
            LoadedExecutable_Execute
            Executable_DeserializeAndLoad
            LoadedExecutable_Fingerprint
            Buffer_Destroy
            Buffer_ElementType
            Buffer_Dimensions
            Buffer_UnpaddedDimensions
            Buffer_DynamicDimensionIndices
            Buffer_GetMemoryLayout
            Buffer_OnDeviceSizeInBytes
            Buffer_Device
            Buffer_Memory
            Buffer_Delete
            Buffer_IsDeleted
            Buffer_CopyToDevice
            Buffer_ToHostBuffer
            Buffer_IsOnCpu
            Buffer_ReadyEvent
            Buffer_UnsafePointer
            Buffer_IncreaseExternalReferenceCount
            Buffer_DecreaseExternalReferenceCount
            Buffer_OpaqueDeviceMemoryDataPointer
            CopyToDeviceStream_Destroy
            CopyToDeviceStream_AddChunk
            CopyToDeviceStream_TotalBytes
            CopyToDeviceStream_GranuleSize
            CopyToDeviceStream_CurrentBytes
            TopologyDescription_Create
            TopologyDescription_Destroy
            TopologyDescription_PlatformName
            TopologyDescription_PlatformVersion
            TopologyDescription_GetDeviceDescriptions
            TopologyDescription_Serialize
            TopologyDescription_Attributes
            Compile
            Executable_OutputElementTypes
            Executable_OutputDimensions
            Buffer_CopyToMemory
            Client_CreateViewOfDeviceBuffer
            Executable_Fingerprint
            Client_TopologyDescription
            Executable_GetCompiledMemoryStats
            Memory_Kind_Id
            ExecuteContext_Create
            ExecuteContext_Destroy
            Buffer_CopyRawToHost
            AsyncHostToDeviceTransferManager_Destroy
            AsyncHostToDeviceTransferManager_TransferData
            Client_CreateBuffersForAsyncHostToDevice
            AsyncHostToDeviceTransferManager_RetrieveBuffer
            AsyncHostToDeviceTransferManager_Device
            AsyncHostToDeviceTransferManager_BufferCount
            AsyncHostToDeviceTransferManager_BufferSize
            AsyncHostToDeviceTransferManager_SetBufferError
            AsyncHostToDeviceTransferManager_AddMetadata
            Client_DmaMap
            Client_DmaUnmap
            Client_CreateUninitializedBuffer
            Client_UpdateGlobalProcessInfo
            TopologyDescription_Deserialize
            Client_CreateAliasBuffer
            Client_FulfillAliasBuffer
            LoadedExecutable_GetDeviceAssignment
            Client_CreateErrorBuffer
            AsyncHostToDeviceTransferManager_TransferLiteral
            Buffer_CopyRawToHostFuture
            Device_PoisonExecution
            Device_CreateAsyncTrackingEvent
            AsyncTrackingEvent_Destroy
            Executable_GetCompileOptions
            Buffer_DonateWithControlDependency
            Event_Create
            Event_Set
            Device_GetAttributes
            Client_Load
            LoadedExecutable_AddressableDeviceLogicalIds
            Buffer_Bitcast
            Error_ForEachPayload
            TopologyDescription_Fingerprint
            Executable_ParameterMemoryKinds
            Device_ClearMemoryStats
            TopologyDescription_MakeCanonicalShapeForMemorySpace
            TopologyDescription_GetMemorySpaceKindIds
        }
    };
}

for_each_slot!(slots);
