//! The tree by which sums combine values: see [`sums`](crate::sums).

use std::convert::Infallible;

/// Combines values in a balanced tree over neighbours, as they come.
///
/// Holds the results of complete subtrees of decreasing sizes, one for each one bit of the number
/// of leaves.
pub struct Tree<V> {
    subtrees: Vec<V>,
    leaves: usize,
}

impl<V> Default for Tree<V> {
    fn default() -> Tree<V> {
        Tree::new()
    }
}

impl<V> Tree<V> {
    /// A tree without leaves.
    pub const fn new() -> Tree<V> {
        Tree { subtrees: Vec::new(), leaves: 0 }
    }

    /// Appends a leaf. `combine` takes a left and a right subtree.
    pub fn push(&mut self, leaf: V, mut combine: impl FnMut(V, V) -> V) {
        let Ok(()) = self.try_push(leaf, |left, right| Ok::<V, Infallible>(combine(left, right)));
    }

    /// As [`Tree::push`], for operations that may fail.
    ///
    /// # Errors
    /// The first error of `combine`.
    pub fn try_push<E>(
        &mut self,
        leaf: V,
        mut combine: impl FnMut(V, V) -> Result<V, E>,
    ) -> Result<(), E> {
        let mut subtree = leaf;
        // Every one bit that the addition of one carries over is a subtree of the size of this one.
        for _ in 0..self.leaves.trailing_ones() {
            let Some(left) = self.subtrees.pop() else { break };
            subtree = combine(left, subtree)?;
        }
        self.subtrees.push(subtree);
        self.leaves += 1;
        Ok(())
    }

    /// Adds the result of leaves after all others, fewer than each subtree has.
    pub fn push_last(&mut self, subtree: V) {
        self.subtrees.push(subtree);
    }

    /// Combines all leaves, and leaves an empty tree. `None` if there were none.
    pub fn finish(&mut self, mut combine: impl FnMut(V, V) -> V) -> Option<V> {
        let Ok(result) = self.try_finish(|left, right| Ok::<V, Infallible>(combine(left, right)));
        result
    }

    /// As [`Tree::finish`], for operations that may fail.
    ///
    /// # Errors
    /// The first error of `combine`.
    pub fn try_finish<E>(
        &mut self,
        mut combine: impl FnMut(V, V) -> Result<V, E>,
    ) -> Result<Option<V>, E> {
        self.leaves = 0;
        let Some(mut result) = self.subtrees.pop() else { return Ok(None) };
        while let Some(left) = self.subtrees.pop() {
            result = combine(left, result)?;
        }
        Ok(Some(result))
    }
}
