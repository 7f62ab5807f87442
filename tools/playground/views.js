// What the right side shows.

import { $, Core, diff, diffHtml, download, element, escape, fail } from "./core.js";
import { brief, elementsOf, hash, show } from "./values.js";

export const TABS = ["run", "steps", "passes", "graph", "cost", "convert", "compare"];

/** The totals of a cost, and a table with a row for each kind of op. */
function costTable(text) {
  const [totals, ...lines] = text.trimEnd().split("\n");
  const row = /^\s*(\S.*? FLOP)\s+(\S.*?B)\s+(\d+)× (.*)$/;
  const rows = lines.map((line) => row.exec(line)?.slice(1) ?? ["", "", "", line.trim()]);
  const cells = ([work, bytes, count, op]) => [op, count, work, bytes].map((textContent) => element("td", { textContent }));
  const names = ["op", "count", "arithmetic", "bytes"].map((textContent) => element("th", { scope: "col", textContent }));
  const table = element("table", {}, element("thead", {}, element("tr", {}, ...names)), element("tbody", {}, ...rows.map((row) => element("tr", {}, ...cells(row)))));
  return [element("p", { textContent: totals }), element("div", { className: "scroll", tabIndex: 0 }, table)];
}

let page;

/** The page of `stablo view` that shows a model of a program. */
async function graphPage(model) {
  page ??= fetch("graph.html").then((response) => response.text()).catch((error) => { page = undefined; throw error; });
  // Without `<`, the model cannot end the element that it is in.
  return (await page).replace("{{model}}", () => model.replaceAll("<", "\\u003c"));
}

/** The views of the first editor; the second is compared with it. */
export class Views {
  constructor(first, second, inputs, onStatus) {
    Object.assign(this, { first, second, inputs, onStatus, tab: "run", shown: {}, steps: [] });
    TABS.forEach((tab, index) => {
      const button = $(`tab-${tab}`);
      button.onclick = () => this.open(tab);
      button.onkeydown = (event) => {
        const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        const to = by ? (index + by + TABS.length) % TABS.length : { Home: 0, End: TABS.length - 1 }[event.key];
        if (to === undefined) return;
        event.preventDefault();
        this.open(TABS[to]);
        $(`tab-${TABS[to]}`).focus();
      };
    });
    $("run").onclick = () => this.run();
    $("inputs").onsubmit = (event) => { event.preventDefault(); this.run(); };
    this.listenSteps();
    $("passes").onsubmit = (event) => { event.preventDefault(); this.applyPasses(); };
    $("sizes").onsubmit = (event) => { event.preventDefault(); this.refine(); };
    $("take").onclick = () => this.first.replace(0, this.first.value.length, this.transformed);
    $("convert").onsubmit = (event) => { event.preventDefault(); this.convert("artifact", { target: $("target").value.trim() }, "program.stablehlo"); };
    $("bytecode").onclick = () => this.convert("bytecode", {}, "program.mlirbc");
    $("download").onclick = () => download(first.value, "program.mlir");
    $("compare-run").onclick = () => this.compareRuns();
    $("compare-text").onclick = () => this.compareTexts();
    this.open("run");
  }

  async open(name) {
    this.tab = name;
    for (const tab of TABS) {
      const isOwn = tab === name;
      $(`tab-${tab}`).setAttribute("aria-selected", isOwn);
      $(`tab-${tab}`).tabIndex = isOwn ? 0 : -1;
      $(`view-${tab}`).hidden = !isOwn;
    }
    if (name !== "steps") this.first.mark(undefined, undefined, "step");
    else if (this.steps.length) this.step(this.at);
    if (name === "compare") this.onCompare?.();
    await this.refresh();
  }

  /** Forgets the results of a former program. */
  reset() {
    $("results").replaceChildren();
    this.steps = [];
    $("steps").replaceChildren();
    $("step").replaceChildren(element("p", { className: "empty", textContent: "Record runs the program and keeps the value of every op." }));
    $("diff").replaceChildren();
    $("take").hidden = true;
    $("converted").textContent = "";
    for (const name of ["first", "back", "at", "next", "last"]) $(`step-${name}`).disabled = true;
  }

  /** Computes what the open view shows of the present program. */
  async refresh() {
    const { tab, first } = this;
    const now = first.version;
    $("view-steps").classList.toggle("stale", this.steps.length > 0 && this.recorded !== now);
    if (!["cost", "graph", "passes"].includes(tab) || this.shown[tab] === now || !first.isChecked) return;
    this.shown[tab] = now;
    try {
      if (tab === "passes" && !$("names").children.length) {
        const names = await first.core.ask("passes");
        $("names").append(...names.map((value) => element("option", { value })));
      }
      if (tab === "cost") $("cost").replaceChildren(...costTable(await first.core.ask("cost")));
      if (tab === "graph") $("graph").srcdoc = await graphPage(await first.core.ask("graph"));
    } catch (error) {
      if (tab === "cost") fail($("cost"), error);
      if (tab === "graph") $("graph").srcdoc = `<pre style="white-space:pre-wrap;font:14px monospace;padding:1rem">${escape(error.message)}</pre>`;
    }
  }

