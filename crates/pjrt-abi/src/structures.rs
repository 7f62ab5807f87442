//! Arguments of the functions of the interface, and the values in them.

use crate::handle::Handle;
use std::ffi::{c_char, c_int, c_void};

/// Objects of a plugin. Clients hold pointers to them and know nothing of what they are.
macro_rules! objects {
    ($($name:ident)*) => {$(
        #[derive(Debug)]
        pub struct $name(());
    )*};
}

objects! {
    AliasFulfillment Buffer Client Context Description Device Error Event Executable Loaded Memory
    Topology Tracking TransferManager
}

/// A memory layout, of the extension for layouts.
#[derive(Debug)]
pub struct MemoryOrder(());

/// Major version of the interface.
pub const MAJOR: c_int = 0;
/// Minor version of the interface.
pub const MINOR: c_int = 114;

/// The structure that a function of the interface takes.
///
/// # Safety
/// All bits must be a valid value: clients need not write what a function returns. The first field
/// must be the size of the structure, a `usize`.
pub unsafe trait Args: Copy {
    /// The bytes that every client has, whatever size it states.
    const LEAST: usize = size_of::<usize>();

    /// A structure with its size, and zeros otherwise.
    #[must_use]
    fn zeroed() -> Self {
        let mut args = std::mem::MaybeUninit::<Self>::zeroed();
        // SAFETY: all bits are a valid value; the first field is the size.
        unsafe {
            args.as_mut_ptr().cast::<usize>().write(size_of::<Self>());
            args.assume_init()
        }
    }
}

/// Declares structures that begin with their size and a list of extensions.
macro_rules! structures {
    ($($name:ident $(at least $least:literal)? { $($field:ident: $type:ty),* $(,)? })*) => {$(
        #[repr(C)]
        #[derive(Clone, Copy)]
        pub struct $name {
            pub struct_size: usize,
            pub extension_start: *mut c_void,
            $(pub $field: $type,)*
        }

        // SAFETY: of pointers, numbers, flags and functions that may be absent, all bits are valid:
        // clients need not write what they do not pass.
        unsafe impl Args for $name {
            $(const LEAST: usize = $least;)?
        }
    )*};
}

pub type DeleteFn = Option<unsafe extern "C" fn(*mut c_void)>;
pub type PayloadFn =
    Option<unsafe extern "C" fn(*const c_char, usize, *const c_char, usize, *mut c_void)>;
pub type ReadyFn = Option<unsafe extern "C" fn(*mut Error, *mut c_void)>;
pub type ViewDeleteFn = Option<unsafe extern "C" fn(*mut c_void, *mut c_void)>;
pub type RawToHostFn = Option<unsafe extern "C" fn(*mut RawToHostReady)>;
pub type DependencyFn = Option<unsafe extern "C" fn(*mut DependencyReady)>;

