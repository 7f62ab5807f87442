// The program as a tree of nodes: functions, regions, scopes and ops, from the model in JSON.

/** Most children of a group; more are split into parts, in the order of the program. */
const MAX_CHILDREN = 60;
/** Number of children of such a part. */
const PART = 40;
/** Blocks with more arguments show them in the ops that use them, as constants are shown. */
const MAX_ARGUMENTS = 12;

/**
 * A node of the tree: an op, the arguments of a block, or a group of nodes.
 *
 * @typedef {object} Node
 * @property {number} id
 * @property {"op" | "argument" | "group"} type
 * @property {string} label
 * @property {Node | null} parent
 * @property {Node[]} children  nodes that show when it is open
 * @property {number | null} op  its op
 * @property {number[]} values  the arguments that it stands for
 * @property {number} ops  number of ops in it
 * @property {{flops: number, bytes: number, seconds: number, bad: number, elements: number, changes: number}} cost
 *   of all ops in it, with their time in a profile, and the elements of their values in a run; `bad` ones are NaN or infinite; `changes` is the
 *   number of differences to another program
 * @property {boolean} isOpen
 */

class Program {
  /** `changes` are the differences to another program: for each op that differs, their texts. */
  constructor(model, changes = new Map()) {
    Object.assign(this, model);
    this.changes = changes;
    /** @type {Node[]} */
    this.nodes = [];
    /** The node of each op that has one, and for each value the node that makes it. */
    this.nodeOfOp = new Array(this.ops.length).fill(null);
    this.nodeOfValue = new Array(this.values.length).fill(null);
    /** The op that makes each value, and the ops that use it. */
    this.producer = new Array(this.values.length).fill(null);
    this.users = this.values.map(() => []);
    /** For each op, the op around it. */
    this.around = new Array(this.ops.length).fill(null);
    this.ops.forEach((op, index) => {
      op.results.forEach((value) => (this.producer[value] = index));
      new Set(op.operands).forEach((value) => this.users[value].push(index));
      for (const block of (op.regions || []).flatMap((region) => region.blocks)) {
        block.ops.forEach((inner) => (this.around[inner] = index));
      }
    });
    this.root = this.node("group", this.name, this.blocks(this.ops[0]));
    this.root.op = 0;
    this.root.isOpen = true;
    this.addUp();
    this.haystack = this.ops.map((op) =>
      [this.kinds[op.kind].name, op.text, this.scopes[op.scope], this.sources[op.source]]
        .filter(Boolean)
        .join("\n")
        .toLowerCase(),
    );
  }

  /** @returns {Node} */
  node(type, label, children, op = null, values = []) {
    const id = this.nodes.length;
    const cost = { flops: 0, bytes: 0, seconds: 0, bad: 0, elements: 0, changes: 0 };
    const parent = null;
    const node = { id, type, label, parent, children, op, values, ops: 0, cost, isOpen: false };
    children.forEach((child) => (child.parent = node));
    this.nodes.push(node);
    return node;
  }

  /** The nodes in the regions of an op. */
  blocks(op) {
    const regions = op.regions || [];
    const blocks = regions.flatMap(({ name, blocks }) =>
      blocks.map((block, index) => [blocks.length > 1 ? `${name} ^${index}` : name, block]),
    );
    if (blocks.length === 1) return this.block(blocks[0][1]);
    return blocks.map(([name, block]) => this.node("group", name, this.block(block)));
  }

