//! Kernels through their common interface: each primitive that has one, on the examples of the
//! specification.

use kernels::row_loops::{self, RowKernel, RowLoop, RowPart, RowSource, RowValue};
use kernels::{KernelOperand, Prepared, RowOperand, evaluate, fused::Registers, prepare};
use numerics::math::BinaryOp;
use numerics::shape::StridedView;
use numerics::simd::Isa;
use numerics::{Complex64, DType, Element, Tensor, bf16, f16};
use program::primitives::{
    self, BatchNormKind, ConvDims, DotDims, Fourier, GatherDims, Generator, ScatterDims,
};
use program::{
    BlockId, Body, BodyShape, Callee, Canonical, Comparator, NoEvaluator, Origin, Primitive,
    RuntimeValue, SortKey, WindowDim,
};
use smallvec::smallvec;

/// A primitive with operands, and what the specification says that its results are.
struct Case {
    primitive: Primitive,
    operands: Vec<Tensor>,
    results: Vec<Tensor>,
}

fn case<P: Into<Primitive>, const N: usize, const M: usize>(
    primitive: P,
    operands: [Tensor; N],
    results: [Tensor; M],
) -> Case {
    Case { primitive: primitive.into(), operands: operands.into(), results: results.into() }
}

fn tensor<T: Element, const R: usize>(shape: [usize; R], elements: &[T]) -> Tensor {
    Tensor::from_vec(shape, elements.to_vec()).expect("as many elements as the shape has")
}

fn add(dtype: DType) -> Box<Body> {
    Box::new(Body {
        callee: Callee::Block(BlockId(0)),
        dtypes: vec![Some(dtype); 2],
        shape: BodyShape::Binary { op: BinaryOp::Add, swapped: false },
        extremum: None,
        choice: None,
        closed: true,
    })
}

fn window(size: i64, stride: i64, pads: [i64; 2], dilations: [i64; 2]) -> WindowDim {
    let ([pad_low, pad_high], [base_dilation, window_dilation]) = (pads, dilations);
    WindowDim { size, stride, pad_low, pad_high, base_dilation, window_dilation }
}

fn dot_general() -> DotDims {
    DotDims {
        lhs_batching_dimensions: vec![0],
        rhs_batching_dimensions: vec![0],
        lhs_contracting_dimensions: vec![2],
        rhs_contracting_dimensions: vec![1],
    }
}

fn convolution() -> primitives::Convolution {
    primitives::Convolution {
        dims: ConvDims {
            input_batch_dimension: 0,
            input_feature_dimension: 3,
            input_spatial_dimensions: vec![1, 2],
            kernel_input_feature_dimension: 2,
            kernel_output_feature_dimension: 3,
            kernel_spatial_dimensions: vec![0, 1],
            output_batch_dimension: 0,
            output_feature_dimension: 3,
            output_spatial_dimensions: vec![1, 2],
        },
        window: vec![window(3, 4, [0, 0], [2, 1]); 2],
        reversal: vec![false; 2],
        feature_groups: 1,
        batch_groups: 1,
        dtype: DType::I64,
    }
}

fn contractions() -> Vec<Case> {
    let numbers = [1i64, 2, 3, 4, 5, 6, 7, 8];
    let dims = Some(Box::new(dot_general()));
    let image = [1i64, 2, 5, 6, 3, 4, 7, 8, 10, 11, 14, 15, 12, 13, 16, 17];
    vec![
        case(
            primitives::Dot { dims, dtype: DType::I64 },
            [tensor([2, 2, 2], &numbers), tensor([2, 2, 2], &[1i64, 0, 0, 1, 1, 0, 0, 1])],
            [tensor([2, 2, 2], &numbers)],
        ),
        case(
            primitives::Dot { dims: None, dtype: DType::F32 },
            [tensor([2, 2], &[1f32, 2.0, 3.0, 4.0]), tensor([2], &[10f32, 1.0])],
            [tensor([2], &[12f32, 34.0])],
        ),
        case(
            convolution(),
            [tensor([1, 4, 4, 1], &image), tensor([3, 3, 1, 1], &[1i64; 9])],
            [tensor([1, 2, 2, 1], &[10i64, 26, 46, 62])],
        ),
    ]
}