structures! {
    ApiVersion { major_version: c_int, minor_version: c_int }

    ErrorDestroy { error: Handle<Error> }
    ErrorMessage { error: Handle<Error>, message: *const c_char, message_size: usize }
    ErrorGetCode { error: Handle<Error>, code: c_int }
    ErrorForEachPayload { error: Handle<Error>, visitor: PayloadFn, user_arg: *mut c_void }

    PluginInitialize {}
    // Clients up to 2025 state a size without the last field, which they have.
    PluginAttributes at least 32 { attributes: *const NamedValue, num_attributes: usize }

    EventDestroy { event: Handle<Event> }
    EventIsReady { event: Handle<Event>, is_ready: Flag }
    EventError { event: Handle<Event> }
    EventAwait { event: Handle<Event> }
    EventOnReady { event: Handle<Event>, callback: ReadyFn, user_arg: *mut c_void }
    EventCreate { event: Handle<Event> }
    EventSet {
        event: Handle<Event>,
        error_code: c_int,
        error_message: *const c_char,
        error_message_size: usize,
    }

    ClientCreate {
        create_options: *const NamedValue,
        num_options: usize,
        kv_get_callback: *mut c_void,
        kv_get_user_arg: *mut c_void,
        kv_put_callback: *mut c_void,
        kv_put_user_arg: *mut c_void,
        client: Handle<Client>,
        kv_try_get_callback: *mut c_void,
        kv_try_get_user_arg: *mut c_void,
    }
    ClientDestroy { client: Handle<Client> }
    ClientPlatformName { client: Handle<Client>, name: *const c_char, name_size: usize }
    ClientProcessIndex { client: Handle<Client>, process_index: c_int }
    ClientPlatformVersion { client: Handle<Client>, version: *const c_char, version_size: usize }
    ClientTopologyDescription { client: Handle<Client>, topology: Handle<Topology> }
    ClientDevices {
        client: Handle<Client>,
        devices: *const Handle<Device>,
        num_devices: usize,
    }
    ClientLookupDevice { client: Handle<Client>, id: c_int, device: Handle<Device> }
    ClientAddressableMemories {
        client: Handle<Client>,
        memories: *const Handle<Memory>,
        num_memories: usize,
    }
    ClientUpdateGlobalProcessInfo {
        client: Handle<Client>,
        process_infos: *mut c_void,
        num_process_infos: usize,
    }
    Program { code: *mut c_char, code_size: usize, format: *const c_char, format_size: usize }
    ClientCompile {
        client: Handle<Client>,
        program: *const Program,
        compile_options: *const c_char,
        compile_options_size: usize,
        executable: Handle<Loaded>,
    }
    ClientLoad {
        client: Handle<Client>,
        executable: Handle<Executable>,
        compile_options: *const c_char,
        compile_options_size: usize,
        loaded_executable: Handle<Loaded>,
    }
    Compile {
        topology: Handle<Topology>,
        program: *const Program,
        compile_options: *const c_char,
        compile_options_size: usize,
        client: Handle<Client>,
        executable: Handle<Executable>,
    }
    ClientDefaultDeviceAssignment {
        client: Handle<Client>,
        num_replicas: c_int,
        num_partitions: c_int,
        default_assignment_size: usize,
        default_assignment: *mut c_int,
    }
    ClientDmaMap { client: Handle<Client>, data: *mut c_void, size: usize }
    ClientDmaUnmap { client: Handle<Client>, data: *mut c_void }
    ClientBufferFromHostBuffer {
        client: Handle<Client>,
        data: *const c_void,
        element_type: c_int,
        dims: *const i64,
        num_dims: usize,
        byte_strides: *const i64,
        num_byte_strides: usize,
        host_buffer_semantics: c_int,
        device: Handle<Device>,
        memory: Handle<Memory>,
        device_layout: *const MemoryLayout,
        done_with_host_buffer: Handle<Event>,
        buffer: Handle<Buffer>,
    }
    ClientCreateUninitializedBuffer {
        client: Handle<Client>,
        dims: *const i64,
        num_dims: usize,
        element_type: c_int,
        layout: *const MemoryLayout,
        device: Handle<Device>,
        memory: Handle<Memory>,
        buffer: Handle<Buffer>,
    }
    ClientCreateErrorBuffer {
        client: Handle<Client>,
        error_code: c_int,
        error_message: *const c_char,
        error_message_size: usize,
        dims: *const i64,
        num_dims: usize,
        element_type: c_int,
        layout: *const MemoryLayout,
        memory: Handle<Memory>,
        buffer: Handle<Buffer>,
        payload: *const NamedValue,
        num_payload: usize,
    }
    ClientCreateViewOfDeviceBuffer {
        client: Handle<Client>,
        device_buffer_ptr: *mut c_void,
        dims: *const i64,
        num_dims: usize,
        element_type: c_int,
        layout: *const MemoryLayout,
        device: Handle<Device>,
        on_delete_callback: ViewDeleteFn,
        on_delete_callback_arg: *mut c_void,
        stream: isize,
        buffer: Handle<Buffer>,
        memory: Handle<Memory>,
    }
    ShapeSpec { dims: *const i64, num_dims: usize, element_type: c_int }
    ClientCreateBuffersForAsyncTransfer {
        client: Handle<Client>,
        shapes: *const ShapeSpec,
        num_shapes: usize,
        layouts: *const *const MemoryLayout,
        num_layouts: usize,
        memory: Handle<Memory>,
        manager: Handle<TransferManager>,
    }
    TransferManagerDestroy { manager: Handle<TransferManager> }
    TransferData {
        manager: Handle<TransferManager>,
        index: c_int,
        data: *const c_void,
        offset: i64,
        size: i64,
        is_last: Flag,
        done: Handle<Event>,
    }
    TransferLiteral {
        manager: Handle<TransferManager>,
        index: c_int,
        data: *const c_void,
        dims: *const i64,
        num_dims: usize,
        element_type: c_int,
        layout: *const MemoryLayout,
        done: Handle<Event>,
    }
    TransferRetrieve { manager: Handle<TransferManager>, index: c_int, buffer: Handle<Buffer> }
    TransferDevice { manager: Handle<TransferManager>, device: Handle<Device> }
    TransferCount { manager: Handle<TransferManager>, count: usize }
    TransferSize { manager: Handle<TransferManager>, index: c_int, size: usize }
    TransferSetError {
        manager: Handle<TransferManager>,
        index: c_int,
        error_code: c_int,
        error_message: *const c_char,
        error_message_size: usize,
    }
    TransferAddMetadata {
        manager: Handle<TransferManager>,
        metadata: *const NamedValue,
        num_metadata: usize,
    }
    ClientCreateAliasBuffer {
        client: Handle<Client>,
        memory: Handle<Memory>,
        dims: *const i64,
        num_dims: usize,
        element_type: c_int,
        layout: *const MemoryLayout,
        buffer: Handle<Buffer>,
        fulfillment: Handle<AliasFulfillment>,
    }
    ClientFulfillAliasBuffer {
        client: Handle<Client>,
        buffer: Handle<Buffer>,
        error_code: c_int,
        error_message: *const c_char,
        error_message_size: usize,
        fulfillment: Handle<AliasFulfillment>,
    }

    DescriptionId { description: Handle<Description>, id: c_int }
    DescriptionAttributes {
        description: Handle<Description>,
        num_attributes: usize,
        attributes: *const NamedValue,
    }
    DescriptionText { description: Handle<Description>, text: *const c_char, text_size: usize }
    DeviceGetDescription { device: Handle<Device>, description: Handle<Description> }
    DeviceIsAddressable { device: Handle<Device>, is_addressable: Flag }
    DeviceLocalHardwareId { device: Handle<Device>, local_hardware_id: c_int }
    DeviceAddressableMemories {
        device: Handle<Device>,
        memories: *const Handle<Memory>,
        num_memories: usize,
    }
    DeviceDefaultMemory { device: Handle<Device>, memory: Handle<Memory> }
    DeviceMemoryStats {
        device: Handle<Device>,
        bytes_in_use: i64,
        peak_bytes_in_use: Stat,
        num_allocs: Stat,
        largest_alloc_size: Stat,
        bytes_limit: Stat,
        bytes_reserved: Stat,
        peak_bytes_reserved: Stat,
        bytes_reservable_limit: Stat,
        largest_free_block_bytes: Stat,
        pool_bytes: Stat,
        peak_pool_bytes: Stat,
        peak_allocated_bytes: Stat,
    }
    DeviceClearMemoryStats { device: Handle<Device> }
    DeviceCreateTracking {
        device: Handle<Device>,
        description: *const c_char,
        description_size: usize,
        tracking: Handle<Tracking>,
    }
    TrackingDestroy { tracking: Handle<Tracking> }
    DeviceGetAttributes {
        device: Handle<Device>,
        attributes: *const NamedValue,
        num_attributes: usize,
        device_attributes: *mut c_void,
        attributes_deleter: DeleteFn,
    }
    MemoryId { memory: Handle<Memory>, id: c_int }
    MemoryText { memory: Handle<Memory>, text: *const c_char, text_size: usize }
    MemoryAddressableByDevices {
        memory: Handle<Memory>,
        devices: *const Handle<Device>,
        num_devices: usize,
    }

    ExecuteContextCreate { context: Handle<Context> }
    ExecuteContextDestroy { context: Handle<Context> }
    ExecutableDestroy { executable: Handle<Executable> }
    LoadedDestroy { executable: Handle<Loaded> }
    LoadedGetExecutable { loaded: Handle<Loaded>, executable: Handle<Executable> }
    LoadedGetDeviceAssignment {
        executable: Handle<Loaded>,
        bytes: *const c_char,
        bytes_size: usize,
        owner: *mut c_void,
        deleter: DeleteFn,
    }
    ExecutableName { executable: Handle<Executable>, name: *const c_char, name_size: usize }
    ExecutableCount { executable: Handle<Executable>, count: usize }
    LoadedAddressableDevices {
        executable: Handle<Loaded>,
        devices: *const Handle<Device>,
        num_devices: usize,
    }
    LoadedLogicalIds {
        executable: Handle<Loaded>,
        ids: *const [c_int; 2],
        num_ids: usize,
    }
    ExecutableOptimizedProgram { executable: Handle<Executable>, program: *mut Program }
    LoadedDelete { executable: Handle<Loaded> }
    LoadedIsDeleted { executable: Handle<Loaded>, is_deleted: Flag }
    ExecuteOptions {
        send_callbacks: *mut c_void,
        recv_callbacks: *mut c_void,
        num_send_ops: usize,
        num_recv_ops: usize,
        launch_id: c_int,
        non_donatable_input_indices: *const i64,
        num_non_donatable_input_indices: usize,
        context: Handle<Context>,
        call_location: *const c_char,
        num_tasks: usize,
        task_ids: *mut c_int,
        incarnation_ids: *mut i64,
        multi_slice_config: *mut c_void,
        use_major_to_minor_data_layout_for_callbacks: Flag,
        hlo_output_callbacks: *mut c_void,
        num_hlo_output_callbacks: usize,
    }
    LoadedExecute {
        executable: Handle<Loaded>,
        options: *const ExecuteOptions,
        argument_lists: *const *const Handle<Buffer>,
        num_devices: usize,
        num_args: usize,
        output_lists: *const *mut Handle<Buffer>,
        device_complete_events: *mut Handle<Event>,
        execute_device: Handle<Device>,
    }
    ExecutableCodeSize { executable: Handle<Executable>, size_in_bytes: i64 }
    ExecutableFingerprint { executable: Handle<Executable>, text: *const c_char, text_size: usize }
    ExecutableGetCostAnalysis {
        executable: Handle<Executable>,
        num_properties: usize,
        properties: *const NamedValue,
    }
    ExecutableMemoryStats {
        executable: Handle<Executable>,
        generated_code_size_in_bytes: i64,
        argument_size_in_bytes: i64,
        output_size_in_bytes: i64,
        alias_size_in_bytes: i64,
        temp_size_in_bytes: i64,
        host_generated_code_size_in_bytes: i64,
        host_argument_size_in_bytes: i64,
        host_output_size_in_bytes: i64,
        host_alias_size_in_bytes: i64,
        host_temp_size_in_bytes: i64,
        peak_memory_in_bytes: i64,
        total_size_in_bytes: i64,
        total_allocation_bytes: i64,
        indefinite_allocations: i64,
        peak_unpadded_heap_bytes: i64,
    }
    ExecutableOutputElementTypes {
        executable: Handle<Executable>,
        types: *const c_int,
        num_types: usize,
    }
    ExecutableOutputDimensions {
        executable: Handle<Executable>,
        num_outputs: usize,
        dims: *const i64,
        dim_sizes: *const usize,
    }
    ExecutableMemoryKinds {
        executable: Handle<Executable>,
        count: usize,
        kinds: *const *const c_char,
        kind_sizes: *const usize,
    }
    ExecutableBytes {
        executable: Handle<Executable>,
        bytes: *const c_char,
        bytes_size: usize,
        owner: *mut c_void,
        deleter: DeleteFn,
    }
    ExecutableDeserializeAndLoad {
        client: Handle<Client>,
        serialized: *const c_char,
        serialized_size: usize,
        loaded_executable: Handle<Loaded>,
        overridden_options: *const c_char,
        overridden_options_size: usize,
        load_options: *mut c_void,
    }
    LoadedFingerprint { executable: Handle<Loaded>, text: *const c_char, text_size: usize }

    BufferDestroy { buffer: Handle<Buffer> }
    BufferElementType { buffer: Handle<Buffer>, element_type: c_int }
    BufferDimensions { buffer: Handle<Buffer>, dims: *const i64, num_dims: usize }
    BufferDynamicDimensionIndices {
        buffer: Handle<Buffer>,
        indices: *const usize,
        num_indices: usize,
    }
    BufferGetMemoryLayout { buffer: Handle<Buffer>, layout: MemoryLayout }
    BufferToHostBuffer {
        src: Handle<Buffer>,
        host_layout: *const MemoryLayout,
        dst: *mut c_void,
        dst_size: usize,
        event: Handle<Event>,
    }
    BufferOnDeviceSizeInBytes { buffer: Handle<Buffer>, size: usize }
    BufferIsDeleted { buffer: Handle<Buffer>, is_deleted: Flag }
    BufferCopyRawToHost {
        buffer: Handle<Buffer>,
        dst: *mut c_void,
        offset: i64,
        transfer_size: i64,
        event: Handle<Event>,
    }
    BufferCopyRawToHostFuture {
        buffer: Handle<Buffer>,
        offset: i64,
        transfer_size: i64,
        event: Handle<Event>,
        callback_data: *mut c_void,
        callback: RawToHostFn,
    }
    BufferDonateWithDependency {
        buffer: Handle<Buffer>,
        callback_data: *mut c_void,
        callback: DependencyFn,
        donated: Handle<Buffer>,
    }
    BufferCopyToDevice { buffer: Handle<Buffer>, device: Handle<Device>, copy: Handle<Buffer> }
    BufferCopyToMemory { buffer: Handle<Buffer>, memory: Handle<Memory>, copy: Handle<Buffer> }
    BufferBitcast {
        buffer: Handle<Buffer>,
        element_type: c_int,
        dims: *const i64,
        num_dims: usize,
        layout: *const MemoryLayout,
        out_buffer: Handle<Buffer>,
    }
    BufferIsOnCpu { buffer: Handle<Buffer>, is_on_cpu: Flag }
    BufferDevice { buffer: Handle<Buffer>, device: Handle<Device> }
    BufferMemory { buffer: Handle<Buffer>, memory: Handle<Memory> }
    BufferReadyEvent { buffer: Handle<Buffer>, event: Handle<Event> }
    BufferPointer { buffer: Handle<Buffer>, pointer: usize }

    TopologyCreate {
        name: *const c_char,
        name_size: usize,
        create_options: *const NamedValue,
        num_options: usize,
        topology: Handle<Topology>,
    }
    TopologyDestroy { topology: Handle<Topology> }
    TopologyText { topology: Handle<Topology>, text: *const c_char, text_size: usize }
    TopologyGetDeviceDescriptions {
        topology: Handle<Topology>,
        descriptions: *const Handle<Description>,
        num_descriptions: usize,
    }
    TopologyAttributes {
        topology: Handle<Topology>,
        attributes: *const NamedValue,
        num_attributes: usize,
    }
    TopologySerialize {
        topology: Handle<Topology>,
        bytes: *const c_char,
        bytes_size: usize,
        owner: *mut c_void,
        deleter: DeleteFn,
    }
    TopologyDeserialize {
        bytes: *const c_char,
        bytes_size: usize,
        topology: Handle<Topology>,
    }
    TopologyMemoryKindIds { topology: Handle<Topology>, ids: *const c_int, num_ids: usize }
    TopologyFingerprint { topology: Handle<Topology>, fingerprint: u64 }

    LayoutDestroy { layout: Handle<MemoryOrder> }
    LayoutSerialize {
        layout: Handle<MemoryOrder>,
        bytes: *const c_char,
        bytes_size: usize,
        owner: *mut c_void,
        deleter: DeleteFn,
    }
    LayoutOfClient {
        client: Handle<Client>,
        element_type: c_int,
        dims: *const i64,
        num_dims: usize,
        layout: Handle<MemoryOrder>,
    }
    LayoutOfBuffer { buffer: Handle<Buffer>, layout: Handle<MemoryOrder> }
    LayoutOfTopology {
        topology: Handle<Topology>,
        element_type: c_int,
        dims: *const i64,
        num_dims: usize,
        layout: Handle<MemoryOrder>,
    }
    LayoutsOfExecutable {
        executable: Handle<Executable>,
        count: usize,
        layouts: *const Handle<MemoryOrder>,
    }
    FfiTypeRegister {
        name: *const c_char,
        name_size: usize,
        type_id: i64,
        type_info: *mut c_void,
    }
    FfiUserDataAdd { context: Handle<Context>, type_id: i64, data: *mut c_void }
    FfiRegisterHandler {
        name: *const c_char,
        name_size: usize,
        handler: *mut c_void,
        platform: *const c_char,
        platform_size: usize,
        traits: c_int,
    }

    MemoryLayout { layout: Layout, kind: c_int }
    NamedValue {
        name: *const c_char,
        name_size: usize,
        kind: c_int,
        value: Value,
        value_size: usize,
    }
}

