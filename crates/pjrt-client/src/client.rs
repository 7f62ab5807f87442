//! Clients: a plugin with its devices.

use crate::error::Error;
use crate::executable::Executable;
use crate::plugin::Plugin;
use pjrt_abi::{
    Args, Client as PluginClient, ClientCompile, ClientCreate, ClientDestroy, ClientDevices,
    ClientPlatformName, ClientPlatformVersion, CompileOptions, DescriptionId, DescriptionText,
    Device, DeviceGetDescription, Handle, Named, NamedValues, Program, Slot,
};
use std::sync::Arc;

/// A client of a plugin, with one of its devices.
pub struct Client {
    pub(crate) plugin: Plugin,
    pub(crate) client: Handle<PluginClient>,
    pub(crate) device: Handle<Device>,
    /// The number of the device, for assignments.
    device_id: i64,
    num_devices: usize,
}

impl Drop for Client {
    fn drop(&mut self) {
        let mut args = ClientDestroy::zeroed();
        args.client = self.client;
        // Nothing is left to be done about a client that cannot be destroyed.
        let _ = self.plugin.call(Slot::Client_Destroy, &mut args);
    }
}

impl Client {
    /// Makes a client. Options have the meaning that the plugin gives them.
    ///
    /// # Errors
    /// If the plugin fails, or has no device.
    pub fn new(plugin: Plugin, options: Vec<(String, Named)>) -> Result<Client, Error> {
        let options = NamedValues::new(options);
        let mut args = ClientCreate::zeroed();
        (args.create_options, args.num_options) = options.parts();
        plugin.call(Slot::Client_Create, &mut args)?;
        if args.client.is_null() {
            return Err(plugin.wrong(Slot::Client_Create, "there is no client"));
        }
        let client = args.client;
        let mut client =
            Client { plugin, client, device: Handle::NULL, device_id: 0, num_devices: 0 };
        let mut args = ClientDevices::zeroed();
        args.client = client.client;
        let slot = Slot::Client_AddressableDevices;
        plugin.call(slot, &mut args)?;
        let devices = plugin.list(slot, args.devices, args.num_devices)?;
        client.num_devices = devices.len();
        let first = devices.first().filter(|device| !device.is_null());
        client.device = *first.ok_or_else(|| plugin.wrong(slot, "there is no device"))?;
        let mut description = DeviceGetDescription::zeroed();
        description.device = client.device;
        plugin.call(Slot::Device_GetDescription, &mut description)?;
        let mut id = DescriptionId::zeroed();
        id.description = description.description;
        plugin.call(Slot::DeviceDescription_Id, &mut id)?;
        client.device_id = i64::from(id.id);
        Ok(client)
    }

    /// The plugin.
    pub fn plugin(&self) -> &Plugin {
        &self.plugin
    }

    /// The number of devices.
    pub fn num_devices(&self) -> usize {
        self.num_devices
    }

    /// The name of the platform, such as `cpu`.
    ///
    /// # Errors
    /// If the plugin fails.
    pub fn platform_name(&self) -> Result<String, Error> {
        let mut args = ClientPlatformName::zeroed();
        args.client = self.client;
        let slot = Slot::Client_PlatformName;
        self.plugin.call(slot, &mut args)?;
        self.plugin.text(slot, args.name, args.name_size)
    }

    /// The version of the platform, in the words of the plugin.
    ///
    /// # Errors
    /// If the plugin fails.
    pub fn platform_version(&self) -> Result<String, Error> {
        let mut args = ClientPlatformVersion::zeroed();
        args.client = self.client;
        let slot = Slot::Client_PlatformVersion;
        self.plugin.call(slot, &mut args)?;
        self.plugin.text(slot, args.version, args.version_size)
    }

    /// The kind of the device, such as the name of a processor.
    ///
    /// # Errors
    /// If the plugin fails.
    pub fn device_kind(&self) -> Result<String, Error> {
        let mut description = DeviceGetDescription::zeroed();
        description.device = self.device;
        self.plugin.call(Slot::Device_GetDescription, &mut description)?;
        let mut args = DescriptionText::zeroed();
        args.description = description.description;
        let slot = Slot::DeviceDescription_Kind;
        self.plugin.call(slot, &mut args)?;
        self.plugin.text(slot, args.text, args.text_size)
    }

    /// Compiles a program, in a serialized form that the plugin reads, for the device.
    ///
    /// # Errors
    /// If the plugin refuses the program.
    pub fn compile(self: &Arc<Client>, program: &[u8]) -> Result<Executable, Error> {
        let options = CompileOptions {
            num_replicas: 1,
            num_partitions: 1,
            devices: vec![self.device_id],
            is_portable: false,
            overrides: Vec::new(),
        };
        let options = options.write();
        let format = "mlir";
        let mut source = Program::zeroed();
        (source.code, source.code_size) = (program.as_ptr().cast_mut().cast(), program.len());
        (source.format, source.format_size) = (format.as_ptr().cast(), format.len());
        let mut args = ClientCompile::zeroed();
        (args.client, args.program) = (self.client, &raw const source);
        (args.compile_options, args.compile_options_size) =
            (options.as_ptr().cast(), options.len());
        self.plugin.call(Slot::Client_Compile, &mut args)?;
        if args.executable.is_null() {
            return Err(self.plugin.wrong(Slot::Client_Compile, "there is no executable"));
        }
        Executable::new(self.clone(), args.executable)
    }
}
