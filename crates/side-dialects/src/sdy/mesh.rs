//! Meshes of devices: coordinates, and groups along axes.

use super::attrs::{AXIS_REF, MESH, MESH_AXIS, SUB_AXIS_INFO, int, ints, list, text_of};
use super::ops::MeshOp;
use mlir::ods::Params;
use mlir::verify::nearest_symbol;
use mlir::{Attribute, OpRef};

/// A mesh of devices: a grid with named axes, in row-major order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mesh {
    /// Name and size of each axis.
    pub axes: Vec<(String, usize)>,
    /// The device ids in row-major order, unless they are 0, 1, 2, ….
    pub device_ids: Option<Vec<usize>>,
}

/// A part of a mesh axis, or all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AxisPart {
    /// Index of the axis.
    pub axis: usize,
    /// The product of the sizes of the axis parts after this one.
    pub minor: usize,
    /// Its own size.
    pub size: usize,
}

impl AxisPart {
    /// The coordinate along this part of a position in the mesh.
    pub fn index(self, place: &[usize]) -> usize {
        place[self.axis] / self.minor % self.size
    }
}

impl Mesh {
    /// Decodes `#sdy.mesh`; `None` for other attributes and for an invalid mesh.
    pub fn of(attr: &Attribute) -> Option<Mesh> {
        let params = attr.as_dialect(&MESH)?;
        let axis = |axis: &Attribute| {
            let axis = axis.as_dialect(&MESH_AXIS)?;
            Some((text_of(axis, 0).to_string(), usize::try_from(int(axis, 1)?).ok()?))
        };
        let axes = list(params, 0).iter().map(axis).collect::<Option<_>>()?;
        let ids = ints(params, 1)
            .iter()
            .map(|&id| usize::try_from(id).ok())
            .collect::<Option<Vec<_>>>()?;
        Mesh::new(axes, (!ids.is_empty()).then_some(ids))
    }

    /// A mesh of the given axes; `None` if an axis has size 0, there are too many devices, or not
    /// one id for each.
    pub fn new(axes: Vec<(String, usize)>, device_ids: Option<Vec<usize>>) -> Option<Mesh> {
        let devices =
            axes.iter().try_fold(1usize, |n, (_, size)| n.checked_mul(*size)).filter(|&n| n > 0)?;
        let fits = device_ids.as_ref().is_none_or(|ids| ids.len() == devices);
        fits.then_some(Mesh { axes, device_ids })
    }

    /// The mesh that an attribute holds, or that its symbol refers to, resolved from `op`.
    pub fn resolve(op: OpRef<'_>, mesh_or_ref: &Attribute) -> Option<Mesh> {
        match mesh_or_ref.as_flat_symbol() {
            Some(name) => Mesh::of(MeshOp::cast(nearest_symbol(op, name)?)?.mesh()?),
            None => Mesh::of(mesh_or_ref),
        }
    }

    /// Number of devices.
    pub fn num_devices(&self) -> usize {
        self.axes.iter().map(|(_, size)| size).product()
    }

    /// The coordinates of a device.
    pub fn place(&self, device: usize) -> Option<Vec<usize>> {
        let mut number = match &self.device_ids {
            Some(ids) => ids.iter().position(|&id| id == device)?,
            None => device,
        };
        if number >= self.num_devices() {
            return None;
        }
        let mut place = vec![0; self.axes.len()];
        for (coordinate, (_, size)) in place.iter_mut().zip(&self.axes).rev() {
            *coordinate = number % size;
            number /= size;
        }
        Some(place)
    }

    /// The device at coordinates returned by [`Mesh::place`].
    pub fn device(&self, place: &[usize]) -> usize {
        let number = place
            .iter()
            .zip(&self.axes)
            .fold(0, |n, (coordinate, (_, size))| n * size + coordinate);
        self.device_ids.as_ref().and_then(|ids| ids.get(number).copied()).unwrap_or(number)
    }

    /// The axis of the given name, whole.
    pub fn axis(&self, name: &str) -> Option<AxisPart> {
        self.part(name, None)
    }

    /// The part of an axis of size `sub.1` after parts of size `sub.0`, or all of it.
    pub fn part(&self, name: &str, sub: Option<(usize, usize)>) -> Option<AxisPart> {
        let axis = self.axes.iter().position(|(axis, _)| axis == name)?;
        let whole = self.axes[axis].1;
        let (before, size) = sub.unwrap_or((1, whole));
        let taken = before.checked_mul(size).filter(|&n| n > 0 && whole.is_multiple_of(n))?;
        Some(AxisPart { axis, minor: whole / taken, size })
    }

    /// The part that an `#sdy.axis_ref` refers to.
    pub fn axis_ref(&self, attr: &Attribute) -> Option<AxisPart> {
        let params: &Params = attr.as_dialect(&AXIS_REF)?;
        let sub =
            params.get(1).and_then(Option::as_ref).and_then(|sub| sub.as_dialect(&SUB_AXIS_INFO));
        let size = |sub: &Params, i| usize::try_from(int(sub, i)?).ok();
        let sub = match sub {
            Some(sub) => Some((size(sub, 0)?, size(sub, 1)?)),
            None => None,
        };
        self.part(text_of(params, 0), sub)
    }

    /// The devices whose coordinates differ from `place` only along the given parts of axes, in
    /// row-major order of these parts.
    pub fn group(&self, place: &[usize], parts: &[AxisPart]) -> Vec<usize> {
        let mut places = vec![place.to_vec()];
        for part in parts {
            let along = |place: Vec<usize>| {
                (0..part.size).map(move |index| {
                    let mut place = place.clone();
                    // Both terms are non-negative: the coordinate includes this digit.
                    place[part.axis] =
                        place[part.axis] - part.index(&place) * part.minor + index * part.minor;
                    place
                })
            };
            places = places.into_iter().flat_map(along).collect();
        }
        places.iter().map(|place| self.device(place)).collect()
    }
}
