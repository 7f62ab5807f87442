//! A table of which little may ever be filled in.

/// Values by numbers below a length.
pub(super) struct Sparse<T> {
    /// Where each value stands in `values`, from 1; 0 for none.
    places: Vec<u32>,
    values: Vec<T>,
}

impl<T> Sparse<T> {
    /// A table of that length without values.
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

    /// Puts a value at a number below the length.
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
