//! The division of a whole value into tiles, one for each device of a mesh.

use super::attrs::mesh_or_ref;
use super::mesh::Mesh;
use super::shards::ShardCut;
use mlir::{Attribute, OpRef};
use numerics::math::BinaryOp;

/// A sharding with its mesh, along all axes of which it divides a value.
pub struct Tiling {
    mesh: Mesh,
    cut: ShardCut,
}

impl Tiling {
    /// Resolves an `#sdy.sharding` from `op`. `None` if it or its mesh cannot be read.
    pub fn resolve(op: OpRef<'_>, sharding: &Attribute) -> Option<Tiling> {
        let mesh = Mesh::resolve(op, mesh_or_ref(sharding)?)?;
        let axes: Vec<usize> = (0..mesh.axes.len()).collect();
        let cut = ShardCut::of(&mesh, sharding, &axes)?;
        Some(Tiling { mesh, cut })
    }

    /// Number of tiles of each dimension.
    pub fn counts(&self) -> Vec<usize> {
        self.cut.counts().collect()
    }

    /// The coordinates of a device's tile. `None` for devices that the mesh does not have.
    pub fn tile(&self, device: usize) -> Option<Vec<usize>> {
        let place = self.mesh.place(device)?;
        Some(self.cut.start(&place, &vec![1; self.counts().len()]))
    }

    /// The term of a device, of the terms of a reduction that a value without it consists of: its
    /// number among `num_terms`. `None` for devices that the mesh does not have.
    pub fn term(&self, device: usize) -> Option<usize> {
        Some(self.cut.term(&self.mesh.place(device)?))
    }

    /// The number of terms of each tile; 1 if the value is not unreduced.
    pub fn num_terms(&self) -> usize {
        self.cut.num_terms()
    }

    /// The reduction of the terms.
    pub fn reduction(&self) -> BinaryOp {
        self.cut.reduction()
    }
}
