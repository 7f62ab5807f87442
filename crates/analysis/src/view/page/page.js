// The page: buttons, keys, and what shows at first.

/** A program is opened at first as long as no more nodes show. */
const MAX_SHOWN = 40;

/** So few nodes say little. */
const FEW = 8;

const byId = (id) => document.getElementById(id);
const model = JSON.parse(byId("model").textContent);

/** A program with its graph; of two, one half of the page. */
class Pane {
  /** `changes` are the differences to the other program, `partners` its op for each of this one. */
  constructor(model, changes, partners) {
    this.program = new Program(model, changes);
    this.partners = partners;
    this.other = null;
    const label = `Graph of ${this.program.name}`;
    this.element = svg("svg", { class: "pane", role: "application", "aria-label": label });
    byId("graph").append(this.element);
    this.graph = new Graph(this.program, this.element, {
      select: (node) => this.select(node),
      move: () => this.minimap?.moved(),
      draw: () => this.minimap?.draw(),
    });
    this.minimap = new Minimap(this.graph, byId("minimaps"));
    const reveal = (op, node) => this.reveal(op, node);
    this.details = new Details(this.program, byId("details"), reveal);
  }

  /** Shows what a node is, or an op without a node, and its partner. */
  select(node, op = node ? node.op : null) {
    this.graph.select(node);
    this.details.show(node, op);
    if (!this.other) return;
    const partner = this.partners.get(op);
    const { program, graph } = this.other;
    const found = partner ? program.nodeFor(partner) : null;
    if (found && found !== program.root) graph.reveal(found);
    graph.select(found);
  }

  /** Moves to an op, or to the node of an argument, and selects it. */
  reveal(op, node = this.program.nodeFor(op)) {
    if (node !== this.program.root) this.graph.reveal(node);
    this.select(node, op);
  }

  /** Opens what gives an overview, or in a program with differences, what they are in. */
  openFirst() {
    const { root } = this.program;
    const differs = (node) => node.cost.changes > 0;
    if (!differs(root)) return this.openOverview();
    let shown = root.children.length;
    const queue = root.children.filter(differs);
    for (const node of queue) {
      if (node !== queue[0] && shown + node.children.length > 3 * MAX_SHOWN) continue;
      this.graph.setOpen(node, true);
      shown += node.children.length;
      queue.push(...node.children.filter((child) => child.children.length && differs(child)));
    }
  }

  /**
   * Opens the function that runs, and in it from outside to inside what there is room for; groups
   * that are alike, such as layers, all or none.
   */
  openOverview() {
    const { root } = this.program;
    const [main] = root.children;
    if (!main) return;
    this.graph.setOpen(main, true);
    let shown = main.children.length;
    // The bodies of reductions say little more than their names. In large programs, small groups
    // are details, and so are groups of nothing but ops.
    const isSmall = root.ops <= 2 * MAX_SHOWN;
    const isGroup = ({ children, label, ops }) => children.length && ops > 4 && !/^part \d/.test(label);
    const isWorthwhile = (node) =>
      node.children.length > 0 &&
      (isSmall
        ? node.type === "group" || node.ops > 4
        : node.ops > main.ops / 8 && node.children.some(isGroup));
    for (let level = [main]; level.length;) {
      const alike = new Map();
      for (const node of level.flatMap(({ children }) => children.filter(isWorthwhile))) {
        const key = `${node.parent.id} ${node.label.replace(/\d+/g, "")}`;
        alike.set(key, [...(alike.get(key) || []), node]);
      }
      level = [];
      const ops = (nodes) => nodes.reduce((sum, node) => sum + node.ops, 0);
      for (const nodes of [...alike.values()].sort((a, b) => ops(b) - ops(a))) {
        const more = nodes.reduce((sum, node) => sum + node.children.length, 0);
        const isRoom = shown + more <= (shown < FEW ? 2 * MAX_SHOWN : MAX_SHOWN);
        if (!isRoom) continue;
        nodes.forEach((node) => this.graph.setOpen(node, true));
        shown += more;
        level.push(...nodes);
      }
    }
  }

  closeAll() {
    const { root } = this.program;
    for (const node of this.program.nodes) this.graph.setOpen(node, node === root);
    this.graph.draw();
    this.graph.fit();
  }
}

/** One pane, or two with their differences. */
function makePanes() {
  if (!model.left) return [new Pane(model, new Map(), new Map())];
  const sides = ["left", "right"];
  const made = sides.map((side, index) => {
    const other = sides[1 - index];
    const own = model.changes.filter((change) => change[side] !== null);
    const changes = own.map((change) => [
      change[side],
      { details: change.details, isOnly: change[other] === null },
    ]);
    const partners = model.pairs.map((pair) => [pair[index], pair[1 - index]]);
    return new Pane(model[side], new Map(changes), new Map(partners));
  });
  made.forEach((pane, index) => {
    pane.other = made[1 - index];
    pane.details.beside = [pane.other.details];
  });
  return made;
}

const panes = makePanes();

