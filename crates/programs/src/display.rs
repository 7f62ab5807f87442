//! Readable results: small tensors in full, large ones abbreviated, with statistics.

use stablo::numerics::{ComplexElement, Float, I1, Integer, dispatch};
use stablo::{RuntimeValue, Tensor, Type};
use std::io::{self, Write};

/// Tensors with more elements are abbreviated.
const SHOWN_WHOLE: usize = 64;

/// Number of entries shown at each end of a dimension of an abbreviated tensor.
const SHOWN_AT_ENDS: usize = 3;

/// At most this many entries are shown: an abbreviated tensor of many dimensions has more.
const SHOWN_AT_MOST: usize = 10_000;

/// A name in a program for a line of a table: without characters that end it, move the cursor or
/// change colours.
pub fn printable(name: &str) -> String {
    name.replace(char::is_control, "\u{fffd}")
}

/// Writes a value with its type and name, as lines of text.
///
/// # Errors
/// Errors of `out`.
pub fn display(out: &mut dyn Write, name: &str, value: &RuntimeValue, ty: &Type) -> io::Result<()> {
    match value {
        RuntimeValue::Token => writeln!(out, "{name}: a token"),
        RuntimeValue::Tuple(values) => {
            let types = ty.as_tuple().unwrap_or(&[]);
            let mut parts = values.iter().zip(types).enumerate();
            parts.try_for_each(|(i, (value, ty))| display(out, &format!("{name}.{i}"), value, ty))
        }
        RuntimeValue::Tensor(tensor) => {
            let shape: Vec<i64> = tensor.shape().iter().map(|&d| d as i64).collect();
            let ty = Type::tensor(shape, ty.element_type().clone());
            let mut text = format!("{name}: {ty}\n  ");
            let whole = entries(tensor) <= SHOWN_WHOLE;
            list(&mut text, tensor, 0, 0, (whole, &mut SHOWN_AT_MOST.clone()));
            text.push('\n');
            if tensor.num_elements() > SHOWN_WHOLE {
                text.push_str(&format!("  {}\n", statistics(tensor)));
            }
            out.write_all(text.as_bytes())
        }
    }
}

/// Number of innermost entries of a tensor's nested lists: its elements, or empty lists.
pub(crate) fn entries(tensor: &Tensor) -> usize {
    tensor.shape().iter().take_while(|&&size| size > 0).fold(1, |n, &size| n.saturating_mul(size))
}

/// Nested lists; all but the innermost ones are on separate lines. `left` counts the entries that
/// may still be shown.
fn list(
    out: &mut String,
    tensor: &Tensor,
    depth: usize,
    index: usize,
    (whole, left): (bool, &mut usize),
) {
    let Some(&size) = tensor.shape().get(depth) else {
        *left = left.saturating_sub(1);
        out.push_str(&element(tensor, index));
        return;
    };
    let innermost = depth + 1 == tensor.rank();
    let separator =
        if innermost { ", ".to_string() } else { format!(",\n  {}", " ".repeat(depth + 1)) };
    let elide = !whole && size > 2 * SHOWN_AT_ENDS;
    out.push('[');
    let mut i = 0;
    while i < size {
        if i > 0 {
            out.push_str(&separator);
        }
        if *left == 0 {
            out.push('…');
            break;
        }
        if elide && i == SHOWN_AT_ENDS {
            out.push('…');
            i = size - SHOWN_AT_ENDS;
            continue;
        }
        // An empty tensor may have sizes whose product is too large; it has no elements to find.
        let index = index.saturating_mul(size).saturating_add(i);
        list(out, tensor, depth + 1, index, (whole, left));
        i += 1;
    }
    out.push(']');
}

fn number<T: Float>(x: T) -> String {
    let wide = x.to_f64();
    let magnitude = wide.abs();
    let plain = magnitude == 0.0 || (1e-4..1e7).contains(&magnitude) || !wide.is_finite();
    // Fewer digits distinguish numbers of at most 32 bits.
    match (T::DTYPE.bits() <= 32, plain) {
        (true, true) => format!("{:?}", wide as f32),
        (true, false) => format!("{:e}", wide as f32),
        (false, true) => format!("{wide:?}"),
        (false, false) => format!("{wide:e}"),
    }
}

/// The element at a position in row-major order.
pub(crate) fn element(tensor: &Tensor, index: usize) -> String {
    let dtype = tensor.dtype();
    // The index is within the shape, and the dtype matches.
    let text = dispatch!(
        dtype,
        [float] T => tensor.as_slice::<T>().map(|v| number(v[index])),
        else dispatch!(
            dtype,
            [complex] T => tensor.as_slice::<T>().map(|v| format!("({}, {})", number(v[index].re()), number(v[index].im()))),
            else dispatch!(
                dtype,
                [integer] T => tensor.as_slice::<T>().map(|v| v[index].to_i128().to_string()),
                else tensor.as_slice::<I1>().map(|v| v[index].get().to_string())
            )
        )
    );
    text.unwrap_or_default()
}

/// Calls `visit` for each element, or the magnitude of a complex one.
fn each(tensor: &Tensor, visit: &mut dyn FnMut(f64)) {
    let dtype = tensor.dtype();
    let visited = dispatch!(
        dtype,
        [float] T => tensor.as_slice::<T>().map(|v| v.iter().for_each(|x| visit(x.to_f64()))),
        else dispatch!(
            dtype,
            [integer] T => tensor.as_slice::<T>().map(|v| v.iter().for_each(|x| visit(x.to_i128() as f64))),
            else dispatch!(
                dtype,
                [complex] T => {
                    let magnitude = |x: &T| x.re().to_f64().hypot(x.im().to_f64());
                    tensor.as_slice::<T>().map(|v| v.iter().for_each(|x| visit(magnitude(x))))
                },
                else tensor.as_slice::<I1>().map(|v| v.iter().for_each(|x| visit(f64::from(u8::from(x.get())))))
            )
        )
    );
    // Every element type is of one of these families.
    visited.unwrap_or_default();
}

/// Minimum, maximum and mean, and the number of non-finite elements.
fn statistics(tensor: &Tensor) -> String {
    let (mut finite, mut nans, mut infinities) = (0usize, 0usize, 0usize);
    let (mut min, mut max, mut sum) = (f64::MAX, f64::MIN, 0.0);
    each(tensor, &mut |x| match x {
        x if x.is_nan() => nans += 1,
        x if x.is_infinite() => infinities += 1,
        x => {
            finite += 1;
            (min, max, sum) = (min.min(x), max.max(x), sum + x);
        }
    });
    let mut facts = Vec::new();
    if finite > 0 {
        let (count, mut squares) = (finite as f64, 0.0);
        let mean = sum / count;
        each(tensor, &mut |x| {
            if x.is_finite() {
                squares += (x - mean).powi(2);
            }
        });
        let of = if tensor.dtype().is_complex() { " of magnitudes" } else { "" };
        let show = |x: f64| number(x as f32);
        facts.push(format!(
            "min {}, max {}, mean {}, standard deviation {}{of}",
            show(min),
            show(max),
            show(mean),
            show((squares / count).sqrt())
        ));
    }
    for (count, what) in [(nans, "NaN"), (infinities, "infinite")] {
        if count > 0 {
            facts.push(format!("{count} {what}"));
        }
    }
    facts.join(", ")
}
