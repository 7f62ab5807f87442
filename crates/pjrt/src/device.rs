//! Devices and their memories. Devices live as long as the process, so that whatever a client still
//! holds when its `PJRT_Client` is gone may refer to them; clients have the first few of them.

use crate::error::{Failure, Outcome};
use crate::handle::{Foreign, Handle, Resolve, give, int, lend, null, options, parts, text};
use crate::platform;
use pjrt_abi::{
    Args, DescriptionAttributes, DescriptionId, DescriptionText, DeviceAddressableMemories,
    DeviceClearMemoryStats, DeviceDefaultMemory, DeviceGetAttributes, DeviceGetDescription,
    DeviceIsAddressable, DeviceLocalHardwareId, DeviceMemoryStats, MemoryAddressableByDevices,
    MemoryId, MemoryText, Named, NamedValues, Stat, TopologyAttributes, TopologyCreate,
    TopologyDeserialize, TopologyDestroy, TopologyFingerprint, TopologyGetDeviceDescriptions,
    TopologyMemoryKindIds, TopologySerialize, TopologyText,
};
use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};

/// Most devices that a client may have.
pub(crate) const MAX_DEVICES: usize = 1024;

/// The kinds of memory of each device, the default first. All are the memory of the machine; JAX
/// wants the others for offloading.
pub(crate) const MEMORY_KINDS: [&str; 3] = ["device", "pinned_host", "unpinned_host"];

/// `PJRT_DeviceDescription`.
pub struct Description {
    id: usize,
    name: String,
}

/// `PJRT_Device`.
pub struct Device {
    description: Description,
    memories: [Handle<Memory>; MEMORY_KINDS.len()],
    /// The handle of this device.
    own: [Handle<Device>; 1],
    pub usage: Usage,
}

/// `PJRT_Memory`: begins with a pointer to functions for data that clients attach.
#[repr(C)]
pub struct Memory {
    table: &'static MemoryTable,
    id: usize,
    kind: &'static str,
    name: String,
    device: Mutex<Handle<Device>>,
    data: Mutex<HashMap<usize, (Foreign, DataDeleter)>>,
}

type DataDeleter = Option<unsafe extern "C" fn(*mut c_void)>;

/// `PJRT_Memory_FunctionTable`.
#[repr(C)]
struct MemoryTable {
    struct_size: usize,
    extension_start: usize,
    instance_size: usize,
    get_user_data: extern "C" fn(Handle<Memory>, usize) -> *mut c_void,
    set_user_data: extern "C" fn(Handle<Memory>, usize, *mut c_void, DataDeleter),
}

static TABLE: MemoryTable = MemoryTable {
    struct_size: size_of::<MemoryTable>(),
    extension_start: 0,
    instance_size: size_of::<usize>(),
    get_user_data,
    set_user_data,
};

extern "C" fn get_user_data(memory: Handle<Memory>, key: usize) -> *mut c_void {
    let data = memory.get_if_any().and_then(|memory| {
        let data = memory.data.lock().unwrap_or_else(PoisonError::into_inner);
        data.get(&key).map(|(data, _)| data.0)
    });
    data.unwrap_or(std::ptr::null_mut())
}

extern "C" fn set_user_data(
    memory: Handle<Memory>,
    key: usize,
    data: *mut c_void,
    deleter: DataDeleter,
) {
    let Some(memory) = memory.get_if_any() else { return };
    let mut all = memory.data.lock().unwrap_or_else(PoisonError::into_inner);
    let former = all.insert(key, (Foreign(data), deleter));
    drop(all);
    if let Some((former, Some(deleter))) = former {
        // SAFETY: the client gave the function for these data.
        unsafe { deleter(former.0) };
    }
}

/// Bytes in buffers of a device.
#[derive(Default)]
pub struct Usage {
    now: AtomicI64,
    peak: AtomicI64,
    allocations: AtomicI64,
    largest: AtomicI64,
}

