// The panel that tells about the program, a group, an op or an argument.

const SPECIFICATION = "https://github.com/openxla/stablehlo/blob/main/docs/spec.md";
/** Most rows of a list. */
const MAX_ROWS = 30;

/** Makes an element; strings become text, never markup. */
function html(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value);
  }
  element.append(...children.flat().filter((child) => child !== null));
  return element;
}

class Details {
  /** Shows in `element`; `reveal(op)` moves to an op. */
  constructor(program, element, reveal) {
    this.program = program;
    this.element = element;
    this.reveal = reveal;
    /** The details of the other program, if there is one. */
    this.beside = [];
  }

  /** Shows what a node is, or an op without a node. */
  show(node, op = node ? node.op : null) {
    const { root } = this.program;
    let parts;
    if (!node || node === root) parts = [this, ...this.beside].flatMap((at) => at.ofProgram());
    else if (op !== null) parts = this.ofOp(op);
    else if (node.type === "argument") parts = this.ofArguments(node);
    else parts = this.ofGroup(node);
    if (node && op !== null && op === node.op && node.children.length)
      parts.push(...this.contents(node));
    this.element.replaceChildren(...parts.filter(Boolean));
    this.element.scrollTop = 0;
  }

  ofProgram() {
    const { program } = this;
    const { cost, root, ops } = program;
    const functions = ops.filter((op) => program.kindName(op) === "func.func").length;
    const parts = [
      html("h2", {}, program.name),
      html("p", {}, `${ops.length - 1} ops in ${functions} functions`),
      this.allChanges(),
      html("pre", {}, ops[0].text),
    ];
    if (cost) {
      parts.push(
        table(`Cost of a run of @${cost.entry}`, [
          ["FLOPs", amount(cost.flops, "FLOP")],
          ["transcendental functions", amount(cost.transcendentals, "")],
          ["moved", amount(cost.bytes, "B")],
          ["peak memory", amount(cost.peak_memory, "B")],
        ]),
      );
      if (cost.doubts.length) {
        const doubts = cost.doubts.map((doubt) => html("li", {}, doubt));
        parts.push(html("p", {}, "Not exact (number of ops):"), html("ul", {}, doubts));
      }
    } else {
      parts.push(html("p", {}, "Costs are not known: no function main, or it cannot run."));
    }
    return [...parts, ...this.judgement(), this.profile(), ...this.contents(root)];
  }

  /** The judgement of the results, with a map of the errors of the elements of each. */
  judgement() {
    const { judgement } = this.program;
    if (!judgement) return [];
    const { verdict, model, report, outputs } = judgement;
    const maps = outputs.slice(0, MAX_ROWS).map((output) => {
      const shape = output.shape.join("×") || "scalar";
      const title = `${output.name}, ${shape}: ${output.verdict}`;
      return html("section", {}, html("h3", {}, title), heatMap(output));
    });
    const heading = html("h3", {}, `Results: ${verdict} (model ${model})`);
    return [html("section", {}, heading, html("pre", {}, report)), ...maps];
  }

  /** The error of the results of an op. */
  error(error) {
    if (!error) return null;
    const rows = [];
    if (error.verdict) rows.push(["recorded results", error.verdict]);
    if (error.ulps !== null) rows.push(["off by at most", `${number(error.ulps)} ulp`]);
    if (error.width !== null) rows.push(["width of bounds", `${number(error.width)} of the result`]);
    return table("Errors of rounding", rows);
  }

  /** The time of the runs, by kinds of steps. */
  profile() {
    const { profile } = this.program;
    if (!profile) return null;
    const kinds = new Map();
    for (const { kind, seconds } of profile.steps) {
      kinds.set(kind, (kinds.get(kind) || 0) + seconds);
    }
    const rows = [...kinds].sort(([, a], [, b]) => b - a);
    const runs = profile.runs === 1 ? "a run" : `${profile.runs} runs`;
    return table(`Time of ${runs}`, [
      ["all", duration(profile.seconds)],
      ...rows.map(([kind, seconds]) => [kind, duration(seconds)]),
    ]);
  }