  // Runs.

  /** Runs a program in a worker of its own. A second call stops it. */
  async start(method, text, inputs) {
    this.runner = new Core();
    await this.runner.ready;
    return this.runner.ask(method, { text, inputs });
  }

  isRunning(isRunning) {
    $("run").textContent = isRunning ? "Stop" : "Run";
    document.body.classList.toggle("busy", isRunning);
    if (isRunning) return;
    this.runner?.end();
    this.runner = undefined;
  }

  async run() {
    if (this.runner) return this.isRunning(false);
    await this.open("run");
    const results = $("results");
    try {
      const values = await this.inputs.values(this.first);
      this.isRunning(true);
      const { values: found, milliseconds } = await this.start("run", this.first.value, values);
      const note = element("p", { className: "note", textContent: `ran in ${milliseconds.toFixed(1)} ms` });
      results.replaceChildren(...found.map((value, index) => show(value, `result ${index}`)), note);
    } catch (error) {
      fail(results, error);
    }
    this.isRunning(false);
  }

  // Steps.

  listenSteps() {
    $("step-run").onclick = () => this.record();
    $("step-first").onclick = () => this.step(0);
    $("step-back").onclick = () => this.step(this.at - 1);
    $("step-next").onclick = () => this.step(this.at + 1);
    $("step-last").onclick = () => this.step(this.steps.length - 1);
    $("step-at").oninput = () => this.step($("step-at").valueAsNumber);
    $("steps").onclick = (event) => {
      const row = event.target.closest("button");
      if (row) this.step(Number(row.dataset.at));
    };
  }

  async record() {
    if (this.runner) return this.isRunning(false);
    await this.open("steps");
    try {
      const values = await this.inputs.values(this.first);
      this.isRunning(true);
      const { steps, is_cut } = await this.start("trace", this.first.value, values);
      this.steps = steps;
      this.onStatus(`${steps.length} values${is_cut ? ", the first of more" : ""}`);
      this.recorded = this.first.version;
      $("view-steps").classList.remove("stale");
      if (steps.length) this.step(0);
      else $("step").replaceChildren(element("p", { className: "empty", textContent: "no op computes a value" }));
    } catch (error) {
      this.steps = [];
      $("steps").replaceChildren();
      fail($("step"), error);
    }
    $("step-at").max = Math.max(0, this.steps.length - 1);
    for (const name of ["first", "back", "at", "next", "last"]) $(`step-${name}`).disabled = this.steps.length < 2;
    this.isRunning(false);
  }

  /** Shows the value of a step, and its op in the text. */
  step(at) {
    const { steps } = this;
    if (!steps.length) return;
    this.at = Math.min(Math.max(0, at), steps.length - 1);
    const { start, end, op, name, value } = steps[this.at];
    $("step-at").value = this.at;
    $("step-at").ariaValueText = `${this.at + 1} of ${steps.length}: ${name}`;
    const head = element("p", { className: "note" }, `step ${this.at + 1} of ${steps.length} · `, element("code", { textContent: op }));
    $("step").replaceChildren(head, show(value, name));
    if (this.recorded === this.first.version) this.first.mark(start, Math.max(end, start + 1), "step");
    // Of many steps, those around this one.
    const WINDOW = 300;
    const from = Math.max(0, Math.min(this.at - WINDOW / 2, steps.length - WINDOW));
    const rows = steps.slice(from, from + WINDOW).map((step, i) => {
      const row = element("button", { type: "button" });
      row.dataset.at = from + i;
      row.style.setProperty("--depth", step.depth);
      if (from + i === this.at) row.setAttribute("aria-current", "step");
      step.brief ??= brief(step.value);
      row.innerHTML = `<span class="name">${escape(step.name)}</span> <span class="op">${escape(step.op.replace(/^stablehlo\./, ""))}</span> <span class="value">${escape(step.brief)}</span>`;
      return element("li", {}, row);
    });
    const list = $("steps");
    list.replaceChildren(...rows);
    list.children[this.at - from].scrollIntoView({ block: "nearest" });
  }

  // Passes, sizes.

  /** The passes of a pipeline: commas within brackets do not part them. */
  static parts(pipeline) {
    const parts = [""];
    let depth = 0;
    for (const c of pipeline) {
      depth += "({[<".includes(c) ? 1 : ")}]>".includes(c) ? -1 : 0;
      if (c === "," && depth === 0) parts.push("");
      else parts[parts.length - 1] += c;
    }
    return parts.map((part) => part.trim()).filter(Boolean);
  }

