// The graph: places of nodes and edges, level by level, and their drawing in SVG.

const HEADER = 24;
const PADDING = 12;
const LINE = 15;
const MAX_TEXT = 260;
/** Levels with more edges show no types on them. */
const MAX_LABELS = 250;
/** Most edges that are drawn for a selected node. */
const MAX_LINKS = 60;

/** Kinds of ops by colour; others are elementwise. */
const FAMILIES = {
  product: ["dot", "dot_general", "convolution", "dynamic_conv", "einsum", "unary_einsum"],
  reduction: ["reduce", "reduce_window", "select_and_scatter", "sort", "top_k", "cumsum"],
  movement: [
    ..."reshape dynamic_reshape transpose slice dynamic_slice dynamic_update_slice pad".split(" "),
    ..."dynamic_pad real_dynamic_slice concatenate reverse broadcast_in_dim broadcast".split(" "),
    ..."dynamic_broadcast_in_dim gather dynamic_gather scatter torch_index_select iota".split(" "),
    ..."dynamic_iota tuple get_tuple_element bitcast_convert".split(" "),
  ],
  control: ["while", "if", "case", "call", "return", "map", "composite", "optimization_barrier"],
  library: ["custom_call", "fft", "cholesky", "triangular_solve", "rng", "rng_bit_generator"],
};
const FAMILY_OF = new Map(
  Object.entries(FAMILIES).flatMap(([family, names]) => names.map((name) => [name, family])),
);

const measurer = document.createElement("canvas").getContext("2d");
const FONT = "12px system-ui, sans-serif";
const BOLD = `600 ${FONT}`;

/** The width of a text in a node. */
function textWidth(text, font = FONT) {
  measurer.font = font;
  return measurer.measureText(text).width;
}

/** A text that is at most `width` wide. */
function fitted(text, width = MAX_TEXT) {
  if (textWidth(text, BOLD) <= width) return text;
  let [low, high] = [0, text.length];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (textWidth(`${text.slice(0, middle)}…`, BOLD) <= width) low = middle;
    else high = middle - 1;
  }
  return `${text.slice(0, low)}…`;
}

