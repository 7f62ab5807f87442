//! The program `stablehlo-opt`.

fn main() -> std::process::ExitCode {
    programs::io::main("stablehlo-opt")
}
