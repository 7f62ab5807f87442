//! The program `stablo`.

fn main() -> std::process::ExitCode {
    programs::io::main("stablo")
}
