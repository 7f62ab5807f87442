// Groups of the ops of a block: by scopes, by functions of the exporter's call stacks, repetitions,
// and parts.

/** More members than this are grouped by the functions that made them, and by repetition. */
const MANY = 24;
/** Most members of a group; more are split into parts of about `PART`, in the order of the program. */
const MAX_MEMBERS = 60;
const PART = 40;
/** Functions of fewer ops make no group. */
const MIN_OPS = 4;
/** Repetitions of fewer ops are not grouped. */
const MIN_REPEATED = 6;

/**
 * An op, or a group of them, in the order of the program.
 *
 * @typedef {object} Member
 * @property {string} label  empty for an op
 * @property {number[]} ops
 * @property {Member[] | null} members  null for an op
 * @property {string} [scope]  for a single op of a scope, the scope
 * @property {string} signature  equal for members that do the same
 */

/** Groups ops of one block so that no value goes from a later group to an earlier one. */
class Grouping {
  /** `used(op)` are the values that an op uses, also within its regions. */
  constructor(program, used) {
    this.program = program;
    this.used = used;
  }

  /** @returns {Member[]} */
  group(ops) {
    const { program } = this;
    /** The ops of the block that use the results of each of them. */
    this.users = new Map(ops.map((op) => [op, []]));
    for (const op of ops) {
      for (const value of this.used(op)) this.users.get(program.producer[value])?.push(op);
    }
    // A terminator has the scope of its parent op.
    const scope = ({ ops: [op] }) =>
      program.ops[op].results.length ? scopeNames(program.scopes[program.ops[op].scope] || "") : [];
    const members = ops.map((op) => this.op(op));
    return this.limited(this.nested(members, scope, scopeLabel, 0));
  }

  op(op) {
    const { kind, results } = this.program.ops[op];
    const types = results.map((value) => this.program.values[value][1]);
    return { label: "", ops: [op], members: null, signature: `${kind}:${types}` };
  }

  /** A group; of a single member, that member with both names. */
  of(label, members, join = joined) {
    if (members.length === 1) {
      const [only] = members;
      return only.members ? { ...only, label: join(label, only.label) } : { scope: label, ...only };
    }
    const ops = members.flatMap((member) => member.ops);
    const signature = `${label.replace(/\d+/g, "#")}(${members.map((member) => member.signature)})`;
    return { label, ops, members, signature };
  }

  /**
   * Groups members by the names in their paths, from `depth` on. What all begin with is left out.
   */
  nested(members, path, label, least) {
    const paths = new Map(members.map((member) => [member, path(member)]));
    const named = members.filter((member) => paths.get(member).length);
    const depth = named.length ? commonPrefix(named.map((member) => paths.get(member))) : 0;
    return this.level(members, paths, depth, label, least);
  }

  level(members, paths, depth, label, least) {
    const runs = [];
    for (const member of members) {
      const name = paths.get(member)[depth];
      const last = runs.at(-1);
      if (name !== undefined && last?.name === name) last.members.push(member);
      else runs.push({ name, members: [member] });
    }
    return this.merged(runs).flatMap(({ name, members }) => {
      if (name === undefined) return members;
      const ops = members.reduce((sum, { ops }) => sum + ops.length, 0);
      if (ops < least) return members;
      const path = paths.get(members[0]);
      const inner = this.level(members, paths, depth + 1, label, least);
      return this.applications(label(path, depth), inner);
    });
  }

  /**
   * Joins runs of one name that are apart in the program, unless values go from one to the other
   * through something else or they do the same: those are different applications of one thing.
   */
  merged(runs) {
    const runOf = new Map();
    for (const run of runs) {
      run.ops = run.members.flatMap((member) => member.ops);
      for (const op of run.ops) runOf.set(op, run);
    }
    const lastOf = new Map();
    let isMerged = false;
    const signature = (run) => run.members.map((member) => member.signature).join();
    const isAlike = (a, b) =>
      a.ops.length === b.ops.length && a.ops.length >= MIN_OPS && signature(a) === signature(b);
    for (const run of runs) {
      if (run.name === undefined) continue;
      const last = lastOf.get(run.name);
      if (!last || isAlike(last, run) || this.isBetween(last, run, runOf)) {
        lastOf.set(run.name, run);
        continue;
      }
      for (const op of run.ops) runOf.set(op, last);
      last.members.push(...run.members);
      last.ops.push(...run.ops);
      run.members = [];
      isMerged = true;
    }
    return isMerged ? this.sorted(runs.filter((run) => run.members.length), runOf) : runs;
  }