impl Usage {
    pub fn add(&self, bytes: i64) {
        let now = self.now.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.peak.fetch_max(now, Ordering::Relaxed);
        self.allocations.fetch_add(1, Ordering::Relaxed);
        self.largest.fetch_max(bytes, Ordering::Relaxed);
    }

    pub fn remove(&self, bytes: i64) {
        self.now.fetch_sub(bytes, Ordering::Relaxed);
    }
}

impl Device {
    /// Makes the device of a number, for the rest of the process.
    fn make(id: usize) -> Handle<Device> {
        let name = format!("stablo:{id}");
        let memories = std::array::from_fn(|index| {
            give(Memory {
                table: &TABLE,
                id: id * MEMORY_KINDS.len() + index,
                kind: MEMORY_KINDS[index],
                name: format!("{}:{id}", MEMORY_KINDS[index]),
                device: Mutex::new(null()),
                data: Mutex::default(),
            })
        });
        let device = Box::leak(Box::new(Device {
            description: Description { id, name },
            memories,
            own: [null()],
            usage: Usage::default(),
        }));
        device.own = [lend(device)];
        for memory in memories.iter().filter_map(|memory| memory.get_if_any()) {
            *memory.device.lock().unwrap_or_else(PoisonError::into_inner) = device.own[0];
        }
        device.own[0]
    }

    pub fn id(&self) -> usize {
        self.description.id
    }

    pub fn description(&self) -> &Description {
        &self.description
    }

    pub fn memories(&self) -> &[Handle<Memory>] {
        &self.memories
    }

    pub fn default_memory(&self) -> Handle<Memory> {
        self.memories[0]
    }
}

impl Memory {
    pub fn device(&self) -> Handle<Device> {
        *self.device.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn kind(&self) -> &'static str {
        self.kind
    }
}

/// The first `count` devices of the process.
pub(crate) fn devices(count: usize) -> Vec<Handle<Device>> {
    static ALL: Mutex<Vec<Handle<Device>>> = Mutex::new(Vec::new());
    let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
    while all.len() < count {
        let next = all.len();
        all.push(Device::make(next));
    }
    all[..count].to_vec()
}

/// The number of devices that options ask for, or the environment.
///
/// # Errors
/// If it is no number from 1 on.
pub(crate) fn number_of_devices(options: &[(String, Named)]) -> Outcome<usize> {
    let option = options.iter().find(|(name, _)| name == "num_devices").map(|(_, value)| value);
    let (source, found) = match option {
        Some(Named::Integer(number)) => ("num_devices", number.to_string()),
        Some(Named::Text(text)) => ("num_devices", text.clone()),
        Some(_) => ("num_devices", "no integer".to_owned()),
        None => match std::env::var("STABLO_NUM_DEVICES") {
            Ok(text) if !text.is_empty() => ("STABLO_NUM_DEVICES", text),
            _ => return Ok(1),
        },
    };
    let number = found.trim().parse().ok().filter(|number| (1..=MAX_DEVICES).contains(number));
    number.ok_or_else(|| {
        let required = format!("the number of devices must be from 1 to {MAX_DEVICES}");
        Failure::invalid(format!("{source} is {found}: {required}"))
    })
}

/// `PJRT_TopologyDescription`.
pub struct Topology {
    pub platform: String,
    descriptions: Vec<Handle<Description>>,
}

impl Topology {
    pub fn new(platform: String, devices: &[Handle<Device>]) -> Topology {
        let devices = devices.iter().filter_map(|device| device.get_if_any());
        let descriptions = devices.map(|device| lend(&device.description)).collect();
        Topology { platform, descriptions }
    }
}

/// No attributes.
static NONE: LazyLock<NamedValues> = LazyLock::new(|| NamedValues::new(Vec::new()));

pub(crate) fn description_id(args: &mut DescriptionId) -> Outcome {
    args.id = int(args.description.get()?.id);
    Ok(())
}