  /** Shows the program after each of some steps, as differences from the one before. */
  async showChanges(changes) {
    $("take").hidden = true;
    try {
      // Both sides are as MLIR prints them, so that only what the passes did differs.
      let before = await this.first.core.ask("transform", { pipeline: "builtin.module()" }).catch(() => this.first.value);
      const made = [];
      for (const [name, compute] of changes) {
        const after = await compute();
        const lines = diff(before.trim(), after.trim());
        const [added, cut] = ["+", "-"].map((sign) => lines.filter((line) => line[0] === sign).length);
        const head = element("summary");
        head.innerHTML = `<b>${escape(name)}</b> ${added || cut ? `<span class="plus">+${added}</span> <span class="minus">−${cut}</span>` : "<span>no change</span>"}`;
        const body = element("pre", { tabIndex: 0, innerHTML: added || cut ? diffHtml(lines) : escape(after) });
        made.push(element("details", { open: added + cut > 0 }, head, body));
        before = after;
      }
      this.transformed = before;
      $("diff").replaceChildren(...made);
      $("take").hidden = false;
    } catch (error) {
      fail($("diff"), error);
    }
  }

  applyPasses() {
    const passes = Views.parts($("pipeline").value);
    const upTo = (count) => passes.slice(0, count).join(",");
    return this.showChanges(passes.map((pass, i) => [pass, () => this.first.core.ask("transform", { pipeline: upTo(i + 1) })]));
  }

  refine() {
    const text = $("size").value.trim();
    const request = {};
    if (text.includes("tensor<")) request.types = text;
    else if (/^\d+$/.test(text)) request.batch = Number(text);
    else request.dimensions = Object.fromEntries(text.split(",").map((pair) => pair.split("=")).map(([name, size]) => [name.trim(), Number(size)]));
    return this.showChanges([[`sizes ${text}`, () => this.first.core.ask("refine", request)]]);
  }

  async convert(method, more, name) {
    try {
      const bytes = await this.first.core.ask(method, more);
      download(bytes, name);
      $("converted").textContent = `${name}: ${bytes.length} bytes · hash ${hash(bytes)}`;
    } catch (error) {
      fail($("converted"), error);
    }
  }

  // Two programs.

  async compareRuns() {
    const box = $("comparison");
    if (this.runner) return this.isRunning(false);
    try {
      const values = await this.inputs.values(this.first);
      this.isRunning(true);
      const runs = [];
      for (const editor of [this.first, this.second]) {
        runs.push(await this.start("run", editor.value, values));
        this.runner.end();
      }
      const [a, b] = runs.map((run) => run.values);
      const rows = Array.from({ length: Math.max(a.length, b.length) }, (_, i) => {
        const verdict = !a[i] || !b[i] ? "only one program has it" : compareValues(a[i], b[i]);
        return element("tr", {}, element("th", { scope: "row", textContent: `result ${i}` }), element("td", { textContent: verdict }));
      });
      const times = element("p", { className: "note", textContent: `ran in ${runs.map((run) => `${run.milliseconds.toFixed(1)} ms`).join(" and ")}` });
      const shown = a.map((value, i) => [show(value, `first: result ${i}`), ...(b[i] ? [show(b[i], `second: result ${i}`)] : [])]);
      box.replaceChildren(element("table", { className: "verdicts" }, ...rows), times, ...shown.flat());
    } catch (error) {
      fail(box, error);
    }
    this.isRunning(false);
  }

  compareTexts() {
    const lines = diff(this.first.value.trim(), this.second.value.trim());
    const isSame = lines.every(([sign]) => sign === " ");
    const made = isSame ? element("p", { className: "empty", textContent: "the texts are equal" }) : element("pre", { tabIndex: 0, innerHTML: diffHtml(lines) });
    $("comparison").replaceChildren(made);
  }
}

/** Says how two values differ. */
function compareValues(a, b) {
  if (a.type !== b.type) return `${a.type} and ${b.type}`;
  if (hash(a.bytes) === hash(b.bytes)) return "equal to the last bit";
  const [x, y] = [elementsOf(a), elementsOf(b)];
  if (!x || !y) return "the bits differ";
  let [most, at, count] = [0, 0, 0];
  for (let i = 0; i < x.length; i++) {
    const [p, q] = [x[i], y[i]].map((n) => (Array.isArray(n) ? Math.hypot(...n) : Number(n)));
    const by = Object.is(p, q) ? 0 : Math.abs(p - q);
    if (by !== 0) count++;
    if (by > most || Number.isNaN(by)) [most, at] = [by, i];
  }
  return `${count} of ${x.length} elements differ, by at most ${Number(most).toPrecision(3)} (element ${at})`;
}
