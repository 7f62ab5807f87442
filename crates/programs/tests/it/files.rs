//! Runs the test files below `tests/` at the top of the project, in process.

use filetests::{ProcessOutcome, Suite, Tools};
use stablo::{Host, Machine};
use std::path::Path;

/// The programs as functions.
pub(crate) struct InProcess;

impl Tools for InProcess {
    fn run(&self, argv: &[String], mut stdin: &[u8], cwd: &Path) -> ProcessOutcome {
        // Plans do not depend on the machine that tests run on.
        let machine = Machine::presets().iter().find(|machine| machine.name == "generic");
        let machine = machine.expect("a preset");
        let _entered = Host::default().with_machine(machine).enter();
        let mut outcome = ProcessOutcome::default();
        let args: Vec<_> = argv.iter().map(Into::into).collect();
        let mut io = programs::Io {
            stdin: &mut stdin,
            stdout: &mut outcome.stdout,
            stderr: &mut outcome.stderr,
            cwd: cwd.to_path_buf(),
            terminal: false,
            styles: stablo::Styles::PLAIN,
            own_process: false,
        };
        // The suite calls only programs listed in `names`.
        let code = programs::program(&argv[0]).map_or(127, |program| program(&args, &mut io));
        outcome.code = code;
        outcome
    }
}

#[test]
fn test_files_pass() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests");
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join("files");
    Suite::new(root, scratch, &InProcess).run().assert_passed();
}