fn reductions() -> Vec<Case> {
    vec![
        case(
            primitives::Reduce { dimensions: vec![1], body: add(DType::I64) },
            [tensor([1, 6], &[0i64, 1, 2, 3, 4, 5]), Tensor::scalar(0i64)],
            [tensor([1], &[15i64])],
        ),
        case(
            primitives::Reduce { dimensions: vec![0], body: add(DType::F32) },
            [tensor([2, 3], &[0f32, 1.0, 2.0, 3.0, 4.0, 5.0]), Tensor::scalar(1f32)],
            [tensor([3], &[4f32, 6.0, 8.0])],
        ),
        case(
            primitives::ReduceWindow {
                window: Some(vec![window(2, 4, [2, 1], [2, 3]), window(1, 1, [0, 0], [1, 1])]),
                inputs: 1,
                body: add(DType::I64),
            },
            [tensor([3, 2], &[1i64, 2, 3, 4, 5, 6]), Tensor::scalar(0i64)],
            [tensor([2, 2], &[0i64, 0, 3, 4])],
        ),
    ]
}

fn indexed() -> Vec<Case> {
    let gather = GatherDims {
        offset_dims: vec![3, 4],
        collapsed_slice_dims: vec![1],
        operand_batching_dims: vec![0],
        start_indices_batching_dims: vec![1],
        start_index_map: vec![2, 1],
        index_vector_dim: 3,
    };
    let starts = [0i64, 0, 1, 0, 2, 1, 0, 1, 1, 1, 0, 9, 0, 0, 2, 1, 2, 2, 1, 2, 0, 1, 1, 0];
    // Each window is a run of four numbers from one of these.
    let firsts = [1i64, 3, 13, 33, 35, 41, 1, 13, 21, 43, 33, 27];
    let windows: Vec<i64> = firsts.into_iter().flat_map(|first| first..first + 4).collect();
    let scatter = ScatterDims {
        inserted_window_dims: vec![0],
        scatter_dims_to_operand_dims: vec![0],
        index_vector_dim: 1,
        ..ScatterDims::default()
    };
    vec![
        case(
            primitives::Gather { dims: Box::new(gather), sizes: vec![1, 1, 2, 2] },
            [tensor([2, 3, 4, 2], &(1..=48).collect::<Vec<i32>>()), tensor([2, 2, 3, 2], &starts)],
            [tensor([2, 2, 3, 2, 2], &windows.iter().map(|&x| x as i32).collect::<Vec<i32>>())],
        ),
        // Two updates of one element, and one outside.
        case(
            primitives::Scatter { dims: Box::new(scatter), body: add(DType::I64) },
            [
                tensor([4], &[1i64, 2, 3, 4]),
                tensor([4, 1], &[2i64, 0, 2, 9]),
                tensor([4], &[10i64, 20, 30, 40]),
            ],
            [tensor([4], &[21i64, 2, 43, 4])],
        ),
    ]
}

fn algorithms() -> Vec<Case> {
    let system = primitives::TriangularSolve {
        left_side: true,
        lower: true,
        unit_diagonal: false,
        transposed: false,
        conjugated: false,
    };
    let key = SortKey {
        input: 0,
        part: None,
        descending: true,
        total_order: false,
        canonical: Canonical::default(),
    };
    let comparator =
        Box::new(Comparator { block: BlockId(0), used: vec![true; 4], keys: vec![key] });
    let factor = [1f32, 0.0, 0.0, 2.0, 4.0, 0.0, 3.0, 5.0, 6.0];
    let [zero, one] = [0.0, 1.0].map(|re| Complex64::new(re, 0.0));
    let bits =
        [9236835810183407956u64, 16087790271692313299, 18212823393184779219, 2658481902456610144];
    vec![
        case(
            primitives::Fft { transform: Fourier::Forward, lengths: vec![4] },
            [tensor([4], &[one, zero, zero, zero])],
            [tensor([4], &[one; 4])],
        ),
        case(
            primitives::Cholesky { lower: true },
            [tensor([3, 3], &[1f32, 2.0, 3.0, 2.0, 20.0, 26.0, 3.0, 26.0, 70.0])],
            [tensor([3, 3], &factor)],
        ),
        case(
            Primitive::TriangularSolve(system),
            [
                tensor([3, 3], &factor),
                tensor([3, 3], &[2f32, 0.0, 0.0, 4.0, 8.0, 0.0, 6.0, 10.0, 12.0]),
            ],
            [tensor([3, 3], &[2f32, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0])],
        ),
        case(
            primitives::RandomBits {
                generator: Generator::ThreeFry,
                shape: Some(vec![2, 2]),
                dtype: DType::U64,
            },
            [tensor([2], &[1u64, 2])],
            [tensor([2], &[1u64, 6]), tensor([2, 2], &bits)],
        ),
        case(
            primitives::Sort { dimension: 0, comparator: comparator.clone(), limit: None },
            [tensor([2, 3], &[1i64, 2, 3, 3, 2, 1]), tensor([2, 3], &[3i64, 2, 1, 1, 2, 3])],
            [tensor([2, 3], &[3i64, 2, 3, 1, 2, 1]), tensor([2, 3], &[1i64, 2, 1, 3, 2, 3])],
        ),
        case(
            primitives::Sort { dimension: 0, comparator, limit: Some(1) },
            [tensor([2, 3], &[1i64, 2, 3, 3, 2, 1]), tensor([2, 3], &[3i64, 2, 1, 1, 2, 3])],
            [tensor([1, 3], &[3i64, 2, 3]), tensor([1, 3], &[1i64, 2, 1])],
        ),
        case(
            primitives::Iota { dtype: DType::I32, shape: vec![2, 3], dimension: 1 },
            [],
            [tensor([2, 3], &[0i32, 1, 2, 0, 1, 2])],
        ),
    ]
}