  /** The nodes of a block: its arguments, and its ops in groups by scope. */
  block(block) {
    const nodes = [];
    if (block.arguments.length > MAX_ARGUMENTS) {
      nodes.push(
        this.node("argument", `${block.arguments.length} arguments`, [], null, block.arguments),
      );
    } else {
      for (const value of block.arguments) {
        const node = this.node("argument", this.valueName(value), [], null, [value]);
        this.nodeOfValue[value] = node;
        nodes.push(node);
      }
    }
    const ops = block.ops.filter((op) => !this.isInline(op));
    const paths = ops.map((op) => scopeParts(this.scopes[this.ops[op].scope] || ""));
    // Terminators have no scope of their own.
    const isScoped = (index) => paths[index].length > 0;
    const scoped = ops.map((_, index) => index).filter(isScoped);
    const common = scoped.length ? commonPrefix(scoped.map((index) => paths[index])) : 0;
    const top = { groups: new Map(), members: [] };
    ops.forEach((op, index) => {
      let group = top;
      for (const part of paths[index].slice(common)) {
        if (!group.groups.has(part)) {
          const inner = { name: part, groups: new Map(), members: [] };
          group.groups.set(part, inner);
          group.members.push(inner);
        }
        group = group.groups.get(part);
      }
      group.members.push(op);
    });
    return this.parts([...nodes, ...top.members.map((member) => this.member(member))]);
  }

  /** The node of an op or of a scope. */
  member(member) {
    if (typeof member === "number") return this.opNode(member);
    let name = member.name;
    while (member.members.length === 1) {
      const [only] = member.members;
      if (typeof only === "number") return this.opNode(only);
      name += `/${only.name}`;
      member = only;
    }
    return this.node("group", name, this.parts(member.members.map((inner) => this.member(inner))));
  }

  opNode(index) {
    const op = this.ops[index];
    const node = this.node("op", this.opLabel(op), this.blocks(op), index);
    this.nodeOfOp[index] = node;
    op.results.forEach((value) => (this.nodeOfValue[value] = node));
    return node;
  }

  /** Splits long lists of nodes into parts, which follow each other. */
  parts(nodes) {
    if (nodes.length <= MAX_CHILDREN) return nodes;
    const parts = [];
    for (let start = 0; start < nodes.length; start += PART) {
      const part = nodes.slice(start, start + PART);
      const name = ({ type, label }) => (type === "op" ? label.split(" ")[0] : label);
      const [first, last] = [part[0], part.at(-1)].map(name);
      const label = `part ${parts.length + 1}: ${first} … ${last}`;
      parts.push(this.node("group", label, part));
    }
    return this.parts(parts);
  }

  /** True for ops that show in the ops that use them: constants. */
  isInline(op) {
    return this.ops[op].constant !== undefined;
  }

  /** Sums ops and costs, children before parents: a child's id is smaller. */
  addUp() {
    for (const op of this.changes.keys()) {
      const users = this.ops[op].results.flatMap((value) => this.users[value]);
      // Constants differ where they are used.
      for (const at of this.isInline(op) ? users : [op]) this.nodeFor(at).cost.changes += 1;
    }
    for (const node of this.nodes) {
      if (node.type === "op") {
        node.ops += 1;
        const { flops, transcendentals, bytes } = this.ops[node.op].cost || {};
        node.cost.flops += (flops || 0) + (transcendentals || 0);
        node.cost.bytes += bytes || 0;
        node.cost.seconds += this.ops[node.op].time?.seconds || 0;
        for (const values of this.ops[node.op].statistics || []) {
          node.cost.bad += (values?.nan || 0) + (values?.infinite || 0);
          node.cost.elements += values?.elements || 0;
        }
      }
      if (node.parent) {
        node.parent.ops += node.ops;
        for (const name in node.cost) node.parent.cost[name] += node.cost[name];
      }
    }
  }

  kindName(op) {
    return this.kinds[op.kind].name;
  }

  /** The name of an op without the dialects that all programs use. */
  shortName(op) {
    return this.kindName(op).replace(/^(stablehlo|func)\./, "");
  }

