//! Bytecode: integers of every length, and orders of uses.

use crate::common::{REGISTRY, body, module};
use mlir::Module;
use mlir::bytecode::{ReadOptions, ReadOutput, WriteOptions, read, write};
use numerics::Bytes;

fn written(module: &Module) -> Bytes {
    Bytes::from_vec(write(module, &WriteOptions::default()).unwrap().to_vec())
}

fn read_back(file: &Bytes) -> ReadOutput {
    let output = read(file, &REGISTRY, ReadOptions { note_fields: true, ..ReadOptions::default() });
    assert!(output.diagnostics.is_empty(), "{:?}", output.diagnostics);
    output
}

#[test]
fn integers_of_every_length() {
    // The name makes the section of attributes so long that its length always takes two bytes.
    let with = |value: i64| {
        let name = "long".repeat(30);
        let file = written(&module(&format!("test.use {{a = {value} : i64, b = \"{name}\"}}")));
        assert!(body(&read_back(&file).module).contains(&format!("a = {value} : i64")), "{value}");
        file.len()
    };
    let shortest = with(0);
    for bit in 0..64 {
        for value in [(1u64 << bit) - 1, 1 << bit, u64::MAX >> bit].map(|bits| bits as i64) {
            // Numbers of either sign in turn: 0, -1, 1, -2, …
            let number = (value << 1 ^ value >> 63) as u64;
            // The table of the format's documentation: one byte up to 7 bits, two up to 14, … nine
            // for the rest.
            let expected = (64 - number.leading_zeros()).max(1).div_ceil(7).min(9) as usize;
            assert_eq!(with(value) - shortest + 1, expected, "{value}");
        }
    }
}

#[test]
fn the_order_of_uses_is_that_of_the_latest_first() {
    let text = "%a = \"test.constant\"() <{value = 1 : i64}> : () -> i64\n".to_string()
        + &"test.use %a : i64\n".repeat(3);
    let mut module = module(&text);
    let ops: Vec<_> = module.walk(module.top().id()).skip(1).map(|op| op.id()).collect();
    let value = module.op(ops[0]).result(0);
    let in_order = written(&module);
    // The first of three uses was added last.
    module.set_use_order(value, [1, 3, 2].map(|use_| (ops[use_], 0)).to_vec());
    let file = written(&module);
    assert!(file.len() > in_order.len());
    let output = read_back(&file);
    let is_order = |meaning: &str| meaning.starts_with("use-list orders of");
    let orders = output.fields.iter().find(|field| is_order(&field.meaning)).unwrap();
    // The places of the uses, from the last one to the first, each in a byte.
    assert!(file[..orders.range.end].ends_with(&[1, 2, 0].map(|place| place << 1 | 1)));
    assert_eq!(written(&output.module), file);
}
