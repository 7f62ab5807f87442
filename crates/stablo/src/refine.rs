//! Making programs static.

use crate::error::check;
use crate::{Attribute, Diagnostics, Error, Module, Result, Type, verify};

/// Known sizes of the arguments of a program, for making it static.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct RefineOptions {
    /// The types of all arguments that do not become constants. If absent, they follow from `batch`
    /// and `dimensions`.
    pub input_types: Option<Vec<Type>>,
    /// The size of the first dimension of each argument, where it is dynamic.
    pub batch: Option<i64>,
    /// Sizes of named dimensions.
    pub dimensions: Vec<(String, i64)>,
    /// Integer arguments, by index, that become constants of these values. The program no longer
    /// takes them.
    pub constants: Vec<(usize, i64)>,
}

impl RefineOptions {
    /// Sets [`RefineOptions::input_types`].
    #[must_use]
    pub fn input_types(mut self, types: impl IntoIterator<Item = Type>) -> RefineOptions {
        self.input_types = Some(types.into_iter().collect());
        self
    }

    /// Sets [`RefineOptions::batch`].
    #[must_use]
    pub fn batch(mut self, size: i64) -> RefineOptions {
        self.batch = Some(size);
        self
    }

    /// Adds one of [`RefineOptions::dimensions`].
    #[must_use]
    pub fn dimension(mut self, name: impl Into<String>, size: i64) -> RefineOptions {
        self.dimensions.push((name.into(), size));
        self
    }

    /// Adds one of [`RefineOptions::constants`].
    #[must_use]
    pub fn constant(mut self, argument: usize, value: i64) -> RefineOptions {
        self.constants.push((argument, value));
        self
    }
}

/// Makes a verified program with dynamic shapes static: the entry function, which is `main`, the
/// only one or the only public one, and all that it calls. Assertions on shapes are checked and
/// removed. Returns warnings.
///
/// # Errors
/// If arguments do not fit, an assertion fails, or a value stays dynamic, with the ops responsible.
/// The module is then not fit for use.
///
/// ```
/// let mut module = stablo::load(
///     "dynamic.mlir",
///     "func.func @main(%x: tensor<?x2xf32>) -> tensor<?x2xf32> {
///        %0 = stablehlo.abs %x : tensor<?x2xf32>
///        return %0 : tensor<?x2xf32>
///      }",
/// )?;
/// stablo::refine(&mut module, &stablo::RefineOptions::default().batch(16))?;
/// assert!(module.to_string().contains("stablehlo.abs %arg0 : tensor<16x2xf32>"));
/// # Ok::<(), stablo::Error>(())
/// ```
pub fn refine(module: &mut Module, options: &RefineOptions) -> Result<Diagnostics> {
    let RefineOptions { input_types, batch, dimensions, constants } = options.clone();
    let sizes = batch.iter().chain(dimensions.iter().map(|(_, size)| size));
    if let Some(size) = sizes.copied().find(|&size| size < 0) {
        return Err(Error::message("argument", format!("{size} is not the size of a dimension")));
    }
    let sizes = transforms::Sizes { constants, types: input_types, batch, names: dimensions };
    let warnings = check(transforms::make_static(module, &sizes), module)?;
    verify(module)?;
    Ok(warnings)
}

/// Makes `entry` the only public function of a verified program, so that [`refine`],
/// [`bind_arguments`](crate::bind_arguments) and [`select_platform`] change it.
///
/// # Errors
/// If there is no such function with a body.
pub fn set_entry(module: &mut Module, entry: &str) -> Result<()> {
    let chosen = crate::entry_function(module, entry)?.id();
    let body = module.top().regions().first().and_then(|&region| module.entry(region));
    let ops: Vec<_> = body.into_iter().flat_map(|block| module.ops(block)).collect();
    let functions = ops.into_iter().filter(|op| op.name() == "func.func").map(|op| op.id());
    for function in functions.collect::<Vec<_>>() {
        if function == chosen {
            module.remove_attr(function, "sym_visibility");
        } else {
            module.set_attr(function, "sym_visibility", Attribute::string("private"));
        }
    }
    Ok(())
}

/// Makes a verified program that was exported for several platforms, such as those of a container
/// ([`Exported::platforms`](crate::Exported::platforms)), one for a single platform: `main` loses
/// the argument that selects it, and what only other platforms use is removed. `None` is `cpu`.
///
/// # Errors
/// If the program was not exported for the platform.
pub fn select_platform(
    module: &mut Module,
    platforms: &[String],
    platform: Option<&str>,
) -> Result<()> {
    let name = platform.unwrap_or("cpu");
    let Some(index) = platforms.iter().position(|p| p == name) else {
        if platform.is_none() && platforms.len() <= 1 {
            return Ok(());
        }
        let known = platforms.join(", ");
        let message = format!("the program is exported for {known}; choose one, not `{name}`");
        return Err(Error::message("platform", message));
    };
    if platforms.len() == 1 {
        return Ok(());
    }
    let selected = transforms::select_platform(module, index);
    selected.map_err(|error| Error::in_module(vec![error], module))?;
    verify(module)?;
    Ok(())
}
