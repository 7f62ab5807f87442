// Search: a list of the groups and ops that contain all words, with where they are.

/** Most matches that are listed. */
const MAX_MATCHES = 200;

/** The groups, functions and calls whose label and place contain all words. */
function groupsThatMatch(program, words) {
  const matches = (node) => {
    const label = node.label.toLowerCase();
    const path = [...labelsAround(node), node.label].join("/").toLowerCase();
    const isNamed = words.some((word) => label.includes(word));
    return isNamed && words.every((word) => path.includes(word));
  };
  return program.nodes.filter(
    (node) => node.children.length && node !== program.root && matches(node),
  );
}

class Search {
  /** `open(pane, op, node)` shows a match. */
  constructor(panes, field, list, open) {
    Object.assign(this, { panes, field, list, open });
    field.addEventListener("input", () => this.show());
    field.addEventListener("focus", () => this.show());
    field.parentNode.addEventListener("keydown", (event) => this.pressed(event));
  }

  hide() {
    this.list.hidden = true;
  }

  found() {
    const query = this.field.value;
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    if (!words.length) return [];
    return this.panes.flatMap((pane) => {
      const { program } = pane;
      const groups = groupsThatMatch(program, words).filter(({ type }) => type === "group");
      const named = groups.map((node) => ({ pane, node, op: node.op, text: node.label }));
      const ops = program.search(query).map((op) => {
        const node = program.nodeFor(op);
        return { pane, node, op, text: program.ops[op].text };
      });
      return [...named, ...ops];
    });
  }

  show() {
    const found = this.found();
    this.list.hidden = !this.field.value.trim();
    const rows = found.slice(0, MAX_MATCHES).map((match) => this.row(match));
    const noun = found.length === 1 ? "match" : "matches";
    const more = found.length > rows.length ? `, the first ${rows.length} of them:` : "";
    this.list.replaceChildren(html("p", {}, `${found.length} ${noun}${more}`), ...rows);
  }

  row({ pane, node, op, text }) {
    const { program } = pane;
    const around = labelsAround(node);
    if (node.op !== op && node !== program.root) around.push(node.label);
    const source = op === null ? "" : program.sources[program.ops[op].source] || "";
    const file = source.split("/").slice(-1)[0];
    const onclick = () => {
      this.hide();
      this.open(pane, op, node);
    };
    return html(
      "button",
      { onclick, title: source },
      html("span", { class: op === null ? "scope-name" : "" }, text),
      html("span", { class: "where" }, [around.join(" › "), file].filter(Boolean).join("  ·  ")),
    );
  }

  /** Up and down go through the matches; enter takes the first. */
  pressed(event) {
    const rows = [...this.list.querySelectorAll("button")];
    const at = rows.indexOf(document.activeElement);
    if (event.key === "Enter" && event.target === this.field) {
      event.preventDefault();
      rows[0]?.click();
      this.field.blur();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const next = event.key === "ArrowDown" ? at + 1 : at - 1;
      (rows[next] || (next < 0 ? this.field : rows.at(-1)))?.focus();
    }
    event.stopPropagation();
    if (event.key === "Escape") {
      this.hide();
      this.field.blur();
    }
  }
}
