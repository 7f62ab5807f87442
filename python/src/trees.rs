//! Nested arguments and results of functions that `jax.export` wrote.

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};
use stablo::{Exported, PyTree};

/// Trees of the arguments and of the results, the indices of the leaves of the former that the
/// program takes, and what stands for an array in the latter: `key<…>` or `float0`.
type Convention = (Py<PyAny>, Py<PyAny>, Vec<u16>, Vec<Option<String>>);

/// How the function in a container of `jax.export` is called; none for other files, and where the
/// program takes more than the leaves of its arguments.
#[pyfunction]
pub fn calling_convention(py: Python<'_>, data: &[u8]) -> PyResult<Option<Convention>> {
    let Some(exported) = Exported::read(data) else { return Ok(None) };
    let is_call = matches!(
        &exported.input_tree,
        PyTree::Tuple(parts) if matches!(parts[..], [PyTree::Tuple(_), PyTree::Dictionary(_)])
    );
    let count = exported.inputs.len();
    let is_known = exported.kept_inputs.iter().all(|&index| usize::from(index) < count)
        && leaves(&exported.input_tree) == count;
    if !is_call || !is_known || !exported.ordered_effects.is_empty() {
        return Ok(None);
    }
    let trees = (of_tree(py, &exported.input_tree)?, of_tree(py, &exported.output_tree)?);
    let kinds = exported.outputs.iter().map(|output| kind(output)).collect();
    Ok(Some((trees.0, trees.1, exported.kept_inputs, kinds)))
}

/// The kind of a result with a type such as `key<fry>[2]`; `None` for an array.
fn kind(output: &str) -> Option<String> {
    let (dtype, _) = output.split_once('[')?;
    match dtype {
        "f0" => Some("float0".to_string()),
        _ => dtype.starts_with("key<").then(|| dtype.to_string()),
    }
}

fn leaves(tree: &PyTree) -> usize {
    match tree {
        PyTree::Leaf => 1,
        PyTree::None => 0,
        PyTree::Tuple(children) | PyTree::List(children) | PyTree::Custom { children, .. } => {
            children.iter().map(leaves).sum()
        }
        PyTree::Dictionary(entries) => entries.iter().map(|(_, child)| leaves(child)).sum(),
    }
}

/// The tree as `stablo._trees` has it.
fn of_tree(py: Python<'_>, tree: &PyTree) -> PyResult<Py<PyAny>> {
    let all = |children: &[PyTree]| {
        let children = children.iter().map(|child| of_tree(py, child));
        children.collect::<PyResult<Vec<_>>>()
    };
    match tree {
        PyTree::Leaf => Ok(py.Ellipsis()),
        PyTree::None => Ok(py.None()),
        PyTree::Tuple(children) => PyTuple::new(py, all(children)?)?.into_py_any(py),
        PyTree::List(children) => PyList::new(py, all(children)?)?.into_py_any(py),
        PyTree::Dictionary(entries) => {
            let dictionary = PyDict::new(py);
            for (name, child) in entries {
                dictionary.set_item(name, of_tree(py, child)?)?;
            }
            dictionary.into_py_any(py)
        }
        PyTree::Custom { name, data, children } => {
            let children = PyTuple::new(py, all(children)?)?;
            let custom = py.import("stablo._trees")?.getattr("Custom")?;
            custom.call1((name, PyBytes::new(py, data), children)).map(Bound::unbind)
        }
    }
}
