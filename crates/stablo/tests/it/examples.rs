//! The examples run.

#[path = "../../examples/build.rs"]
mod build;
#[path = "../../examples/custom_call.rs"]
mod custom_call;
#[path = "../../examples/into.rs"]
mod into;
#[path = "../../examples/load_and_run.rs"]
mod load_and_run;
#[path = "../../examples/old_version.rs"]
mod old_version;
#[path = "../../examples/pipeline.rs"]
mod pipeline;
#[path = "../../examples/threads.rs"]
mod threads;
#[path = "../../examples/walk_and_edit.rs"]
mod walk_and_edit;

#[test]
fn examples_run() {
    build::main().unwrap();
    custom_call::main().unwrap();
    into::main().unwrap();
    load_and_run::main().unwrap();
    old_version::main().unwrap();
    pipeline::main().unwrap();
    threads::main().unwrap();
    walk_and_edit::main().unwrap();
}
