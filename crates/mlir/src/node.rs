//! Hash-consing without a context: a shared immutable node that caches its hash.
//!
//! `Type` and `Attribute` are such nodes. Cloning one copies a pointer, equality first compares
//! pointers and hashes, and no context is needed to read, build, send or free one.

use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Maximum nesting depth of regions, types, attributes and locations; hence of every recursion.
pub const MAX_NESTING: usize = 256;

/// Maximum number of types and attributes nested in one, counted with repetitions. Locations may
/// have more, since they are written as aliases.
pub const MAX_PARTS: usize = 1 << 22;

/// The size of a type or attribute. Nodes share parts, so that it may be far larger than what is
/// stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Number of nested types and attributes, itself included, counted with repetitions.
    pub parts: u32,
    /// Number of levels, its own included.
    pub height: u32,
}

impl Extent {
    /// Something without nested types and attributes.
    pub const LEAF: Extent = Extent { parts: 1, height: 1 };

    /// Adds a nested type or attribute.
    pub fn add(&mut self, nested: Extent) {
        self.parts = self.parts.saturating_add(nested.parts);
        self.height = self.height.max(nested.height.saturating_add(1));
    }

    /// Checks the limits of something that is nested `depth` levels deep.
    ///
    /// # Errors
    /// The limit that is exceeded.
    pub fn check(self, depth: usize) -> Result<(), String> {
        if depth.saturating_add(self.height as usize) > MAX_NESTING {
            return Err(format!("nesting deeper than {MAX_NESTING} levels cannot be read"));
        }
        if self.parts as usize > MAX_PARTS {
            return Err(format!(
                "it has more than {MAX_PARTS} types and attributes, counted as often as they would \
                 be written"
            ));
        }
        Ok(())
    }
}

/// The structure of a node.
pub(crate) trait Structure {
    /// The size with everything nested.
    fn extent(&self) -> Extent;
}

/// A shared immutable value with a cached hash, computed on first use.
pub(crate) struct SharedNode<K>(Arc<Inner<K>>);

struct Inner<K> {
    /// 0 until computed.
    hash: AtomicU64,
    extent: Extent,
    kind: K,
}

impl<K: Structure> SharedNode<K> {
    /// Shares `kind`.
    pub(crate) fn new(kind: K) -> SharedNode<K> {
        SharedNode(Arc::new(Inner { hash: AtomicU64::new(0), extent: kind.extent(), kind }))
    }
}

impl<K> SharedNode<K> {
    /// The size with everything nested.
    pub(crate) fn extent(&self) -> Extent {
        self.0.extent
    }

    /// The value.
    pub(crate) fn kind(&self) -> &K {
        &self.0.kind
    }

    /// True if both handles share one allocation.
    pub(crate) fn same(&self, other: &SharedNode<K>) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl<K: Hash> SharedNode<K> {
    #[inline]
    fn hash(&self) -> u64 {
        match self.0.hash.load(Ordering::Relaxed) {
            0 => self.compute_hash(),
            hash => hash,
        }
    }

    /// Benign race: concurrent threads compute the same hash.
    #[inline(never)]
    fn compute_hash(&self) -> u64 {
        let mut hasher = WordHasher(0xcbf2_9ce4_8422_2325);
        self.0.kind.hash(&mut hasher);
        let hash = hasher.finish().max(1);
        self.0.hash.store(hash, Ordering::Relaxed);
        hash
    }
}

impl<K> Clone for SharedNode<K> {
    fn clone(&self) -> Self {
        SharedNode(Arc::clone(&self.0))
    }
}

impl<K: PartialEq + Hash> PartialEq for SharedNode<K> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.same(other) || (self.hash() == other.hash() && self.has_equal_kind(other))
    }
}

impl<K: PartialEq> SharedNode<K> {
    /// Compiled once for all crates.
    #[inline(never)]
    fn has_equal_kind(&self, other: &SharedNode<K>) -> bool {
        self.0.kind == other.0.kind
    }
}

impl<K: Eq + Hash> Eq for SharedNode<K> {}

impl<K: Hash> Hash for SharedNode<K> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash());
    }
}

/// Multiplies and rotates eight bytes at a time: deterministic across runs and platforms, and cheap
/// for short keys.
struct WordHasher(u64);

impl Hasher for WordHasher {
    fn finish(&self) -> u64 {
        let x = (self.0 ^ (self.0 >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        x ^ (x >> 29)
    }
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for &word in words {
            self.write_u64(u64::from_le_bytes(word));
        }
        let last = rest.iter().rev().fold(rest.len() as u64, |last, &b| last << 8 | u64::from(b));
        self.write_u64(last);
    }
    fn write_u64(&mut self, n: u64) {
        self.0 = (self.0 ^ n).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23);
    }
    fn write_u8(&mut self, n: u8) {
        self.write_u64(u64::from(n));
    }
    fn write_u32(&mut self, n: u32) {
        self.write_u64(u64::from(n));
    }
    fn write_usize(&mut self, n: usize) {
        self.write_u64(n as u64);
    }
}