  /** The ops that differ from those of the other program. */
  allChanges() {
    const { changes, ops } = this.program;
    if (!changes.size && !this.beside.length) return null;
    if (!changes.size) return html("p", {}, "No op differs from those of the other program.");
    const links = [...changes.keys()].map((op) => html("li", {}, this.opLink(op, ops[op].text)));
    const more = links.length - MAX_ROWS;
    return html(
      "section",
      {},
      html("h3", {}, "Ops that differ"),
      html("ul", { class: "changes" }, links.slice(0, MAX_ROWS)),
      more > 0 ? html("p", {}, `and ${more} more`) : null,
    );
  }

  ofGroup(node) {
    return [
      html("h2", {}, node.label),
      html("p", { class: "path" }, this.path(node)),
      ...this.contents(node),
    ];
  }

  ofArguments(node) {
    return [
      html("h2", {}, node.label),
      html("p", { class: "path" }, this.path(node)),
      this.values("Values", node.values),
      ...node.values.slice(0, node.values.length === 1 ? 1 : 0).map((value) => this.users(value)),
    ];
  }

  ofOp(index) {
    const { program } = this;
    const op = program.ops[index];
    const kind = program.kinds[op.kind];
    const source = program.sources[op.source];
    const scope = program.scopes[op.scope];
    const calls = (op.calls || []).map((at) => this.opLink(at, program.opLabel(program.ops[at])));
    return [
      html("h2", {}, op.symbol === undefined ? kind.name : `@${op.symbol}`),
      html("p", { class: "path" }, this.path(program.nodeFor(index))),
      html("pre", { class: "text" }, op.text),
      this.changes(index),
      source ? html("p", {}, html("b", {}, "source "), html("code", {}, source)) : null,
      scope ? html("p", {}, html("b", {}, "scope "), html("code", {}, scope)) : null,
      this.stack(index),
      calls.length ? html("p", {}, html("b", {}, "calls "), calls) : null,
      this.statistics(op.constant),
      ...(op.statistics || []).map((values, result) => this.statistics(values, op.results[result])),
      this.cost(op.cost),
      this.time(op.time),
      this.error(op.error),
      op.operands.length ? this.values("Operands", op.operands) : null,
      op.results.length ? this.values("Results", op.results) : null,
      ...op.results.map((value) => this.users(value)),
      this.specification(kind),
    ];
  }

  /** The calls in the exporter's program that led to an op. */
  stack(op) {
    const calls = this.program.calls(op);
    if (calls.length < 2) return null;
    const rows = calls.slice(0, MAX_ROWS).map(([name, source]) => {
      const file = source.split("/").slice(-1)[0];
      return html("li", { title: source }, html("code", {}, name), ` ${file}`);
    });
    const summary = html("summary", {}, `called by ${calls.length} functions`);
    return html("details", {}, summary, html("ul", {}, rows));
  }

  /** The differences of an op to that of the other program. */
  changes(op) {
    const change = this.program.changes.get(op);
    if (!change) return null;
    const texts = change.isOnly ? ["The other program has no such op."] : change.details;
    const items = texts.map((text) => html("li", {}, html("code", {}, text)));
    return html("section", {}, html("h3", {}, "Differences"), html("ul", {}, items));
  }

  /** The groups and regions around a node, with links. */
  path(node) {
    const around = [];
    for (let at = node.parent; at?.parent; at = at.parent) around.unshift(at);
    return around.flatMap((at, index) => {
      const onclick = () => this.reveal(at.op, at);
      return [index ? " › " : "", html("button", { class: "link", onclick }, at.label)];
    });
  }

  /** The contents of a group: its kinds of ops, with their costs and times. */
  contents(node) {
    const { program } = this;
    const kinds = new Map();
    for (const index of program.opsWithin(node)) {
      const op = program.ops[index];
      const name = program.kindName(op);
      const { flops = 0, transcendentals = 0, bytes = 0 } = op.cost || {};
      const sum = kinds.get(name) || { ops: 0, flops: 0, bytes: 0, seconds: 0 };
      kinds.set(name, {
        ops: sum.ops + 1,
        flops: sum.flops + flops + transcendentals,
        bytes: sum.bytes + bytes,
        seconds: sum.seconds + (op.time?.seconds || 0),
      });
    }
    const order = (a, b) => b.seconds - a.seconds || b.flops - a.flops || b.ops - a.ops;
    const rows = [...kinds].sort(([, a], [, b]) => order(a, b)).slice(0, MAX_ROWS);
    const columns = [
      ["number", ({ ops }) => String(ops)],
      ["FLOPs", ({ flops }) => (flops ? amount(flops, "") : "")],
      ["moved", ({ bytes }) => (bytes ? amount(bytes, "B") : "")],
    ];
    if (program.profile) {
      columns.push(["time", ({ seconds }) => (seconds ? duration(seconds) : "")]);
    }
    const shown = rows.map(([name, sum]) =>
      html(
        "tr",
        {},
        html("td", {}, name.replace(/^stablehlo\./, "")),
        columns.map(([, text]) => html("td", { class: "number" }, text(sum))),
      ),
    );
    const titles = ["op", ...columns.map(([title]) => title)].map((title) => html("th", {}, title));
    const kindsTable = html("table", { class: "contents" }, html("tr", {}, titles), shown);
    return [html("h3", {}, "Contents"), kindsTable];
  }