fn normalization() -> Case {
    let parameters = || tensor([2], &[1f64, 1.0]);
    case(
        primitives::BatchNorm { kind: BatchNormKind::Training, epsilon: 0.0, feature_index: 2 },
        [tensor([2, 2, 2], &[1f64, 2.0, 3.0, 4.0, 3.0, 4.0, 1.0, 2.0]), parameters(), parameters()],
        [
            tensor([2, 2, 2], &[0f64, 0.0, 2.0, 2.0, 2.0, 2.0, 0.0, 0.0]),
            tensor([2], &[2f64, 3.0]),
            tensor([2], &[1f64, 1.0]),
        ],
    )
}

fn cases() -> Vec<Case> {
    let groups = [contractions(), reductions(), indexed(), algorithms()];
    groups.into_iter().flatten().collect()
}

/// The kernel of some results of a primitive on whole operands.
fn prepared(case: &Case, results: &[usize]) -> Option<Prepared> {
    let views: Vec<StridedView> =
        case.operands.iter().map(|t| StridedView::dense(t.shape()).unwrap()).collect();
    let operands = case.operands.iter().zip(&views).map(|(operand, view)| KernelOperand {
        dtype: operand.dtype(),
        view,
        len: operand.num_elements(),
    });
    prepare(&case.primitive, &operands.collect::<Vec<_>>(), results)
}

fn evaluated(case: &Case) -> Vec<Tensor> {
    let operands = case.operands.iter().cloned().map(RuntimeValue::Tensor).collect();
    let results = evaluate(&case.primitive, Origin(0), operands, &mut NoEvaluator).unwrap();
    results.into_iter().map(|result| result.into_tensor().unwrap()).collect()
}

#[test]
fn kernels_and_evaluation_give_the_results_of_the_specification() {
    for case in &cases() {
        let name = format!("{:?}", case.primitive);
        assert_eq!(evaluated(case), case.results, "{name}");
        let all: Vec<usize> = (0..case.results.len()).collect();
        let kernel = prepared(case, &all).expect(&name);
        assert_eq!(kernel.run(&case.operands).unwrap(), case.results, "{name}");
        // Each result alone, as plans compute only used results.
        for (number, result) in case.results.iter().enumerate() {
            let kernel = prepared(case, &[number]).expect(&name);
            let [ty] = &kernel.results[..] else { panic!("{name}: one result") };
            assert_eq!((ty.dtype, &ty.shape[..]), (result.dtype(), result.shape()), "{name}");
            assert_eq!(
                &kernel.run(&case.operands).unwrap()[..],
                std::slice::from_ref(result),
                "{name}"
            );
        }
    }
    // Of several results, only the first one has a kernel.
    let case = normalization();
    assert_eq!(evaluated(&case), case.results);
    let kernel = prepared(&case, &[0]).unwrap();
    assert_eq!(kernel.run(&case.operands).unwrap()[..], case.results[..1]);
    assert!(prepared(&case, &[0, 1, 2]).is_none() && prepared(&case, &[1]).is_none());
}

