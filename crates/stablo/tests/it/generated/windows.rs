//! Ops that sum: contractions, convolutions, reductions, scatters; by the sums that define them, on
//! small integers, which every type of 16 bits and more has exactly.

use super::model::*;
use proptest::prelude::*;
use stablo::DType;

/// Types that hold the sums of these tests exactly.
fn exact_types() -> impl Strategy<Value = DType> {
    prop::sample::select(vec![
        DType::I16,
        DType::I32,
        DType::I64,
        DType::F32,
        DType::F64,
        DType::C64,
        DType::C128,
    ])
}

/// A region that adds.
fn adding(dtype: DType) -> String {
    let e = dtype.name();
    format!(
        "({{\n^bb0(%l: tensor<{e}>, %r: tensor<{e}>):\n  %s = stablehlo.add %l, %r : tensor<{e}>\n  stablehlo.return %s : tensor<{e}>\n}})"
    )
}

/// Parameters of a window along one dimension: size, stride, low and high padding, base and window
/// dilation.
type Window = (usize, usize, i64, i64, usize, usize);

fn window() -> impl Strategy<Value = Window> + Clone {
    (1..4usize, 1..3usize, -1..3i64, -1..3i64, 1..3usize, 1..3usize)
}

/// Number of windows over a dimension; `None` if the padded base has negative size.
fn windows(size: usize, w: &Window) -> Option<usize> {
    let base = if size == 0 { 0 } else { (size as i64 - 1) * w.4 as i64 + 1 } + w.2 + w.3;
    let dilated = (w.0 as i64 - 1) * w.5 as i64 + 1;
    (base >= 0).then(|| if base < dilated { 0 } else { (base - dilated) as usize / w.1 + 1 })
}

/// Position of element `k` of window `i` in the base; `None` between elements.
fn source(i: usize, k: usize, w: &Window) -> Option<i64> {
    let at = (i * w.1 + k * w.5) as i64 - w.2;
    (at.rem_euclid(w.4 as i64) == 0).then(|| at.div_euclid(w.4 as i64))
}

fn list(windows: &[Window], f: impl Fn(&Window) -> i64) -> String {
    array(&windows.iter().map(f).collect::<Vec<_>>())
}