  /** The short name of an op, and what tells it from others. */
  opLabel(op) {
    const name = this.shortName(op);
    if (op.symbol !== undefined) return `@${op.symbol}`;
    if (op.calls) return `${name} ${op.calls.map((at) => `@${this.ops[at].symbol}`).join(" ")}`;
    const blocks = (op.regions || []).flatMap((region) => region.blocks);
    if (blocks.length === 1 && blocks[0].ops.length === 2) {
      return `${name} · ${this.shortName(this.ops[blocks[0].ops[0]])}`;
    }
    return name;
  }

  /** The name of a value: the exporter's, if it gave one. */
  valueName(value) {
    const [name, , given] = this.values[value];
    return given || name;
  }

  /** The type of a value, of tensors without `tensor<…>`. */
  valueType(value) {
    const text = this.types[this.values[value][1]];
    return text.startsWith("tensor<") && text.endsWith(">") ? text.slice(7, -1) : text;
  }

  /** A constant or an argument in a few characters; null for other values. */
  inlineText(value) {
    const producer = this.producer[value];
    if (producer === null) return this.nodeOfValue[value] ? null : this.valueName(value);
    const { constant } = this.ops[producer];
    if (!constant) return null;
    const { splat } = constant;
    return splat === undefined || splat === null ? this.valueName(value) : number(splat);
  }

  /** The child of `group` that is or contains `node`; null if there is none. */
  childWithin(group, node) {
    while (node && node.parent !== group) node = node.parent;
    return node;
  }

  /** The innermost node that shows for `node`: itself, or the closed group around it. */
  shown(node) {
    let shown = node;
    for (let at = node.parent; at; at = at.parent) if (!at.isOpen) shown = at;
    return shown;
  }

  /** The node that stands for an op: for a constant, that of the op around it. */
  nodeFor(op) {
    while (op !== null && !this.nodeOfOp[op]) op = this.around[op];
    return op === null ? this.root : this.nodeOfOp[op];
  }

  /** All ops in a node that have nodes. */
  *opsWithin(node) {
    if (node.type === "op") yield node.op;
    for (const child of node.children) yield* this.opsWithin(child);
  }

  /** The ops whose text, scope or source contain all words. */
  search(query) {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    if (!words.length) return [];
    const matches = (text) => words.every((word) => text.includes(word));
    return this.haystack.flatMap((text, op) => (op > 0 && matches(text) ? [op] : []));
  }
}

/** The parts of a scope such as `jit(f)/transpose(jvp(a/b))/c`: slashes within parentheses stay. */
function scopeParts(scope) {
  const parts = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at <= scope.length; at++) {
    if (scope[at] === "(") depth++;
    if (scope[at] === ")") depth--;
    if (at === scope.length || (scope[at] === "/" && depth <= 0)) {
      if (at > start) parts.push(scope.slice(start, at));
      start = at + 1;
    }
  }
  return parts;
}

/** Number of parts that all paths begin with. */
function commonPrefix(paths) {
  let length = Math.min(...paths.map((path) => path.length));
  for (const path of paths) {
    let same = 0;
    while (same < length && path[same] === paths[0][same]) same++;
    length = same;
  }
  return length;
}

/** A number in a few characters. Infinities and NaN are texts. */
function number(x) {
  if (typeof x === "string") return x;
  if (Number.isInteger(x) && Math.abs(x) < 1e7) return String(x);
  return String(Number(x.toPrecision(5)));
}

/** An amount with a decimal prefix. */
function amount(x, unit) {
  const prefixes = ["", "k", "M", "G", "T", "P", "E"];
  let at = 0;
  for (; x >= 1000 && at < prefixes.length - 1; at++) x /= 1000;
  return `${at === 0 ? x : x.toPrecision(3)} ${prefixes[at]}${unit}`;
}

/** A time in a few characters. */
function duration(seconds) {
  const units = { s: 1, ms: 1e-3, "µs": 1e-6 };
  const [unit, scale] = Object.entries(units).find(([, scale]) => seconds >= scale) || ["ns", 1e-9];
  return `${Number((seconds / scale).toPrecision(3))} ${unit}`;
}
