//! Each decomposition reconstructs its matrix, of every shape, real and complex, from factors of
//! the right form.

use lapack::*;
use num_complex::Complex64;

/// Bound of an element of a residual, for matrices of up to 40 rows of elements of about one: some
/// hundred roundings.
const TOLERANCE: f64 = 1e-13;

/// Numbers from [-1, 1), always the same.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        // D. Knuth, *MMIX*.
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    fn matrix<T: Scalar>(&mut self, rows: usize, columns: usize) -> Matrix<T> {
        let elements =
            (0..rows * columns).map(|_| T::from_parts(self.next(), self.next())).collect();
        Matrix::new(rows, columns, elements)
    }

    fn hermitian<T: Scalar>(&mut self, n: usize) -> Matrix<T> {
        let a = self.matrix::<T>(n, n);
        let b = a.adjoint();
        Matrix::new(n, n, a.elements().iter().zip(b.elements()).map(|(&x, &y)| x + y).collect())
    }
}

#[track_caller]
fn close<T: Scalar>(a: &Matrix<T>, b: &Matrix<T>) {
    assert_eq!((a.rows(), a.columns()), (b.rows(), b.columns()));
    for (&x, &y) in a.elements().iter().zip(b.elements()) {
        assert!(
            (x - y).abs() <= TOLERANCE,
            "{x:?} and {y:?} in matrices of {} x {}",
            a.rows(),
            a.columns()
        );
    }
}

/// The columns are orthonormal.
#[track_caller]
fn orthonormal<T: Scalar>(q: &Matrix<T>) {
    close(&q.adjoint().times(q), &Matrix::identity(q.columns(), q.columns()));
}

fn diagonal<T: Scalar>(values: impl Iterator<Item = T>, rows: usize, columns: usize) -> Matrix<T> {
    let mut d = Matrix::zeros(rows, columns);
    for (i, x) in values.enumerate() {
        d[(i, i)] = x;
    }
    d
}

/// The elements that `keep` chooses, by row and column; zeros elsewhere.
fn part<T: Scalar>(a: &Matrix<T>, keep: impl Fn(usize, usize) -> bool) -> Matrix<T> {
    let mut result = a.clone();
    for i in 0..a.rows() {
        for j in 0..a.columns() {
            if !keep(i, j) {
                result[(i, j)] = T::ZERO;
            }
        }
    }
    result
}

const SHAPES: [(usize, usize); 11] =
    [(1, 1), (2, 2), (3, 3), (5, 5), (40, 40), (6, 3), (3, 6), (5, 4), (4, 5), (30, 9), (9, 30)];

fn triangular_factors<T: Scalar>() {
    let numbers = &mut Numbers(1);
    for (m, n) in SHAPES {
        let a = numbers.matrix::<T>(m, n);
        let few = m.min(n);

        let mut factors = a.clone();
        let (pivots, info) = getrf(&mut factors);
        assert_eq!(info, 0);
        let l = part(&factors, |i, j| i > j).leading(m, few);
        let l = Matrix::new(
            m,
            few,
            l.elements()
                .iter()
                .zip(Matrix::identity(m, few).elements())
                .map(|(&x, &y)| x + y)
                .collect(),
        );
        let mut product = l.times(&part(&factors, |i, j| i <= j).leading(few, n));
        assert!(
            part(&factors, |i, j| i > j).elements().iter().all(|x| x.abs() <= 1.5),
            "pivots are the largest"
        );
        for (k, &pivot) in pivots.iter().enumerate().rev() {
            let (x, y) = (product.row(k).to_vec(), product.row(pivot as usize - 1).to_vec());
            product.row_mut(k).copy_from_slice(&y);
            product.row_mut(pivot as usize - 1).copy_from_slice(&x);
        }
        close(&product, &a);

        let mut factors = a.clone();
        let taus = geqrf(&mut factors);
        let r = part(&factors, |i, j| i <= j);
        let full = orgqr(&factors.leading(m, few), &taus, m);
        orthonormal(&full);
        close(&full.times(&r), &a);
        for (side, adjoint) in [
            (MatrixSide::Left, false),
            (MatrixSide::Left, true),
            (MatrixSide::Right, false),
            (MatrixSide::Right, true),
        ] {
            let c = if side == MatrixSide::Left {
                numbers.matrix::<T>(m, 2)
            } else {
                numbers.matrix::<T>(2, m)
            };
            let q = if adjoint { full.adjoint() } else { full.clone() };
            let expected = if side == MatrixSide::Left { q.times(&c) } else { c.times(&q) };
            let mut product = c;
            ormqr(&factors, &taus, &mut product, side, adjoint);
            close(&product, &expected);
        }

        let (mut factors, mut order) = (a.clone(), vec![0; n]);
        order[n - 1] = 1;
        let taus = geqp3(&mut factors, &mut order);
        assert_eq!(order[0], n as i32, "a chosen column comes first");
        let q = orgqr(&factors.leading(m, few), &taus, m);
        let product = q.times(&part(&factors, |i, j| i <= j));
        for (place, &column) in order.iter().enumerate() {
            for i in 0..m {
                assert!((product[(i, place)] - a[(i, column as usize - 1)]).abs() <= TOLERANCE);
            }
        }
        let size = |k: usize| factors[(k, k)].abs();
        assert!(
            (2..few).all(|k| size(k - 1) >= size(k) * (1.0 - TOLERANCE)),
            "the diagonal descends"
        );
    }
}

