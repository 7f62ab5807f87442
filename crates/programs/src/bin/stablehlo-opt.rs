//! The program `stablehlo-opt`.

#[path = "../launch.rs"]
mod launch;

fn main() -> std::process::ExitCode {
    launch::stablo("stablehlo-opt")
}
