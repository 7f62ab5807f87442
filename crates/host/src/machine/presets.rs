//! Models of processors, as `stablo machine --measure` found them.

use super::{Cache, Machine};
use std::borrow::Cow;

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

const fn cache(bytes: usize, shared_by: usize) -> Cache {
    Cache { bytes, shared_by }
}

/// A processor of which nothing else is known.
pub(super) const GENERIC: Machine = Machine {
    name: Cow::Borrowed("generic"),
    l1: cache(32 * KIB, 1),
    l2: cache(MIB, 1),
    l3: cache(32 * MIB, 8),
    vector_bits: 512,
    full_rate_bits: 512,
    threads: 1,
    hand_over_ns: 500,
    wake_ns: 20_000,
    operations_per_us: 26_000,
    flops_per_us: 100_000,
    memory_bytes_per_us: 15_000,
};

/// AMD Zen 4, whose instructions of 512 bits take two cycles.
pub(super) const ZEN_4: Machine = Machine {
    name: Cow::Borrowed("zen4"),
    l3: cache(32 * MIB, 16),
    full_rate_bits: 256,
    threads: 2,
    flops_per_us: 116_000,
    memory_bytes_per_us: 17_000,
    ..GENERIC
};

/// AMD Zen 5.
pub(super) const ZEN_5: Machine = Machine {
    name: Cow::Borrowed("zen5"),
    l1: cache(48 * KIB, 2),
    l3: cache(32 * MIB, 16),
    threads: 2,
    flops_per_us: 268_000,
    memory_bytes_per_us: 36_000,
    ..GENERIC
};

/// Intel's Sapphire Rapids.
pub(super) const SAPPHIRE_RAPIDS: Machine = Machine {
    name: Cow::Borrowed("sapphire-rapids"),
    l1: cache(48 * KIB, 2),
    l2: cache(2 * MIB, 2),
    l3: cache(105 * MIB, 112),
    threads: 2,
    flops_per_us: 200_000,
    memory_bytes_per_us: 12_000,
    ..GENERIC
};

/// Processors with AVX2 and small caches, such as Intel's Haswell.
pub(super) const HASWELL: Machine = Machine {
    name: Cow::Borrowed("haswell"),
    l1: cache(32 * KIB, 2),
    l2: cache(256 * KIB, 2),
    l3: cache(8 * MIB, 8),
    vector_bits: 256,
    full_rate_bits: 256,
    threads: 4,
    operations_per_us: 14_000,
    flops_per_us: 110_000,
    memory_bytes_per_us: 12_000,
    ..GENERIC
};

/// ARM's Neoverse V1 and V2.
pub(super) const NEOVERSE: Machine = Machine {
    name: Cow::Borrowed("neoverse"),
    l1: cache(64 * KIB, 1),
    l2: cache(MIB, 1),
    l3: cache(32 * MIB, 64),
    vector_bits: 128,
    full_rate_bits: 128,
    operations_per_us: 14_000,
    flops_per_us: 80_000,
    ..GENERIC
};

/// Everything is small and cheap to share, so that small operands take the paths of large ones.
const TINY: Machine = Machine {
    name: Cow::Borrowed("tiny"),
    l1: cache(KIB, 1),
    l2: cache(4 * KIB, 2),
    l3: cache(16 * KIB, 2),
    vector_bits: 256,
    full_rate_bits: 128,
    threads: 4,
    hand_over_ns: 1,
    wake_ns: 1,
    operations_per_us: 1000,
    flops_per_us: 2000,
    memory_bytes_per_us: 1000,
};

/// Everything is large and nothing worth sharing, so that large operands take the paths of small
/// ones.
const HUGE: Machine = Machine {
    name: Cow::Borrowed("huge"),
    l1: cache(16 * MIB, 1),
    l2: cache(1024 * MIB, 1),
    l3: cache(1024 * MIB, 1),
    hand_over_ns: 1_000_000,
    wake_ns: 1_000_000,
    operations_per_us: 1_000_000,
    flops_per_us: 10_000_000,
    memory_bytes_per_us: 1_000_000,
    ..GENERIC
};

pub(super) static PRESETS: [Machine; 8] =
    [GENERIC, ZEN_4, ZEN_5, SAPPHIRE_RAPIDS, HASWELL, NEOVERSE, TINY, HUGE];