fn systems<T: Scalar>() {
    let numbers = &mut Numbers(2);
    for n in [1, 2, 5, 20] {
        let a = numbers.matrix::<T>(n, n);
        let positive = a.times(&a.adjoint());
        for lower in [true, false] {
            let mut factor = positive.clone();
            // Avoids nearly singular factors.
            for i in 0..n {
                factor[(i, i)] += T::ONE;
            }
            let expected = factor.clone();
            potrf(&mut factor, lower).expect("positive definite");
            let factor = part(&factor, |i, j| if lower { i >= j } else { i <= j });
            let adjoint = factor.adjoint();
            close(&if lower { factor.times(&adjoint) } else { adjoint.times(&factor) }, &expected);
            for flags in 0..16 {
                let [left_side, unit_diagonal, transposed, conjugated] =
                    [1, 2, 4, 8].map(|bit| flags & bit != 0);
                let system = System { left_side, lower, unit_diagonal, transposed, conjugated };
                let mut op = factor.clone();
                for i in 0..if unit_diagonal { n } else { 0 } {
                    for j in 0..n {
                        op[(i, j)] = if i == j { T::ONE } else { op[(i, j)] * (0.5 / n as f64) };
                    }
                }
                let given = op.clone();
                if transposed != conjugated {
                    op = Matrix::new(n, n, op.elements().iter().map(|x| x.conj()).collect());
                }
                let op = if transposed { op.adjoint() } else { op };
                let x = numbers.matrix::<T>(n, n);
                let mut b = if left_side { op.times(&x) } else { x.times(&op) };
                trsm(&given, &mut b, system);
                close(&b, &x);
            }
        }
        let inside = n - 1;
        let row = |numbers: &mut Numbers, n: usize| numbers.matrix::<T>(1, n).into_elements();
        let mut a = Tridiagonal {
            lower: row(numbers, inside),
            diagonal: row(numbers, n),
            upper: row(numbers, inside),
        };
        // Exchanges of rows happen, and no pivot is small.
        a.lower.iter_mut().step_by(2).for_each(|x| *x += T::real(5.0));
        let mut full = diagonal(a.diagonal.iter().copied(), n, n);
        for k in 0..inside {
            (full[(k + 1, k)], full[(k, k + 1)]) = (a.lower[k], a.upper[k]);
        }
        let x = numbers.matrix::<T>(n, 2);
        let mut b = full.times(&x);
        gtsv(&mut a, &mut b).expect("regular");
        for (&x, &y) in b.elements().iter().zip(x.elements()) {
            assert!((x - y).abs() <= 1e-10, "{x:?} and {y:?}");
        }
    }
}

fn eigenvalues_of_hermitian<T: Scalar>() {
    let numbers = &mut Numbers(3);
    for n in [1, 2, 3, 6, 40] {
        let a = numbers.hermitian::<T>(n);
        for lower in [true, false] {
            // The other triangle is not read.
            let given = part(&a, |i, j| if lower { i >= j } else { i <= j });
            let mut vectors = given.clone();
            let values = syevd(&mut vectors, lower, true, Precision::DOUBLE).expect("finite");
            assert!(values.is_sorted());
            orthonormal(&vectors);
            close(
                &vectors.times(&diagonal(values.iter().map(|&x| T::real(x)), n, n)),
                &a.times(&vectors),
            );
            let alone = syevd(&mut given.clone(), lower, false, Precision::DOUBLE).expect("finite");
            assert!(values.iter().zip(&alone).all(|(x, y)| (x - y).abs() <= TOLERANCE));
        }
    }
}

