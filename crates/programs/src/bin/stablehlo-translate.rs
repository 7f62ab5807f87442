//! The program `stablehlo-translate`.

#[path = "../launch.rs"]
mod launch;

fn main() -> std::process::ExitCode {
    launch::stablo("stablehlo-translate")
}
