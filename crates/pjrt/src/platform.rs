//! The names and attributes of the plugin.

use crate::error::Outcome;
use pjrt_abi::{Named, NamedValues, PluginAttributes, PluginInitialize};
use std::sync::LazyLock;

/// The kind of its devices.
pub(crate) const DEVICE_KIND: &str = "stablo";

/// The platform that the plugin calls itself unless an option says otherwise.
const NAME: &str = "stablo";

/// The version of the platform, which is part of the keys of JAX's persistent compilation cache.
pub(crate) const VERSION: &str = concat!("stablo ", env!("CARGO_PKG_VERSION"));

/// The name of the platform: the option `platform_name`, or that of the plugin. JAX's own rules,
/// lists and tests know `cpu`.
pub(crate) fn name(options: &[(String, Named)]) -> String {
    let option = options.iter().find_map(|(name, value)| match value {
        Named::Text(text) if name == "platform_name" => Some(text.clone()),
        _ => None,
    });
    option.unwrap_or_else(|| NAME.to_string())
}

pub(crate) fn initialize(_: &mut PluginInitialize) -> Outcome {
    Ok(())
}

/// The version of XLA's plugin conventions that is followed.
const XLA_VERSION: i64 = 2;

static ATTRIBUTES: LazyLock<NamedValues> = LazyLock::new(|| {
    let version = |version: stablo::Version| {
        Named::Integers(
            [version.major, version.minor, version.patch].map(|part| part as i64).to_vec(),
        )
    };
    NamedValues::new(vec![
        ("xla_version".to_string(), Named::Integer(XLA_VERSION)),
        ("stablehlo_current_version".to_string(), version(stablo::Version::CURRENT)),
        ("stablehlo_minimum_version".to_string(), version(stablo::Version::MINIMUM)),
    ])
});

pub(crate) fn attributes(args: &mut PluginAttributes) -> Outcome {
    (args.attributes, args.num_attributes) = ATTRIBUTES.parts();
    Ok(())
}
