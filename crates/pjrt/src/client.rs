//! Clients.

use crate::debug;
use crate::device::{Device, Memory, Topology, devices, number_of_devices};
use crate::error::{Code, Failure, Outcome};
use crate::handle::{Handle, Resolve, array_mut, give, int, lend, options, parts};
use crate::platform;
use crate::queue;
use pjrt_abi::{
    ClientAddressableMemories, ClientCreate, ClientDefaultDeviceAssignment, ClientDestroy,
    ClientDevices, ClientDmaMap, ClientDmaUnmap, ClientLookupDevice, ClientPlatformName,
    ClientPlatformVersion, ClientProcessIndex, ClientTopologyDescription,
    ClientUpdateGlobalProcessInfo,
};

/// `PJRT_Client`.
pub struct Client {
    pub devices: Vec<Handle<Device>>,
    memories: Vec<Handle<Memory>>,
    topology: Topology,
}

impl Client {
    /// The device of an id.
    ///
    /// # Errors
    /// If no such device exists.
    pub fn device(&self, id: i64) -> Outcome<Handle<Device>> {
        let device = usize::try_from(id).ok().and_then(|id| self.devices.get(id));
        device.copied().ok_or_else(|| {
            let message = format!("there is no device {id}: there are {}", self.devices.len());
            Failure::new(Code::NotFound, message)
        })
    }
}

pub(crate) fn create(args: &mut ClientCreate) -> Outcome {
    let options = options(args.create_options, args.num_options)?;
    let devices = devices(number_of_devices(&options)?);
    let each = devices.iter().filter_map(|device| device.get_if_any());
    let memories = each.flat_map(|device| device.memories().iter().copied()).collect();
    let topology = Topology::new(platform::name(&options), &devices);
    args.client = give(Client { devices, memories, topology });
    Ok(())
}

/// Ends the client once nothing runs any more: the process often ends after that.
pub(crate) fn destroy(args: &mut ClientDestroy) -> Outcome {
    if !args.client.is_null() {
        queue::wait();
        debug::write_profile();
    }
    args.client.free();
    Ok(())
}

pub(crate) fn platform_name(args: &mut ClientPlatformName) -> Outcome {
    (args.name, args.name_size) = parts(args.client.get()?.topology.platform.as_bytes());
    Ok(())
}

pub(crate) fn platform_version(args: &mut ClientPlatformVersion) -> Outcome {
    args.client.get()?;
    (args.version, args.version_size) = parts(platform::VERSION.as_bytes());
    Ok(())
}

pub(crate) fn process_index(args: &mut ClientProcessIndex) -> Outcome {
    args.client.get()?;
    args.process_index = 0;
    Ok(())
}

pub(crate) fn topology(args: &mut ClientTopologyDescription) -> Outcome {
    args.topology = lend(&args.client.get()?.topology);
    Ok(())
}

pub(crate) fn all_devices(args: &mut ClientDevices) -> Outcome {
    let devices = &args.client.get()?.devices;
    (args.devices, args.num_devices) = (devices.as_ptr(), devices.len());
    Ok(())
}

pub(crate) fn lookup_device(args: &mut ClientLookupDevice) -> Outcome {
    args.device = args.client.get()?.device(i64::from(args.id))?;
    Ok(())
}

pub(crate) fn addressable_memories(args: &mut ClientAddressableMemories) -> Outcome {
    let memories = &args.client.get()?.memories;
    (args.memories, args.num_memories) = (memories.as_ptr(), memories.len());
    Ok(())
}

/// There is one process: nothing is to be updated.
pub(crate) fn update_global_process_info(args: &mut ClientUpdateGlobalProcessInfo) -> Outcome {
    args.client.get().map(drop)
}

/// Devices in order, replica by replica.
pub(crate) fn default_device_assignment(args: &mut ClientDefaultDeviceAssignment) -> Outcome {
    let devices = args.client.get()?.devices.len();
    let [replicas, partitions] =
        [args.num_replicas, args.num_partitions].map(|number| usize::try_from(number).unwrap_or(0));
    let size = replicas.saturating_mul(partitions);
    if size == 0 || size > devices || size > args.default_assignment_size {
        let message = format!(
            "{replicas} replicas of {partitions} partitions do not fit: there are {devices} \
             devices, and room for {} numbers",
            args.default_assignment_size
        );
        return Err(Failure::invalid(message));
    }
    let places = array_mut(args.default_assignment, size)?;
    places.iter_mut().enumerate().for_each(|(number, place)| *place = int(number));
    Ok(())
}

/// All memory is that of the host.
pub(crate) fn dma_map(args: &mut ClientDmaMap) -> Outcome {
    args.client.get().map(drop)
}

/// All memory is that of the host.
pub(crate) fn dma_unmap(args: &mut ClientDmaUnmap) -> Outcome {
    args.client.get().map(drop)
}
