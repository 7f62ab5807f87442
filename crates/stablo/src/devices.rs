//! Programs on devices of PJRT plugins, such as XLA's for CPUs, GPUs and TPUs.

use crate::ir::{OpId, OpRef};
use crate::{
    Attribute, Error, Module, RefineOptions, Result, RuntimeValue, SerializeOptions, Type, Version,
    entry_function, refine, run_pipeline, serialize, set_entry, target_version, value_fits,
};
use hlo::ops::{UniformDequantizeOp, UniformQuantizeOp};
use interpreter::Grid;
use pjrt_client::{Client, Executable, Input, Plugin};
use side_dialects::sdy;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

pub use pjrt_client::Named as DeviceOption;

/// The name that plugins expect of the function that runs.
const MAIN: &str = "main";

/// The attribute with the version of StableHLO that a plugin reads.
const READS: &str = "stablehlo_current_version";

/// The beginning of the version of a platform whose plugin is stablo's.
const OWN: &str = "stablo ";

/// A device: the plugin that has it, and options of the plugin. As text,
/// `pjrt:PATH[,option=value]…`; values that look like numbers or booleans are.
///
/// ```
/// let device: stablo::DeviceSpec = "pjrt:/opt/plugin.so,num_devices=2".parse()?;
/// assert_eq!(device.path, std::path::Path::new("/opt/plugin.so"));
/// assert_eq!(device.options[0].1, stablo::DeviceOption::Integer(2));
/// # Ok::<(), stablo::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DeviceSpec {
    /// The shared library of the plugin.
    pub path: PathBuf,
    /// Options for the client that the plugin makes.
    pub options: Vec<(String, DeviceOption)>,
}

impl FromStr for DeviceSpec {
    type Err = Error;

    fn from_str(text: &str) -> Result<DeviceSpec> {
        let wrong = |why: String| {
            let message =
                format!("`{text}` is not a device, such as pjrt:PLUGIN.so,option=value: {why}");
            Error::message("device", message)
        };
        let Some(rest) = text.strip_prefix("pjrt:") else {
            return Err(wrong("it does not begin with `pjrt:`".to_string()));
        };
        let mut parts = rest.split(',');
        let path = parts.next().unwrap_or_default();
        if path.is_empty() {
            return Err(wrong("there is no path of a plugin".to_string()));
        }
        let mut options: Vec<(String, DeviceOption)> = Vec::new();
        for part in parts {
            let Some((name, value)) = part.split_once('=').filter(|(name, _)| !name.is_empty())
            else {
                return Err(wrong(format!("the option `{part}` has not the form name=value")));
            };
            if options.iter().any(|(own, _)| own == name) {
                return Err(wrong(format!("the option `{name}` is there twice")));
            }
            options.push((name.to_string(), option(value)));
        }
        Ok(DeviceSpec { path: path.into(), options })
    }
}

impl fmt::Display for DeviceSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pjrt:{}", self.path.display())?;
        self.options.iter().try_for_each(|(name, value)| match value {
            DeviceOption::Text(text) => write!(f, ",{name}={text}"),
            DeviceOption::Integer(integer) => write!(f, ",{name}={integer}"),
            DeviceOption::Integers(list) => write!(f, ",{name}={list:?}"),
            DeviceOption::Float(float) => write!(f, ",{name}={float:?}"),
            DeviceOption::Boolean(boolean) => write!(f, ",{name}={boolean}"),
        })
    }
}

/// The value of an option: a number or boolean if it looks like one.
fn option(text: &str) -> DeviceOption {
    let integer = text.parse().map(DeviceOption::Integer).ok();
    let boolean = text.parse().map(DeviceOption::Boolean).ok();
    // Texts such as `inf` or `nan` may be names.
    let is_number = text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.'));
    let float = text.parse().map(DeviceOption::Float).ok().filter(|_| is_number);
    integer.or(boolean).or(float).unwrap_or_else(|| DeviceOption::Text(text.to_string()))
}

/// A device of a PJRT plugin, which compiles programs and runs them.
///
/// The code of the plugin runs within this process, which it can crash.
#[derive(Clone)]
pub struct Device {
    client: Arc<Client>,
    spec: Arc<DeviceSpec>,
    /// The version of artifacts that the plugin reads.
    target: Version,
    /// True if it is stablo's plugin, which reads all dialects of the library.
    is_own: bool,
}

