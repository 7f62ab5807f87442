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
        $crate::element_types!(
            [$crate::dispatch] @table ($dtype, $T, $body, ($($other)?)) [$($family)*]
        )
    };
    (@table $args:tt [$($family:ident)*] $($table:tt)*) => {
        $crate::dispatch!(@collect $args [$($table)*] [] $($family)*)
    };
    (@collect $args:tt [$b:tt $s:tt $u:tt $f:tt $c:tt] [$($rows:tt)*] boolean $($rest:ident)*) => {
        $crate::dispatch!(@collect $args [$b $s $u $f $c] [$($rows)* $b] $($rest)*)
    };
    (@collect $args:tt [$b:tt $s:tt $u:tt $f:tt $c:tt] [$($rows:tt)*] integer $($rest:ident)*) => {
        $crate::dispatch!(@collect $args [$b $s $u $f $c] [$($rows)* $s $u] $($rest)*)
    };
    (@collect $args:tt [$b:tt $s:tt $u:tt $f:tt $c:tt] [$($rows:tt)*] float $($rest:ident)*) => {
        $crate::dispatch!(@collect $args [$b $s $u $f $c] [$($rows)* $f] $($rest)*)
    };
    (@collect $args:tt [$b:tt $s:tt $u:tt $f:tt $c:tt] [$($rows:tt)*] complex $($rest:ident)*) => {
        $crate::dispatch!(@collect $args [$b $s $u $f $c] [$($rows)* $c] $($rest)*)
    };
    (@collect ($dtype:expr, $T:ident, $body:expr, ($($other:expr)?)) $table:tt
        [$([$(($variant:ident, $name:literal, ($ty:ty), $details:tt))*])*]) => {
        match $dtype {
            $($($crate::DType::$variant => {
                type $T = $ty;
                $body
            })*)*
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

/// Calls a function that is generic over elements which it only moves, for a plain type of the size
/// of another one and of at most its alignment, so that it is compiled once for each size; for the
/// type itself if it is not like one of elements. Arguments are cast:
/// `by_size!(T, f(cast_slice(x)))`.
macro_rules! by_size {
    ($T:ty, $($function:ident)::+ $(<$parameter:ident>)? ($($argument:expr),*)) => {
        // Constants: there is no code for the others.
        if const { size_of::<$T>() == 1 } {
            $($function)::+::<u8 $(, $parameter)?>($($argument),*)
        } else if const { size_of::<$T>() == 2 && align_of::<$T>() == 2 } {
            $($function)::+::<u16 $(, $parameter)?>($($argument),*)
        } else if const { size_of::<$T>() == 4 && align_of::<$T>() == 4 } {
            $($function)::+::<u32 $(, $parameter)?>($($argument),*)
        } else if const { size_of::<$T>() == 8 && align_of::<$T>() >= 4 } {
            $($function)::+::<[u32; 2] $(, $parameter)?>($($argument),*)
        } else if const { size_of::<$T>() == 16 && align_of::<$T>() >= 8 } {
            $($function)::+::<[u64; 2] $(, $parameter)?>($($argument),*)
        } else {
            $($function)::+::<$T $(, $parameter)?>($($argument),*)
        }
    };
}
pub(crate) use by_size;
