//! Buffers whose values come later: asynchronous transfers, aliases, donation with a dependency,
//! and copies to memory that is not known yet.

use crate::client::*;
use pjrt_abi::*;
use std::ffi::c_void;
use std::ptr::null_mut;

/// The number of `f32`.
const F32: i32 = 11;
const F64: i32 = 12;

fn memory(client: &ClientCreate) -> Handle<Memory> {
    let mut memories: ClientAddressableMemories = args();
    memories.client = client.client;
    call(Slot::Client_AddressableMemories, &mut memories).unwrap();
    assert!(memories.num_memories > 0);
    // SAFETY: the client states this number of memories.
    unsafe { memories.memories.read() }
}

fn is_ready(buffer: Handle<Buffer>) -> bool {
    let mut ready: BufferReadyEvent = args();
    ready.buffer = buffer;
    call(Slot::Buffer_ReadyEvent, &mut ready).unwrap();
    let mut is_ready: EventIsReady = args();
    is_ready.event = ready.event;
    call(Slot::Event_IsReady, &mut is_ready).unwrap();
    let mut destroy: EventDestroy = args();
    destroy.event = ready.event;
    call(Slot::Event_Destroy, &mut destroy).unwrap();
    is_ready.is_ready.is_set()
}

/// Transfers for buffers of 2x3 and of no dimensions.
fn transfers(client: &ClientCreate) -> Handle<TransferManager> {
    let dims = [2i64, 3];
    let mut specs: [ShapeSpec; 2] = [args(), args()];
    specs[0].dims = dims.as_ptr();
    specs[0].num_dims = 2;
    specs.iter_mut().for_each(|spec| spec.element_type = F32);
    let mut create: ClientCreateBuffersForAsyncTransfer = args();
    (create.client, create.memory) = (client.client, memory(client));
    (create.shapes, create.num_shapes) = (specs.as_ptr(), 2);
    call(Slot::Client_CreateBuffersForAsyncHostToDevice, &mut create).unwrap();
    create.manager
}

fn retrieve(manager: Handle<TransferManager>, index: i32) -> Handle<Buffer> {
    let mut retrieve: TransferRetrieve = args();
    (retrieve.manager, retrieve.index) = (manager, index);
    call(Slot::AsyncHostToDeviceTransferManager_RetrieveBuffer, &mut retrieve).unwrap();
    retrieve.buffer
}

fn transfer(
    manager: Handle<TransferManager>,
    data: &[f32],
    offset: i64,
    is_last: bool,
) -> Result<(), (i32, String)> {
    let mut transfer: TransferData = args();
    (transfer.manager, transfer.data) = (manager, data.as_ptr().cast());
    (transfer.offset, transfer.size) = (offset, 4 * data.len() as i64);
    transfer.is_last = is_last.into();
    call(Slot::AsyncHostToDeviceTransferManager_TransferData, &mut transfer)?;
    let mut destroy: EventDestroy = args();
    destroy.event = transfer.done;
    call(Slot::Event_Destroy, &mut destroy)
}

fn destroy(manager: Handle<TransferManager>) {
    let mut destroy: TransferManagerDestroy = args();
    destroy.manager = manager;
    call(Slot::AsyncHostToDeviceTransferManager_Destroy, &mut destroy).unwrap();
}

