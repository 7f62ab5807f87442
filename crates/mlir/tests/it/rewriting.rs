//! The greedy driver, dialect conversion, use lists and compaction.

use crate::common::{AddOp, ConstantOp, DoubleOp, UseOp, assert_valid, body, module};
use mlir::pass::PassOptions;
use mlir::rewrite::conversion::{ConversionTarget, Legality, convert};
use mlir::rewrite::greedy::{Config, RewriteOutcome, rewrite};
use mlir::rewrite::{PatternSet, RewritePattern, Rewriter};
use mlir::{Module, OpId, OpRef, Type, Value};

fn greedy(module: &mut Module, patterns: &[RewritePattern], config: Config) -> RewriteOutcome {
    let root = module.top().id();
    let outcome =
        rewrite(module, root, &mut PatternSet::new(&[patterns]), &PassOptions::default(), config);
    assert_valid(module);
    outcome
}

/// `double(x) = add(x, x)`
fn expand_double(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let (input, ty) = (rw.op(op).operand(0), rw.op(op).result_type(0).clone());
    let sum = rw.make(AddOp::DEF, [input, input]).result(ty);
    rw.replace(op, &[sum]);
    Some(())
}

const EXPAND: RewritePattern = RewritePattern::new("expand-double", DoubleOp::DEF, expand_double);

#[test]
fn constants_fold_and_become_one() {
    let mut module = module(
        "%x = \"other.input\"() : () -> i64
         %a = test.constant 1 : i64 : i64
         %b = test.constant 2 : i64 : i64
         %c = test.constant 2 : i64 : i64
         %3 = test.add %a, %b : i64
         %4 = test.add %3, %c : i64
         %5 = test.add %b, %x : i64
         test.use %4, %5, %c : i64, i64, i64",
    );
    let outcome = greedy(&mut module, &[], Config::default());
    assert!(outcome.changed && outcome.converged);
    // New constants go to the start, equal ones become one, and constants stand on the right.
    let expected = "%0 = test.constant 5 : i64 : i64
%1 = test.constant 2 : i64 : i64
%2 = \"other.input\"() : () -> i64
%3 = test.add %2, %1 : i64
test.use %0, %3, %1 : i64, i64, i64";
    let found = body(&module);
    assert_eq!(found, expected, "{found}");
}

#[test]
fn dead_ops_go_and_ops_with_effects_stay() {
    let mut module = module(
        "%a = test.constant 1 : i64 : i64
         %0 = test.double %a : i64
         %1 = test.double %0 : i64
         %2 = \"other.effect\"(%a) : (i64) -> i64",
    );
    greedy(&mut module, &[], Config::default());
    let expected = "%0 = test.constant 1 : i64 : i64\n%1 = \"other.effect\"(%0) : (i64) -> i64";
    assert_eq!(body(&module), expected);
}

#[test]
fn patterns_apply_to_what_patterns_make() {
    let mut module = module(
        "%a = test.constant 3 : i64 : i64
         %0 = test.double %a : i64
         %1 = test.double %0 : i64
         test.use %1 : i64",
    );
    let outcome = greedy(&mut module, &[EXPAND], Config::default());
    assert_eq!(body(&module), "%0 = test.constant 12 : i64 : i64\ntest.use %0 : i64");
    let counts: Vec<_> = outcome.statistics.iter().map(|(name, n)| (name, n.applied)).collect();
    assert!(counts.contains(&("expand-double", 2)), "{counts:?}");
}

#[test]
fn a_pattern_of_greater_benefit_goes_first() {
    fn to_input(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
        let input = rw.op(op).operand(0);
        rw.replace(op, &[input]);
        Some(())
    }
    let first = RewritePattern::new("to-input", DoubleOp::DEF, to_input).with_benefit(2);
    let mut module =
        module("%0 = \"other.input\"() : () -> i64\n%1 = test.double %0 : i64\ntest.use %1 : i64");
    greedy(&mut module, &[EXPAND, first], Config::default());
    assert_eq!(body(&module), "%0 = \"other.input\"() : () -> i64\ntest.use %0 : i64");
}

#[test]
fn rewrites_and_iterations_are_limited() {
    fn grow(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
        let (input, ty) = (rw.op(op).operand(0), rw.op(op).result_type(0).clone());
        let new = rw.make(DoubleOp::DEF, [input]).result(ty);
        rw.replace(op, &[new]);
        Some(())
    }
    let text = "%0 = \"other.input\"() : () -> i64\n%1 = test.double %0 : i64\ntest.use %1 : i64";
    let pattern = [RewritePattern::new("grow", DoubleOp::DEF, grow)];
    let mut module = module(text);
    let config = Config { max_rewrites: 5, max_iterations: 3, ..Config::default() };
    let outcome = greedy(&mut module, &pattern, config);
    assert!(!outcome.converged && outcome.changed);
    let (_, count) = outcome.statistics.iter().find(|(name, _)| *name == "grow").unwrap();
    assert_eq!(count.applied, 15);
}

