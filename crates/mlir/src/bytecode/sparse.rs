//! A sparse table: most entries may never be set.

/// Values indexed by numbers below a fixed length.
pub(super) struct Sparse<T> {
    /// Position of each value in `values`, starting from 1; 0 for none.
    places: Vec<u32>,
    values: Vec<T>,
}

impl<T> Sparse<T> {
    /// An empty table for numbers below `len`.
    pub(super) fn new(len: usize) -> Sparse<T> {
        Sparse { places: vec![0; len], values: Vec::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    pub(super) fn get(&self, number: usize) -> Option<&T> {
        let place = *self.places.get(number)?;
        self.values.get((place as usize).wrapping_sub(1))
    }

    /// Sets the value at a number below the length.
    pub(super) fn set(&mut self, number: usize, value: T) {
        match &mut self.places[number] {
            place @ 0 => {
                self.values.push(value);
                *place = self.values.len() as u32;
            }
            place => self.values[*place as usize - 1] = value,
        }
    }
}
