//! The page about custom calls has all targets.

use hlo::custom_calls::names;

#[test]
fn all_targets_are_documented() {
    let page = include_str!("../../../../docs/custom_calls.md");
    for name in names() {
        let routine = ["lapack_", "blas_"].iter().find_map(|prefix| name.strip_prefix(prefix));
        // Families: without prefix and letter of the type, or without the platform.
        let short = match routine {
            Some(rest) => &rest.strip_suffix("_ffi").unwrap_or(rest)[1..],
            None => name
                .strip_prefix("cu")
                .or_else(|| name.strip_prefix("hip"))
                .filter(|rest| !rest.starts_with('_'))
                .unwrap_or(&name),
        };
        assert!(page.contains(&format!("`{short}`")), "{name} as `{short}`");
    }
}