pub(crate) fn description_process_index(args: &mut DescriptionId) -> Outcome {
    args.description.get()?;
    args.id = 0;
    Ok(())
}

pub(crate) fn description_attributes(args: &mut DescriptionAttributes) -> Outcome {
    args.description.get()?;
    (args.attributes, args.num_attributes) = NONE.parts();
    Ok(())
}

pub(crate) fn description_kind(args: &mut DescriptionText) -> Outcome {
    args.description.get()?;
    (args.text, args.text_size) = parts(platform::DEVICE_KIND.as_bytes());
    Ok(())
}

pub(crate) fn description_name(args: &mut DescriptionText) -> Outcome {
    (args.text, args.text_size) = parts(args.description.get()?.name.as_bytes());
    Ok(())
}

pub(crate) fn get_description(args: &mut DeviceGetDescription) -> Outcome {
    args.description = lend(&args.device.get()?.description);
    Ok(())
}

pub(crate) fn is_addressable(args: &mut DeviceIsAddressable) -> Outcome {
    args.device.get()?;
    args.is_addressable = true.into();
    Ok(())
}

pub(crate) fn local_hardware_id(args: &mut DeviceLocalHardwareId) -> Outcome {
    args.local_hardware_id = int(args.device.get()?.id());
    Ok(())
}

pub(crate) fn addressable_memories(args: &mut DeviceAddressableMemories) -> Outcome {
    let memories = &args.device.get()?.memories;
    (args.memories, args.num_memories) = (memories.as_ptr(), memories.len());
    Ok(())
}

pub(crate) fn default_memory(args: &mut DeviceDefaultMemory) -> Outcome {
    args.memory = args.device.get()?.default_memory();
    Ok(())
}

pub(crate) fn memory_stats(args: &mut DeviceMemoryStats) -> Outcome {
    let usage = &args.device.get()?.usage;
    let stat = |number: &AtomicI64| Stat::from(number.load(Ordering::Relaxed));
    // Unknown fields are cleared: the client's structure is not initialized.
    *args = DeviceMemoryStats {
        struct_size: args.struct_size,
        extension_start: args.extension_start,
        device: args.device,
        ..DeviceMemoryStats::zeroed()
    };
    args.bytes_in_use = usage.now.load(Ordering::Relaxed);
    args.peak_bytes_in_use = stat(&usage.peak);
    args.num_allocs = stat(&usage.allocations);
    args.largest_alloc_size = stat(&usage.largest);
    Ok(())
}

pub(crate) fn clear_memory_stats(args: &mut DeviceClearMemoryStats) -> Outcome {
    let usage = &args.device.get()?.usage;
    usage.peak.store(usage.now.load(Ordering::Relaxed), Ordering::Relaxed);
    usage.allocations.store(0, Ordering::Relaxed);
    usage.largest.store(0, Ordering::Relaxed);
    Ok(())
}

/// Nothing is to be deleted, but clients require a function.
unsafe extern "C" fn delete_nothing(_: *mut c_void) {}

pub(crate) fn get_attributes(args: &mut DeviceGetAttributes) -> Outcome {
    args.device.get()?;
    (args.attributes, args.num_attributes) = NONE.parts();
    args.device_attributes = std::ptr::null_mut();
    args.attributes_deleter = Some(delete_nothing);
    Ok(())
}

pub(crate) fn memory_id(args: &mut MemoryId) -> Outcome {
    args.id = int(args.memory.get()?.id);
    Ok(())
}

pub(crate) fn memory_kind(args: &mut MemoryText) -> Outcome {
    (args.text, args.text_size) = parts(args.memory.get()?.kind.as_bytes());
    Ok(())
}

pub(crate) fn memory_kind_id(args: &mut MemoryId) -> Outcome {
    args.id = int(args.memory.get()?.id % MEMORY_KINDS.len());
    Ok(())
}