impl Device {
    /// Loads a plugin, makes a client with its options and takes the first of its devices.
    ///
    /// # Errors
    /// If the plugin cannot be loaded or is of another version of the interface, or it fails.
    pub fn open(spec: &DeviceSpec) -> Result<Device> {
        let failed = |error| failed(spec, &error);
        // A name without a folder would be looked up among the libraries of the system.
        let path = std::path::absolute(&spec.path)?;
        let plugin = Plugin::load(&path).map_err(failed)?;
        let attributes = plugin.attributes().map_err(failed)?;
        let reads = attributes.iter().find_map(|(name, value)| match value {
            DeviceOption::Integers(parts) if name == READS => version(parts),
            _ => None,
        });
        let target = match reads {
            Some(version) if version < Version::MINIMUM => {
                let message = format!(
                    "{}: it reads StableHLO {version}, the oldest that can be written is {}",
                    spec.path.display(),
                    Version::MINIMUM
                );
                return Err(Error::message("device", message));
            }
            Some(version) => version.min(Version::CURRENT),
            // As JAX does: plugins without the attribute may be as old as this.
            None => target_version("WEEK_12")?,
        };
        let client = Client::new(plugin, spec.options.clone()).map_err(failed)?;
        let is_own = client.platform_version().map_err(failed)?.starts_with(OWN);
        Ok(Device { client: Arc::new(client), spec: Arc::new(spec.clone()), target, is_own })
    }

    /// The device as it was asked for.
    pub fn spec(&self) -> &DeviceSpec {
        &self.spec
    }

    /// The version of StableHLO in which programs are passed to the plugin.
    pub fn target(&self) -> Version {
        self.target
    }

    /// A line for people: kind, platform and version of the interface.
    ///
    /// # Errors
    /// If the plugin fails.
    pub fn describe(&self) -> Result<String> {
        let failed = |error| failed(&self.spec, &error);
        let (major, minor) = self.client.plugin().version();
        let kind = self.client.device_kind().map_err(failed)?;
        let platform = self.client.platform_name().map_err(failed)?;
        Ok(format!(
            "{kind} ({platform}), PJRT {major}.{minor}, StableHLO {}, {}",
            self.target,
            crate::counted(self.client.num_devices() as u64, "device"),
        ))
    }

    /// Compiles the function `entry` of a verified module with static shapes.
    ///
    /// # Errors
    /// If there is no such function, its shapes are dynamic, the version that the plugin reads
    /// lacks an op, or the plugin refuses the program.
    pub fn compile(&self, module: &Module, entry: &str) -> Result<DeviceProgram> {
        self.compile_for(module, entry, None)
    }

    /// Compiles and runs the function `entry` of a verified module; a program with dynamic shapes
    /// is made static for the shapes of the inputs.
    ///
    /// # Errors
    /// As [`Device::compile`] and [`DeviceProgram::run`].
    pub fn run(
        &self,
        module: &Module,
        entry: &str,
        inputs: &[RuntimeValue],
    ) -> Result<Vec<RuntimeValue>> {
        self.compile_for(module, entry, Some(inputs))?.run(inputs)
    }

    /// As [`Device::compile`], for inputs of the shapes of `inputs` if the program is dynamic.
    ///
    /// # Errors
    /// As there.
    pub fn compile_for(
        &self,
        module: &Module,
        entry: &str,
        inputs: Option<&[RuntimeValue]>,
    ) -> Result<DeviceProgram> {
        let declared = entry_function(module, entry)?.signature().0;
        if let Some(inputs) = inputs {
            check_inputs(declared, inputs)?;
        }
        // Our own plugin runs such programs as `Program` does.
        let is_for_shards = |op: OpRef<'_>| op.is(sdy::ManualComputationOp::DEF);
        let is_spmd = crate::spmd::grid(module) != Grid::SINGLE;
        if !self.is_own && (is_spmd || crate::walk(module).any(is_for_shards)) {
            let message = "the program is for several devices, and would run on one: it computes \
                           with the shards of each";
            return Err(Error::message("device", message));
        }
        let module = self.lower(module, entry, inputs)?;
        let (arguments, results) = entry_function(&module, MAIN)?.signature();
        let (arguments, results) = (arguments.to_vec(), results.to_vec());
        let artifact = serialize(&module, SerializeOptions::from(self.target))?;
        let failed = |error| failed(&self.spec, &error);
        let executable = self.client.compile(&artifact).map_err(failed)?;
        if executable.num_results() != results.len() {
            let (found, declared) = (executable.num_results(), results.len());
            let message = format!(
                "{}: the program that it compiled has {}, the function {declared}",
                self.spec.path.display(),
                crate::counted(found as u64, "result"),
            );
            return Err(Error::message("device", message));
        }
        Ok(DeviceProgram { executable, spec: self.spec.clone(), arguments, results })
    }

