//! `--mlir-print-value-users`: comments that name the users of values.

use super::Printer;
use crate::ir::{BlockId, Module, OpId, OpRef, Value};
use rustc_hash::FxHashMap;

/// The users of the values below an op, each user once, latest first as in MLIR's use lists.
pub(super) struct Users(FxHashMap<Value, Vec<OpId>>);

impl Users {
    pub(super) fn of(op: OpRef<'_>) -> Users {
        let mut users: FxHashMap<Value, Vec<OpId>> = FxHashMap::default();
        for user in op.module().walk(op.id()) {
            for &operand in user.operands() {
                let known = users.entry(operand).or_default();
                if known.last() != Some(&user.id()) {
                    known.push(user.id());
                }
            }
        }
        users.values_mut().for_each(|users| users.reverse());
        Users(users)
    }

    fn get(&self, value: Value) -> &[OpId] {
        self.0.get(&value).map_or(&[], Vec::as_slice)
    }
}

impl Printer<'_> {
    /// Writes the comment behind an op: the users of each result, or the number by which an op
    /// without results is named as a user.
    pub(super) fn users_of_results(&mut self, op: OpRef<'_>) {
        let Some(users) = self.users.take() else { return };
        let unique = op.results().fold(Vec::new(), |mut unique: Vec<OpId>, result| {
            let new = users.get(result).iter().filter(|user| !unique.contains(user));
            let new: Vec<OpId> = new.copied().collect();
            unique.extend(new);
            unique
        });
        match (op.num_results(), unique.as_slice()) {
            (0, _) if op.operands().is_empty() => {}
            (0, _) => {
                self.write(" // id: ");
                self.op_number(op.id());
            }
            (_, []) => self.write(" // unused"),
            (results, unique) => {
                let module = op.module();
                let is_one =
                    results == 1 && matches!(unique, [user] if module.op(*user).num_results() <= 1);
                self.write(if is_one { " // user: " } else { " // users: " });
                self.separated(", ", op.results(), |p, result| {
                    p.write(if results > 1 { "(" } else { "" });
                    p.user_names(module, users.get(result));
                    p.write(if results > 1 { ")" } else { "" });
                });
            }
        }
        self.users = Some(users);
    }

    /// Writes a line for each argument of a block.
    pub(super) fn users_of_arguments(&mut self, module: &Module, block: BlockId) {
        let Some(users) = self.users.take() else { return };
        for &argument in module.arguments(block) {
            self.write_indent();
            self.write("// ");
            self.value(argument);
            match users.get(argument) {
                [] => self.write(" is unused"),
                users => {
                    self.write(" is used by ");
                    self.user_names(module, users);
                }
            }
            self.write("\n");
        }
        self.users = Some(users);
    }

    /// Writes the results of the users of a value, and the numbers of users without results.
    fn user_names(&mut self, module: &Module, users: &[OpId]) {
        if users.is_empty() {
            self.write("unused");
        }
        self.separated(", ", users, |p, &user| {
            let user = module.op(user);
            if user.num_results() == 0 {
                p.op_number(user.id());
            }
            p.separated(", ", user.results(), |p, result| p.value(result));
        });
    }
}
