//! Immutable bytes that many tensors can share.

use crate::pages::AlignedMemory;
use crate::{TensorError, kept, pages};
use bytemuck::Pod;
use bytemuck::allocation::try_zeroed_vec;
use host::{Charge, OverBudget};
use std::any::Any;
use std::fmt;
use std::io::{self, Read};
use std::ops::{Deref, Range};
use std::sync::{Arc, Weak};

/// Bytes that are read before the budget is looked at.
const READ_AT_ONCE: usize = 1 << 20;

/// A range of bytes with a shared owner. Cloning and slicing copy no data.
///
/// The owner may be a vector of any plain element type, whose alignment the bytes then have, or
/// anything else that gives out bytes, such as a mapped file.
#[derive(Clone)]
pub struct Bytes {
    owner: Arc<dyn ByteOwner>,
    range: Range<usize>,
}

/// Makes room for more bytes than there are, of which there will probably be `expected` in all:
/// twice the room, as the expectation may be wrong, or some if there is no memory for these.
fn make_room(bytes: &mut Vec<u8>, expected: usize) -> Result<(), TensorError> {
    let again = bytes.len().max(READ_AT_ONCE);
    let more = match expected.checked_sub(bytes.len()) {
        // With room for one more, the end is found without another allocation.
        Some(rest) => again.min(rest.saturating_add(1)),
        None => again,
    };
    if host::check(bytes.len().saturating_add(more)).is_ok()
        && bytes.try_reserve_exact(more).is_ok()
    {
        return Ok(());
    }
    let some = more.min(READ_AT_ONCE);
    let no_memory = TensorError::OutOfMemory { bytes: bytes.len().saturating_add(some) };
    bytes.try_reserve_exact(some).map_err(|_| no_memory)
}

/// Recognizes bytes without keeping them alive. While there is an identity of bytes, these are not
/// written, as if they were shared.
pub struct BytesIdentity {
    owner: Weak<dyn ByteOwner>,
    range: Range<usize>,
}

impl BytesIdentity {
    /// True if these are the bytes.
    pub fn is_of(&self, bytes: &Bytes) -> bool {
        let (own, other) = (self.owner.as_ptr(), Arc::as_ptr(&bytes.owner));
        std::ptr::addr_eq(own, other) && self.range == bytes.range
    }
}

/// Keeps bytes alive.
trait ByteOwner: Send + Sync {
    fn bytes(&self) -> &[u8];

    /// The bytes for writing, if the owner allows that.
    fn bytes_mut(&mut self) -> Option<&mut [u8]>;

    /// Takes the bytes out, if they are a vector of bytes.
    fn take(&mut self) -> Option<Vec<u8>>;
}

/// Elements allocated by this crate, with their charge to a budget.
struct Owned<T> {
    elements: Vec<T>,
    _charge: Option<Charge>,
}

impl<T: Pod + Send + Sync> ByteOwner for Owned<T> {
    fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.elements)
    }

    fn bytes_mut(&mut self) -> Option<&mut [u8]> {
        Some(bytemuck::cast_slice_mut(&mut self.elements))
    }

    fn take(&mut self) -> Option<Vec<u8>> {
        (&mut self.elements as &mut dyn Any).downcast_mut().map(std::mem::take)
    }
}

/// A few bytes in the allocation of their owner, aligned for all element types.
struct Short<const WORDS: usize> {
    words: [u64; WORDS],
    _charge: Option<Charge>,
}

impl<const WORDS: usize> ByteOwner for Short<WORDS> {
    fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.words)
    }

    fn bytes_mut(&mut self) -> Option<&mut [u8]> {
        Some(bytemuck::cast_slice_mut(&mut self.words))
    }

    fn take(&mut self) -> Option<Vec<u8>> {
        None
    }
}

/// Memory that is kept for other tensors when this one is dropped.
struct Large {
    memory: Option<AlignedMemory>,
    _charge: Option<Charge>,
}

impl ByteOwner for Large {
    fn bytes(&self) -> &[u8] {
        self.memory.as_deref().unwrap_or_default()
    }

