// The page: search, buttons, keys, and what shows at first.

/** Most matches that are listed. */
const MAX_MATCHES = 200;
/** A program is opened at first as long as no more nodes show. */
const MAX_SHOWN = 120;

const byId = (id) => document.getElementById(id);
const program = new Program(JSON.parse(byId("model").textContent));

const details = new Details(program, byId("details"), reveal);
const graph = new Graph(program, byId("graph"), {
  select: (node) => select(node),
  toggled: () => {},
});

function select(node, op = node ? node.op : null) {
  graph.select(node);
  details.show(node, op);
}

/** Moves to an op, or to the node of an argument, and selects it. */
function reveal(op, node = program.nodeFor(op)) {
  if (node !== program.root) graph.reveal(node);
  select(node, op);
}

/** Opens the function that runs, and what is in it as far as it is small. */
function openFirst() {
  const functions = program.root.children;
  const entry = program.cost ? program.cost.entry : "main";
  const main = functions.find((node) => node.label === `@${entry}`) || functions[0];
  if (!main) return;
  let shown = functions.length;
  const queue = [main];
  for (const node of queue) {
    if (node !== main && shown + node.children.length > MAX_SHOWN) continue;
    graph.setOpen(node, true);
    shown += node.children.length;
    // The bodies of reductions say little more than their names.
    const isLarge = (child) => child.ops > 4 || child.type === "group";
    queue.push(...node.children.filter((child) => child.children.length && isLarge(child)));
  }
}

function legend() {
  const { colour } = graph;
  const names = { family: [...Object.keys(FAMILIES), "elementwise"] }[colour] || [];
  const items = names.map((name) => html("span", { class: `sample ${name}` }, name));
  const isCost = ["flops", "bytes", "bad"].includes(colour);
  if (isCost) items.push(html("span", {}, "0.001 %"), html("span", { class: "scale" }), "100 %");
  byId("legend").replaceChildren(...items);
}

function showMatches() {
  const query = byId("search").value;
  const list = byId("matches");
  const found = program.search(query);
  list.hidden = !query.trim();
  const rows = found.slice(0, MAX_MATCHES).map((op) =>
    html(
      "button",
      {
        onclick: () => {
          list.hidden = true;
          reveal(op);
        },
      },
      program.ops[op].text,
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
    if (!isTyping) select(null);
  } else if (isTyping && event.key === "Enter") {
    list.querySelector("button")?.click();
  } else if (isTyping || event.ctrlKey || event.metaKey || event.altKey) {
    return;
  } else if (event.key === "/") {
    event.preventDefault();
    byId("search").focus();
  } else if (event.key === "0") {
    graph.fit();
  } else if (event.key === "Enter" || event.key === " ") {
    const node = graph.nodeAt(event.target);
    if (!node) return;
    event.preventDefault();
    if (event.key === "Enter") select(node);
    else graph.toggle(node);
    graph.boxes.get(node)?.focus();
  }
}

function start() {
  document.title = `${program.name} – stablo view`;
  byId("name").textContent = program.name.split("/").slice(-2).join("/");
  byId("name").title = program.name;
  byId("graph").prepend(
    svg(
      "defs",
      {},
      svg(
        "marker",
        { id: "arrow", refX: 7, refY: 4, markerWidth: 8, markerHeight: 8, orient: "auto" },
        svg("path", { d: "M0,1L7,4L0,7z" }),
      ),
    ),
  );
  if (!program.ops.some((op) => op.statistics)) byId("values").remove();
  byId("colour").addEventListener("change", (event) => {
    graph.redraw(event.target.value);
    legend();
  });
  byId("search").addEventListener("input", showMatches);
  byId("search").addEventListener("focus", showMatches);
  byId("fit").addEventListener("click", () => graph.fit());
  byId("collapse").addEventListener("click", () => {
    for (const node of program.nodes) graph.setOpen(node, node === program.root);
    graph.draw();
    graph.fit();
  });
  byId("theme").addEventListener("click", () => {
    const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
    const { dataset } = document.documentElement;
    dataset.theme = (dataset.theme || (isDark ? "dark" : "light")) === "dark" ? "light" : "dark";
  });
  document.addEventListener("keydown", pressed);
  document.addEventListener("pointerdown", (event) => {
    if (!event.target.closest("#searching")) byId("matches").hidden = true;
  });
  openFirst();
  legend();
  graph.draw();
  graph.fit(0.8);
  select(null);
}

start();