#[test]
fn other_operands_than_prepared_for_are_errors() {
    for case in &cases() {
        let name = format!("{:?}", case.primitive);
        let all: Vec<usize> = (0..case.results.len()).collect();
        let Prepared { kernel, operands, .. } = prepared(case, &all).unwrap();
        let bytes: Vec<&[u8]> =
            operands.iter().map(|&number| &case.operands[number].bytes()[..]).collect();
        let run = |operands: &[&[u8]], sizes: &[usize]| {
            let mut memory: Vec<Vec<u64>> =
                sizes.iter().map(|size| vec![0; size / 8 + 1]).collect();
            let results = memory.iter_mut().zip(sizes);
            let mut results: Vec<&mut [u8]> = results
                .map(|(words, &size)| &mut bytemuck::cast_slice_mut(words)[..size])
                .collect();
            kernel.run(operands, &mut results)
        };
        let sizes: Vec<usize> = case.results.iter().map(|result| result.bytes().len()).collect();
        assert!(run(&bytes, &sizes).is_ok(), "{name}");
        assert!(run(&bytes, &[]).is_err(), "{name}");
        assert!(run(&bytes, &[&sizes[..], &[8]].concat()).is_err(), "{name}");
        assert!(run(&[&bytes[..], &[&[0; 8]]].concat(), &sizes).is_err(), "{name}");
        if let Some((_, rest)) = bytes.split_first() {
            assert!(run(rest, &sizes).is_err(), "{name}");
        }
    }
}

/// A case whose kernel divides its result into rows.
fn of_rows() -> Vec<Case> {
    let rows = 384;
    let image: Vec<f32> = (0..rows * 6).map(|i| (i % 7) as f32 - 3.0).collect();
    let weights: Vec<f32> = (0..96).map(|i| (i % 5) as f32 - 2.0).collect();
    let product =
        |x: &[f32], column: usize| (0..6).map(|k| x[k] * weights[16 * k + column]).sum::<f32>();
    let products = image.chunks(6).flat_map(|x| (0..16).map(move |column| product(x, column)));
    let products: Vec<f32> = products.collect();
    let dims = DotDims::of_dot(2);
    let sums: Vec<f32> = image.chunks(6).map(|x| x.iter().sum()).collect();
    vec![
        case(
            primitives::Dot { dims: Some(Box::new(dims)), dtype: DType::F32 },
            [tensor([rows, 6], &image), tensor([6, 16], &weights)],
            [tensor([rows, 16], &products)],
        ),
        case(
            primitives::Reduce { dimensions: vec![1], body: add(DType::F32) },
            [tensor([rows, 6], &image), Tensor::scalar(0f32)],
            [tensor([rows], &sums)],
        ),
    ]
}

#[test]
fn rows_are_those_of_the_whole() {
    for case in &of_rows() {
        let Prepared { kernel, .. } = prepared(case, &[0]).unwrap();
        let kernel = kernel.row_wise().expect("of rows");
        let rows = kernel.rows().unwrap();
        assert_eq!(rows, 384);
        let row = kernel.row_results(rows).unwrap();
        assert!(
            kernel.work() > 0 && kernel.reads_rows(rows, 0, 6) && !kernel.reads_rows(rows, 0, 5)
        );
        assert!(!kernel.reads_rows(rows, 1, 6));
        let [input, other] = [0, 1].map(|i| &case.operands[i].bytes()[..]);
        let other = RowOperand { bytes: other, is_part: false };
        for range in [0..1, 5..17, 380..384, 0..384] {
            let expected = &case.results[0].bytes()[range.start * 4 * row..range.end * 4 * row];
            let part = &input[range.start * 24..range.end * 24];
            let inputs = [(input, false), (part, true)];
            for (bytes, is_part) in inputs {
                let mut found = vec![0u32; range.len() * row];
                let result = bytemuck::cast_slice_mut::<u32, u8>(&mut found);
                let operands = [RowOperand { bytes, is_part }, other];
                let registers = &mut Registers::default();
                let results = &mut [&mut *result];
                kernel.run_rows(rows, range.clone(), &operands, None, results, registers).unwrap();
                assert_eq!(result, expected);
            }
        }
        // The second operand is needed as a whole.
        let part = RowOperand { is_part: true, ..other };
        let operands = [RowOperand { bytes: input, is_part: false }, part];
        let mut found = vec![0u32; 4 * row];
        let results = &mut [bytemuck::cast_slice_mut(&mut found)];
        let registers = &mut Registers::default();
        let run = kernel.run_rows(rows, 380..384, &operands, None, results, registers);
        assert!(run.is_err());
    }
}

