//! Moving large constants out of programs and back.

use crate::{Attribute, Error, Module, Result, Tensor, Type};

pub use transforms::WeightForm;

/// Moves constants of at least `min_bytes` bytes, splats aside, out of a verified program, which
/// gets arguments or empty resources in their place. Returns them with their names: that of the
/// function and a number. Arguments come after those that the program has already.
///
/// # Errors
/// As arguments: if there is no entry function, or something refers to it.
pub fn extract_weights(
    module: &mut Module,
    min_bytes: usize,
    form: WeightForm,
) -> Result<Vec<(String, Tensor)>> {
    crate::compiled::remove_prepacked(module);
    let extracted = transforms::extract_weights(module, min_bytes, form);
    let weights = extracted.map_err(|error| Error::in_module(vec![error], module))?;
    weights.into_iter().map(|(name, elements)| Ok((name, elements.to_tensor()?))).collect()
}

/// Replaces arguments of the entry function of a verified program, given by their numbers, by
/// constants.
///
/// ```
/// let mut module = stablo::load(
///     "scale.mlir",
///     "func.func @main(%w: tensor<f32>, %x: tensor<f32>) -> tensor<f32> {
///        %0 = stablehlo.multiply %w, %x : tensor<f32>
///        return %0 : tensor<f32>
///      }",
/// )?;
/// stablo::bind_arguments(&mut module, &[(0, stablo::Tensor::scalar(2f32))])?;
/// let results = stablo::run(&module, "main", vec![stablo::Tensor::scalar(3f32).into()])?;
/// assert_eq!(results[0].tensor()?.item::<f32>()?, 6.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If there is no entry function of one block, the program refers to it, or an argument does not
/// exist, is given twice, or has another type than its value; and if constants of the program were
/// extracted and not yet put back. The module is then as before.
pub fn bind_arguments(module: &mut Module, values: &[(usize, Tensor)]) -> Result<()> {
    let values = values.iter().map(|(index, value)| (*index, Attribute::from_tensor(value)));
    let bound = transforms::bind_arguments(module, values.collect());
    bound.map_err(|error| Error::in_module(vec![error], module))
}

/// Puts back the constants that [`extract_weights`] moved, as `find` gives them for a name and a
/// type.
///
/// # Errors
/// If the program has no extracted constants, `find` fails, or a tensor has the wrong type. Some
/// constants may be back then, and others not.
pub fn insert_weights(
    module: &mut Module,
    mut find: impl FnMut(&str, &Type) -> Result<Tensor, String>,
) -> Result<()> {
    let mut constant = |name: &str, ty: &Type| {
        let constant = Attribute::from_tensor(&find(name, ty)?);
        let found = constant.ty();
        if found != *ty {
            return Err(format!("`{name}` is a {found}; the program has {ty}"));
        }
        Ok(constant)
    };
    transforms::insert_weights(module, &mut constant)
        .map_err(|error| Error::in_module(vec![error], module))
}