fn paddings(windows: &[Window]) -> String {
    let rows: Vec<String> = windows.iter().map(|w| format!("[{}, {}]", w.2, w.3)).collect();
    format!("dense<[{}]> : tensor<{}x2xi64>", rows.join(", "), windows.len())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// `sum over k of lhs[b, i, k] * rhs[b, k, j]`, with the dimensions in any order.
    #[test]
    fn dot_general(dtype in exact_types(), sizes in prop::array::uniform4(0..4usize), left in Just([0, 1, 2]).prop_shuffle(), right in Just([0, 1, 2]).prop_shuffle(), seed in any::<u32>()) {
        // Batch, free on the left, contracted, free on the right.
        let [b, m, k, n] = sizes;
        let draw = |salt: u32, i: &[usize]| i64::from(i.iter().fold(seed ^ salt, |s, &i| s.wrapping_mul(0x9E37_79B9).wrapping_add(i as u32 + 1)) >> 16 & 15) - 7;
        let (from, to) = ([b, m, k], [b, k, n]);
        let lhs = Model::build(&left.map(|d| from[d]), |i| draw(1, i));
        let rhs = Model::build(&right.map(|d| to[d]), |i| draw(2, i));
        let placed = |order: &[usize; 3], index: [usize; 3]| order.map(|d| index[d]);
        let expected = Model::build(&[b, m, n], |i| (0..k).map(|c| lhs.at(&placed(&left, [i[0], i[1], c])) * rhs.at(&placed(&right, [i[0], c, i[2]]))).sum());
        let place = |order: &[usize; 3], d: usize| order.iter().position(|&o| o == d).unwrap_or(0);
        let attributes = format!(
            "{{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [{}], rhs_batching_dimensions = [{}], lhs_contracting_dimensions = [{}], rhs_contracting_dimensions = [{}]>}}",
            place(&left, 0), place(&right, 0), place(&left, 2), place(&right, 1)
        );
        check("stablehlo.dot_general", dtype, &[lhs.tensor(dtype), rhs.tensor(dtype)], &attributes, &expected);
    }

    /// `sum over window, features of lhs * rhs`, with groups of features, strides, dilations,
    /// paddings and reversal.
    #[test]
    fn convolution(dtype in exact_types(), (x, kernel, moves, groups) in (1..3usize, 1..3usize, 1..3usize, 1..3usize, prop::collection::vec((0..5usize, window()), 1..3)).prop_flat_map(|(batch, groups, features, outputs, spatial)| {
        let mut lhs = vec![batch];
        lhs.extend(spatial.iter().map(|s| s.0));
        lhs.push(groups * features);
        let mut rhs: Vec<usize> = spatial.iter().map(|s| s.1.0).collect();
        rhs.extend([features, groups * outputs]);
        let moves: Vec<Window> = spatial.iter().map(|s| s.1).collect();
        (numbers(lhs), numbers(rhs), Just(moves), Just(groups))
    }), reversed in any::<[bool; 2]>()) {
        let rank = moves.len();
        let counts: Option<Vec<usize>> = (0..rank).map(|d| windows(x.shape[d + 1], &moves[d])).collect();
        prop_assume!(counts.is_some());
        let outputs = kernel.shape[rank + 1];
        let features = kernel.shape[rank];
        let shape = [&[x.shape[0]][..], &counts.unwrap_or_default(), &[outputs]].concat();
        let expected = Model::build(&shape, |i| {
            let group = i[rank + 1] / (outputs / groups);
            let mut sum = 0;
            for k in indices(&kernel.shape[..rank]) {
                let place: Option<Vec<i64>> = (0..rank).map(|d| source(i[d + 1], k[d], &moves[d])).collect();
                let Some(place) = place else { continue };
                let tap: Vec<usize> = (0..rank).map(|d| if reversed[d] { moves[d].0 - 1 - k[d] } else { k[d] }).collect();
                for f in 0..features {
                    let from = [&[i[0] as i64][..], &place, &[(group * features + f) as i64]].concat();
                    sum += x.at_or(&from, 0) * kernel.at(&[&tap[..], &[f, i[rank + 1]]].concat());
                }
            }
            sum
        });
        let axes = (0..rank).map(|d| d.to_string()).collect::<Vec<_>>().join(", ");
        let flags = reversed[..rank].iter().map(bool::to_string).collect::<Vec<_>>().join(", ");
        let attributes = format!(
            "{{dimension_numbers = #stablehlo.conv<[b, {axes}, f]x[{axes}, i, o]->[b, {axes}, f]>, window_strides = {}, padding = {}, lhs_dilation = {}, rhs_dilation = {}, window_reversal = array<i1: {flags}>, feature_group_count = {groups} : i64, batch_group_count = 1 : i64}}",
            list(&moves, |w| w.1 as i64), paddings(&moves), list(&moves, |w| w.4 as i64), list(&moves, |w| w.5 as i64),
        );
        check("stablehlo.convolution", dtype, &[x.tensor(dtype), kernel.tensor(dtype)], &attributes, &expected);
    }

    /// The sum of each window, with the initial value for padding.
    #[test]
    fn reduce_window(dtype in exact_types(), (x, moves) in prop::collection::vec((0..5usize, window()), 1..3).prop_flat_map(|d| (numbers(d.iter().map(|d| d.0).collect()), Just(d.iter().map(|d| d.1).collect::<Vec<_>>()))), init in -3..4i64) {
        let counts: Option<Vec<usize>> = x.shape.iter().zip(&moves).map(|(&size, w)| windows(size, w)).collect();
        prop_assume!(counts.is_some());
        let sizes: Vec<usize> = moves.iter().map(|w| w.0).collect();
        let expected = Model::build(&counts.unwrap_or_default(), |i| {
            let taps = indices(&sizes);
            let value = |k: &Vec<usize>| {
                let place: Option<Vec<i64>> = (0..i.len()).map(|d| source(i[d], k[d], &moves[d])).collect();
                place.map_or(init, |place| x.at_or(&place, init))
            };
            init + taps.iter().map(value).sum::<i64>()
        });
        let attributes = format!(
            "{} {{window_dimensions = {}, window_strides = {}, base_dilations = {}, window_dilations = {}, padding = {}}}",
            adding(dtype), list(&moves, |w| w.0 as i64), list(&moves, |w| w.1 as i64), list(&moves, |w| w.4 as i64), list(&moves, |w| w.5 as i64), paddings(&moves),
        );
        let start = Model { shape: vec![], values: vec![init] };
        check("stablehlo.reduce_window", dtype, &[x.tensor(dtype), start.tensor(dtype)], &attributes, &expected);
    }

    /// The sum over the reduced dimensions.
    #[test]
    fn reduce(dtype in exact_types(), (x, reduced) in shapes(4, 3).prop_flat_map(|s| { let n = s.len(); (numbers(s), prop::collection::vec(any::<bool>(), n)) }), init in -3..4i64) {
        let kept: Vec<usize> = (0..reduced.len()).filter(|&d| !reduced[d]).collect();
        let shape: Vec<usize> = kept.iter().map(|&d| x.shape[d]).collect();
        let expected = Model::build(&shape, |i| {
            let same = |j: &&Vec<usize>| kept.iter().zip(i).all(|(&d, &i)| j[d] == i);
            init + indices(&x.shape).iter().filter(same).map(|j| x.at(j)).sum::<i64>()
        });
        let dimensions: Vec<i64> = (0..reduced.len()).filter(|&d| reduced[d]).map(|d| d as i64).collect();
        let start = Model { shape: vec![], values: vec![init] };
        let attributes = format!("{} {{dimensions = {}}}", adding(dtype), array(&dimensions));
        check("stablehlo.reduce", dtype, &[x.tensor(dtype), start.tensor(dtype)], &attributes, &expected);
    }

    /// Rows of updates are added to the indexed rows; those out of bounds are skipped. The operand
    /// is unchanged.
    #[test]
    fn scatter_rows(dtype in exact_types(), (x, updates, rows) in (1..4usize, 0..3usize, prop::collection::vec(-2..5i64, 0..4)).prop_flat_map(|(m, n, rows)| (numbers(vec![m, n]), numbers(vec![rows.len(), n]), Just(rows)))) {
        let expected = Model::build(&x.shape, |i| {
            let added = (0..rows.len()).filter(|&r| rows[r] == i[0] as i64).map(|r| updates.at(&[r, i[1]])).sum::<i64>();
            x.at(i) + added
        });
        let attributes = format!("{} {{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}}", adding(dtype));
        check("stablehlo.scatter", dtype, &[x.tensor(dtype), vector(&rows), updates.tensor(dtype)], &attributes, &expected);
    }
}
