//! The program `stablo`, which is `stablehlo-opt` and `stablehlo-translate`, too.

fn main() -> std::process::ExitCode {
    programs::io::main()
}