/// The arguments of the callback that starts a copy to memory which was not known before.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RawToHostReady {
    pub struct_size: usize,
    pub callback_data: *mut c_void,
    pub error_code: c_int,
    pub error_message: *const c_char,
    pub error_message_size: usize,
    pub dst: *mut c_void,
}

/// The arguments of the callback that makes a donated buffer usable.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct DependencyReady {
    pub struct_size: usize,
    pub callback_data: *mut c_void,
    pub error_code: c_int,
    pub error_message: *const c_char,
    pub error_message_size: usize,
}

/// A `bool` of C, which has any bits in a structure whose client has not written it.
#[repr(transparent)]
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Flag(u8);

impl From<bool> for Flag {
    fn from(flag: bool) -> Flag {
        Flag(u8::from(flag))
    }
}

impl Flag {
    pub fn is_set(self) -> bool {
        self.0 != 0
    }
}

/// A number that may be absent.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Stat {
    pub value: i64,
    pub is_set: Flag,
}

impl From<i64> for Stat {
    fn from(value: i64) -> Stat {
        Stat { value, is_set: true.into() }
    }
}

/// The value of a [`NamedValue`], by its `kind`.
#[repr(C)]
#[derive(Clone, Copy)]
pub union Value {
    pub pointer: *const c_void,
    pub integer: i64,
    pub float: f32,
    pub boolean: Flag,
}

