// The program as a tree of nodes: functions, regions, scopes and ops, from the model in JSON.

/** Blocks with more arguments show those of trees of parameters where they are used. */
const MAX_ARGUMENTS = 12;
/** Constants of more different elements are nodes; others are texts in the ops that use them. */
const MAX_INLINE = 16;
/** More functions than this are a group beside the one that runs. */
const MAX_FUNCTIONS = 6;
/** Calls that are nested deeper do not show the functions that they call. */
const MAX_CALLS = 30;

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
 * @property {string} [scope]  the scope that has this op only
 * @property {number | null} callee  the function whose body a call shows
 * @property {number} ops  number of ops in it
 * @property {{flops: number, bytes: number, seconds: number, bad: number, elements: number, changes: number, error: number}} cost
 *   of all ops in it, with their time in a profile, and the elements of their values in a run; `bad` ones are NaN or infinite; `changes` is the
 *   number of differences to another program, `error` the largest error of an op
 * @property {boolean} isOpen
 */

class Program {
  /** `changes` are the differences to another program: for each op that differs, their texts. */
  constructor(model, changes = new Map()) {
    Object.assign(this, model);
    this.changes = changes;
    this.functionNames = model.callers;
    this.depth = 0;
    this.stacks = new Map();
    this.usedWithin = new Map();
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
    this.findCallers();
    this.grouping = new Grouping(this, (op) => this.used(op));
    this.root = this.node("group", this.name, this.functions());
    this.root.op = 0;
    this.root.isOpen = true;
    this.addUp();
    this.haystack = this.ops.map((op, index) =>
      [this.kinds[op.kind].name, op.text, this.scopes[op.scope], this.sources[op.source]]
        .concat(op.results.map((value) => this.valueName(value)), this.calls(index).map(([name]) => name))
        .filter(Boolean)
        .join("\n")
        .toLowerCase(),
    );
  }

  /** @returns {Node} */
  node(type, label, children, op = null, values = []) {
    const id = this.nodes.length;
    const cost = { flops: 0, bytes: 0, seconds: 0, bad: 0, elements: 0, changes: 0, error: 0 };
    const known = { id, type, label, children, op, values, cost };
    const node = { ...known, parent: null, callee: null, ops: 0, isOpen: false };
    children.forEach((child) => (child.parent = node));
    this.nodes.push(node);
    return node;
  }

  /** For each function, the ops that refer to it. */
  findCallers() {
    this.callers = new Map();
    this.ops.forEach((op, index) => {
      for (const called of op.calls || []) {
        if (!this.callers.has(called)) this.callers.set(called, []);
        this.callers.get(called).push(index);
      }
    });
  }

  /** True for functions of a single call, which shows their body. */
  isInCall(op) {
    const callers = this.callers.get(op) || [];
    return callers.length === 1 && this.kindName(this.ops[callers[0]]) === "func.call";
  }

  /** The nodes of the top level: functions, the one that runs first. */
  functions() {
    const [block] = this.ops[0].regions[0].blocks;
    const entry = this.cost ? this.cost.entry : "main";
    const isEntry = (op) => this.ops[op].symbol === entry;
    const own = block.ops.filter((op) => isEntry(op) || !this.isInCall(op));
    own.sort((a, b) => isEntry(b) - isEntry(a));
    const nodes = own.map((op) => this.opNode(op));
    // Functions that call each other only are called by nothing above.
    for (const op of block.ops) if (!this.nodeOfOp[op]) nodes.push(this.opNode(op));
    const top = nodes.filter((node) => node.parent === null);
    if (top.length <= MAX_FUNCTIONS) return top;
    const others = top.slice(1);
    return [top[0], this.node("group", `${others.length} functions`, others)];
  }

  /** The nodes in the regions of an op. */
  blocks(op) {
    const regions = op.regions || [];
    const isFunction = op.symbol !== undefined;
    const blocks = regions.flatMap(({ name, blocks }) =>
      blocks.map((block, index) => [blocks.length > 1 ? `${name} ^${index}` : name, block]),
    );
    if (blocks.length === 1) return this.block(blocks[0][1], isFunction);
    return blocks.map(([name, block]) => this.node("group", name, this.block(block, isFunction)));
  }