  values(title, values) {
    const { program } = this;
    const rows = values.map((value) => {
      const producer = program.producer[value];
      const constant = producer === null ? null : program.ops[producer].constant;
      const name = program.valueName(value);
      return html(
        "tr",
        {},
        html(
          "td",
          {},
          producer === null ? this.valueLink(value, name) : this.opLink(producer, name),
        ),
        html("td", {}, html("code", {}, program.valueType(value))),
        html("td", { class: "number" }, constant ? this.splat(value) : ""),
      );
    });
    const more = rows.length - 200;
    return html(
      "section",
      {},
      html("h3", {}, title),
      html("table", {}, rows.slice(0, 200)),
      more > 0 ? html("p", {}, `and ${more} more`) : null,
    );
  }

  /** The elements of a constant if they are equal. */
  splat(value) {
    const text = this.program.inlineText(value);
    return text === this.program.valueName(value) ? "" : text;
  }

  users(value) {
    const { program } = this;
    const users = program.users[value];
    if (!users.length) return html("p", {}, `${program.valueName(value)} is not used`);
    const links = users
      .slice(0, MAX_ROWS)
      .map((user) => html("li", {}, this.opLink(user, program.opLabel(program.ops[user]))));
    const more = users.length - links.length;
    return html(
      "section",
      {},
      html("h3", {}, `Uses of ${program.valueName(value)}`),
      html("ul", {}, links, more > 0 ? html("li", {}, `and ${more} more`) : null),
    );
  }

  opLink(op, text) {
    return html("button", { class: "link", onclick: () => this.reveal(op) }, text);
  }

  valueLink(value, text) {
    const node = this.program.nodeOfValue[value];
    if (!node) return text;
    return html("button", { class: "link", onclick: () => this.reveal(null, node) }, text);
  }

  cost(cost) {
    if (!cost) return null;
    const rows = [
      ["runs", String(cost.runs)],
      ["FLOPs", amount(cost.flops, "FLOP")],
      ["transcendental functions", amount(cost.transcendentals, "")],
      ["moved", amount(cost.bytes, "B")],
    ];
    if (cost.doubt) rows.push(["not exact", cost.doubt]);
    return table("Cost", rows);
  }

  /** The time of an op in a profile, and the longest steps that compute it. */
  time(time) {
    if (!time) return null;
    const { profile } = this.program;
    const share = profile.seconds ? ` (${percent(time.seconds / profile.seconds)})` : "";
    const steps = time.steps.map((at) => profile.steps[at]);
    const rows = steps
      .sort((a, b) => b.seconds - a.seconds)
      .slice(0, MAX_ROWS)
      .map(({ title, seconds, calls }) => [
        title,
        `${duration(seconds)} in ${calls} ${calls === 1 ? "execution" : "executions"}`,
      ]);
    const isShared = steps.some(({ ops }) => ops > 1);
    const title = isShared ? "share of its steps" : "own";
    return table("Time", [[title, duration(time.seconds) + share], ...rows]);
  }

  /** Statistics of a constant, or of the last values of a run, with a histogram. */
  statistics(constant, value = null) {
    if (!constant) return null;
    const runs = constant.runs > 1 ? `, the last of ${constant.runs} runs` : "";
    const title =
      value === null ? "Elements" : `Elements of ${this.program.valueName(value)}${runs}`;
    const isSplat = constant.splat !== undefined;
    const rows = [["elements", `${constant.elements}${isSplat ? ", all equal" : ""}`]];
    for (const name of ["min", "max", "mean", "deviation", "zeros", "nan", "infinite"]) {
      const value = constant[name];
      if (value || (value === 0 && name.startsWith("m"))) rows.push([name, number(value)]);
    }
    const section = table(title, rows);
    if (constant.histogram) {
      section.append(histogram(constant.histogram, constant.min, constant.max));
    }
    return section;
  }

