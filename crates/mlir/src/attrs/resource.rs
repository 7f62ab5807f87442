//! Blobs of `dense_resource` attributes.

use super::Name;
use numerics::Bytes;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

/// A blob named in the `dialect_resources` of a file. All handles share it, so that it may be used
/// before its definition.
#[derive(Clone)]
pub struct Resource(Arc<ResourceInner>);

struct ResourceInner {
    key: Name,
    blob: OnceLock<Blob>,
}

/// The contents of a resource.
#[derive(Clone)]
pub struct Blob {
    /// Alignment of the data in bytes, a power of two.
    pub alignment: u32,
    /// The data.
    pub data: Bytes,
}

impl Resource {
    /// An undefined resource.
    pub fn new(key: impl Into<Name>) -> Resource {
        Resource(Arc::new(ResourceInner { key: key.into(), blob: OnceLock::new() }))
    }

    /// Its name.
    pub fn key(&self) -> &Name {
        &self.0.key
    }

    /// Its contents, once defined.
    pub fn blob(&self) -> Option<&Blob> {
        self.0.blob.get()
    }

    /// Defines the contents; returns false if they are already defined.
    pub fn define(&self, blob: Blob) -> bool {
        self.0.blob.set(blob).is_ok()
    }
}

impl PartialEq for Resource {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Resource {}

impl Hash for Resource {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.key.hash(state);
    }
}