pub(crate) fn memory_name(args: &mut MemoryText) -> Outcome {
    (args.text, args.text_size) = parts(args.memory.get()?.name.as_bytes());
    Ok(())
}

pub(crate) fn memory_devices(args: &mut MemoryAddressableByDevices) -> Outcome {
    let device = args.memory.get()?.device();
    let own = &device.get()?.own;
    (args.devices, args.num_devices) = (own.as_ptr(), own.len());
    Ok(())
}

pub(crate) fn topology_create(args: &mut TopologyCreate) -> Outcome {
    let options = options(args.create_options, args.num_options)?;
    let devices = devices(number_of_devices(&options)?);
    args.topology = give(Topology::new(platform::name(&options), &devices));
    Ok(())
}

pub(crate) fn topology_destroy(args: &mut TopologyDestroy) -> Outcome {
    args.topology.free();
    Ok(())
}

pub(crate) fn topology_platform_name(args: &mut TopologyText) -> Outcome {
    (args.text, args.text_size) = parts(args.topology.get()?.platform.as_bytes());
    Ok(())
}

pub(crate) fn topology_platform_version(args: &mut TopologyText) -> Outcome {
    args.topology.get()?;
    (args.text, args.text_size) = parts(platform::VERSION.as_bytes());
    Ok(())
}

pub(crate) fn topology_descriptions(args: &mut TopologyGetDeviceDescriptions) -> Outcome {
    let descriptions = &args.topology.get()?.descriptions;
    (args.descriptions, args.num_descriptions) = (descriptions.as_ptr(), descriptions.len());
    Ok(())
}

pub(crate) fn topology_attributes(args: &mut TopologyAttributes) -> Outcome {
    args.topology.get()?;
    (args.attributes, args.num_attributes) = NONE.parts();
    Ok(())
}

/// Bytes before a serialized topology.
const TOPOLOGY_MAGIC: &str = "stablo topology 1\n";

/// Frees the text of a serialized topology.
unsafe extern "C" fn delete_text(text: *mut c_void) {
    // SAFETY: clients free what `topology_serialize` gave them, once.
    drop(unsafe { Box::from_raw(text.cast::<String>()) });
}

/// The number of devices and the name of the platform, as lines of text.
pub(crate) fn topology_serialize(args: &mut TopologySerialize) -> Outcome {
    let topology = args.topology.get()?;
    let (count, platform) = (topology.descriptions.len(), &topology.platform);
    let text = Box::new(format!("{TOPOLOGY_MAGIC}{count}\n{platform}"));
    (args.bytes, args.bytes_size) = parts(text.as_bytes());
    args.owner = Box::into_raw(text).cast();
    args.deleter = Some(delete_text);
    Ok(())
}

pub(crate) fn topology_deserialize(args: &mut TopologyDeserialize) -> Outcome {
    let found = text(args.bytes, args.bytes_size)?;
    let lines = found.strip_prefix(TOPOLOGY_MAGIC).and_then(|lines| lines.split_once('\n'));
    let (count, platform) = lines.ok_or_else(|| {
        Failure::invalid("the bytes are not a topology that this plugin serialized")
    })?;
    let options = [("num_devices".to_string(), Named::Text(count.to_string()))];
    let devices = devices(number_of_devices(&options)?);
    args.topology = give(Topology::new(platform.to_string(), &devices));
    Ok(())
}

/// The ids of kinds of memory are their places.
pub(crate) fn topology_memory_kind_ids(args: &mut TopologyMemoryKindIds) -> Outcome {
    const IDS: [c_int; MEMORY_KINDS.len()] = [0, 1, 2];
    args.topology.get()?;
    (args.ids, args.num_ids) = (IDS.as_ptr(), IDS.len());
    Ok(())
}

pub(crate) fn topology_fingerprint(args: &mut TopologyFingerprint) -> Outcome {
    args.fingerprint = args.topology.get()?.descriptions.len() as u64;
    Ok(())
}