#[test]
fn insertion_points_survive_the_erasure_of_their_op() {
    fn erase_next(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
        let next = rw.op(op).next_in_block().filter(|next| next.is(UseOp::DEF))?.id();
        rw.before(next);
        rw.erase(next);
        rw.make(ConstantOp::DEF, []).attr("value", mlir::Attribute::i64(7)).result(Type::i64());
        Some(())
    }
    let mut module = module(
        "%0 = \"other.input\"() : () -> i64
         %1 = \"other.mark\"(%0) : (i64) -> i64
         test.use %1 : i64
         \"other.end\"() : () -> ()",
    );
    let mark = RewritePattern::any("erase-next", |rw, op| {
        if rw.op(op).name() != "other.mark" {
            return None;
        }
        erase_next(rw, op)
    });
    let config = Config { fold: false, max_rewrites: 1, max_iterations: 1, ..Config::default() };
    greedy(&mut module, &[mark], config);
    let names: Vec<String> =
        module.walk(module.top().id()).skip(1).map(|op| op.name().to_string()).collect();
    assert_eq!(names, ["other.input", "other.mark", "test.constant", "other.end"]);
}

fn to_i32(ty: &Type) -> Option<Type> {
    Some(if *ty == Type::i64() { Type::i32() } else { ty.clone() })
}

/// A double of a converted value.
fn convert_double(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let input = rw.converted_operands(op)[0];
    let ty = rw.converted_type(rw.op(op).result_type(0))?;
    let sum = rw.make(AddOp::DEF, [input, input]).result(ty);
    rw.replace(op, &[sum]);
    Some(())
}

fn convert_constant(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let ty = rw.converted_type(rw.op(op).result_type(0))?;
    let new = rw.make(ConstantOp::DEF, []).attributes_of(op).result(ty);
    rw.replace(op, &[new]);
    Some(())
}

#[test]
fn conversion_changes_types_and_casts_for_what_stays() {
    let mut module = module(
        "%0 = test.constant 3 : i64 : i64
         %1 = test.double %0 : i64
         %2 = test.double %1 : i64
         test.use %2 : i64",
    );
    let legality =
        |op: OpRef<'_>| match op.is(UseOp::DEF) || op.result_types().all(|ty| *ty == Type::i32()) {
            true => Legality::Legal,
            false => Legality::Illegal,
        };
    let conversion = ConversionTarget { legality: &legality, types: Some(&to_i32) };
    let patterns: [RewritePattern; 2] = [
        RewritePattern::new("double", DoubleOp::DEF, convert_double),
        RewritePattern::new("constant", ConstantOp::DEF, convert_constant),
    ];
    let root = module.top().id();
    let (diagnostics, _) = convert(
        &mut module,
        root,
        &mut PatternSet::new(&[&patterns]),
        &conversion,
        &PassOptions::default(),
    );
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    assert_valid(&module);
    let expected = "%0 = test.constant 3 : i64 : i32
%1 = test.add %0, %0 : i32
%2 = test.add %1, %1 : i32
%3 = unrealized_conversion_cast %2 : i32 to i64
test.use %3 : i64";
    assert_eq!(body(&module), expected);
}

#[test]
fn what_no_pattern_converts_is_an_error() {
    let mut module = module("%0 = \"other.input\"() : () -> i64\ntest.use %0 : i64");
    let legality = |op: OpRef<'_>| match op.is(UseOp::DEF) {
        true => Legality::Illegal,
        false => Legality::Unknown,
    };
    let conversion = ConversionTarget { legality: &legality, types: None };
    let root = module.top().id();
    let (diagnostics, _) = convert(
        &mut module,
        root,
        &mut PatternSet::new(&[&[EXPAND]]),
        &conversion,
        &PassOptions::default(),
    );
    assert_eq!(diagnostics.len(), 1, "{diagnostics:?}");
    assert!(diagnostics[0].message.contains("test.use"), "{}", diagnostics[0].message);
}