  /** True if a value goes from one run to another through something else. */
  isBetween(from, to, runOf) {
    const seen = new Set([from]);
    const queue = [from];
    for (const run of queue) {
      for (const op of run.ops) {
        for (const user of this.users.get(op)) {
          const next = runOf.get(user);
          if (!next || seen.has(next)) continue;
          if (next === to) {
            if (run !== from) return true;
            continue;
          }
          seen.add(next);
          queue.push(next);
        }
      }
    }
    return false;
  }

  /** Runs in an order in which each follows those whose values it uses, the earliest first. */
  sorted(runs, runOf) {
    const after = new Map(runs.map((run) => [run, new Set()]));
    const missing = new Map(runs.map((run) => [run, 0]));
    for (const run of runs) {
      for (const user of run.ops.flatMap((op) => this.users.get(op))) {
        const next = runOf.get(user);
        if (!next || next === run || after.get(run).has(next)) continue;
        after.get(run).add(next);
        missing.set(next, missing.get(next) + 1);
      }
    }
    const order = [];
    const ready = runs.filter((run) => missing.get(run) === 0);
    const first = (run) => run.ops[0];
    while (ready.length) {
      let at = 0;
      for (let i = 1; i < ready.length; i++) if (first(ready[i]) < first(ready[at])) at = i;
      const [run] = ready.splice(at, 1);
      order.push(run);
      for (const next of after.get(run)) {
        missing.set(next, missing.get(next) - 1);
        if (missing.get(next) === 0) ready.push(next);
      }
    }
    return order;
  }

  /** A group for each application of what has this name: `members` may repeat as a whole. */
  applications(label, members) {
    const period = wholePeriod(members.map(({ signature }) => signature));
    const size = members.slice(0, period).reduce((sum, { ops }) => sum + ops.length, 0);
    const copies = members.length / period;
    if (copies < 2 || size < MIN_REPEATED || period < 2) {
      return [this.of(label, this.limited(members))];
    }
    return Array.from({ length: copies }, (_, copy) => {
      const part = members.slice(copy * period, (copy + 1) * period);
      return this.copy(`${label} ${copy + 1} of ${copies}`, part);
    });
  }

  /** One of several that do the same: with a single group in it, that group with the rest. */
  copy(label, members) {
    const groups = members.filter((member) => member.members);
    if (groups.length !== 1 || members.length > MIN_REPEATED) {
      return this.of(label, this.limited(members), (label) => label);
    }
    const all = members.flatMap((member) => member.members || [member]);
    return this.of(groups[0].label, this.limited(all), (label) => label);
  }

  /** Groups members further if they are many. */
  limited(members) {
    if (members.length <= MANY) return members;
    const name = ({ label, ops: [op] }) =>
      label || scopeNames(this.program.scopes[this.program.ops[op].scope] || "").at(-1) || "";
    const numbered = (member) => name(member).match(/^[A-Za-z]+_\d+(?=_)/) || [];
    const byNames = this.nested(members, numbered, (path, depth) => path[depth], MIN_OPS);
    if (byNames.length <= MANY) return byNames;
    // Scopes say more than the calls that they were made in.
    const isScoped = new Set(byNames.map(name)).size > byNames.length / 3;
    const calls = (member) => this.callPath(member);
    const byCalls = isScoped ? byNames : this.nested(byNames, calls, callLabel, MIN_OPS);
    return this.parts(this.repeats(byCalls));
  }

  /** The calls of functions that all ops of a member were made in, outermost first. */
  callPath(member) {
    const stacks = member.ops.map((op) => this.program.stack(op)).filter((stack) => stack.length);
    if (!stacks.length) return [];
    return stacks[0].slice(0, commonPrefix(stacks));
  }

