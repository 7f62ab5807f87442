//! Ops that move elements: each element of the result is one of the operand, by an index formula.

use super::model::*;
use proptest::prelude::*;
use stablo::Tensor;

const NAMES: &str = "stablehlo";

fn permutation(rank: usize) -> impl Strategy<Value = Vec<usize>> {
    Just((0..rank).collect::<Vec<_>>()).prop_shuffle()
}

/// A shape, elements, and one random value per dimension.
fn with_lists<S: Strategy<Value = T> + Clone, T: std::fmt::Debug>(
    each: impl Fn() -> S,
) -> impl Strategy<Value = (Model, Vec<T>)> {
    shapes(3, 4).prop_flat_map(move |shape| {
        let lists = prop::collection::vec(each(), shape.len());
        (bits(shape), lists)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(250))]

    /// `result[i0, …] = operand[j0, …]` where `i[d] = j[permutation[d]]`.
    #[test]
    fn transpose(dtype in any_dtype(), (x, order) in shapes(4, 3).prop_flat_map(|s| (bits(s.clone()), permutation(s.len())))) {
        let shape: Vec<usize> = order.iter().map(|&d| x.shape[d]).collect();
        let expected = Model::build(&shape, |i| {
            let mut j = vec![0; i.len()];
            order.iter().zip(i).for_each(|(&from, &i)| j[from] = i);
            x.at(&j)
        });
        let attributes = format!("{{permutation = {}}}", array(&signed(&order)));
        check(&format!("{NAMES}.transpose"), dtype, &[x.tensor(dtype)], &attributes, &expected);
    }

    /// Indices of the dimensions that are reversed count from the end.
    #[test]
    fn reverse(dtype in any_dtype(), (x, reversed) in with_lists(any::<bool>)) {
        let expected = Model::build(&x.shape, |i| {
            let j: Vec<usize> = (0..i.len()).map(|d| if reversed[d] { x.shape[d] - 1 - i[d] } else { i[d] }).collect();
            x.at(&j)
        });
        let dimensions: Vec<i64> = (0..reversed.len()).filter(|&d| reversed[d]).map(|d| d as i64).collect();
        check("stablehlo.reverse", dtype, &[x.tensor(dtype)], &format!("{{dimensions = {}}}", array(&dimensions)), &expected);
    }

    /// `operand[start + i * stride]`.
    #[test]
    fn slice(dtype in any_dtype(), (x, parts) in with_lists(|| (any::<prop::sample::Index>(), any::<prop::sample::Index>(), 1..4usize))) {
        let bounds: Vec<(usize, usize, usize)> = x.shape.iter().zip(&parts).map(|(&size, (a, b, stride))| {
            let (a, b) = (a.index(size + 1), b.index(size + 1));
            (a.min(b), a.max(b), *stride)
        }).collect();
        let shape: Vec<usize> = bounds.iter().map(|(start, limit, stride)| (limit - start).div_ceil(*stride)).collect();
        let expected = Model::build(&shape, |i| x.at(&i.iter().zip(&bounds).map(|(i, b)| b.0 + i * b.2).collect::<Vec<_>>()));
        let column = |f: fn(&(usize, usize, usize)) -> usize| array(&bounds.iter().map(|b| f(b) as i64).collect::<Vec<_>>());
        let attributes = format!("{{start_indices = {}, limit_indices = {}, strides = {}}}", column(|b| b.0), column(|b| b.1), column(|b| b.2));
        check("stablehlo.slice", dtype, &[x.tensor(dtype)], &attributes, &expected);
    }

    /// `operand[j]` at `low + j * (interior + 1)`, the padding elsewhere; also negative padding.
    #[test]
    fn pad(dtype in any_dtype(), (x, parts) in with_lists(|| (-3..4i64, -3..4i64, 0..3i64)), value in 0..=1i64) {
        let spread = |d: usize| {
            let size = x.shape[d] as i64;
            if size == 0 { 0 } else { (size - 1) * (parts[d].2 + 1) + 1 }
        };
        let sizes: Vec<i64> = (0..parts.len()).map(|d| spread(d) + parts[d].0 + parts[d].1).collect();
        prop_assume!(sizes.iter().all(|&size| size >= 0));
        let shape: Vec<usize> = sizes.iter().map(|&size| size as usize).collect();
        let expected = Model::build(&shape, |i| {
            let mut j = Vec::new();
            for (d, (low, _, interior)) in parts.iter().enumerate() {
                let offset = i[d] as i64 - low;
                if offset.rem_euclid(interior + 1) != 0 {
                    return value;
                }
                j.push(offset.div_euclid(interior + 1));
            }
            x.at_or(&j, value)
        });
        let column = |f: fn(&(i64, i64, i64)) -> i64| array(&parts.iter().map(f).collect::<Vec<_>>());
        let attributes = format!("{{edge_padding_low = {}, edge_padding_high = {}, interior_padding = {}}}", column(|p| p.0), column(|p| p.1), column(|p| p.2));
        let padding = Model { shape: vec![], values: vec![value] };
        check("stablehlo.pad", dtype, &[x.tensor(dtype), padding.tensor(dtype)], &attributes, &expected);
    }

    /// Dimension `d` of the operand becomes dimension `dims[d]`; one of size 1 repeats.
    #[test]
    fn broadcast_in_dim(dtype in any_dtype(), shape in prop::collection::vec(0..4usize, 0..5), picks in any::<[bool; 5]>(), ones in any::<[bool; 5]>(), seed in any::<u64>()) {
        let dims: Vec<usize> = (0..shape.len()).filter(|&d| picks[d]).collect();
        let from: Vec<usize> = dims.iter().map(|&d| if ones[d] { 1 } else { shape[d] }).collect();
        let x = Model::build(&from, |i| (i.iter().fold(seed, |s, &i| s.wrapping_mul(31).wrapping_add(i as u64)) >> 3 & 1) as i64);
        let expected = Model::build(&shape, |i| x.at(&dims.iter().zip(&from).map(|(&d, &size)| if size == 1 { 0 } else { i[d] }).collect::<Vec<_>>()));
        let attributes = format!("{{broadcast_dimensions = {}}}", array(&signed(&dims)));
        check("stablehlo.broadcast_in_dim", dtype, &[x.tensor(dtype)], &attributes, &expected);
    }

    /// The operands one after the other along a dimension.
    #[test]
    fn concatenate(dtype in any_dtype(), (axis, parts) in (1..4usize).prop_flat_map(|rank| (0..rank, prop::collection::vec(0..4usize, rank), prop::collection::vec(0..4usize, 1..4))).prop_flat_map(|(axis, shape, sizes)| {
        let part = move |size: usize| { let mut s = shape.clone(); s[axis] = size; bits(s) };
        (Just(axis), sizes.into_iter().map(part).collect::<Vec<_>>())
    })) {
        let mut shape = parts[0].shape.clone();
        shape[axis] = parts.iter().map(|p| p.shape[axis]).sum();
        let expected = Model::build(&shape, |i| {
            let mut j = i.to_vec();
            let part = parts.iter().find(|p| {
                let here = j[axis] < p.shape[axis];
                if !here { j[axis] -= p.shape[axis]; }
                here
            });
            part.expect("the sizes add up").at(&j)
        });
        let inputs: Vec<Tensor> = parts.iter().map(|p| p.tensor(dtype)).collect();
        check("stablehlo.concatenate", dtype, &inputs, &format!("{{dimension = {axis} : i64}}"), &expected);
    }

    /// The elements in row-major order, of another shape.
    #[test]
    fn reshape(dtype in any_dtype(), (x, order) in shapes(4, 3).prop_flat_map(|s| (bits(s.clone()), permutation(s.len())))) {
        let shape: Vec<usize> = order.iter().map(|&d| x.shape[d]).collect();
        let expected = Model { shape, values: x.values.clone() };
        check("stablehlo.reshape", dtype, &[x.tensor(dtype)], "", &expected);
    }

    /// Start indices are clamped so that the slice stays in bounds; an update goes to the same
    /// position.
    #[test]
    fn dynamic_slices(dtype in any_dtype(), (x, parts) in with_lists(|| (any::<prop::sample::Index>(), -2..6i64)), fill in 0..=1i64) {
        let sizes: Vec<usize> = x.shape.iter().zip(&parts).map(|(&size, (index, _))| index.index(size + 1)).collect();
        let starts: Vec<usize> = (0..sizes.len()).map(|d| parts[d].1.clamp(0, (x.shape[d] - sizes[d]) as i64) as usize).collect();
        let indices = parts.iter().map(|(_, start)| Tensor::scalar(*start));
        let expected = Model::build(&sizes, |i| x.at(&i.iter().zip(&starts).map(|(i, s)| i + s).collect::<Vec<_>>()));
        let inputs: Vec<Tensor> = [x.tensor(dtype)].into_iter().chain(indices.clone()).collect();
        check("stablehlo.dynamic_slice", dtype, &inputs, &format!("{{slice_sizes = {}}}", array(&signed(&sizes))), &expected);
        let update = Model::build(&sizes, |_| fill);
        let inside = |i: &[usize]| (0..i.len()).all(|d| i[d] >= starts[d] && i[d] < starts[d] + sizes[d]);
        let expected = Model::build(&x.shape, |i| if inside(i) { fill } else { x.at(i) });
        let inputs: Vec<Tensor> = [x.tensor(dtype), update.tensor(dtype)].into_iter().chain(indices).collect();
        check("stablehlo.dynamic_update_slice", dtype, &inputs, "", &expected);
    }

    /// Row `clamp(index)` of the operand for each index; a scatter of the same rows takes them
    /// back.
    #[test]
    fn gather_rows(dtype in any_dtype(), x in (1..4usize, 0..3usize).prop_flat_map(|(m, n)| bits(vec![m, n])), picks in prop::collection::vec(-2..6i64, 0..4)) {
        let (rows, columns) = (x.shape[0], x.shape[1]);
        let expected = Model::build(&[picks.len(), columns], |i| x.at(&[picks[i[0]].clamp(0, rows as i64 - 1) as usize, i[1]]));
        let attributes = format!("{{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, {columns}>}}");
        check("stablehlo.gather", dtype, &[x.tensor(dtype), vector(&picks)], &attributes, &expected);
    }

    /// Counting along a dimension.
    #[test]
    fn iota(shape in prop::collection::vec(1..4usize, 1..4), axis in any::<prop::sample::Index>()) {
        let axis = axis.index(shape.len());
        let expected = Model::build(&shape, |i| i[axis] as i64);
        for dtype in [stablo::DType::I32, stablo::DType::U8, stablo::DType::F32, stablo::DType::BF16, stablo::DType::C64] {
            check("stablehlo.iota", dtype, &[], &format!("{{iota_dimension = {axis} : i64}}"), &expected);
        }
    }

    /// Rows in order, and the same rows that were there.
    #[test]
    fn sort(x in (1..4usize, 0..6usize).prop_flat_map(|(m, n)| numbers(vec![m, n]))) {
        let mut expected = x.clone();
        expected.values.chunks_mut(x.shape[1].max(1)).for_each(|row| row.sort());
        let region = "({\n^bb0(%l: tensor<E>, %r: tensor<E>):\n  %c = stablehlo.compare LT, %l, %r : (tensor<E>, tensor<E>) -> tensor<i1>\n  stablehlo.return %c : tensor<i1>\n}) {dimension = 1 : i64, is_stable = true}";
        for dtype in [stablo::DType::I8, stablo::DType::I64, stablo::DType::F32, stablo::DType::F16] {
            check("stablehlo.sort", dtype, &[x.tensor(dtype)], &region.replace('E', dtype.name()), &expected);
        }
    }
}
