// The page: search, buttons, keys, and what shows at first.

/** Most matches that are listed. */
const MAX_MATCHES = 200;
/** A program is opened at first as long as no more nodes show. */
const MAX_SHOWN = 120;

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
    this.graph = new Graph(this.program, this.element, { select: (node) => this.select(node) });
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

  /**
   * Opens the function that runs, and what is in it as far as it is small; in a program with
   * differences, what they are in.
   */
  openFirst() {
    const functions = this.program.root.children;
    const entry = this.program.cost ? this.program.cost.entry : "main";
    const main = functions.find((node) => node.label === `@${entry}`) || functions[0];
    if (!main) return;
    const differs = (node) => node.cost.changes > 0;
    // The bodies of reductions say little more than their names.
    const isLarge = (node) => node.ops > 4 || node.type === "group";
    const isShown = differs(this.program.root) ? differs : isLarge;
    let shown = functions.length;
    const queue = differs(this.program.root) ? functions.filter(differs) : [main];
    for (const node of queue) {
      if (node !== queue[0] && shown + node.children.length > MAX_SHOWN) continue;
      this.graph.setOpen(node, true);
      shown += node.children.length;
      queue.push(...node.children.filter((child) => child.children.length && isShown(child)));
    }
  }

  closeAll() {
    for (const node of this.program.nodes) this.graph.setOpen(node, node === this.program.root);
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
  const isCost = ["flops", "bytes", "seconds", "bad"].includes(colour);
  if (isCost) items.push(html("span", {}, "0.001 %"), html("span", { class: "scale" }), "100 %");
  byId("legend").replaceChildren(...items);
}

function showMatches() {
  const query = byId("search").value;
  const list = byId("matches");
  const found = panes.flatMap((pane) => pane.program.search(query).map((op) => ({ pane, op })));
  list.hidden = !query.trim();
  const rows = found.slice(0, MAX_MATCHES).map(({ pane, op }) =>
    html(
      "button",
      {
        onclick: () => {
          list.hidden = true;
          pane.reveal(op);
        },
      },
      pane.program.ops[op].text,
    ),
  );
  const noun = found.length === 1 ? "match" : "matches";
  const more = found.length > rows.length ? `, the first ${rows.length} of them:` : "";
  list.replaceChildren(html("p", {}, `${found.length} ${noun}${more}`), ...rows);
}

/** The key that a list of matches or the graph has no use for does what it says. */
function pressed(event) {
  const isTyping = event.target === byId("search");
  const list = byId("matches");
  if (event.key === "Escape") {
    list.hidden = true;
    if (!isTyping) panes[0].select(null);
  } else if (isTyping && event.key === "Enter") {
    list.querySelector("button")?.click();
  } else if (isTyping || event.ctrlKey || event.metaKey || event.altKey) {
    return;
  } else if (event.key === "/") {
    event.preventDefault();
    byId("search").focus();
  } else if (event.key === "0") {
    panes.forEach(({ graph }) => graph.fit());
  } else if (event.key === "Enter" || event.key === " ") {
    const pane = panes.find(({ element }) => element.contains(event.target));
    const node = pane?.graph.nodeAt(event.target);
    if (!node) return;
    event.preventDefault();
    if (event.key === "Enter") pane.select(node);
    else pane.graph.toggle(node);
    pane.graph.boxes.get(node)?.focus();
  }
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
  if (!model.left) byId("changes").remove();
  byId("colour").addEventListener("change", (event) => setColour(event.target.value));
  byId("search").addEventListener("input", showMatches);
  byId("search").addEventListener("focus", showMatches);
  byId("fit").addEventListener("click", () => panes.forEach(({ graph }) => graph.fit()));
  byId("collapse").addEventListener("click", () => panes.forEach((pane) => pane.closeAll()));
  byId("theme").addEventListener("click", changeTheme);
  document.addEventListener("keydown", pressed);
  document.addEventListener("pointerdown", (event) => {
    if (!event.target.closest("#searching")) byId("matches").hidden = true;
  });
  panes.forEach((pane) => pane.openFirst());
  setColour(model.left ? "changes" : model.profile ? "seconds" : "family");
  panes.forEach(({ graph }) => graph.fit(0.8));
  panes[0].select(null);
}

start();