  /** Groups what repeats in a long list, as layers do. */
  repeats(members) {
    if (members.length <= MANY) return members;
    const found = longestRepeat(members);
    if (!found) return members;
    const { start, period, copies } = found;
    const end = start + copies * period;
    const groups = Array.from({ length: copies }, (_, copy) => {
      const at = start + copy * period;
      return this.copy(`block ${copy + 1} of ${copies}`, members.slice(at, at + period));
    });
    const [before, after] = [members.slice(0, start), members.slice(end)];
    return [...this.repeats(before), ...groups, ...this.repeats(after)];
  }

  /** Splits long lists into parts, where the fewest values go from one to the next. */
  parts(members) {
    if (members.length <= MAX_MEMBERS) return members;
    const crossing = this.crossing(members);
    const parts = [];
    for (let start = 0; start < members.length;) {
      let end = Math.min(start + PART, members.length);
      const last = Math.min(start + PART + PART / 4, members.length - PART / 4);
      for (let at = start + PART / 2; at <= last; at++) {
        if (crossing[at] < crossing[end]) end = at;
      }
      parts.push(members.slice(start, end));
      start = end;
    }
    const groups = parts.map((part, index) => {
      const [first, last] = [part[0], part.at(-1)].map((member) => this.name(member));
      return this.of(`part ${index + 1}: ${first} … ${last}`, part, (label) => label);
    });
    return this.parts(groups);
  }

  name(member) {
    return member.label || this.program.shortName(this.program.ops[member.ops[0]]);
  }

  /** For each position, the number of values that are used after it and made before it. */
  crossing(members) {
    const position = new Map();
    members.forEach(({ ops }, index) => ops.forEach((op) => position.set(op, index)));
    const steps = new Array(members.length + 1).fill(0);
    members.forEach(({ ops }, index) => {
      for (const op of ops) {
        const last = Math.max(index, ...this.users.get(op).map((user) => position.get(user) ?? 0));
        steps[index + 1] += 1;
        if (last + 1 < steps.length) steps[last + 1] -= 1;
      }
    });
    let sum = 0;
    return steps.map((step) => (sum += step));
  }
}

/** The shortest period of a list that consists of repetitions only; its length if there is none. */
function wholePeriod(list) {
  const { length } = list;
  for (let period = 1; period <= length / 2; period++) {
    if (length % period) continue;
    if (list.every((item, at) => at < period || item === list[at - period])) return period;
  }
  return length;
}

/** The repetition of members that follow each other which has the most ops; null without one. */
function longestRepeat(members) {
  const signatures = members.map(({ signature }) => signature);
  const sizes = [0];
  for (const { ops } of members) sizes.push(sizes.at(-1) + ops.length);
  const all = sizes.at(-1);
  let best = null;
  for (let period = 2; period <= members.length / 2; period++) {
    let same = 0;
    for (let at = period; at <= members.length; at++) {
      if (at < members.length && signatures[at] === signatures[at - period]) {
        same++;
        continue;
      }
      const copies = Math.floor((same + period) / period);
      const start = at - same - period;
      same = 0;
      if (copies < 2) continue;
      const covered = sizes[start + copies * period] - sizes[start];
      const isLarge = covered / copies >= MIN_REPEATED && covered > all / 4;
      if (isLarge && (!best || covered > best.covered)) best = { start, period, copies, covered };
    }
  }
  return best;
}

/** The names in a scope but for transformations of nothing, such as `vmap()`. */
function scopeNames(scope) {
  return scopeParts(scope).filter((part) => !/^(\w+\()+\)+$/.test(part));
}

/** The label of a scope: numbers are those of what they are in. */
function scopeLabel(path, depth) {
  const name = path[depth];
  return /^\d+$/.test(name) && depth > 0 ? `${path[depth - 1]}/${name}` : name;
}

/** The function of a call: `module.Class.__call__` is `Class`. */
function callLabel(path, depth) {
  const name = path[depth].replace(/^\d+ /, "");
  return name.split("<locals>.").at(-1).replace(/\.__call__$/, "");
}

/** Both names of a group in a group, but for those that say nothing. */
function joined(outer, inner) {
  const isVague = (name) => /wrapp|^<|^Module\./.test(name);
  if (isVague(outer)) return inner;
  if (isVague(inner)) return outer;
  const [last] = outer.split("/").slice(-1);
  return inner === outer || inner.startsWith(`${last}/`) || inner.startsWith(`${last} `)
    ? outer.slice(0, outer.length - last.length) + inner
    : `${outer}/${inner}`;
}
