// Places of nodes and edges, group by group, each by itself.

const HEADER = 24;
const PADDING = 14;
const LINE = 15;
const MAX_TEXT = 260;
/** Groups with more edges show no types on them. */
const MAX_LABELS = 250;
/** Room on the right of the body of a loop. */
const LOOP = 100;

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

class Layout {
  /** `lines(node)` are the texts of a closed node. */
  constructor(program, lines) {
    this.program = program;
    this.lines = lines;
    this.edges = new Edges(program);
  }

  /** Forgets the places of a node and of all around it. */
  forget(node) {
    for (let at = node; at; at = at.parent) at.places = null;
  }

  /** The size of a node, and if it is open the places of what is in it: children and edges. */
  places(node) {
    if (!node.places) node.places = node.isOpen ? this.inside(node) : this.closed(node);
    return node.places;
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

  closed(node) {
    const lines = this.lines(node);
    const width = Math.max(...lines.map((line, index) => textWidth(line, index ? FONT : BOLD)));
    const toggle = node.children.length ? 16 : 0;
    return { lines, width: width + 20 + toggle, height: lines.length * LINE + 10 };
  }

  inside(node) {
    const edges = this.edges.of(node);
    const found =
      edges.length === 0 ? this.shelves(node.children) : this.layered(node.children, edges);
    const { of, drawn } = found;
    const isLoop = node.children.some((child) => this.edges.isLoop(child));
    const label = textWidth(node.label, BOLD) + 46;
    const width = Math.max(found.width + 2 * PADDING + (isLoop ? LOOP : 0), label);
    const height = found.height + HEADER + 2 * PADDING;
    const move = (point) => {
      point.x += PADDING;
      point.y += HEADER + PADDING;
    };
    for (const place of of.values()) move(place);
    for (const edge of drawn) {
      edge.points.forEach(move);
      if (edge.label) move(edge);
    }
    // Ports are on the border.
    const ports = new Map();
    for (const edge of drawn) {
      const [first, last] = [edge.points[0], edge.points.at(-1)];
      if (isPort(edge.from)) {
        ports.set(edge.from.peer, (ports.get(edge.from.peer) || []).concat({ ...first, y: 0 }));
        edge.points.unshift({ x: first.x, y: 0 });
      }
      if (isPort(edge.to)) {
        ports.set(edge.to.peer, (ports.get(edge.to.peer) || []).concat({ ...last, y: height }));
        edge.points.push({ x: last.x, y: height });
      }
    }
    for (const child of node.children) {
      if (this.edges.isLoop(child)) drawn.push(this.loop(child, of.get(child)));
    }
    return { of, edges: drawn, ports, width, height };
  }

  /** The edge from a body of a loop to itself. */
  loop(node, { x, y }) {
    const { width, height } = this.places(node);
    const [right, bottom] = [x + width, y + height];
    const points = [
      { x: right, y: bottom - 12 },
      { x: right + 26, y: bottom - 12 },
      { x: right + 26, y: y + 12 },
      { x: right, y: y + 12 },
    ];
    const label = "next iteration";
    return { from: node, to: node, values: new Set(), isLoop: true, points, label };
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

  /** Nodes in layers, each below those that it uses. Ports are in the first and the last one. */
  layered(nodes, edges) {
    const graph = new libraries.Graph();
    const ranksep = edges.length > MAX_LABELS || nodes.some((node) => node.isOpen) ? 40 : 22;
    graph.setGraph({ nodesep: 18, ranksep, edgesep: 10, rankalign: "top" });
    for (const node of nodes) {
      const { width, height } = this.places(node);
      graph.setNode(`n${node.id}`, { width, height });
    }
    const ports = new Map();
    const point = { width: 2, height: 1 };
    const key = (end) => {
      if (!isPort(end)) return `n${end.id}`;
      if (!ports.has(end)) {
        ports.set(end, `${end.type}${ports.size}`);
        graph.setNode(ports.get(end), { ...point });
        graph.setNode(end.type, { ...point });
        const tight = { weight: 1000, minlen: 1, width: 0, height: 0 };
        if (end.type === "in") graph.setEdge("in", ports.get(end), tight);
        else graph.setEdge(ports.get(end), "out", tight);
      }
      return ports.get(end);
    };
    const keys = edges.map((edge) => [key(edge.from), key(edge.to)]);
    edges.forEach((edge, index) => {
      const isLabelled = edges.length <= MAX_LABELS && !isPort(edge.from) && !isPort(edge.to);
      const label = isLabelled ? this.edgeLabel(edge) : "";
      const size = label ? { width: textWidth(label, "10px system-ui") + 6, height: 12 } : {};
      graph.setEdge(...keys[index], { label, labelpos: "c", ...size });
    });
    libraries.layout(graph);
    const of = new Map();
    for (const node of nodes) {
      const { x, y, width, height } = graph.node(`n${node.id}`);
      of.set(node, { x: x - width / 2, y: y - height / 2 });
    }
    const drawn = edges.map((edge, index) => {
      const { points, label, x, y } = graph.edge(...keys[index]);
      return { ...edge, points: this.attached(edge, points, of), label, x, y };
    });
    return { of, drawn, ...this.cropped(of, drawn) };
  }

  /** Moves everything to the upper left corner, and returns the size. */
  cropped(of, drawn) {
    const points = drawn.flatMap(({ points }) => points);
    const places = [...of].map(([node, place]) => [place, this.places(node)]);
    const least = (side) => {
      const all = [...points, ...places.map(([place]) => place)];
      return all.reduce((least, at) => Math.min(least, at[side]), Infinity);
    };
    const [left, top] = [least("x"), least("y")];
    const labels = drawn.filter(({ label }) => label);
    for (const at of [...points, ...places.map(([place]) => place), ...labels]) {
      at.x -= left;
      at.y -= top;
    }
    const ends = places.map(([{ x, y }, { width, height }]) => ({ x: x + width, y: y + height }));
    const most = (side) => [...points, ...ends].reduce((most, at) => Math.max(most, at[side]), 0);
    return { width: most("x"), height: most("y") };
  }

  /** The points of an edge, whose ends are the ports of open groups. */
  attached({ from, to }, points, of) {
    const ends = [points[0], points.at(-1)];
    const inner = points.slice(1, -1);
    const { ports: out } = this.places(isPort(from) ? to : from);
    const { ports: into } = this.places(isPort(to) ? from : to);
    const starts = !isPort(from) && from.isOpen ? out.get(to) || out.get(null) : null;
    const stops = !isPort(to) && to.isOpen ? into.get(from) || into.get(null) : null;
    const at = (node, { x, y }) => ({ x: of.get(node).x + x, y: of.get(node).y + y });
    const middle = (found) => found[Math.floor(found.length / 2)];
    if (starts) ends[0] = at(from, middle(starts));
    if (stops) ends[1] = at(to, middle(stops));
    const [first, last] = ends;
    if (starts) inner.unshift({ x: first.x, y: first.y + 8 });
    if (stops) inner.push({ x: last.x, y: last.y - 8 });
    return [first, ...inner, last];
  }

  edgeLabel({ values }) {
    if (values.size > 1) return `${values.size} values`;
    const [value] = values;
    return fitted(this.program.valueType(value), 160);
  }
}
