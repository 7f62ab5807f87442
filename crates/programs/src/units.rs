//! Readable numbers.

/// A readable size: `4.2 kB`.
pub(crate) fn size(bytes: usize) -> String {
    scaled(bytes as u64, "B", ["kB", "MB", "GB", "TB"])
}

/// A readable number of operations: `1.5 MFLOP`.
pub(crate) fn flops(count: u64) -> String {
    scaled(count, "FLOP", ["kFLOP", "MFLOP", "GFLOP", "TFLOP"])
}

fn scaled(count: u64, unit: &str, larger: [&str; 4]) -> String {
    let (mut value, mut shown) = (count as f64, None);
    for name in larger {
        if value < 1000.0 {
            break;
        }
        (value, shown) = (value / 1000.0, Some(name));
    }
    shown.map_or_else(|| format!("{count} {unit}"), |name| format!("{value:.1} {name}"))
}
