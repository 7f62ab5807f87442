//! Programs that were compiled before, by their bytes and by their content without locations.
//!
//! JAX compiles the same program again when a function is traced anew, with other locations. Equal
//! bytes cost a hash; equal content costs reading the program.

use crate::executable::Compiled;
use stablo::Module;
use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The maximum number of programs that are kept, and the maximum bytes of their sources.
const MAX_PROGRAMS: usize = 512;
const MAX_BYTES: usize = 64 << 20;

/// A program with what it is found by.
struct Entry {
    source_hash: u64,
    content_hash: u64,
    compiled: Arc<Compiled>,
}

/// The most recent first.
static KEPT: Mutex<VecDeque<Entry>> = Mutex::new(VecDeque::new());

fn kept() -> MutexGuard<'static, VecDeque<Entry>> {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The hash of a program's bytes and options.
pub(crate) fn source_hash(source: &[u8], options: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write_usize(options.len());
    hasher.write(options);
    hasher.write(source);
    hasher.finish()
}

/// Finds a program that `is_same` accepts, which becomes the most recent one.
fn find(is_same: impl Fn(&Entry) -> bool) -> Option<Arc<Compiled>> {
    let mut kept = kept();
    let at = kept.iter().position(is_same)?;
    let entry = kept.remove(at)?;
    let compiled = entry.compiled.clone();
    kept.push_front(entry);
    Some(compiled)
}

/// The program of the same bytes and options.
pub(crate) fn by_source(hash: u64, source: &[u8], options: &[u8]) -> Option<Arc<Compiled>> {
    find(|entry| {
        let compiled = &entry.compiled;
        entry.source_hash == hash && compiled.is_from(source, options)
    })
}

/// The program of the same content, without locations, and the same options.
pub(crate) fn by_content(hash: u64, module: &Module, options: &[u8]) -> Option<Arc<Compiled>> {
    find(|entry| {
        let compiled = &entry.compiled;
        entry.content_hash == hash
            && compiled.has_options(options)
            && compiled.program.module().has_content_of(module)
    })
}

/// Keeps a program; older ones are forgotten if there are too many.
pub(crate) fn keep(source_hash: u64, content_hash: u64, compiled: &Arc<Compiled>) {
    let mut forgotten = Vec::new();
    let mut kept = kept();
    kept.push_front(Entry { source_hash, content_hash, compiled: compiled.clone() });
    let mut bytes = 0usize;
    let is_kept = |(index, entry): (usize, &Entry)| {
        bytes = bytes.saturating_add(entry.compiled.source_bytes());
        index < MAX_PROGRAMS && bytes <= MAX_BYTES
    };
    let count = kept.iter().enumerate().map(is_kept).take_while(|&is_kept| is_kept).count();
    while kept.len() > count {
        forgotten.extend(kept.pop_back());
    }
    drop(kept);
    // Large programs take time to be freed, which others need not wait for.
    drop(forgotten);
}
