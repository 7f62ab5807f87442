// The graph: its drawing in SVG, what is open, what is selected, and what of it shows.

/** Smaller than this, texts cannot be read: a scale of texts of 12 pixels. */
const READABLE = 0.75;

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

/** Makes an SVG element. */
function svg(name, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

class Graph {
  /**
   * Draws in `element`; `on.select(node)` is called on a click, `on.move(transform)` when
   * something else shows, and `on.draw()` after a change.
   */
  constructor(program, element, on) {
    this.program = program;
    this.element = element;
    this.on = on;
    this.colour = "family";
    this.selected = null;
    this.layout = new Layout(program, (node) => this.lines(node));
    this.view = svg("g");
    element.append(this.view);
    this.zoom = libraries
      .zoom()
      .scaleExtent([0.01, 4])
      .on("zoom", ({ transform }) => {
        this.view.setAttribute("transform", transform);
        element.classList.toggle("far", transform.k < 0.35);
        on.move(transform);
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
    this.layout.forget(node);
  }

  places(node) {
    return this.layout.places(node);
  }

  corner(node) {
    return this.layout.corner(node);
  }

  /** Opens all that is around a node, and moves there. */
  reveal(node) {
    for (let at = node.parent; at; at = at.parent) this.setOpen(at, true);
    this.draw();
    this.moveTo(node, 0.8);
  }

  /** Moves a node to the middle, or its title to the top if it is larger than what shows. */
  moveTo(node, smallest) {
    const { x, y } = this.corner(node);
    const { width, height } = this.places(node);
    const { clientWidth, clientHeight } = this.element;
    const scale = Math.max(libraries.zoomTransform(this.element).k, smallest);
    const [wide, high] = [clientWidth / scale, clientHeight / scale];
    this.frame.call(this.zoom.scaleTo, scale);
    const middle = [x + Math.min(width, wide - 40) / 2, y + Math.min(height, high - 40) / 2];
    this.frame.call(this.zoom.translateTo, ...middle);
  }

  /** Enlarges what shows. */
  scaleBy(factor) {
    this.frame.call(this.zoom.scaleBy, factor);
  }

  /** Moves by a part of what shows. */
  moveBy(right, down) {
    const { k } = libraries.zoomTransform(this.element);
    const { clientWidth, clientHeight } = this.element;
    this.frame.call(this.zoom.translateBy, (-right * clientWidth) / k, (-down * clientHeight) / k);
  }

  /** Moves so that the whole graph shows. */
  overview() {
    this.fit(0);
  }

  /** Moves so that the whole graph shows, or its top if that would be too small to read. */
  fit(smallest = READABLE) {
    const { width, height } = this.places(this.program.root);
    const { clientWidth, clientHeight } = this.element;
    const whole = Math.min(clientWidth / width, clientHeight / height, 1) * 0.97;
    const isWhole = whole >= smallest;
    const scale = isWhole ? whole : Math.max(smallest, Math.min((clientWidth / width) * 0.97, 1));
    const isWide = width * scale > clientWidth;
    const x = isWide ? clientWidth / 2 - this.middle() * scale : (clientWidth - width * scale) / 2;
    const y = height * scale > clientHeight ? -HEADER * scale : (clientHeight - height * scale) / 2;
    this.frame.call(this.zoom.transform, libraries.zoomIdentity.translate(x, y).scale(scale));
  }

  /** The horizontal middle of the largest part of the function that runs. */
  middle() {
    let [node] = this.program.root.children;
    const largest = (children) => children.reduce((a, b) => (b.ops > a.ops ? b : a));
    while (node.isOpen && node.children.length) node = largest(node.children);
    return this.corner(node).x + this.places(node).width / 2;
  }

  /** The texts of a closed node: its name, its type, and operands that are no nodes. */
  lines(node) {
    const lines = [node.label];
    const count = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;
    const size = (ops) => {
      const { flops } = node.cost;
      return flops ? `${count(ops, "op")} · ${amount(flops, "FLOP")}` : count(ops, "op");
    };
    if (node.type === "op") {
      const op = this.program.ops[node.op];
      const { results, operands } = op;
      if (op.symbol !== undefined) lines.push(`function · ${size(node.ops - 1)}`);
      else if (node.children.length > 0 || op.calls) lines.push(this.contents(node, size));
      if (node.scope) lines.push(node.scope);
      const isOnEdges = this.layout.edges.of(node.parent).some(({ from }) => from === node);
      if (!isOnEdges && results.length === 1) lines.push(this.program.valueType(results[0]));
      if (results.length > 1) lines.push(`${results.length} results`);
      const inline = operands.map((value) => this.program.inlineText(value)).filter(Boolean);
      if (inline.length) lines.push(`with ${inline.join(", ")}`);
    } else if (node.type === "group") {
      lines.push(size(node.ops));
    } else if (node.values.length === 1) {
      const { edges } = this.layout;
      const isUsed = edges.of(node.parent).some(({ from }) => from === node);
      if (!isUsed) lines.push(this.program.valueType(node.values[0]));
      const first = edges.source.get(node.values[0]);
      const start = first === undefined ? null : this.program.inlineText(first);
      if (start !== null) lines.push(`starts as ${start}`);
    }
    const share = this.share(node);
    if (share > 0) lines.push(percent(share));
    const { changes } = node.cost;
    if (changes && node.children.length) {
      lines.push(count(changes, "difference"));
    }
    return lines.map((line) => fitted(line));
  }

  /** The contents of an op with regions, or of a call. */
  contents(node, size) {
    const op = this.program.ops[node.op];
    const name = this.program.shortName(op);
    const inside = node.children.length ? size(node.ops - 1) : "";
    const runs = node.children.map((child) => this.program.runs(child));
    const loop = name === "while" && runs.at(-1) ? `runs ${runs.at(-1)} times` : "";
    const title = node.label.startsWith("@") ? name : "";
    return [title, loop, inside].filter(Boolean).join(" · ");
  }

  /** The part of the program's cost, or of the elements, that is shown by colour; 0 if none is. */
  share(node) {
    const { root } = this.program;
    if (this.colour === "changes") return 0;
    const all = this.colour === "bad" ? node.cost.elements : root.cost[this.colour];
    return all ? node.cost[this.colour] / all : 0;
  }

  /** Draws all that shows. */
  draw() {
    this.boxes = new Map();
    /** The drawn edges with their paths. */
    this.paths = [];
    const root = this.program.root;
    const drawn = svg("g");
    for (const child of root.children) drawn.append(this.drawChild(root, child));
    this.view.replaceChildren(drawn);
    this.drawSelection();
    this.on.draw();
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
    );
    const labels = [];
    for (const edge of edges) {
      const path = this.drawEdge(edge);
      this.paths.push({ edge, path });
      element.append(path);
      const { label, x, y, isLoop, points } = edge;
      const place = isLoop
        ? { x: points[1].x + 4, y: points[1].y - 14, class: "type loop" }
        : { x, y: y + 4, class: "type" };
      if (label) labels.push(svg("text", place, label));
    }
    element.setAttribute("aria-label", node.label);
    const title = svg("text", { x: 26, y: 18, class: "title" }, node.label);
    element.append(title, toggleSign("−", 7, 6), ...labels, ...node.children.map((child) => this.drawChild(node, child)));
    return element;
  }

  /** A line with an arrow, but for those that go on across a border. */
  drawEdge({ from, to, points, isLoop }) {
    const goesOn = !isLoop && (to.type === "out" || (to.isOpen && this.places(to).ports.has(from)));
    const path = svg("path", { d: curve(points), class: isLoop ? "edge loop" : "edge" });
    path.dataset.from = from.id ?? from.type;
    path.dataset.to = to.id ?? to.type;
    if (!goesOn) path.setAttribute("marker-end", "url(#arrow)");
    return path;
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

  /** Marks the selected node, and its edges across all levels. */
  drawSelection() {
    this.view.querySelectorAll(".selected").forEach((box) => box.classList.remove("selected"));
    this.view.querySelectorAll(".link").forEach((path) => path.classList.remove("link", "from", "to"));
    const node = this.selected;
    if (!node || node === this.program.root) return;
    const shown = this.program.shown(node);
    this.boxes.get(shown).classList.add("selected");
    const used = this.layout.edges.needs(shown);
    const { nodeOfValue } = this.program;
    const isMade = (value) => {
      for (let at = nodeOfValue[value]; at; at = at.parent) if (at === shown) return true;
      return false;
    };
    /** True if an end of an edge is `shown`, is in it or around it, or leads there. */
    const leads = (end) => {
      let at = end;
      while (at && isPort(at)) at = at.peer;
      for (let up = shown; up; up = up.parent) if (up === at) return true;
      for (let up = at; up; up = up.parent) if (up === shown) return true;
      return at === null;
    };
    for (const { edge, path } of this.paths) {
      const values = [...edge.values];
      if (leads(edge.to) && values.some((value) => used.has(value))) {
        path.classList.add("link", "from");
      } else if (leads(edge.from) && values.some(isMade)) {
        path.classList.add("link", "to");
      }
    }
  }
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