  /** The nodes of a block: its arguments, of regions those that are used, and its ops in groups. */
  block(block, isFunction) {
    const isApart = (op) => this.ops[op].constant !== undefined;
    const members = this.grouping.group(block.ops.filter((op) => !isApart(op)));
    const nodes = members.map((member) => this.member(member));
    const top = { parent: null, children: nodes };
    nodes.forEach((node) => (node.parent = top));
    const constants = block.ops.filter((op) => isApart(op) && !this.isInline(op));
    for (const op of constants.reverse()) this.placeConstant(op, top);
    const isShown = (value) => isFunction || this.users[value].length > 0;
    this.placeArguments(block.arguments.filter(isShown), top);
    return top.children;
  }

  /** The node of an op or of a group. */
  member({ label, ops, members, scope = "" }) {
    if (!members) return Object.assign(this.opNode(ops[0]), { scope });
    return this.node(
      "group",
      label,
      members.map((inner) => this.member(inner)),
    );
  }

  opNode(index) {
    const op = this.ops[index];
    const node = this.node("op", this.opLabel(op), [], index);
    this.nodeOfOp[index] = node;
    op.results.forEach((value) => (this.nodeOfValue[value] = node));
    let children = this.blocks(op);
    const [callee] = op.calls || [];
    const isHere = callee !== undefined && this.isInCall(callee) && !this.nodeOfOp[callee];
    if (isHere && this.depth < MAX_CALLS) {
      this.depth++;
      this.nodeOfOp[callee] = node;
      node.callee = callee;
      children = this.blocks(this.ops[callee]);
      this.depth--;
    }
    node.children = children;
    children.forEach((child) => (child.parent = node));
    return node;
  }

  /** The innermost group in which all users of a value are. */
  placeOf(value, top) {
    const users = this.users[value].map((op) => this.nodeFor(op)).filter((node) => node.parent);
    const path = (node) => {
      const groups = [];
      for (let at = node.parent; at; at = at.parent) groups.unshift(at);
      return groups.slice(groups.indexOf(top));
    };
    const paths = users.map(path).filter((groups) => groups[0] === top);
    if (!paths.length) return top;
    // Not in the op that uses it, nor in others that have regions.
    const common = paths[0].slice(0, commonPrefix(paths));
    const end = common.findIndex((node) => node.type === "op");
    return common.at(end < 0 ? -1 : end - 1);
  }

  put(node, place) {
    place.children.unshift(node);
    node.parent = place;
  }

  placeConstant(op, top) {
    const place = this.placeOf(this.ops[op].results[0], top);
    this.put(this.opNode(op), place);
  }