    fn bytes_mut(&mut self) -> Option<&mut [u8]> {
        self.memory.as_deref_mut()
    }

    fn take(&mut self) -> Option<Vec<u8>> {
        None
    }
}

impl Drop for Large {
    fn drop(&mut self) {
        self.memory.take().into_iter().for_each(kept::keep);
    }
}

/// An external owner, possibly shared, whose bytes are therefore never written.
struct ForeignOwner(Arc<dyn AsRef<[u8]> + Send + Sync>);

impl ByteOwner for ForeignOwner {
    fn bytes(&self) -> &[u8] {
        (*self.0).as_ref()
    }

    fn bytes_mut(&mut self) -> Option<&mut [u8]> {
        None
    }

    fn take(&mut self) -> Option<Vec<u8>> {
        None
    }
}

impl Bytes {
    /// Takes over the elements of a vector, without a copy. The bytes are the elements as they are
    /// in memory, and are aligned for `T`.
    pub fn from_vec<T: Pod + Send + Sync>(elements: Vec<T>) -> Bytes {
        let len = elements.len() * size_of::<T>();
        Bytes { owner: Arc::new(Owned { elements, _charge: host::charge(len) }), range: 0..len }
    }

    /// Zeros, aligned for all element types, that `write` may change; `None` if they are too many
    /// to be in one allocation with their owner.
    pub(crate) fn short(len: usize, write: impl FnOnce(&mut [u8])) -> Option<Bytes> {
        fn owner<const WORDS: usize>(
            len: usize,
            write: impl FnOnce(&mut [u8]),
        ) -> Arc<dyn ByteOwner> {
            let mut words = [0; WORDS];
            write(&mut bytemuck::cast_slice_mut(&mut words)[..len]);
            Arc::new(Short { words, _charge: host::charge(len) })
        }
        let owner = match len {
            0..=64 => owner::<8>(len, write),
            65..=256 => owner::<32>(len, write),
            _ => return None,
        };
        Some(Bytes { owner, range: 0..len })
    }

    /// Zeros, aligned for all element types, that `write` may change.
    ///
    /// # Errors
    /// If there is no memory for them.
    pub(crate) fn written(len: usize, write: impl FnOnce(&mut [u8])) -> Result<Bytes, TensorError> {
        host::check(len)?;
        let words = try_zeroed_vec::<[u64; 2]>(len.div_ceil(size_of::<[u64; 2]>()));
        let mut words = words.map_err(|()| TensorError::OutOfMemory { bytes: len })?;
        write(&mut bytemuck::cast_slice_mut(&mut words)[..len]);
        let owner = Arc::new(Owned { elements: words, _charge: host::charge(len) });
        Ok(Bytes { owner, range: 0..len })
    }

    /// Memory, which is kept for others after this.
    pub(crate) fn from_memory(memory: AlignedMemory) -> Bytes {
        let len = memory.len();
        let owner = Large { memory: Some(memory), _charge: host::charge(len) };
        Bytes { owner: Arc::new(owner), range: 0..len }
    }

    /// Reads to the end of `source`, which may have at most `limit` bytes and no more than the
    /// budget of the [`host`] has. `expected` is the number of bytes that it probably has.
    ///
    /// # Errors
    /// Errors of `source`, and if it has more bytes.
    pub fn read(source: impl Read, expected: usize, limit: usize) -> io::Result<Bytes> {
        Bytes::read_to(Vec::new(), source, expected, limit)
    }

    /// As [`Bytes::read`], of a source that has `len` bytes: a file. They are in large pages where
    /// the system has them.
    ///
    /// # Errors
    /// As there.
    pub fn read_file(source: impl Read, len: usize) -> io::Result<Bytes> {
        let mut bytes = Vec::new();
        // With room for one more, the end is found without another allocation.
        let room = len.saturating_add(1);
        if host::check(room).is_ok() && bytes.try_reserve_exact(room).is_ok() {
            pages::prefer_large(&bytes);
        }
        Bytes::read_to(bytes, source, len, usize::MAX)
    }

