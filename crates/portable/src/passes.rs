//! The conversions as passes, under upstream's names.

use crate::{ForeignOps, from_vhlo, target_version, to_version, to_vhlo};
use mlir::pass::{NamedPipeline, OptionKind, Pass, PassContext, PassOption};

/// StableHLO to VHLO.
pub const STABLEHLO_LEGALIZE_TO_VHLO: Pass = Pass::on_modules(
    "stablehlo-legalize-to-vhlo",
    "Convert StableHLO to VHLO of the current version",
    |cx| {
        let foreign = if cx.options.bool("allow-other-dialects") {
            ForeignOps::Keep
        } else {
            ForeignOps::Refuse
        };
        let result = to_vhlo(cx.module, cx.root, foreign);
        result.unwrap_or_else(|error| cx.report(error));
    },
)
.with_options(&[PassOption {
    name: "allow-other-dialects",
    doc: "Keep ops, types and attributes of other dialects",
    kind: OptionKind::Bool(false),
}]);

/// VHLO to StableHLO.
pub const VHLO_LEGALIZE_TO_STABLEHLO: Pass = Pass::on_modules(
    "vhlo-legalize-to-stablehlo",
    "Convert VHLO of the current version to StableHLO",
    |cx| {
        let result = from_vhlo(cx.module, cx.root);
        result.unwrap_or_else(|error| cx.report(error));
    },
);

/// VHLO to another version.
pub const VHLO_TO_VERSION: Pass =
    Pass::on_any("vhlo-to-version", "Convert VHLO to another version", to_target).with_options(&[
        PassOption {
            name: "target",
            doc: "The version, such as 1.20.0, current or WEEK_12",
            kind: OptionKind::Checked("", is_version),
        },
    ]);

/// Checks that a target names a version. The error says why not.
pub fn is_version(target: &str) -> Result<(), String> {
    target_version(target).map(drop).map_err(|error| error.message)
}

fn to_target(cx: &mut PassContext<'_>) {
    let errors = match target_version(cx.options.text("target")) {
        Ok(version) => to_version(cx.module, cx.root, version).err().unwrap_or_default(),
        Err(error) => vec![error.at(cx.module.op(cx.root).position())],
    };
    errors.into_iter().for_each(|error| cx.report(error));
}

/// VHLO of any version to StableHLO.
pub const STABLEHLO_DESERIALIZE: NamedPipeline = NamedPipeline {
    name: "stablehlo-deserialize",
    doc: "Convert VHLO of any version to StableHLO",
    passes: "vhlo-to-version{target=current},vhlo-legalize-to-stablehlo",
};
