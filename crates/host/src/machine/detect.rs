//! Facts of the machine, from the processor and the system.

use super::Machine;
use super::presets;
use std::num::NonZeroUsize;

/// The model of this machine.
pub(super) fn machine() -> Machine {
    Machine { threads: threads(), ..processor() }
}

/// Number of threads that the process may use at the same time.
pub(super) fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

/// The processor as CPUID describes it. Each leaf takes some microseconds in virtual machines.
#[cfg(target_arch = "x86_64")]
fn processor() -> Machine {
    use raw_cpuid::{CacheType, CpuId};

    let id = CpuId::new();
    let vendor = id.get_vendor_info();
    let family = id.get_feature_info().map_or(0, |info| info.family_id());
    let has_wide = is_x86_feature_detected!("avx512f");
    let mut machine = match vendor.as_ref().map(|vendor| vendor.as_str()) {
        Some("AuthenticAMD") if has_wide && family == 0x19 => presets::ZEN_4,
        Some("AuthenticAMD") if has_wide => presets::ZEN_5,
        Some("GenuineIntel") if has_wide => presets::SAPPHIRE_RAPIDS,
        _ if has_wide => presets::GENERIC,
        _ => presets::HASWELL,
    };
    let mut last = None;
    for cache in id.get_cache_parameters().into_iter().flatten() {
        if !matches!(cache.cache_type(), CacheType::Data | CacheType::Unified) {
            continue;
        }
        let size = [
            cache.associativity(),
            cache.physical_line_partitions(),
            cache.coherency_line_size(),
            cache.sets(),
        ];
        let bytes = size.into_iter().fold(1, usize::saturating_mul);
        let found = super::Cache { bytes, shared_by: cache.max_cores_for_cache().max(1) };
        if bytes == 0 {
            continue;
        }
        match cache.level() {
            1 => machine.l1 = found,
            2 => machine.l2 = found,
            3 => machine.l3 = found,
            _ => {}
        }
        last = Some((cache.level(), found));
    }
    if let Some((2, cache)) = last {
        machine.l3 = cache;
    }
    machine
}

/// A processor with NEON, with the caches that Linux lists.
#[cfg(target_arch = "aarch64")]
fn processor() -> Machine {
    let mut machine = presets::NEOVERSE;
    #[cfg(target_os = "linux")]
    for index in 0..8 {
        let file = |name: &str| {
            let path = format!("/sys/devices/system/cpu/cpu0/cache/index{index}/{name}");
            std::fs::read_to_string(path).ok()
        };
        let (Some(level), Some(kind), Some(size)) = (file("level"), file("type"), file("size"))
        else {
            break;
        };
        let Some(kib) = size.trim().strip_suffix('K').and_then(|kib| kib.parse::<usize>().ok())
        else {
            continue;
        };
        let cache = match level.trim() {
            "1" if kind.trim() == "Data" => &mut machine.l1,
            "2" => &mut machine.l2,
            "3" => &mut machine.l3,
            _ => continue,
        };
        cache.bytes = kib.max(1).saturating_mul(1 << 10);
    }
    machine
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn processor() -> Machine {
    Machine { vector_bits: 128, full_rate_bits: 128, ..presets::GENERIC }
}