fn singular_values<T: Scalar>() {
    let numbers = &mut Numbers(4);
    for (m, n) in SHAPES {
        for rank in [m.min(n), 1] {
            let a = numbers.matrix::<T>(m, rank).times(&numbers.matrix::<T>(rank, n));
            for driver in [Driver::DivideAndConquer, Driver::Iteration] {
                for vectors in [Vectors::None, Vectors::Some, Vectors::All] {
                    let svd = gesdd(a.clone(), vectors, driver, Precision::DOUBLE).expect("finite");
                    assert!(
                        svd.values.iter().all(|&x| x >= 0.0)
                            && svd.values.is_sorted_by(|x, y| x >= y)
                    );
                    assert!(svd.values.iter().skip(rank).all(|&x| x < TOLERANCE));
                    let (left, right) = match vectors {
                        Vectors::None => continue,
                        Vectors::Some => (m.min(n), m.min(n)),
                        Vectors::All => (m, n),
                    };
                    orthonormal(&svd.u);
                    orthonormal(&svd.vh.adjoint());
                    let s = diagonal(svd.values.iter().map(|&x| T::real(x)), left, right);
                    close(&svd.u.times(&s).times(&svd.vh), &a);
                }
            }
        }
    }
}

fn general_eigenvalues<T: SchurForm>() {
    let numbers = &mut Numbers(5);
    for n in [1, 2, 3, 4, 9, 40] {
        let mut a = numbers.matrix::<T>(n, n);
        if n == 4 {
            // Rows and columns that balancing moves to the ends, and badly scaled ones.
            for j in 0..n {
                a[(1, j)] = if j == 1 { a[(1, 1)] } else { T::ZERO };
                a[(j, 2)] = if j == 2 { a[(2, 2)] } else { T::ZERO };
            }
        }
        let schur = gees(a.clone(), true, Precision::DOUBLE).expect("finite");
        orthonormal(&schur.z);
        close(&schur.z.times(&schur.t), &a.times(&schur.z));
        let alone = gees(a.clone(), false, Precision::DOUBLE).expect("finite");
        assert_eq!((&alone.t, &alone.values, alone.z.rows()), (&schur.t, &schur.values, 0));
        let block = |i: usize, j: usize| T::DIMENSIONS == 1 && i == j + 1;
        assert!((0..n).all(|i| (0..i).all(|j| block(i, j) || schur.t[(i, j)] == T::ZERO)));

        let lift = Matrix::new(n, n, a.elements().iter().map(|x| x.complex()).collect());
        let eigen = geev(a.clone(), true, true, Precision::DOUBLE).expect("finite");
        let alone = geev(a.clone(), false, false, Precision::DOUBLE).expect("finite");
        assert_eq!((alone.values, alone.left, alone.right), (eigen.values.clone(), None, None));
        let values = diagonal(eigen.values.iter().copied(), n, n);
        let (left, right) = (eigen.left.expect("asked for"), eigen.right.expect("asked for"));
        close(&lift.times(&right), &right.times(&values));
        close(&left.adjoint().times(&lift), &values.times(&left.adjoint()));
        for vectors in [left, right] {
            for k in 0..n {
                let column: Vec<Complex64> = (0..n).map(|i| vectors[(i, k)]).collect();
                assert!(
                    (column.iter().map(|x| x.norm_sqr()).sum::<f64>() - 1.0).abs() <= TOLERANCE
                );
                let largest = column
                    .iter()
                    .fold(Complex64::ZERO, |m, &x| if x.norm_sqr() > m.norm_sqr() { x } else { m });
                assert_eq!(largest.im, 0.0);
            }
        }
        if T::DIMENSIONS == 1 {
            let pairs = eigen.values.iter().filter(|x| x.im != 0.0).collect::<Vec<_>>();
            assert!(pairs.chunks(2).all(|p| p[0].im > 0.0 && *p[1] == p[0].conj()));
        }
    }
}

