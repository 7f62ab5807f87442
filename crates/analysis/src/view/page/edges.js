// Edges between the nodes of a group, and from and to what is outside of it.

/** Groups with more ways in or out have a single one. */
const MAX_PORTS = 40;

/**
 * Where edges cross the border of an open group: `peer` is the node, or the port of the group around
 * it, at the other end.
 *
 * @typedef {object} Port
 * @property {"in" | "out"} type
 * @property {Node | Port | null} peer  null if it stands for several
 * @property {Node} group
 */

/** An edge of a group: from a child or a port to another. Loops lead from an iteration to the next. */
class Edges {
  constructor(program) {
    this.program = program;
    this.known = new Map();
    this.needed = new Map();
    this.findFlow();
  }

  /**
   * Values that go into regions and functions, and out of them: for each argument the operand that
   * it starts from, and for each result the ops that return it.
   */
  findFlow() {
    const { ops } = this.program;
    this.source = new Map();
    this.returned = new Map();
    ops.forEach((op, index) => {
      const name = this.program.shortName(op);
      const node = this.program.nodeOfOp[index];
      const inner = node?.callee ? ops[node.callee].regions : op.regions;
      const isLoop = name === "while";
      if (!inner || !(isLoop || node?.callee || ["if", "case"].includes(name))) return;
      for (const [block] of inner.map(({ blocks }) => blocks)) {
        if (!block) continue;
        if (name !== "if" && name !== "case") {
          block.arguments.forEach((value, at) => this.source.set(value, op.operands[at]));
        }
        const last = block.ops.at(-1);
        const returns = ops[last]?.operands.length === op.results.length;
        if (!returns || (isLoop && block === inner[0].blocks[0])) continue;
        for (const value of op.results) {
          this.returned.set(value, [...(this.returned.get(value) || []), last]);
        }
      }
    });
  }

  /** The values that a node uses, and that are made outside of it. */
  needs(node) {
    if (this.needed.has(node)) return this.needed.get(node);
    const { program } = this;
    const needs = new Set();
    const add = (value) => {
      if (value !== undefined && program.nodeOfValue[value]) needs.add(value);
    };
    if (node.type === "op") program.ops[node.op].operands.forEach(add);
    if (node.type === "argument") node.values.forEach((value) => add(this.source.get(value)));
    for (const child of node.children) {
      for (const value of this.needs(child)) {
        if (!this.isWithin(program.nodeOfValue[value], node)) needs.add(value);
      }
    }
    this.needed.set(node, needs);
    return needs;
  }

  isWithin(node, group) {
    for (let at = node.parent; at; at = at.parent) if (at === group) return true;
    return false;
  }

  /** The edges in a group, `{from, to, values}`, whose ends are children of it or ports. */
  of(group) {
    if (!this.known.has(group)) this.known.set(group, this.find(group));
    return this.known.get(group);
  }

  find(group) {
    const { program } = this;
    const edges = new Map();
    const ids = new Map();
    const id = (end) => ids.get(end) ?? ids.set(end, ids.size).get(end);
    const add = (from, to, value) => {
      const key = `${id(from)} ${id(to)}`;
      if (!edges.has(key)) edges.set(key, { from, to, values: new Set() });
      edges.get(key).values.add(value);
    };
    const { inside, outside } = this.ports(group);
    for (const child of group.children) {
      for (const value of this.needs(child)) {
        const from = program.childWithin(group, program.nodeOfValue[value]);
        if (from && from !== child) add(from, child, value);
        if (from) continue;
        for (const { port, values } of inside) if (values.has(value)) add(port, child, value);
      }
    }
    for (const { port, values } of outside) {
      for (const value of values) {
        const made = [program.nodeOfValue[value]];
        const own = program.childWithin(group, made[0]);
        const last = own ? made : (this.returned.get(value) || []).map((op) => program.nodeOfOp[op]);
        for (const node of last) {
          const from = program.childWithin(group, node);
          if (from) add(from, port, value);
        }
      }
    }
    return [...edges.values()];
  }

  /** The ports of a group, with their values: an edge of the group around it leads to each. */
  ports(group) {
    const { parent } = group;
    if (!parent || parent === this.program.root) return { inside: [], outside: [] };
    const all = this.of(parent);
    const ports = (type, edges, peer) => {
      if (edges.length > MAX_PORTS) {
        const values = new Set(edges.flatMap((edge) => [...edge.values]));
        const port = { type, peer: null, group };
        return edges.length ? [{ port, values }] : [];
      }
      return edges.map((edge) => ({ port: { type, peer: peer(edge), group }, values: edge.values }));
    };
    const into = all.filter(({ to }) => to === group);
    const from = all.filter((edge) => edge.from === group);
    return {
      inside: ports("in", into, (edge) => edge.from),
      outside: ports("out", from, (edge) => edge.to),
    };
  }

  /** True for a body that runs again with what it returned. */
  isLoop(node) {
    const { parent } = node;
    if (!parent || parent.type !== "op" || node.type !== "group") return false;
    const op = this.program.ops[parent.op];
    return this.program.shortName(op) === "while" && parent.children.at(-1) === node;
  }
}

const isPort = (end) => end.type === "in" || end.type === "out";