/** Makes an SVG element. */
function svg(name, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

class Graph {
  /** Draws in `element`; `on.select(node)` is called on a click. */
  constructor(program, element, on) {
    this.program = program;
    this.element = element;
    this.on = on;
    this.colour = "family";
    this.selected = null;
    this.view = svg("g");
    element.append(this.view);
    this.zoom = libraries
      .zoom()
      .scaleExtent([0.01, 4])
      .on("zoom", ({ transform }) => {
        this.view.setAttribute("transform", transform);
        element.classList.toggle("far", transform.k < 0.35);
      });
    this.frame = libraries.select(element).call(this.zoom).on("dblclick.zoom", null);
    element.addEventListener("click", (event) => this.clicked(event));
    element.addEventListener("dblclick", (event) => this.toggle(this.nodeAt(event.target)));
  }

  nodeAt(target) {
    const element = target.closest("[data-node]");
    return element ? this.program.nodes[Number(element.dataset.node)] : null;
  }

  clicked(event) {
    const node = this.nodeAt(event.target);
    if (node && event.target.closest(".toggle")) this.toggle(node);
    else this.on.select(node);
  }

  /** Opens or closes a node. What is clicked stays in its place. */
  toggle(node) {
    if (!node || !node.children.length || node === this.program.root) return;
    const before = this.corner(node);
    this.setOpen(node, !node.isOpen);
    this.draw();
    const after = this.corner(node);
    this.frame.call(this.zoom.translateBy, before.x - after.x, before.y - after.y);
  }

  setOpen(node, isOpen) {
    if (node.isOpen === isOpen) return;
    node.isOpen = isOpen;
    for (let at = node; at; at = at.parent) at.places = null;
  }

  /** Opens all that is around a node, and moves there. */
  reveal(node) {
    for (let at = node.parent; at; at = at.parent) this.setOpen(at, true);
    this.draw();
    const { x, y } = this.corner(node);
    const { width, height } = this.places(node);
    const scale = Math.max(libraries.zoomTransform(this.element).k, 0.8);
    this.frame.call(this.zoom.scaleTo, scale);
    this.frame.call(this.zoom.translateTo, x + width / 2, y + height / 2);
  }

  /** Moves so that the whole graph shows, or its top if that would be too small to read. */
  fit(smallest = 0) {
    const { width, height } = this.places(this.program.root);
    const { clientWidth, clientHeight } = this.element;
    const whole = Math.min(clientWidth / width, clientHeight / height, 1) * 0.97;
    const scale = Math.max(whole, smallest);
    const x = Math.max((clientWidth - width * scale) / 2, 8);
    const y = Math.max((clientHeight - height * scale) / 2, 8);
    const isWhole = scale === whole;
    const middle = isWhole ? x : clientWidth / 2 - this.middle() * scale;
    const at = libraries.zoomIdentity.translate(middle, isWhole ? y : 8).scale(scale);
    this.frame.call(this.zoom.transform, at);
  }

  /** The horizontal middle of the first thing in the first open function. */
  middle() {
    let node = this.program.root;
    for (let next = node; next;) {
      node = next;
      next = node.isOpen ? node.children.find((child) => child.isOpen) || node.children[0] : null;
    }
    return this.corner(node).x + this.places(node).width / 2;
  }

  /** The upper left corner of a node that shows, in the coordinates of the graph. */
  corner(node) {
    const corner = { x: 0, y: 0 };
    for (let at = node; at.parent; at = at.parent) {
      const place = this.places(at.parent).of.get(at);
      corner.x += place.x;
      corner.y += place.y;
    }
    return corner;
  }

  /** The texts of a closed node: its name, its type, and operands that are no nodes. */
  lines(node) {
    const lines = [node.label];
    if (node.type === "op") {
      const { results, operands } = this.program.ops[node.op];
      const isOnEdges = this.edges(node.parent).some(({ from }) => from === node);
      if (!isOnEdges && results.length === 1) lines.push(this.program.valueType(results[0]));
      if (results.length > 1) lines.push(`${results.length} results`);
      const inline = operands.map((value) => this.program.inlineText(value)).filter(Boolean);
      if (inline.length) lines.push(`with ${inline.join(", ")}`);
    } else if (node.type === "group") {
      lines.push(`${node.ops} ${node.ops === 1 ? "op" : "ops"}`);
    }
    const share = this.share(node);
    if (share > 0) lines.push(percent(share));
    const { changes } = node.cost;
    if (changes && node.children.length) {
      lines.push(`${changes} ${changes === 1 ? "difference" : "differences"}`);
    }
    return lines.map((line) => fitted(line));
  }

  /** The part of the program's cost, or of the elements, that is shown by colour; 0 if none is. */
  share(node) {
    const { root } = this.program;
    if (this.colour === "changes") return 0;
    const all = this.colour === "bad" ? node.cost.elements : root.cost[this.colour];
    return all ? node.cost[this.colour] / all : 0;
  }

  /** Edges between children of a group, with the values that they stand for. */
  edges(group) {
    if (group.edges) return group.edges;
    const { program } = this;
    const edges = new Map();
    for (const child of group.children) {
      for (const op of program.opsWithin(child)) {
        for (const value of program.ops[op].operands) {
          const from = program.childWithin(group, program.nodeOfValue[value]);
          if (!from || from === child) continue;
          const key = `${from.id} ${child.id}`;
          if (!edges.has(key)) edges.set(key, { from, to: child, values: new Set() });
          edges.get(key).values.add(value);
        }
      }
    }
    group.edges = [...edges.values()];
    return group.edges;
  }

  edgeLabel({ values }) {
    if (values.size > 1) return `${values.size} values`;
    const [value] = values;
    return fitted(this.program.valueType(value), 160);
  }

  /** The size of a node, and if it is open the places of what is in it: children and edges. */
  places(node) {
    if (!node.places) node.places = node.isOpen ? this.inside(node) : this.closed(node);
    return node.places;
  }

  closed(node) {
    const lines = this.lines(node);
    const width = Math.max(...lines.map((line, index) => textWidth(line, index ? FONT : BOLD)));
    const toggle = node.children.length ? 16 : 0;
    return { lines, width: width + 20 + toggle, height: lines.length * LINE + 10 };
  }

  inside(node) {
    const edges = this.edges(node);
    const { of, drawn, width, height } =
      edges.length === 0 ? this.shelves(node.children) : this.layered(node.children, edges);
    const label = textWidth(node.label, BOLD) + 46;
    for (const place of of.values()) {
      place.x += PADDING;
      place.y += HEADER + PADDING;
    }
    return {
      of,
      edges: drawn,
      width: Math.max(width + 2 * PADDING, label),
      height: height + HEADER + 2 * PADDING,
    };
  }

  /** Nodes without edges between them: the open ones on the left, the others in rows. */
  shelves(nodes) {
    const open = nodes.filter((node) => node.isOpen);
    const closed = nodes.filter((node) => !node.isOpen);
    const left = this.rows(open, 0);
    const right = this.rows(closed, open.length ? 480 : Infinity);
    const shift = open.length ? left.width + 24 : 0;
    for (const [node, { x, y }] of right.of) left.of.set(node, { x: x + shift, y });
    const width = closed.length ? shift + right.width : left.width;
    return { of: left.of, drawn: [], width, height: Math.max(left.height, right.height) };
  }

  /** Rows that are at most `most` wide, and about as wide as they are high. */
  rows(nodes, most) {
    const sizes = nodes.map((node) => this.places(node));
    const area = sizes.reduce((sum, { width, height }) => sum + (width + 16) * (height + 16), 0);
    const limit = Math.min(most, Math.max(Math.sqrt(area) * 1.3, 300));
    const of = new Map();
    let [x, y, row, widest] = [0, 0, 0, 0];
    nodes.forEach((node, index) => {
      const { width, height } = sizes[index];
      if (x > 0 && x + width > limit) [x, y, row] = [0, y + row + 16, 0];
      of.set(node, { x, y });
      x += width + 16;
      row = Math.max(row, height);
      widest = Math.max(widest, x - 16);
    });
    return { of, width: widest, height: y + row };
  }

  /** Nodes in layers, each below those that it uses. */
  layered(nodes, edges) {
    const graph = new libraries.Graph();
    graph.setGraph({ nodesep: 18, ranksep: edges.length > MAX_LABELS ? 40 : 22, edgesep: 10 });
    for (const node of nodes) {
      const { width, height } = this.places(node);
      graph.setNode(String(node.id), { width, height });
    }
    for (const edge of edges) {
      const label = edges.length > MAX_LABELS ? "" : this.edgeLabel(edge);
      const size = label ? { width: textWidth(label, "10px system-ui") + 6, height: 12 } : {};
      graph.setEdge(String(edge.from.id), String(edge.to.id), { label, labelpos: "c", ...size });
    }
    libraries.layout(graph);
    const of = new Map();
    for (const node of nodes) {
      const { x, y, width, height } = graph.node(String(node.id));
      of.set(node, { x: x - width / 2, y: y - height / 2 });
    }
    const drawn = edges.map((edge) => {
      const { points, label, x, y } = graph.edge(String(edge.from.id), String(edge.to.id));
      return { ...edge, points, label, x, y };
    });
    const { width, height } = graph.graph();
    return { of, drawn, width, height };
  }

  /** Draws all that shows. */
  draw() {
    this.boxes = new Map();
    const root = this.program.root;
    const drawn = svg("g");
    for (const child of root.children) drawn.append(this.drawChild(root, child));
    this.links = svg("g", { class: "links" });
    this.view.replaceChildren(drawn, this.links);
    this.drawSelection();
  }

  /** After a change of colours. */
  redraw(colour) {
    this.colour = colour;
    for (const node of this.program.nodes) node.places = null;
    this.draw();
  }

  drawChild(parent, node) {
    const { x, y } = this.places(parent).of.get(node);
    const element = node.isOpen ? this.drawOpen(node) : this.drawClosed(node);
    element.setAttribute("transform", `translate(${x},${y})`);
    element.dataset.node = node.id;
    this.boxes.set(node, element);
    return element;
  }

  drawClosed(node) {
    const { lines, width, height } = this.places(node);
    const box = svg("rect", { width, height, rx: node.type === "argument" ? height / 2 : 5 });
    const share = this.share(node);
    if (share > 0) box.style.setProperty("--heat", `${heat(share) * 100}%`);
    const middle = (width + (node.children.length ? 14 : 0)) / 2;
    const texts = lines.map((line, index) =>
      svg("text", { x: middle, y: 17 + index * LINE, class: index ? "minor" : "major" }, line),
    );
    const classes = `node ${node.type} ${this.family(node)}`;
    const element = svg("g", { class: classes, tabindex: 0, role: "button" }, box, ...texts);
    element.setAttribute("aria-label", lines.join(", "));
    if (node.children.length) element.append(toggleSign("+", 6, height / 2 - 7));
    return element;
  }

  drawOpen(node) {
    const { width, height, edges } = this.places(node);
    let depth = 0;
    for (let at = node; at; at = at.parent) depth++;
    const element = svg(
      "g",
      {
        class: `node open ${node.type} ${depth % 2 ? "odd" : "even"}`,
        tabindex: 0,
        role: "button",
      },
      svg("rect", { width, height, rx: 7 }),
      svg("text", { x: 26, y: 18, class: "title" }, node.label),
      toggleSign("−", 7, 6),
    );
    const inner = svg("g", { transform: `translate(${PADDING},${HEADER + PADDING})` });
    for (const edge of edges) {
      const d = curve(edge.points);
      inner.append(svg("path", { d, class: "edge", "marker-end": "url(#arrow)" }));
      const { label, x, y } = edge;
      if (label) inner.append(svg("text", { x, y: y + 4, class: "type" }, label));
    }
    element.setAttribute("aria-label", node.label);
    element.append(inner, ...node.children.map((child) => this.drawChild(node, child)));
    return element;
  }

  family(node) {
    if (this.colour === "changes") {
      const own = node.type === "op" && this.program.changes.get(node.op);
      if (own && own.isOnly) return "only";
      return node.cost.changes ? "changed" : "";
    }
    if (this.colour !== "family") return this.colour === "none" ? "" : "heated";
    if (node.type === "argument") return "";
    if (node.type === "group" || this.program.ops[node.op].symbol !== undefined) return "group";
    const name = this.program.kindName(this.program.ops[node.op]);
    const mnemonic = name.slice(name.indexOf(".") + 1);
    if (/^(all_|collective_|reduce_scatter|send|recv|partition_id|replica_id)/.test(mnemonic)) {
      return "library";
    }
    return FAMILY_OF.get(mnemonic) || "elementwise";
  }

  select(node) {
    this.selected = node;
    this.drawSelection();
  }

  /** Marks the selected node, and draws its edges across all levels. */
  drawSelection() {
    this.view.querySelectorAll(".selected").forEach((box) => box.classList.remove("selected"));
    this.links.replaceChildren();
    const node = this.selected;
    if (!node || node === this.program.root) return;
    const shown = this.program.shown(node);
    this.boxes.get(shown).classList.add("selected");
    const ends = (nodes) => {
      const all = new Set(nodes.filter(Boolean).map((at) => this.program.shown(at)));
      return [...all].filter((at) => at !== shown && this.boxes.has(at)).slice(0, MAX_LINKS);
    };
    const { before, after } = neighbours(this.program, node);
    for (const at of ends(before)) this.links.append(this.link(at, shown, "from"));
    for (const at of ends(after)) this.links.append(this.link(shown, at, "to"));
  }

  link(from, to, kind) {
    const [a, b] = [this.corner(from), this.corner(to)];
    const x1 = a.x + this.places(from).width / 2;
    const y1 = a.y + this.places(from).height;
    const x2 = b.x + this.places(to).width / 2;
    const y2 = b.y;
    const bend = Math.max(Math.abs(y2 - y1) / 3, 20);
    const d = `M${x1},${y1}C${x1},${y1 + bend} ${x2},${y2 - bend} ${x2},${y2}`;
    return svg("path", { d, class: `link ${kind}` });
  }
}

/** The nodes whose values a node uses, and those that use its values. */
function neighbours(program, node) {
  if (node.type === "group") return { before: [], after: [] };
  const op = node.op === null ? { operands: [], results: node.values } : program.ops[node.op];
  const users = op.results.flatMap((value) => program.users[value]);
  return {
    before: op.operands.map((value) => program.nodeOfValue[value]),
    after: users.map((user) => program.nodeFor(user)),
  };
}

function toggleSign(sign, x, y) {
  return svg(
    "g",
    { class: "toggle", transform: `translate(${x},${y})` },
    svg("rect", { width: 14, height: 14, rx: 3 }),
    svg("text", { x: 7, y: 11.5 }, sign),
  );
}

/** A smooth line through points. */
function curve(points) {
  const [first, ...rest] = points;
  let d = `M${first.x},${first.y}`;
  rest.forEach((point, index) => {
    const next = rest[index + 1];
    if (!next) d += `L${point.x},${point.y}`;
    else d += `Q${point.x},${point.y} ${(point.x + next.x) / 2},${(point.y + next.y) / 2}`;
  });
  return d;
}

/** The heat of a share of the cost, from 0 for 1/100,000 to 1. */
function heat(share) {
  return Math.max(0, Math.min(1, 1 + Math.log10(share) / 5));
}

function percent(share) {
  const text = share >= 0.1 ? (share * 100).toFixed(0) : (share * 100).toPrecision(2);
  return share < 0.00001 ? "< 0.001 %" : `${Number(text)} %`;
}