fn reductions<T: Scalar>() {
    let numbers = &mut Numbers(6);
    for n in [1, 2, 3, 7] {
        let a = numbers.matrix::<T>(n, n);
        let mut form = a.clone();
        let taus = gehrd(&mut form, 0, n);
        let h = part(&form, |i, j| i <= j + 1);
        // The reflections stand one row lower.
        let mut q = Matrix::identity(n, n);
        if n > 1 {
            let below = Matrix::new(
                n - 1,
                n - 1,
                (1..n).flat_map(|i| form.row(i)[..n - 1].to_vec()).collect(),
            );
            let small = orgqr(&below, &taus, n - 1);
            for i in 1..n {
                q.row_mut(i)[1..].copy_from_slice(small.row(i - 1));
            }
        }
        close(&q.times(&h), &a.times(&q));
    }
    for (n, lower) in [1, 2, 3, 7, 23].into_iter().flat_map(|n| [(n, true), (n, false)]) {
        let a = numbers.hermitian::<T>(n);
        let mut form = a.clone();
        // The other triangle is not read, and stays as it is.
        let other = T::real(f64::NAN);
        for (i, j) in (0..n).flat_map(|i| (0..i).map(move |j| (i, j))) {
            form[if lower { (j, i) } else { (i, j) }] = other;
        }
        let t = sytrd(&mut form, lower);
        let mut tridiagonal = diagonal(t.diagonal.into_iter().map(T::real), n, n);
        for (i, &x) in t.beside.iter().enumerate() {
            (tridiagonal[(i, i + 1)], tridiagonal[(i + 1, i)]) = (T::real(x), T::real(x));
        }
        // The product of the reflections, in the order in which they were made.
        let mut q = Matrix::identity(n, n);
        for nth in 0..n.saturating_sub(1) {
            let k = if lower { nth } else { n - 2 - nth };
            let mut v = Matrix::zeros(n, 1);
            if lower {
                (k + 2..n).for_each(|i| v[(i, 0)] = form[(i, k)]);
                v[(k + 1, 0)] = T::ONE;
            } else {
                (0..k).for_each(|i| v[(i, 0)] = form[(i, k + 1)]);
                v[(k, 0)] = T::ONE;
            }
            let mut projection = v.times(&v.adjoint());
            for i in 0..n {
                for j in 0..n {
                    let one = if i == j { T::ONE } else { T::ZERO };
                    projection[(i, j)] = one - t.taus[k] * projection[(i, j)];
                }
            }
            q = q.times(&projection);
        }
        close(&q.times(&tridiagonal), &a.times(&q));
    }
}

#[test]
fn real() {
    triangular_factors::<f64>();
    systems::<f64>();
    eigenvalues_of_hermitian::<f64>();
    singular_values::<f64>();
    general_eigenvalues::<f64>();
    reductions::<f64>();
}

#[test]
fn complex() {
    triangular_factors::<Complex64>();
    systems::<Complex64>();
    eigenvalues_of_hermitian::<Complex64>();
    singular_values::<Complex64>();
    general_eigenvalues::<Complex64>();
    reductions::<Complex64>();
}

/// Large matrices are reflected and turned some columns at a time.
#[test]
fn columns_of_large_matrices_are_as_if_alone() {
    let numbers = &mut Numbers(8);
    let a = numbers.matrix::<f64>(110, 100);
    let (mut factors, mut first) = (a.clone(), a.leading(110, 7));
    let taus = geqrf(&mut factors);
    assert_eq!(geqrf(&mut first), taus[..7]);
    assert_eq!(first, factors.leading(110, 7));
    let mut infinite = a.clone();
    infinite[(50, 10)] = f64::INFINITY;
    geqrf(&mut infinite);
    assert_eq!(infinite.leading(110, 10), factors.leading(110, 10), "an infinity is not spread");
    let q = orgqr(&factors, &taus, 100);
    assert_eq!(orgqr(&factors, &taus, 7), q.leading(110, 7));
    orthonormal(&q);
    close(&q.times(&part(&factors, |i, j| i <= j).leading(100, 100)), &a);

    let Svd { values, u, vh } =
        gesdd(a.clone(), Vectors::Some, Driver::DivideAndConquer, Precision::DOUBLE)
            .expect("finite");
    close(&u.times(&diagonal(values.into_iter(), 100, 100)).times(&vh), &a);
    orthonormal(&u);

    let symmetric = numbers.hermitian::<f64>(100);
    for lower in [false, true] {
        let mut vectors = symmetric.clone();
        let values = syevd(&mut vectors, lower, true, Precision::DOUBLE).expect("finite");
        let scaled = vectors.times(&diagonal(values.into_iter(), 100, 100));
        close(&scaled, &symmetric.times(&vectors));
    }
}