  specification({ name, doc, rules }) {
    if (!doc) return null;
    const section = html("section", { class: "specification" }, html("h3", {}, `About ${name}`));
    section.append(...markdown(doc));
    if (rules.length) {
      const items = rules.map(([label, text]) =>
        html("li", {}, html("b", {}, `${label} `), inlineMarkdown(text)),
      );
      section.append(html("h3", {}, "Constraints"), html("ul", { class: "rules" }, items));
    }
    if (name.startsWith("stablehlo.")) {
      const href = `${SPECIFICATION}#${name.slice("stablehlo.".length)}`;
      const link = html("a", { href, target: "_blank", rel: "noreferrer" }, "Specification");
      section.append(html("p", {}, link));
    }
    return section;
  }
}

function table(title, rows) {
  const cells = rows.map(([name, value]) =>
    html("tr", {}, html("td", {}, name), html("td", { class: "number" }, value)),
  );
  return html("section", {}, html("h3", {}, title), html("table", {}, cells));
}

/** Bars of the numbers of elements between two bounds. */
function histogram(bars, min, max) {
  const [width, height] = [288, 64];
  const highest = Math.max(...bars);
  const step = width / bars.length;
  const drawn = bars.map((count, index) => {
    const tall = count ? Math.max((count / highest) * height, 1) : 0;
    const range = [index, index + 1].map((at) => number(min + ((max - min) * at) / bars.length));
    const title = svg("title", {}, `${range.join(" to ")}: ${count}`);
    const place = { x: index * step, y: height - tall, width: step - 1, height: tall };
    return svg("rect", place, title);
  });
  const labels = [
    svg("text", { x: 0, y: height + 13 }, number(min)),
    svg("text", { x: width, y: height + 13, "text-anchor": "end" }, number(max)),
  ];
  const viewBox = `0 0 ${width} ${height + 18}`;
  return svg("svg", { class: "histogram", viewBox }, ...drawn, ...labels);
}

/** A map of the errors of elements, warmer where they are larger; those outside have a frame. */
function heatMap({ rows, columns, ulps, states }) {
  const sizes = ulps.map((error) => (typeof error === "number" ? error : Infinity));
  const largest = Math.max(...sizes.filter(Number.isFinite), 1e-300);
  const step = 288 / Math.max(columns, 12);
  const cells = sizes.map((error, at) => {
    const warmth = Number.isFinite(error) ? heat(error / largest) : 1;
    const [row, column] = [Math.floor(at / columns), at % columns];
    const state = { i: "inside", u: "undecided", o: "outside" }[states[at]];
    const title = svg("title", {}, `[${row}, ${column}]: ${number(error)} ulp, ${state}`);
    const place = { x: column * step, y: row * step, width: step, height: step };
    const cell = svg("rect", { ...place, class: `cell ${state}` }, title);
    cell.style.setProperty("--heat", `${warmth * 100}%`);
    return cell;
  });
  const viewBox = `0 0 288 ${rows * step + 18}`;
  const label = svg("text", { x: 0, y: rows * step + 13 }, `at most ${number(largest)} ulp`);
  return svg("svg", { class: "histogram errors", viewBox }, ...cells, label);
}

/** Paragraphs, lists and code of a text in Markdown. */
function markdown(text) {
  return text.split(/\n\s*\n/).map((block) => {
    if (block.startsWith("```")) {
      return html("pre", {}, block.replace(/^```\w*\n?/, "").replace(/\n?```\s*$/, ""));
    }
    if (/^\s*[-*] /.test(block)) {
      const items = block.split(/\n(?=\s*[-*] )/).map((item) => item.replace(/^\s*[-*] /, ""));
      return html(
        "ul",
        {},
        items.map((item) => html("li", {}, inlineMarkdown(item))),
      );
    }
    return html("p", {}, inlineMarkdown(block));
  });
}

/** Text with `code`. */
function inlineMarkdown(text) {
  return text.split("`").map((part, index) => (index % 2 ? html("code", {}, part) : part));
}
