//! Types of quantized elements.

use mlir::Type;
use side_dialects::quant::{Granularity, UNIFORM, Uniform, UniformParts};

fn per_tensor(storage: Type, range: (i64, i64), scale: f64) -> UniformParts {
    UniformParts {
        storage,
        unsigned_by_flag: false,
        storage_range: range,
        expressed: Type::f32(),
        scales: vec![scale],
        zero_points: vec![0],
        axes: None,
        blocks: None,
    }
}

#[test]
fn a_view_gives_back_the_parts() {
    let parts = UniformParts {
        scales: vec![0.5, 2.0],
        zero_points: vec![3, -2],
        axes: Some(vec![1]),
        ..per_tensor(Type::i8(), (-127, 127), 1.0)
    };
    let ty = parts.into_type();
    let view = Uniform::of(&ty).unwrap();
    assert_eq!(view.granularity(), Granularity::PerAxis);
    assert_eq!(view.scales().collect::<Vec<_>>(), [0.5, 2.0]);
    assert_eq!((view.zero_points, view.axes), (&[3, -2][..], &[1][..]));
    assert_eq!(UniformParts::of(&view).into_type(), ty);
}

#[test]
fn storage_and_scale_must_fit() {
    let check = UNIFORM.verify.expect("parameters are checked");
    let verify = |parts: UniformParts| {
        let ty = parts.into_type();
        check(ty.as_dialect(&UNIFORM).expect("a uniform type"))
    };
    assert_eq!(verify(per_tensor(Type::i8(), (-128, 127), 0.1)), Ok(()));
    assert_eq!(verify(per_tensor(Type::ui8(), (0, 255), 0.1)), Ok(()));
    assert!(verify(per_tensor(Type::ui8(), (-1, 255), 0.1)).is_err());
    assert!(verify(per_tensor(Type::i8(), (5, 5), 0.1)).is_err());
    assert!(verify(per_tensor(Type::i64(), (0, 1), 0.1)).is_err());
    assert!(verify(per_tensor(Type::i8(), (-128, 127), 0.0)).is_err());
    assert!(verify(per_tensor(Type::i8(), (-128, 127), f64::NAN)).is_err());
    // StableHLO, ops_stablehlo_quantized.mlir: 4.960464e-08 is below the least f16.
    let half = UniformParts {
        expressed: Type::f16(),
        ..per_tensor(Type::i8(), (-128, 127), 4.960464e-08)
    };
    assert!(verify(half).is_err());
}