#[test]
fn extreme_sizes_neither_overflow_nor_vanish() {
    for scale in [1e300, 1e-300] {
        let a = Matrix::new(2, 2, vec![3.0 * scale, 0.0, 4.0 * scale, 5.0 * scale]);
        // The singular values of [3 0; 4 5] are the roots of 45 and 5.
        let svd =
            gesdd(a, Vectors::Some, Driver::DivideAndConquer, Precision::DOUBLE).expect("finite");
        assert!((svd.values[0] / scale - 45f64.sqrt()).abs() <= TOLERANCE);
        assert!((svd.values[1] / scale - 5f64.sqrt()).abs() <= TOLERANCE);
        let mut a = Matrix::new(2, 2, vec![2.0 * scale, scale, scale, 2.0 * scale]);
        let values = syevd(&mut a, true, true, Precision::DOUBLE).expect("finite");
        assert!(
            (values[0] / scale - 1.0).abs() <= TOLERANCE
                && (values[1] / scale - 3.0).abs() <= TOLERANCE
        );
        let a = Matrix::new(2, 2, vec![0.0, -scale, scale, 0.0]);
        let values = geev(a, false, false, Precision::DOUBLE).expect("finite").values;
        assert!(
            (values[0] / scale - Complex64::new(0.0, 1.0)).abs1() <= TOLERANCE
                && values[1] == values[0].conj()
        );
    }
}

#[test]
fn what_has_no_decomposition_is_reported() {
    let nan = || Matrix::new(2, 2, vec![1.0, f64::NAN, f64::NAN, 1.0]);
    assert!(gesdd(nan(), Vectors::Some, Driver::Iteration, Precision::DOUBLE).is_err());
    assert!(syevd(&mut nan(), true, true, Precision::DOUBLE).is_err());
    assert!(
        geev(nan(), true, true, Precision::DOUBLE).is_err()
            && gees(nan(), true, Precision::DOUBLE).is_err()
    );
    assert_eq!(potrf(&mut Matrix::new(2, 2, vec![1.0, 2.0, 2.0, 1.0]), true), Err(2));
    assert_eq!(getrf(&mut Matrix::new(2, 2, vec![1.0, 2.0, 2.0, 4.0])).1, 2);
    let mut singular = Tridiagonal { lower: vec![0.0], diagonal: vec![0.0, 1.0], upper: vec![1.0] };
    assert_eq!(gtsv(&mut singular, &mut Matrix::new(2, 1, vec![1.0, 1.0])), Err(1));
}

#[test]
fn nothing_of_an_empty_matrix() {
    let empty = || Matrix::<f64>::zeros(0, 3);
    let svd =
        gesdd(empty(), Vectors::All, Driver::DivideAndConquer, Precision::DOUBLE).expect("finite");
    assert!(svd.values.is_empty() && svd.vh == Matrix::identity(3, 3));
    assert!(geqrf(&mut empty()).is_empty() && getrf(&mut empty()).0.is_empty());
    let none = Matrix::<f64>::zeros(0, 0);
    assert_eq!(syevd(&mut none.clone(), true, true, Precision::DOUBLE), Ok(vec![]));
    assert!(geev(none.clone(), true, true, Precision::DOUBLE).is_ok_and(|e| e.values.is_empty()));
    assert!(gees(none, true, Precision::DOUBLE).is_ok());
}

#[test]
fn signs_are_those_of_lapack() {
    // A reflection takes (3, 4) to (-5, 0): r has the opposite sign of the column.
    let mut a = Matrix::new(2, 1, vec![3.0, 4.0]);
    let taus = geqrf(&mut a);
    assert_eq!((a[(0, 0)], taus), (-5.0, vec![1.6]));
    // A negative number has a positive singular value, and the sign goes to the left (`gesdd`) or
    // right (`gesvd`).
    let one = Matrix::new(1, 1, vec![-2.0]);
    let svd = gesdd(one.clone(), Vectors::Some, Driver::DivideAndConquer, Precision::DOUBLE)
        .expect("finite");
    assert_eq!((svd.values[0], svd.u[(0, 0)], svd.vh[(0, 0)]), (2.0, -1.0, 1.0));
    let svd = gesdd(one, Vectors::Some, Driver::Iteration, Precision::DOUBLE).expect("finite");
    assert_eq!((svd.values[0], svd.u[(0, 0)], svd.vh[(0, 0)]), (2.0, 1.0, -1.0));
}

