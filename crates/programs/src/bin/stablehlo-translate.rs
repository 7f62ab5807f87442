//! The program `stablehlo-translate`.

fn main() -> std::process::ExitCode {
    programs::io::main("stablehlo-translate")
}