    fn read_to(
        mut bytes: Vec<u8>,
        mut source: impl Read,
        expected: usize,
        limit: usize,
    ) -> io::Result<Bytes> {
        let over = |error: OverBudget| io::Error::new(io::ErrorKind::OutOfMemory, error);
        loop {
            if bytes.len() == bytes.capacity() {
                make_room(&mut bytes, expected)
                    .map_err(|error| io::Error::new(io::ErrorKind::OutOfMemory, error))?;
            }
            let room = limit.saturating_sub(bytes.len()).saturating_add(1);
            let room = room.min(bytes.capacity() - bytes.len()).min(READ_AT_ONCE);
            if source.by_ref().take(room as u64).read_to_end(&mut bytes)? == 0 {
                host::check(bytes.len()).map_err(over)?;
                return Ok(Bytes::from_vec(bytes));
            }
            host::check(bytes.len()).map_err(over)?;
            if bytes.len() > limit {
                return Err(over(OverBudget { bytes: bytes.len(), used: 0, limit }));
            }
        }
    }

    /// Shares the bytes of an external owner, such as a mapped file, which do not change while they
    /// are shared.
    pub fn from_owner(owner: Arc<dyn AsRef<[u8]> + Send + Sync>) -> Bytes {
        let len = (*owner).as_ref().len();
        Bytes { owner: Arc::new(ForeignOwner(owner)), range: 0..len }
    }

    /// The part of these bytes at `range`, which is relative to their start, or `None` if it
    /// reaches outside of them.
    pub fn slice(&self, range: Range<usize>) -> Option<Bytes> {
        if range.start > range.end || range.end > self.range.len() {
            return None;
        }
        let range = self.range.start + range.start..self.range.start + range.end;
        Some(Bytes { owner: Arc::clone(&self.owner), range })
    }

    /// The bytes for writing, if they are unshared.
    pub fn get_mut(&mut self) -> Option<&mut [u8]> {
        let range = self.range.clone();
        Arc::get_mut(&mut self.owner)?.bytes_mut()?.get_mut(range)
    }

    /// The bytes as a vector: without a copy if they are a whole vector that is unshared.
    pub fn into_vec(mut self) -> Vec<u8> {
        let is_whole = self.range == (0..self.owner.bytes().len());
        let taken = if is_whole {
            Arc::get_mut(&mut self.owner).and_then(|owner| owner.take())
        } else {
            None
        };
        taken.unwrap_or_else(|| self.to_vec())
    }

    /// The identity of these bytes, by which they are recognized later.
    pub fn identity(&self) -> BytesIdentity {
        BytesIdentity { owner: Arc::downgrade(&self.owner), range: self.range.clone() }
    }

    /// True if both are the same range of the same owner, and thus equal without comparing data.
    pub fn same(&self, other: &Bytes) -> bool {
        Arc::ptr_eq(&self.owner, &other.owner) && self.range == other.range
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // An external owner may return fewer bytes than before.
        self.owner.bytes().get(self.range.clone()).unwrap_or_default()
    }
}

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl Default for Bytes {
    fn default() -> Bytes {
        Bytes::from_vec(Vec::<u8>::new())
    }
}

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Bytes {
        Bytes::from_vec(bytes)
    }
}

impl From<String> for Bytes {
    fn from(text: String) -> Bytes {
        Bytes::from_vec(text.into_bytes())
    }
}

/// Copies the text.
impl From<&str> for Bytes {
    fn from(text: &str) -> Bytes {
        Bytes::from_vec(text.as_bytes().to_vec())
    }
}

/// Copies the bytes.
impl From<&[u8]> for Bytes {
    fn from(bytes: &[u8]) -> Bytes {
        let copy = |to: &mut [u8]| to.copy_from_slice(bytes);
        Bytes::short(bytes.len(), copy).unwrap_or_else(|| Bytes::from_vec(bytes.to_vec()))
    }
}

impl PartialEq for Bytes {
    fn eq(&self, other: &Bytes) -> bool {
        self.same(other) || **self == **other
    }
}

impl Eq for Bytes {}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bytes({} bytes)", self.len())
    }
}