/// Matrices on which iterations stall, overflow or lose precision, by name.
fn hard_matrices(n: usize) -> Vec<(&'static str, Matrix<f64>)> {
    let build = |f: &dyn Fn(usize, usize) -> f64| {
        Matrix::new(n, n, (0..n * n).map(|at| f(at / n, at % n)).collect())
    };
    let power = |e: usize| libm::scalbn(1.0, -(e as i32));
    vec![
        ("zeros", build(&|_, _| 0.0)),
        ("identity", build(&|i, j| f64::from(u8::from(i == j)))),
        ("ones", build(&|_, _| 1.0)),
        // All eigenvalues have one absolute value: without exceptional shifts, iterations make no
        // progress.
        ("cycle", build(&|i, j| f64::from(u8::from(j == (i + 1) % n)))),
        ("Jordan block", build(&|i, j| if i == j { 2.0 } else { f64::from(u8::from(j == i + 1)) })),
        ("Hilbert", build(&|i, j| 1.0 / (i + j + 1) as f64)),
        ("graded", build(&|i, j| power(8 * (i + j)))),
        ("graded upwards", build(&|i, j| power(8 * (2 * n - i - j)))),
        (
            "antisymmetric",
            build(&|i, j| (i as f64 - j as f64).signum() * f64::from(u8::from(i != j))),
        ),
        (
            "Wilkinson",
            build(&|i, j| {
                if i == j {
                    (i as f64 - (n / 2) as f64).abs()
                } else {
                    f64::from(u8::from(i.abs_diff(j) == 1))
                }
            }),
        ),
        ("subnormal", build(&|i, j| f64::from_bits((i * n + j + 1) as u64))),
    ]
}

fn decompose_hard<T: SchurForm>() {
    for n in [2, 3, 4, 8, 25, 40] {
        for (name, real) in hard_matrices(n) {
            let a: Matrix<T> = Matrix::new(
                n,
                n,
                real.elements().iter().map(|&x| T::from_parts(x, x / 2.0)).collect(),
            );
            // Relative to the largest element, and to the number of roundings.
            let size = a.elements().iter().fold(f64::MIN_POSITIVE, |m, x| m.max(x.abs()));
            let near = |x: &Matrix<T>, y: &Matrix<T>, what: &str| {
                let worst = x
                    .elements()
                    .iter()
                    .zip(y.elements())
                    .fold(0f64, |m, (&x, &y)| m.max((x - y).abs()));
                assert!(
                    worst <= 4e-15 * (n * n) as f64 * size,
                    "{what} of {name}, {n} rows: {worst:e} of {size:e}"
                );
            };
            let values = |values: &[f64]| diagonal(values.iter().map(|&x| T::real(x)), n, n);
            for driver in [Driver::DivideAndConquer, Driver::Iteration] {
                let svd = gesdd(a.clone(), Vectors::All, driver, Precision::DOUBLE);
                let svd = svd.unwrap_or_else(|_| panic!("singular values of {name}, {n} rows"));
                orthonormal(&svd.u);
                orthonormal(&svd.vh.adjoint());
                near(&svd.u.times(&values(&svd.values)).times(&svd.vh), &a, "singular values");
            }
            let schur = gees(a.clone(), true, Precision::DOUBLE)
                .unwrap_or_else(|_| panic!("Schur form of {name}, {n} rows"));
            orthonormal(&schur.z);
            near(&schur.z.times(&schur.t).times(&schur.z.adjoint()), &a, "Schur form");
            let mean = |(&x, &y): (&T, &T)| x * 0.5 + y * 0.5;
            let hermitian = Matrix::new(
                n,
                n,
                a.elements().iter().zip(a.adjoint().elements()).map(mean).collect(),
            );
            let mut vectors = hermitian.clone();
            let found = syevd(&mut vectors, true, true, Precision::DOUBLE);
            let found = found.unwrap_or_else(|_| panic!("eigenvalues of {name}, {n} rows"));
            orthonormal(&vectors);
            near(
                &vectors.times(&values(&found)).times(&vectors.adjoint()),
                &hermitian,
                "eigenvalues",
            );
            // Vectors of a matrix without a basis of them are still vectors.
            let eigen = geev(a, true, true, Precision::DOUBLE);
            let eigen = eigen.unwrap_or_else(|_| panic!("eigenvectors of {name}, {n} rows"));
            let all = [eigen.left, eigen.right].into_iter().flatten();
            assert!(
                all.flat_map(|m| m.into_elements()).all(|x| x.is_finite()),
                "eigenvectors of {name}, {n} rows"
            );
        }
    }
}

#[test]
fn hard_matrices_are_decomposed() {
    decompose_hard::<f64>();
    decompose_hard::<Complex64>();
}
