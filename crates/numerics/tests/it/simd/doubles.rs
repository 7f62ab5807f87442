//! Tests of `simd/doubles.rs`.

use numerics::simd::{Doubles, DoublesArray, DoublesKernel, Isa};

/// Moves numbers between memory and vectors in every way.
struct Moves<A>(std::marker::PhantomData<A>);

impl<A: DoublesArray + AsRef<[f64]> + AsMut<[f64]>> DoublesKernel for Moves<A> {
    type Array = A;

    #[inline(always)]
    fn run<V: Doubles<Array = A>, Q: Doubles<Array = [f64; 4]>>(self) {
        let count = size_of::<A>() / size_of::<f64>();
        let number = |row: usize, column: usize| (row * 16 + column) as f64 - 20.5;
        let mut row: A = V::splat(0.0).array();
        let mut rows = vec![V::splat(0.0); count];
        for (i, vector) in rows.iter_mut().enumerate() {
            let numbers = row.as_mut().iter_mut().enumerate();
            numbers.for_each(|(j, x)| *x = number(i, j));
            *vector = V::read(&row);
        }
        V::transpose(&mut rows);
        for (j, column) in rows.iter().enumerate() {
            let expected: Vec<f64> = (0..count).map(|i| number(i, j)).collect();
            assert_eq!(column.array().as_ref(), expected);
        }
        let pairs: Vec<[f64; 2]> = (0..count).map(|i| [0, 1].map(|j| number(i, j))).collect();
        let narrow: Vec<[f32; 2]> = pairs.iter().map(|pair| pair.map(|x| x as f32)).collect();
        let parts = [0, 1].map(|j| pairs.iter().map(|pair| pair[j]).collect::<Vec<_>>());
        let read = V::read_pairs(&narrow);
        for numbers in [read.widened(), V::read_wide_pairs(&pairs)] {
            assert_eq!(numbers.map(|part| part.array().as_ref().to_vec()), parts);
            let (mut again, mut narrow_again) = (vec![[0.0; 2]; count], vec![[0.0; 2]; count]);
            V::write_wide_pairs(numbers, &mut again);
            assert_eq!(again, pairs);
            V::narrowed(numbers).write_pairs(&mut narrow_again);
            assert_eq!(narrow_again, narrow);
        }
    }
}

fn move_on<A: DoublesArray + AsRef<[f64]> + AsMut<[f64]>>(isa: Isa) {
    if A::is_compiled(isa) {
        isa.run_doubles(Moves::<A>(Default::default()));
    }
}

#[test]
fn moves() {
    for isa in Isa::available() {
        assert!(<[f64; 1]>::is_compiled(isa));
        move_on::<[f64; 1]>(isa);
        move_on::<[f64; 4]>(isa);
        move_on::<[f64; 8]>(isa);
    }
}