  /**
   * Nodes of the arguments of a block. Of many, those of trees such as `params['a']['b']`, and those
   * without names, are where they are used; what still is many in a group is one node for all that
   * go to the same place.
   */
  placeArguments(values, top) {
    const rootOf = (value) => (this.values[value][2] || "").split(/[[.]/)[0];
    const sizes = new Map();
    for (const value of values) sizes.set(rootOf(value), (sizes.get(rootOf(value)) || 0) + 1);
    const isParameter = (value) => rootOf(value) === "" || sizes.get(rootOf(value)) > 3;
    const places = new Map();
    for (const value of values) {
      const isInside = values.length > MAX_ARGUMENTS && isParameter(value);
      const place = isInside ? this.placeOf(value, top) : top;
      if (!places.has(place)) places.set(place, []);
      places.get(place).push([value]);
    }
    for (const [place, single] of places) {
      let bundles = single;
      if (bundles.length > MAX_ARGUMENTS) {
        const byUsers = new Map();
        for (const [value] of bundles) {
          const users = this.users[value].map((op) => this.childWithin(place, this.nodeFor(op))?.id);
          const key = [...new Set(users)].sort().join();
          if (!byUsers.has(key)) byUsers.set(key, []);
          byUsers.get(key).push(value);
        }
        bundles = [...byUsers.values()];
      }
      if (bundles.length > MAX_ARGUMENTS) bundles = [bundles.flat()];
      for (const bundle of bundles.reverse()) this.put(this.argument(bundle), place);
    }
  }

  argument(values) {
    const [name] = values.map((value) => this.valueName(value));
    const label = values.length > 1 ? `${values.length} arguments` : lastNames(name);
    const node = this.node("argument", label, [], null, values);
    for (const value of values) this.nodeOfValue[value] = node;
    return node;
  }

  /** All values that an op uses, also within its regions. */
  used(index) {
    const op = this.ops[index];
    if (!op.regions) return op.operands;
    if (!this.usedWithin.has(index)) {
      const inner = op.regions.flatMap(({ blocks }) => blocks).flatMap(({ ops }) => ops);
      this.usedWithin.set(index, [...op.operands, ...inner.flatMap((at) => this.used(at))]);
    }
    return this.usedWithin.get(index);
  }

  /** The calls that led to an op, outermost first: the frame of the call and the function. */
  stack(op) {
    const { frame } = this.ops[op];
    if (frame === undefined) return [];
    if (!this.stacks.has(frame)) {
      const stack = [];
      for (let at = frame; at !== null; at = this.frames[at][2]) {
        stack.unshift(`${this.frames[at][2] ?? 0} ${this.functionNames[this.frames[at][0]]}`);
      }
      this.stacks.set(frame, stack);
    }
    return this.stacks.get(frame);
  }

  /** The functions and places of the calls that led to an op, innermost first. */
  calls(op) {
    const calls = [];
    for (let at = this.ops[op].frame ?? null; at !== null; at = this.frames[at][2]) {
      calls.push([this.functionNames[this.frames[at][0]], this.sources[this.frames[at][1]]]);
    }
    return calls;
  }

  /** True for ops that show in the ops that use them: constants of few elements. */
  isInline(op) {
    const { constant } = this.ops[op];
    if (constant === undefined) return false;
    return constant.splat !== undefined || constant.elements <= MAX_INLINE;
  }

  /** Sums ops and costs, children before parents. */
  addUp() {
    for (const op of this.changes.keys()) {
      const users = this.ops[op].results.flatMap((value) => this.users[value]);
      // Constants differ where they are used.
      for (const at of this.isInline(op) ? users : [op]) this.nodeFor(at).cost.changes += 1;
    }
    for (const node of this.childrenFirst(this.root)) {
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
        node.cost.error = Math.max(node.cost.error, errorOf(this.ops[node.op].error));
      }
      if (node.parent) {
        node.parent.ops += node.ops;
        const { cost } = node.parent;
        const error = Math.max(cost.error, node.cost.error);
        for (const name in node.cost) cost[name] += node.cost[name];
        cost.error = error;
      }
    }
  }

  *childrenFirst(node) {
    for (const child of node.children) yield* this.childrenFirst(child);
    yield node;
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
    if (name === "call" && op.calls) return `@${this.ops[op.calls[0]].symbol}`;
    if (op.calls) return `${name} ${op.calls.map((at) => `@${this.ops[at].symbol}`).join(" ")}`;
    const blocks = (op.regions || []).flatMap((region) => region.blocks);
    if (blocks.length === 1 && blocks[0].ops.length === 2) {
      return `${name} · ${this.shortName(this.ops[blocks[0].ops[0]])}`;
    }
    return name;
  }

  /** How often the ops in a node run, if that is known. */
  runs(node) {
    for (const op of this.opsWithin(node)) if (this.ops[op].cost) return this.ops[op].cost.runs;
    return 0;
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
    if (!this.isInline(producer)) return null;
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

/** The last two names of a path such as `p['a']['b']['c']`, if it is long. */
function lastNames(path) {
  const names = path.match(/\[[^\]]*\]|\.?[^[.]+/g) || [];
  return path.length > 30 && names.length > 2 ? `…${names.slice(-2).join("")}` : path;
}

/** The labels of the groups around a node, outermost first. */
function labelsAround(node) {
  const labels = [];
  for (let at = node.parent; at?.parent; at = at.parent) labels.unshift(at.label);
  return labels;
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

/** The error of an op by which it is coloured: of recorded values, else the width of bounds. */
function errorOf(error) {
  if (!error) return 0;
  const own = error.ulps ?? error.width;
  return typeof own === "number" ? own : 1e300;
}
