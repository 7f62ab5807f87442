//! Names the shared library for the dynamic linker, so that programs find a compatible one: before
//! version 1, minor versions are incompatible.

fn main() {
    let version =
        |part: &str| std::env::var(format!("CARGO_PKG_VERSION_{part}")).unwrap_or_default();
    let interface = match version("MAJOR").as_str() {
        "0" => format!("0.{}", version("MINOR")),
        major => major.to_string(),
    };
    match std::env::var("CARGO_CFG_TARGET_OS").as_deref() {
        Ok("linux" | "freebsd" | "netbsd" | "openbsd" | "android") => {
            println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libstablo_c.so.{interface}");
        }
        Ok("macos") => {
            let name = format!("@rpath/libstablo_c.{interface}.dylib");
            println!("cargo::rustc-cdylib-link-arg=-Wl,-install_name,{name}");
        }
        _ => {}
    }
    println!("cargo::rerun-if-changed=build.rs");
}