    /// The program in the form that the plugin takes: static, `main` as the function to run, and
    /// only of dialects that it reads.
    ///
    /// # Errors
    /// If there is no such function, inputs do not fit it, or an op has no expansion.
    pub fn lower(
        &self,
        module: &Module,
        entry: &str,
        inputs: Option<&[RuntimeValue]>,
    ) -> Result<Module> {
        let mut module = module.clone();
        set_entry(&mut module, entry)?;
        let entry = entry_function(&module, entry)?.id();
        rename_to_main(&mut module, entry);
        if let Some(inputs) = inputs
            && transforms::dynamic_entry(&module).is_some()
        {
            let declared = entry_function(&module, MAIN)?.signature().0;
            let types = declared.iter().zip(inputs).map(|(ty, input)| static_type(ty, input));
            let options = RefineOptions::default().input_types(types.collect::<Vec<_>>());
            refine(&mut module, &options)?;
        }
        let is_quantized =
            |op: OpRef<'_>| op.is_any(&[UniformQuantizeOp::DEF, UniformDequantizeOp::DEF]);
        if !self.is_own && crate::walk(&module).any(is_quantized) {
            run_pipeline(&mut module, "stablehlo-legalize-quant-to-math")?;
        }
        let is_chlo =
            |op: OpRef<'_>| op.def().is_some_and(|def| matches!(def.dialect(), "chlo" | "shape"));
        if !self.is_own && crate::walk(&module).any(is_chlo) {
            run_pipeline(&mut module, "chlo-pre-serialization-pipeline")?;
        }
        // A function that is not called is not the plugin's business.
        run_pipeline(&mut module, "symbol-dce")?;
        if self.target < Version::CURRENT {
            let pass = format!("stablehlo-compatibility-expander{{target={}}}", self.target);
            run_pipeline(&mut module, &pass)?;
        }
        Ok(module)
    }
}

/// A program that is compiled for a device.
pub struct DeviceProgram {
    executable: Executable,
    spec: Arc<DeviceSpec>,
    /// The types of the arguments and results.
    arguments: Vec<Type>,
    results: Vec<Type>,
}

impl DeviceProgram {
    /// Runs the program on the device and waits for it.
    ///
    /// # Errors
    /// Inputs of another number, shape or element type than the program takes, or whatever the
    /// plugin fails with.
    pub fn run(&self, inputs: &[RuntimeValue]) -> Result<Vec<RuntimeValue>> {
        check_inputs(&self.arguments, inputs)?;
        let mut values = Vec::with_capacity(inputs.len());
        for (index, input) in inputs.iter().enumerate() {
            values.push(match input {
                RuntimeValue::Tensor(tensor) => Input::Tensor(tensor),
                RuntimeValue::Token => Input::Token,
                RuntimeValue::Tuple(_) => {
                    let message = format!("argument {index} is a tuple, which devices do not take");
                    return Err(Error::message("device", message));
                }
            });
        }
        let results = self.executable.run(&values).map_err(|error| failed(&self.spec, &error))?;
        let result = |((index, value), ty): ((usize, Option<numerics::Tensor>), &Type)| {
            let value = match value {
                // Tokens come back as such, or as the empty booleans that stood for arguments.
                _ if value_fits(&RuntimeValue::Token, ty) => RuntimeValue::Token,
                Some(tensor) => tensor.into(),
                None => RuntimeValue::Token,
            };
            if value_fits(&value, ty) {
                return Ok(value);
            }
            let found = match &value {
                RuntimeValue::Tensor(tensor) => {
                    format!("{} of shape {:?}", tensor.dtype().name(), tensor.shape())
                }
                RuntimeValue::Token | RuntimeValue::Tuple(_) => "a token".to_string(),
            };
            let message = format!(
                "{}: result {index} is a {ty}, the device returned {found}",
                self.spec.path.display()
            );
            Err(Error::message("device", message))
        };
        results.into_iter().enumerate().zip(&self.results).map(result).collect()
    }
}

