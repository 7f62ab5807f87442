//! The examples run.

#[path = "../../../examples/src/bin/builder.rs"]
mod builder;
#[path = "../../../examples/src/bin/custom_call.rs"]
mod custom_call;
#[path = "../../../examples/src/bin/into.rs"]
mod into;
#[path = "../../../examples/src/bin/load_and_run.rs"]
mod load_and_run;
#[path = "../../../examples/src/bin/old_version.rs"]
mod old_version;
#[path = "../../../examples/src/bin/pipeline.rs"]
mod pipeline;
#[path = "../../../examples/src/bin/threads.rs"]
mod threads;
#[path = "../../../examples/src/bin/walk_and_edit.rs"]
mod walk_and_edit;

#[test]
fn examples_run() {
    builder::main().unwrap();
    custom_call::main().unwrap();
    into::main().unwrap();
    load_and_run::main().unwrap();
    old_version::main().unwrap();
    pipeline::main().unwrap();
    threads::main().unwrap();
    walk_and_edit::main().unwrap();
}