#[test]
fn a_row_loop_chains_kernels() {
    let [product, _] = &of_rows()[..] else { panic!("two cases") };
    let dot = prepared(product, &[0]).unwrap().kernel;
    let sums = case(
        primitives::Reduce { dimensions: vec![1], body: add(DType::F32) },
        [product.results[0].clone(), Tensor::scalar(0f32)],
        [],
    );
    let sum = prepared(&sums, &[0]).unwrap().kernel;
    let operand = RowSource::Operand;
    let rows = RowLoop {
        rows: 384,
        unit: 1,
        least: 1,
        parts: vec![
            RowPart { operands: smallvec![operand(0), operand(1)], results: smallvec![0] },
            RowPart { operands: smallvec![RowSource::Value(0), operand(2)], results: smallvec![1] },
        ],
        values: vec![RowValue { row_bytes: 64, place: 1 }, RowValue { row_bytes: 4, place: 0 }],
        outputs: vec![],
        places: vec![4, 64],
    };
    let kernels = [&dot, &sum]
        .map(|kernel| RowKernel { kernel: kernel.row_wise().unwrap(), prepacked: None });
    let init = 0f32.to_ne_bytes();
    let operands = [&product.operands[0].bytes()[..], product.operands[1].bytes(), &init];
    let mut found = vec![0f32; 384];
    let results = smallvec![bytemuck::cast_slice_mut(&mut found)];
    row_loops::run(&rows, &kernels, &operands, results, &mut Registers::default()).unwrap();
    let products = product.results[0].as_slice::<f32>().unwrap();
    let expected: Vec<f32> = products.chunks(16).map(|row| row.iter().sum()).collect();
    assert_eq!(found, expected);
}

#[test]
fn prepacked_operands_change_nothing() {
    let weights: Vec<f32> = (0..64 * 96).map(|i| (i % 5) as f32 - 2.0).collect();
    let input: Vec<f32> = (0..40 * 64).map(|i| (i % 7) as f32 - 3.0).collect();
    let dims = Some(Box::new(DotDims::of_dot(2)));
    let product =
        |i: usize, j: usize| (0..64).map(|k| input[i * 64 + k] * weights[k * 96 + j]).sum();
    let expected: Vec<f32> = (0..40 * 96).map(|at| product(at / 96, at % 96)).collect();
    let case = case(
        primitives::Dot { dims, dtype: DType::F32 },
        [tensor([40, 64], &input), tensor([64, 96], &weights)],
        [tensor([40, 96], &expected)],
    );
    let kernel = prepared(&case, &[0]).unwrap().kernel;
    assert!(kernel.is_packable());
    let operands = [&case.operands[0].bytes()[..], case.operands[1].bytes()];
    let packed = kernel.prepack(operands[1]).unwrap();
    for prepacked in [None, packed.as_deref()] {
        let mut found = vec![0f32; 40 * 96];
        let results = &mut [bytemuck::cast_slice_mut(&mut found)];
        kernel.run_prepacked(&operands, prepacked, results).unwrap();
        assert_eq!(found, expected);
    }
    assert_eq!(evaluated(&case), case.results);
}