/// Runs parts of programs for analyses.
pub(crate) struct OnDevice<'d>(pub &'d Device);

impl analysis::bisect::Executor for OnDevice<'_> {
    type Program = DeviceProgram;
    type Error = Error;

    fn compile(&mut self, module: &Module, entry: &str) -> Result<DeviceProgram> {
        self.0.compile(module, entry)
    }

    fn run(
        &mut self,
        program: &DeviceProgram,
        inputs: &[RuntimeValue],
    ) -> Result<Vec<RuntimeValue>> {
        program.run(inputs)
    }
}

/// Runs the function `entry` of a verified module on a device, which is loaded for it; see
/// [`DeviceSpec`] for the text. [`Device`] keeps a device for more than one run.
///
/// # Errors
/// As [`Device::open`] and [`Device::run`].
pub fn run_on_device(
    device: &str,
    module: &Module,
    entry: &str,
    inputs: &[RuntimeValue],
) -> Result<Vec<RuntimeValue>> {
    Device::open(&device.parse()?)?.run(module, entry, inputs)
}

/// The error of a plugin, with its path.
fn failed(spec: &DeviceSpec, error: &pjrt_client::Error) -> Error {
    Error::message("device", format!("{}: {error}", spec.path.display()))
}

/// The version of three numbers.
fn version(parts: &[i64]) -> Option<Version> {
    let part = |&part: &i64| u64::try_from(part).ok();
    let [major, minor, patch] = parts else { return None };
    Some(Version { major: part(major)?, minor: part(minor)?, patch: part(patch)? })
}

/// Fails unless there is an input of the right type for each argument.
fn check_inputs(declared: &[Type], inputs: &[RuntimeValue]) -> Result<()> {
    if declared.len() != inputs.len() {
        let message = format!(
            "the function takes {}, found {}",
            crate::counted(declared.len() as u64, "argument"),
            inputs.len()
        );
        return Err(Error::message("inputs", message));
    }
    for (index, (ty, input)) in declared.iter().zip(inputs).enumerate() {
        if !value_fits(input, ty) {
            let message = format!("the input for argument {index} is no {ty}");
            return Err(Error::message("inputs", message));
        }
    }
    Ok(())
}

/// The type of an argument with the sizes of an input.
fn static_type(ty: &Type, input: &RuntimeValue) -> Type {
    match (ty.as_tensor(), input) {
        (Some(tensor), RuntimeValue::Tensor(value)) if tensor.static_shape().is_none() => {
            let sizes = value.shape().iter().map(|&size| size as i64);
            Type::tensor(sizes.collect::<Vec<_>>(), tensor.element.clone())
        }
        _ => ty.clone(),
    }
}

/// Gives a function the name `main`, here and where it is called, and another one its name.
fn rename_to_main(module: &mut Module, entry: OpId) {
    let Some(name) = module.op(entry).symbol_name().map(str::to_string) else { return };
    if name == MAIN {
        return;
    }
    let names = [(name.as_str(), MAIN), (MAIN, name.as_str())];
    let other = |old: &str| names.iter().find(|(own, _)| *own == old).map(|(_, new)| *new);
    let mut changes = Vec::new();
    for op in crate::walk(module) {
        let declared = op.def().map_or(&[][..], |def| def.attributes);
        let slots = declared.iter().zip(op.properties());
        for (slot, value) in slots {
            let Some(value) = value else { continue };
            let is_name = slot.name == "sym_name";
            let old = if is_name { value.as_str() } else { value.as_flat_symbol().map(|s| &**s) };
            let Some(new) = old.and_then(other) else { continue };
            let new = if is_name { Attribute::string(new) } else { Attribute::symbol(new) };
            changes.push((op.id(), slot.name, new));
        }
    }
    for (op, slot, value) in changes {
        module.set_attr(op, slot, value);
    }
}