/// Kinds of a [`NamedValue`].
pub mod kind {
    use std::ffi::c_int;

    pub const STRING: c_int = 0;
    pub const INTEGER: c_int = 1;
    pub const INTEGERS: c_int = 2;
    pub const FLOAT: c_int = 3;
    pub const BOOLEAN: c_int = 4;
}

/// The order of elements in memory, by the kind of a [`MemoryLayout`].
#[repr(C)]
#[derive(Clone, Copy)]
pub union Layout {
    pub tiled: Tiled,
    pub strides: Strides,
}

/// `PJRT_HostBufferSemantics_kImmutableZeroCopy`: the client does not change the memory until it
/// is notified when it is no longer used.
pub const IMMUTABLE_ZERO_COPY: c_int = 2;
/// `PJRT_HostBufferSemantics_kMutableZeroCopy`: as [`IMMUTABLE_ZERO_COPY`], and the memory may be
/// written.
pub const MUTABLE_ZERO_COPY: c_int = 3;

/// The kind of a [`MemoryLayout`] that lists dimensions.
pub const TILED: c_int = 0;
/// The kind of a [`MemoryLayout`] that has strides.
pub const STRIDES: c_int = 1;

/// Dimensions from the one that varies fastest on; tiles within.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Tiled {
    pub struct_size: usize,
    pub extension_start: *mut c_void,
    pub minor_to_major: *const i64,
    pub minor_to_major_size: usize,
    pub tile_dims: *const i64,
    pub tile_dim_sizes: *const usize,
    pub num_tiles: usize,
}

/// Distances in bytes along dimensions.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Strides {
    pub struct_size: usize,
    pub extension_start: *mut c_void,
    pub byte_strides: *const i64,
    pub num_byte_strides: usize,
}