/// The product of a vector with the rows of a matrix, some rows at a time, reads the prepacked
/// matrix alone. With integers, sums are exact.
#[test]
fn rows_of_a_prepacked_matrix_are_read_from_it() {
    const N: usize = 1000;
    const K: usize = 600;
    let matrix: Vec<f32> = (0..N * K).map(|i| (i % 11) as f32 - 5.0).collect();
    let vector: Vec<f32> = (0..K).map(|i| (i % 7) as f32 - 3.0).collect();
    let product = |row: &[f32]| row.iter().zip(&vector).map(|(x, y)| x * y).sum::<f32>();
    let expected: Vec<f32> = matrix.chunks(K).map(product).collect();
    let dims = DotDims {
        lhs_contracting_dimensions: vec![1],
        rhs_contracting_dimensions: vec![1],
        ..DotDims::default()
    };
    let case = case(
        primitives::Dot { dims: Some(Box::new(dims)), dtype: DType::F32 },
        [tensor([1, K], &vector), tensor([N, K], &matrix)],
        [tensor([1, N], &expected)],
    );
    let kernel = prepared(&case, &[0]).unwrap().kernel;
    let matrix = case.operands[1].bytes();
    let packed = kernel.prepack(matrix).unwrap().unwrap();
    let kernel = kernel.row_wise().unwrap();
    let vector = RowOperand { bytes: case.operands[0].bytes(), is_part: false };
    let zeros = vec![0; matrix.len()];
    for (bytes, prepacked) in [(&matrix[..], None), (&zeros, Some(&packed[..]))] {
        for range in [0..N, 0..64, 64..192, 960..N] {
            let operands = [vector, RowOperand { bytes, is_part: false }];
            let mut found = vec![0f32; range.len()];
            let results = &mut [bytemuck::cast_slice_mut(&mut found)];
            let registers = &mut Registers::default();
            kernel.run_rows(N, range.clone(), &operands, prepacked, results, registers).unwrap();
            assert_eq!(found, expected[range]);
        }
        // Rows from the middle of a panel on are read from the matrix.
        let operands = [vector, RowOperand { bytes: matrix, is_part: false }];
        let mut found = vec![0f32; 50];
        let results = &mut [bytemuck::cast_slice_mut(&mut found)];
        let registers = &mut Registers::default();
        kernel.run_rows(N, 37..87, &operands, prepacked, results, registers).unwrap();
        assert_eq!(found, expected[37..87]);
    }
}

/// Halves are packed as words of two elements of a column, in both orders of the matrix. With small
/// integers, sums are exact.
#[test]
fn a_vector_reads_a_prepacked_matrix_of_halves() {
    fn check<T: Element>(convert: fn(f32) -> T, n: usize, k: usize, is_by_rows: bool) {
        let number = |i: usize, count: usize| (i % count) as f32 - (count / 2) as f32;
        let matrix: Vec<f32> = (0..n * k).map(|i| number(i, 11)).collect();
        let vector: Vec<f32> = (0..k).map(|i| number(i, 7)).collect();
        let product = |row: &[f32]| row.iter().zip(&vector).map(|(x, y)| x * y).sum::<f32>();
        let expected: Vec<f32> = matrix.chunks(k).map(product).collect();
        let by_rows = || (0..n * k).map(|at| matrix[at % n * k + at / n]).collect();
        let (shape, stored) = match is_by_rows {
            true => ([k, n], by_rows()),
            false => ([n, k], matrix),
        };
        let of = |numbers: &[f32]| numbers.iter().map(|&x| convert(x)).collect::<Vec<T>>();
        let dims = DotDims {
            lhs_contracting_dimensions: vec![1],
            rhs_contracting_dimensions: vec![i64::from(!is_by_rows)],
            ..DotDims::default()
        };
        let case = case(
            primitives::Dot { dims: Some(Box::new(dims)), dtype: DType::F32 },
            [tensor([1, k], &of(&vector)), tensor(shape, &of(&stored))],
            [tensor([1, n], &expected)],
        );
        let kernel = prepared(&case, &[0]).unwrap().kernel;
        let [vector, matrix] = [0, 1].map(|i| case.operands[i].bytes());
        let zeros = vec![0; matrix.len()];
        // Odd columns have no words.
        let packed = kernel.prepack(matrix).unwrap();
        assert_eq!(packed.is_some(), Isa::best().has_avx2() && k.is_multiple_of(2), "{n} x {k}");
        let bytes = packed.as_ref().map(|packed| packed.len());
        assert!(bytes.is_none_or(|bytes| bytes == kernel.prepacked_bytes()), "{n} x {k}");
        let from = if packed.is_some() { &zeros[..] } else { matrix };
        let mut found = vec![0f32; n];
        let results = &mut [bytemuck::cast_slice_mut(&mut found)];
        kernel.run_prepacked(&[vector, from], packed.as_deref(), results).unwrap();
        assert_eq!(found, expected, "{n} x {k}");
    }
    for (n, k) in [(1000, 600), (1024, 256), (129, 1030), (2000, 333)] {
        for is_by_rows in [false, true] {
            check(bf16::from_f32, n, k, is_by_rows);
            check(f16::from_f32, n, k, is_by_rows);
        }
    }
}