function legend() {
  const { colour } = panes[0].graph;
  const samples = {
    family: [...Object.keys(FAMILIES), "elementwise"].map((name) => [name, name]),
    changes: Object.entries({ changed: "differs", only: "only in this program" }),
  };
  const items = (samples[colour] || []).map(([name, text]) =>
    html("span", { class: `sample ${name}` }, text),
  );
  const isCost = ["flops", "bytes", "seconds", "bad", "error"].includes(colour);
  if (isCost) items.push(html("span", {}, "0.001 %"), html("span", { class: "scale" }), "100 %");
  byId("legend").replaceChildren(...items);
}

/** The pane that keys are for: that of the focus or of the selection, else the first. */
function activePane() {
  const isActive = ({ element, graph }) =>
    element.contains(document.activeElement) || graph.selected;
  return panes.find(isActive) || panes[0];
}

/** Keys, with what they do in a pane. */
const KEYS = {
  "/": () => byId("search").focus(),
  "?": () => byId("help").showModal(),
  0: ({ graph }) => graph.fit(),
  f: ({ graph }) => graph.fit(),
  w: ({ graph }) => graph.overview(),
  "+": ({ graph }) => graph.scaleBy(1.25),
  "=": ({ graph }) => graph.scaleBy(1.25),
  "-": ({ graph }) => graph.scaleBy(0.8),
  ArrowLeft: ({ graph }) => graph.moveBy(-0.15, 0),
  ArrowRight: ({ graph }) => graph.moveBy(0.15, 0),
  ArrowUp: ({ graph }) => graph.moveBy(0, -0.15),
  ArrowDown: ({ graph }) => graph.moveBy(0, 0.15),
  PageUp: ({ graph }) => graph.moveBy(0, -0.8),
  PageDown: ({ graph }) => graph.moveBy(0, 0.8),
  Enter: (pane, node) => enter(pane, node),
  " ": (pane, node) => enter(pane, node),
  Escape: (pane) => pane.select(null),
};

/** Opens or closes a node, and selects it. */
function enter(pane, node) {
  if (!node) return;
  pane.graph.toggle(node);
  pane.select(node);
  pane.graph.boxes.get(pane.program.shown(node))?.focus({ preventScroll: true });
}

function pressed(event) {
  const isElsewhere = event.target.closest?.("button, select, input, dialog, #details");
  if (isElsewhere && event.key !== "Escape") return;
  if (event.ctrlKey || event.metaKey || event.altKey || byId("help").open) return;
  const action = KEYS[event.key];
  if (!action) return;
  event.preventDefault();
  const pane = activePane();
  action(pane, pane.graph.nodeAt(event.target) || pane.graph.selected);
}

/** The marker at the ends of edges. */
function arrow() {
  const size = { refX: 7, refY: 4, markerWidth: 8, markerHeight: 8 };
  const marker = svg("marker", { id: "arrow", ...size, orient: "auto" });
  marker.append(svg("path", { d: "M0,1L7,4L0,7z" }));
  return svg("defs", {}, marker);
}

function changeTheme() {
  const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
  const { dataset } = document.documentElement;
  dataset.theme = (dataset.theme || (isDark ? "dark" : "light")) === "dark" ? "light" : "dark";
}

function setColour(colour) {
  byId("colour").value = colour;
  panes.forEach(({ graph }) => graph.redraw(colour));
  legend();
}

function start() {
  const names = panes.map(({ program }) => program.name);
  document.title = `${names.join(" – ")} – stablo view`;
  byId("name").textContent = names.map((name) => name.split("/").slice(-2).join("/")).join(" – ");
  byId("name").title = names.join("\n");
  panes[0].element.prepend(arrow());
  const hasValues = panes.some(({ program }) => program.ops.some((op) => op.statistics));
  if (!hasValues) byId("values").remove();
  if (!panes.some(({ program }) => program.profile)) byId("times").remove();
  if (!model.judgement) byId("errors").remove();
  if (!model.left) byId("changes").remove();
  byId("colour").addEventListener("change", (event) => setColour(event.target.value));
  const search = new Search(panes, byId("search"), byId("matches"), (pane, op, node) =>
    pane.reveal(op, node),
  );
  const onClick = (id, action) => byId(id).addEventListener("click", action);
  onClick("fit", () => panes.forEach(({ graph }) => graph.fit()));
  onClick("whole", () => panes.forEach(({ graph }) => graph.overview()));
  onClick("larger", () => panes.forEach(({ graph }) => graph.scaleBy(1.25)));
  onClick("smaller", () => panes.forEach(({ graph }) => graph.scaleBy(0.8)));
  onClick("collapse", () => panes.forEach((pane) => pane.closeAll()));
  onClick("svg", () => save(activePane().graph, "svg"));
  onClick("png", () => save(activePane().graph, "png"));
  onClick("keys", () => byId("help").showModal());
  byId("theme").addEventListener("click", changeTheme);
  document.addEventListener("keydown", pressed);
  document.addEventListener("pointerdown", (event) => {
    if (!event.target.closest("#searching")) search.hide();
  });
  panes.forEach((pane) => pane.openFirst());
  const { left, judgement, profile } = model;
  setColour(left ? "changes" : judgement ? "error" : profile ? "seconds" : "family");
  panes.forEach(({ graph }) => graph.fit());
  panes[0].select(null);
}

start();