#[test]
fn a_buffer_is_ready_with_the_last_transfer() {
    let client = client(1);
    let manager = transfers(&client);
    let mut count: TransferCount = args();
    count.manager = manager;
    call(Slot::AsyncHostToDeviceTransferManager_BufferCount, &mut count).unwrap();
    assert_eq!(count.count, 2);
    let mut size: TransferSize = args();
    size.manager = manager;
    call(Slot::AsyncHostToDeviceTransferManager_BufferSize, &mut size).unwrap();
    assert_eq!(size.size, 24);
    let mut device: TransferDevice = args();
    device.manager = manager;
    call(Slot::AsyncHostToDeviceTransferManager_Device, &mut device).unwrap();
    let mut id: DeviceLocalHardwareId = args();
    id.device = device.device;
    call(Slot::Device_LocalHardwareId, &mut id).unwrap();
    assert_eq!(id.local_hardware_id, 0);

    let buffer = retrieve(manager, 0);
    transfer(manager, &[4.0, 5.0, 6.0], 12, false).unwrap();
    assert!(!is_ready(buffer));
    transfer(manager, &[1.0, 2.0, 3.0], 0, true).unwrap();
    assert!(is_ready(buffer));
    assert_eq!(elements(buffer, 6).unwrap(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let (code, message) = transfer(manager, &[0.0], 0, true).unwrap_err();
    assert_eq!((code, message.contains("is set")), (9, true), "{message}");
    destroy(manager);
    // The buffer outlives the manager.
    assert_eq!(elements(buffer, 6).unwrap()[5], 6.0);
}

#[test]
fn a_literal_has_the_shape_of_its_buffer() {
    let client = client(1);
    let manager = transfers(&client);
    let data = [1f32, 2.0, 3.0, 4.0, 5.0, 6.0];
    let dims = [2i64, 3];
    let mut literal: TransferLiteral = args();
    (literal.manager, literal.data) = (manager, data.as_ptr().cast());
    (literal.dims, literal.num_dims, literal.element_type) = (dims.as_ptr(), 2, F64);
    let slot = Slot::AsyncHostToDeviceTransferManager_TransferLiteral;
    let (code, message) = call(slot, &mut literal).unwrap_err();
    assert_eq!((code, message.contains("[2, 3] of f64")), (3, true), "{message}");
    literal.element_type = F32;
    call(slot, &mut literal).unwrap();
    assert_eq!(elements(retrieve(manager, 0), 6).unwrap(), data);
    destroy(manager);
}

#[test]
fn transfers_that_do_not_fit_or_never_end_are_errors() {
    let client = client(1);
    let manager = transfers(&client);
    for (data, offset) in [(&[0f32; 7][..], 0), (&[0.0], 24), (&[0.0], -4), (&[0.0], i64::MAX)] {
        let (code, message) = transfer(manager, data, offset, false).unwrap_err();
        assert_eq!(code, 3, "{message}");
    }
    let mut size: TransferSize = args();
    (size.manager, size.index) = (manager, 2);
    let slot = Slot::AsyncHostToDeviceTransferManager_BufferSize;
    let (code, message) = call(slot, &mut size).unwrap_err();
    assert_eq!((code, message.contains("no buffer 2")), (3, true), "{message}");

    let mut error: TransferSetError = args();
    (error.manager, error.index, error.error_code) = (manager, 1, 14);
    (error.error_message, error.error_message_size) = (c"no network".as_ptr(), 10);
    call(Slot::AsyncHostToDeviceTransferManager_SetBufferError, &mut error).unwrap();
    let (code, message) = elements(retrieve(manager, 1), 1).unwrap_err();
    assert_eq!((code, &*message), (14, "no network"));

    let buffer = retrieve(manager, 0);
    destroy(manager);
    let (code, message) = elements(buffer, 6).unwrap_err();
    assert_eq!((code, message.contains("before the last transfer")), (1, true), "{message}");
}

/// An alias of 3 elements.
fn alias(client: &ClientCreate) -> ClientCreateAliasBuffer {
    let dims = [3i64];
    let mut alias: ClientCreateAliasBuffer = args();
    (alias.client, alias.memory) = (client.client, memory(client));
    (alias.dims, alias.num_dims, alias.element_type) = (dims.as_ptr(), 1, F32);
    call(Slot::Client_CreateAliasBuffer, &mut alias).unwrap();
    alias
}

#[test]
fn an_alias_gets_the_value_of_a_buffer() {
    let client = client(1);
    let alias = alias(&client);
    assert!(!is_ready(alias.buffer));
    let mut fulfill: ClientFulfillAliasBuffer = args();
    (fulfill.client, fulfill.fulfillment) = (client.client, alias.fulfillment);
    fulfill.buffer = buffer(&client, &[2], &[1.0, 2.0]).buffer;
    let (code, message) = call(Slot::Client_FulfillAliasBuffer, &mut fulfill).unwrap_err();
    assert_eq!((code, message.contains("[2] of f32, the alias [3]")), (3, true), "{message}");
    fulfill.buffer = alias.buffer;
    let (code, message) = call(Slot::Client_FulfillAliasBuffer, &mut fulfill).unwrap_err();
    assert_eq!((code, message.contains("by itself")), (3, true), "{message}");
    fulfill.buffer = buffer(&client, &[3], &[1.0, 2.0, 3.0]).buffer;
    call(Slot::Client_FulfillAliasBuffer, &mut fulfill).unwrap();
    assert_eq!(elements(alias.buffer, 3).unwrap(), [1.0, 2.0, 3.0]);
}

#[test]
fn an_alias_may_fail() {
    let client = client(1);
    let alias = alias(&client);
    let mut fulfill: ClientFulfillAliasBuffer = args();
    (fulfill.client, fulfill.fulfillment) = (client.client, alias.fulfillment);
    (fulfill.error_code, fulfill.error_message) = (13, c"lost".as_ptr());
    fulfill.error_message_size = 4;
    call(Slot::Client_FulfillAliasBuffer, &mut fulfill).unwrap();
    assert_eq!(elements(alias.buffer, 3).unwrap_err(), (13, "lost".to_string()));
}

/// Calls the function that ends the wait of a donation.
fn release(donation: &BufferDonateWithDependency, error_code: i32, message: &str) {
    let mut ready = DependencyReady {
        struct_size: size_of::<DependencyReady>(),
        callback_data: donation.callback_data,
        error_code,
        error_message: message.as_ptr().cast(),
        error_message_size: message.len(),
    };
    // SAFETY: the plugin gave the function and its data, which are used once.
    unsafe { donation.callback.unwrap()(&mut ready) };
}

#[test]
fn a_donation_waits_for_its_dependency() {
    let client = client(1);
    for (error_code, expected) in [(0, Ok(vec![1.0, 2.0])), (10, Err((10, "stop".to_string())))] {
        let source = buffer(&client, &[2], &[1.0, 2.0]);
        let mut donation: BufferDonateWithDependency = args();
        donation.buffer = source.buffer;
        call(Slot::Buffer_DonateWithControlDependency, &mut donation).unwrap();
        assert!(!is_ready(donation.donated));
        let (_, message) = elements(source.buffer, 2).unwrap_err();
        assert!(message.contains("deleted or donated"), "{message}");
        release(&donation, error_code, "stop");
        assert_eq!(elements(donation.donated, 2), expected);
    }
}

#[test]
fn a_copy_starts_when_there_is_memory_for_it() {
    let client = client(1);
    let source = buffer(&client, &[3], &[1.0, 2.0, 3.0]);
    let mut copy: BufferCopyRawToHostFuture = args();
    (copy.buffer, copy.offset, copy.transfer_size) = (source.buffer, 4, 12);
    let (code, message) = call(Slot::Buffer_CopyRawToHostFuture, &mut copy).unwrap_err();
    assert_eq!((code, message.contains("buffer of 12")), (3, true), "{message}");
    copy.transfer_size = 8;
    call(Slot::Buffer_CopyRawToHostFuture, &mut copy).unwrap();
    let mut is_ready: EventIsReady = args();
    is_ready.event = copy.event;
    call(Slot::Event_IsReady, &mut is_ready).unwrap();
    assert!(!is_ready.is_ready.is_set());
    let mut found = [0f32; 2];
    let mut ready = RawToHostReady {
        struct_size: size_of::<RawToHostReady>(),
        callback_data: copy.callback_data,
        error_code: 0,
        error_message: null_mut::<c_void>().cast(),
        error_message_size: 0,
        dst: found.as_mut_ptr().cast(),
    };
    // SAFETY: the plugin gave the function and its data, which are used once.
    unsafe { copy.callback.unwrap()(&mut ready) };
    let mut wait: EventAwait = args();
    wait.event = copy.event;
    call(Slot::Event_Await, &mut wait).unwrap();
    assert_eq!(found, [2.0, 3.0]);
}

#[test]
fn a_topology_comes_back_from_its_bytes() {
    let client = client(3);
    let mut topology: ClientTopologyDescription = args();
    topology.client = client.client;
    call(Slot::Client_TopologyDescription, &mut topology).unwrap();
    let mut bytes: TopologySerialize = args();
    bytes.topology = topology.topology;
    call(Slot::TopologyDescription_Serialize, &mut bytes).unwrap();
    let mut back: TopologyDeserialize = args();
    (back.bytes, back.bytes_size) = (bytes.bytes, bytes.bytes_size);
    call(Slot::TopologyDescription_Deserialize, &mut back).unwrap();
    let mut devices: TopologyGetDeviceDescriptions = args();
    devices.topology = back.topology;
    call(Slot::TopologyDescription_GetDeviceDescriptions, &mut devices).unwrap();
    assert_eq!(devices.num_descriptions, 3);
    // SAFETY: the plugin gave the function for these bytes.
    unsafe { bytes.deleter.unwrap()(bytes.owner) };
    (back.bytes, back.bytes_size) = (c"stablo topology 1\n99999\ncpu".as_ptr(), 27);
    let (code, message) = call(Slot::TopologyDescription_Deserialize, &mut back).unwrap_err();
    assert_eq!((code, message.contains("from 1 to 1024")), (3, true), "{message}");
    back.bytes_size = 5;
    let (code, _) = call(Slot::TopologyDescription_Deserialize, &mut back).unwrap_err();
    assert_eq!(code, 3);
}
