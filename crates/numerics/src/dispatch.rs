//! From a [`DType`](crate::DType) to the Rust type of its elements, once per tensor.

/// Evaluates an expression with a type alias bound to the Rust type of a [`DType`](crate::DType) of
/// a listed family, or another expression for the other families:
/// `dispatch!(dtype, [integer, float] T => kernel::<T>(), else error)`.
///
/// Families are `boolean`, `integer`, `float` and `complex`. With all four listed there is no
/// `else`; [`dispatch_all!`](crate::dispatch_all) is short for that.
#[macro_export]
macro_rules! dispatch {
    ($dtype:expr, [$($family:ident),*] $T:ident => $body:expr $(, else $other:expr)?) => {
        $crate::dispatch!(@collect ($dtype, $T, $body, ($($other)?)) [] $($family)*)
    };
    (@collect $args:tt [$($row:tt)*] boolean $($rest:ident)*) => {
        $crate::dispatch!(@collect $args [$($row)* (I1 $crate::I1)] $($rest)*)
    };
    (@collect $args:tt [$($row:tt)*] integer $($rest:ident)*) => {
        $crate::dispatch!(@collect $args [$($row)*
            (I2 $crate::I2) (I4 $crate::I4) (I8 i8) (I16 i16) (I32 i32) (I64 i64)
            (U2 $crate::U2) (U4 $crate::U4) (U8 u8) (U16 u16) (U32 u32) (U64 u64)
        ] $($rest)*)
    };
    (@collect $args:tt [$($row:tt)*] float $($rest:ident)*) => {
        $crate::dispatch!(@collect $args [$($row)*
            (F4E2M1FN $crate::F4E2M1FN) (F6E2M3FN $crate::F6E2M3FN) (F6E3M2FN $crate::F6E3M2FN)
            (F8E3M4 $crate::F8E3M4) (F8E4M3 $crate::F8E4M3) (F8E4M3B11FNUZ $crate::F8E4M3B11FNUZ)
            (F8E4M3FN $crate::F8E4M3FN) (F8E4M3FNUZ $crate::F8E4M3FNUZ) (F8E5M2 $crate::F8E5M2)
            (F8E5M2FNUZ $crate::F8E5M2FNUZ) (F8E8M0FNU $crate::F8E8M0FNU) (BF16 $crate::bf16)
            (F16 $crate::f16) (TF32 $crate::Tf32) (F32 f32) (F64 f64)
        ] $($rest)*)
    };
    (@collect $args:tt [$($row:tt)*] complex $($rest:ident)*) => {
        $crate::dispatch!(@collect $args [$($row)*
            (C64 $crate::Complex32) (C128 $crate::Complex64)
        ] $($rest)*)
    };
    (@collect ($dtype:expr, $T:ident, $body:expr, ($($other:expr)?)) [$(($variant:ident $ty:ty))*]) => {
        match $dtype {
            $($crate::DType::$variant => {
                type $T = $ty;
                $body
            })*
            $(_ => $other,)?
        }
    };
}

/// Evaluates an expression with a type alias bound to the Rust type of any [`DType`](crate::DType):
/// `dispatch_all!(dtype, T => kernel::<T>())`. See [`dispatch!`](crate::dispatch) for some families
/// only.
#[macro_export]
macro_rules! dispatch_all {
    ($dtype:expr, $T:ident => $body:expr) => {
        $crate::dispatch!($dtype, [boolean, integer, float, complex] $T => $body)
    };
}

/// Evaluates an expression with a type alias bound to a plain type of the size and alignment of the
/// elements of a [`DType`](crate::DType), to move elements without regard to their meaning.
macro_rules! dispatch_storage {
    ($dtype:expr, $S:ident => $body:expr) => {
        $crate::dispatch::dispatch_storage!(@arms $dtype, $S, $body,
            1 false => u8, 2 false => u16, 4 false => u32, 8 false => u64, 8 true => [u32; 2], else [u64; 2])
    };
    (@arms $dtype:expr, $S:ident, $body:expr,
        $($bytes:literal $is_complex:literal => $ty:ty,)* else $other:ty) => {
        match ($dtype.bytes(), $dtype.is_complex()) {
            $(($bytes, $is_complex) => {
                type $S = $ty;
                $body
            })*
            _ => {
                type $S = $other;
                $body
            }
        }
    };
}
pub(crate) use dispatch_storage;