/// The users of a value, counted by looking at all operands.
fn counted(module: &Module, value: Value) -> Vec<OpId> {
    let ops = module.walk(module.top().id());
    let mut users: Vec<OpId> = ops
        .flat_map(|op| op.operands().iter().filter(|v| **v == value).map(move |_| op.id()))
        .collect();
    users.sort();
    users
}

fn check_uses(module: &Module) {
    let values = module.walk(module.top().id()).flat_map(|op| op.results());
    for value in values {
        let mut users: Vec<OpId> = module.users(value).collect();
        users.sort();
        let expected = counted(module, value);
        assert_eq!(users, expected);
        assert_eq!(module.is_unused(value), expected.is_empty());
        assert_eq!(module.has_one_use(value), expected.len() == 1);
    }
}

#[test]
fn use_lists_follow_changes_of_operands() {
    let mut text = String::new();
    for i in 0..6 {
        text += &format!("%{i} = \"other.input\"() : () -> i64\n");
    }
    text += &"test.use %0, %1, %0, %2 : i64, i64, i64, i64\n".repeat(8);
    let mut module = module(&text);
    module.build_uses();
    let ops: Vec<OpId> = module.walk(module.top().id()).skip(1).map(OpRef::id).collect();
    let value = |module: &Module, i: usize| module.op(ops[i]).result(0);
    let users = &ops[6..];
    check_uses(&module);
    // A fixed sequence that meets every kind of change.
    let mut state = 1_usize;
    let mut next = |n: usize| {
        state = (state * 1_103_515_245 + 12_345) % (1 << 31);
        (state >> 8) % n
    };
    for step in 0..400 {
        let user = users[next(users.len())];
        let (a, b) = (value(&module, next(6)), value(&module, next(6)));
        match step % 4 {
            0 => module.set_operand(user, next(module.op(user).operands().len()), a),
            1 => module.set_operands(user, [a, b, a]),
            2 => module.replace_all_uses(a, b),
            _ => module.replace_uses_if(a, b, |op| op == user),
        }
        check_uses(&module);
    }
    users.iter().for_each(|&user| module.erase(user));
    check_uses(&module);
    assert!((0..6).all(|i| module.is_unused(value(&module, i))));
}

#[test]
fn a_compacted_module_is_the_same_program() {
    let text = "%0 = \"other.input\"() : () -> i64
        \"test.function\"() <{sym_name = \"f\"}> ({
        ^bb0(%a: i64):
          %1 = test.double %a : i64
          \"test.branch\"(%1)[^bb2] : (i64) -> ()
        ^bb1:
          \"test.branch\"()[^bb2] : () -> ()
        ^bb2:
          test.use %a : i64
          test.yield
        }) : () -> ()
        test.use %0 : i64";
    let mut module = module(text);
    let before = body(&module);
    // Erased ops, with regions, and detached ones.
    let root = module.top().id();
    let ops: Vec<OpId> = module.walk(root).skip(1).map(OpRef::id).collect();
    for _ in 0..100 {
        for &op in &ops {
            let copy = module.clone_op(op, &mut Default::default(), &mut Default::default());
            if module.op(op).has_trait(&mlir::ods::Trait::Terminator) {
                continue;
            }
            module.insert_after(copy, op);
            module.erase(copy);
        }
    }
    let (all, blocks) = (module.num_ops(), module.num_blocks());
    module.compact();
    assert_eq!(body(&module), before);
    assert_valid(&module);
    assert_eq!(module.num_ops(), ops.len() + 1);
    assert!(module.num_ops() < all && module.num_blocks() < blocks);
    assert_eq!(module.num_blocks(), 4);
    module.build_uses();
    check_uses(&module);
    // Ids are those of the program's order, and the order of blocks is kept.
    let ids: Vec<usize> = module.walk(module.top().id()).map(|op| op.id().index()).collect();
    assert!(ids.iter().copied().eq(0..ids.len()));
    assert!(module.top().lookup_symbol("f").is_some());
    // Ops made since are rewritten as before.
    let outcome = greedy(&mut module, &[EXPAND], Config::default());
    assert!(outcome.converged);
    assert!(body(&module).contains("test.add"));
}

#[test]
fn ops_without_results_are_compacted() {
    let text: String = (0..50).map(|i| format!("%{i} = test.constant 1 : i64 : i64\n")).collect();
    let mut module = module(&(text + "test.use"));
    let ops: Vec<OpId> = module.walk(module.top().id()).skip(1).map(OpRef::id).collect();
    ops[..50].iter().for_each(|&op| module.erase(op));
    module.compact();
    assert_eq!(body(&module), "test.use");
    assert_eq!((module.num_ops(), module.num_values()), (2, 0));
}
