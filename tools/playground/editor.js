// An editor of a program: a text area over its painted text, with what the core knows.

import { Core, decoder, element, encoder, escape } from "./core.js";

const PAD = 12;

/** Lists where lines start. */
function lineStarts(text) {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

/** Index of the last start at or before `at`. */
function lineAt(starts, at) {
  let [low, high] = [0, starts.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    starts[middle] <= at ? (low = middle) : (high = middle);
  }
  return low;
}

/** Markdown of the core as HTML. */
function html(markdown) {
  const parts = escape(markdown).split(/```(?:mlir)?\n([\s\S]*?)\n```/);
  const inline = (text) => text
    .replace(/`([^`\n]+)`/g, "<code>$1</code>")
    .replace(/\*\*(.+?)\*\*/g, "<b>$1</b>")
    .replace(/\[([^\]]+)\]\((https:[^)\s]+)\)/g, '<a href="$2" target="_blank" rel="noreferrer">$1</a>');
  const prose = (text) => text.split(/\n{2,}/).filter((p) => p.trim()).map((paragraph) => {
    const lines = paragraph.split("\n");
    const items = lines.filter((line) => line.startsWith("- "));
    if (!items.length) return `<p>${inline(paragraph)}</p>`;
    const head = lines.filter((line) => !line.startsWith("- ")).join(" ");
    return `${head.trim() ? `<p>${inline(head)}</p>` : ""}<ul>${items.map((line) => `<li>${inline(line.slice(2))}</li>`).join("")}</ul>`;
  }).join("");
  return parts.map((part, i) => (i % 2 ? `<pre>${part}</pre>` : prose(part))).join("");
}

export class Editor {
  /** Calls `onChange(editor)` after each check of the text, `onStatus(text, kind)` with its
   * result, and `onFailure(text)` for what cannot be done. */
  constructor(root, { label, onChange, onStatus, onFailure }) {
    this.core = new Core();
    Object.assign(this, { onChange, onStatus, onFailure, version: 0, problems: [], tokens: [], marks: [], items: [], chosen: 0 });
    const id = root.id;
    root.innerHTML = `
      <div class="editor"><pre class="gutter" aria-hidden="true"></pre><div class="sheet"><pre class="paint" aria-hidden="true"></pre>
      <textarea spellcheck="false" autocapitalize="off" autocomplete="off" wrap="off" aria-label="${label}: MLIR text"
        aria-describedby="keys-hint" aria-autocomplete="list" aria-controls="${id}-complete"></textarea></div>
      <ul class="complete" id="${id}-complete" role="listbox" aria-label="Completions" hidden></ul>
      <div class="hover" role="tooltip" hidden></div><div class="signature" role="status" hidden></div></div>
      <ol class="problems" aria-label="Problems of ${label}"></ol>`;
    const find = (name) => root.querySelector(name);
    [this.box, this.sheet, this.text, this.paint, this.gutter] = [".editor", ".sheet", "textarea", ".paint", ".gutter"].map(find);
    [this.list, this.hover, this.signature, this.problemList] = [".complete", ".hover", ".signature", ".problems"].map(find);
    this.listen();
    new ResizeObserver(() => this.draw()).observe(this.box);
  }

  get value() { return this.text.value; }
  set value(text) {
    this.text.value = text;
    this.text.scrollTop = this.text.scrollLeft = 0;
    this.marks = [];
    this.changed();
  }

  get isValid() { return this.isChecked && !this.problems.some((p) => p.severity === "error"); }

  // Offsets of the core are bytes of UTF-8.
  get isAscii() { return (this.ascii ??= /^[\x00-\x7f]*$/.test(this.value)); }
  toByte(at) { return this.isAscii ? at : encoder.encode(this.value.slice(0, at)).length; }
  fromByte(at) { return this.isAscii ? at : decoder.decode(encoder.encode(this.value).subarray(0, at)).length; }

  /** Spans in bytes as spans in characters. */
  fromBytes(spans) {
    if (this.isAscii) return spans;
    const units = new Uint32Array(encoder.encode(this.value).length + 1);
    let at = 0;
    let unit = 0;
    for (const c of this.value) {
      const size = encoder.encode(c).length;
      units.fill(unit, at, at + size);
      at += size;
      unit += c.length;
    }
    units[at] = unit;
    return spans.map(([a, b, ...rest]) => [units[a], units[b], ...rest]);
  }

  async changed() {
    const now = ++this.version;
    this.ascii = undefined;
    this.isChecked = false;
    this.starts = lineStarts(this.value);
    this.draw();
    await this.core.ready;
    await this.core.ask("set", { text: this.value });
    if (now !== this.version) return;
    const tokens = this.fromBytes(await this.core.ask("highlights"));
    if (now !== this.version) return;
    this.tokens = tokens;
    this.draw();
    const found = await this.core.ask("diagnostics");
    if (now !== this.version) return;
    const places = this.fromBytes(found.map(({ start, end }) => [start, end]));
    this.problems = found.map((p, i) => ({ ...p, from: places[i][0], to: Math.max(places[i][1], places[i][0] + 1) }));
    this.isChecked = true;
    this.draw();
    this.showProblems();
    this.onChange(this);
  }

  get lineHeight() { return (this.height ??= parseFloat(getComputedStyle(this.text).lineHeight)); }

  /** Paints the lines in view. */
  draw() {
    this.height = undefined;
    const { scrollTop, scrollLeft, clientHeight } = this.text;
    const first = Math.max(0, Math.floor((scrollTop - PAD) / this.lineHeight) - 4);
    const count = Math.ceil(clientHeight / this.lineHeight) + 8;
    const last = Math.min(this.starts?.length ?? 0, first + count);
    if (!last) return;
    const text = this.value;
    const [from, to] = [this.starts[first], last < this.starts.length ? this.starts[last] - 1 : text.length];
    const layers = [
      this.tokens.map(([a, b, kind]) => [a, b, `t${kind}`]),
      this.problems.map((p) => [p.from, p.to, p.severity]),
      this.marks,
    ].map((spans) => spans.filter(([a, b]) => b > from && a < to));
    const cuts = new Set([from, to]);
    for (const [a, b] of layers.flat()) cuts.add(Math.max(a, from)), cuts.add(Math.min(b, to));
    const edges = [...cuts].sort((a, b) => a - b);
    const painted = [];
    for (let i = 0; i + 1 < edges.length; i++) {
      const [a, b] = [edges[i], edges[i + 1]];
      const names = layers.flatMap((spans) => spans.filter(([x, y]) => x <= a && a < y).map((span) => span[2]));
      const part = escape(text.slice(a, b));
      painted.push(names.length ? `<span class="${names.join(" ")}">${part}</span>` : part);
    }
    this.paint.innerHTML = painted.join("") + "\n";
    const top = PAD + first * this.lineHeight - scrollTop;
    this.paint.style.transform = `translate(${PAD - scrollLeft}px, ${top}px)`;
    const severities = new Map();
    for (const p of this.problems) if (p.severity !== "hint") {
      const line = lineAt(this.starts, p.from);
      if (severities.get(line) !== "error") severities.set(line, p.severity);
    }
    const numbers = Array.from({ length: last - first }, (_, i) => {
      const mark = severities.get(first + i);
      return mark ? `<b class="is-${mark}">${first + i + 1}</b>` : first + i + 1;
    });
    this.gutter.innerHTML = numbers.join("\n");
    this.gutter.style.transform = `translateY(${top}px)`;
    this.box.style.setProperty("--digits", String(this.starts.length).length);
  }

  /** `3:5` for a place. */
  place(at) {
    const line = lineAt(this.starts, at);
    return `${line + 1}:${at - this.starts[line] + 1}`;
  }

  /** Scrolls to a place, if it is not in view. */
  reveal(at) {
    const y = lineAt(this.starts, at) * this.lineHeight;
    const { scrollTop, clientHeight } = this.text;
    if (y < scrollTop || y > scrollTop + clientHeight - 3 * this.lineHeight) this.text.scrollTop = y - clientHeight / 3;
  }

  select(start, end) {
    this.text.focus();
    this.text.setSelectionRange(start, end);
    this.reveal(start);
  }

  /** Marks a place that the core names, or none. */
  mark(start, end, name) {
    this.marks = this.marks.filter((m) => m[2] !== name);
    if (start !== undefined) {
      const [a, b] = [this.fromByte(start), this.fromByte(end)];
      this.marks.push([a, b, name]);
      this.reveal(a);
    }
    this.draw();
  }

  showProblems() {
    const rows = this.problems.map((problem) => {
      const go = element("button", { type: "button", onclick: () => this.select(problem.from, problem.to) });
      go.innerHTML = `<span class="where">${this.place(problem.from)}</span> <b>${problem.severity}</b> ${escape(problem.message)} <small>${escape(problem.label)}</small>`;
      const fixes = problem.fixes.map((fix) =>
        element("button", { type: "button", className: "fix", textContent: fix.title, onclick: () => this.apply(fix.edits) }));
      return element("li", { className: `is-${problem.severity}` }, go, ...fixes);
    });
    this.problemList.replaceChildren(...rows);
    const count = (severity) => this.problems.filter((p) => p.severity === severity).length;
    const [errors, warnings] = [count("error"), count("warning") + count("hint")];
    const counted = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;
    const parts = [errors ? counted(errors, "error") : "valid", ...(warnings ? [counted(warnings, "warning")] : [])];
    this.onStatus(parts.join(", "), errors ? "error" : "ok", this);
  }

  /** Replaces a part of the text so that undo knows it. */
  replace(start, end, new_) {
    this.text.focus();
    this.text.setSelectionRange(start, end);
    if (!document.execCommand(new_ ? "insertText" : "delete", false, new_)) {
      this.text.setRangeText(new_, start, end, "end");
      this.changed();
    }
  }

  apply(edits) {
    const all = edits.map((e) => ({ start: this.fromByte(e.start), end: this.fromByte(e.end), text: e.text }));
    all.sort((a, b) => b.start - a.start);
    for (const edit of all) if (edit.start !== edit.end || edit.text) this.replace(edit.start, edit.end, edit.text);
  }

  async format() { this.apply(await this.core.ask("format")); }

  // Completion.

  async complete() {
    const now = this.version;
    const found = await this.core.ask("complete", { at: this.toByte(this.text.selectionStart) });
    if (now !== this.version || !found.length) return this.hideCompletions();
    this.items = found;
    this.list.replaceChildren(...found.map((item, index) => {
      const entry = element("li", { role: "option", id: `${this.list.id}-${index}` });
      entry.innerHTML = `<i class="k-${item.kind}">${item.kind[0]}</i><span>${escape(item.label)}</span><small>${escape(item.detail)}</small>`;
      entry.onmousedown = (event) => { event.preventDefault(); this.accept(index); };
      return entry;
    }));
    this.list.hidden = false;
    this.float(this.list, this.text.selectionStart - this.fromByte(found[0].start), 0);
    this.choose(0);
  }

  /** Puts a box below the cursor, or above it. */
  float(box, back = 0, gap = 2) {
    const { x, y } = this.position(this.text.selectionStart - Math.max(0, back));
    const { clientWidth, clientHeight } = this.box;
    box.style.left = `${Math.max(4, Math.min(x, clientWidth - box.offsetWidth - 8))}px`;
    const below = y + this.lineHeight + gap;
    const fits = below + box.offsetHeight < clientHeight;
    box.style.top = `${fits ? below : Math.max(4, y - box.offsetHeight - gap)}px`;
  }

  choose(index) {
    this.chosen = (index + this.items.length) % this.items.length;
    [...this.list.children].forEach((entry, i) => entry.setAttribute("aria-selected", i === this.chosen));
    this.list.children[this.chosen].scrollIntoView({ block: "nearest" });
    this.text.setAttribute("aria-activedescendant", `${this.list.id}-${this.chosen}`);
  }

  hideCompletions() {
    this.list.hidden = true;
    this.text.removeAttribute("aria-activedescendant");
  }

  /** Inserts a completion, with its placeholders as plain text and the first of them selected. */
  accept(index) {
    const item = this.items[index];
    this.hideCompletions();
    let [first, plain, rest] = [undefined, "", item.snippet ?? ""];
    for (let found; (found = /\$\{(\d+)(?::([^}]*)|\|([^}]*)\|)?\}/.exec(rest)); rest = rest.slice(found.index + found[0].length)) {
      plain += rest.slice(0, found.index);
      const value = found[2] ?? found[3]?.split(",")[0] ?? "";
      first ??= [plain.length, plain.length + value.length];
      plain += value;
    }
    const [start, end] = [this.fromByte(item.start), this.fromByte(item.end)];
    this.replace(start, end, item.snippet ? plain + rest : item.label);
    if (first) this.text.setSelectionRange(start + first[0], start + first[1]);
  }

  // Places on the screen.

  get charWidth() {
    const { font } = getComputedStyle(this.text);
    if (this.measured?.font !== font) {
      const context = document.createElement("canvas").getContext("2d");
      context.font = font;
      this.measured = { font, width: context.measureText("m".repeat(100)).width / 100 };
    }
    return this.measured.width;
  }

  /** Where a character is in the editor. */
  position(at) {
    const line = lineAt(this.starts, at);
    const before = [...this.value.slice(this.starts[line], at)].length;
    const x = this.sheet.offsetLeft + PAD + this.charWidth * before - this.text.scrollLeft;
    return { x, y: PAD + this.lineHeight * line - this.text.scrollTop };
  }

  /** The character at a place in the editor; undefined next to the text. */
  offsetAt(x, y) {
    const row = Math.floor((y - PAD + this.text.scrollTop) / this.lineHeight);
    const column = Math.floor((x - this.sheet.offsetLeft - PAD + this.text.scrollLeft) / this.charWidth);
    if (row < 0 || row >= this.starts.length || column < 0) return undefined;
    const at = this.starts[row] + column;
    const end = row + 1 < this.starts.length ? this.starts[row + 1] - 1 : this.value.length;
    return at < end ? at : undefined;
  }

  // Texts about what is under the cursor or the mouse.

  async explain(at, place) {
    const byte = this.toByte(at);
    const own = this.problems.filter((p) => p.from <= at && at < p.to).map((p) => `**${p.severity}** ${p.message}`);
    const found = await this.core.ask("hover", { at: byte });
    this.hover.innerHTML = html([...own, found?.text ?? ""].filter(Boolean).join("\n\n"));
    this.hover.hidden = !this.hover.innerHTML;
    if (this.hover.hidden) return;
    this.hover.scrollTop = 0;
    if (!place) return this.float(this.hover);
    const { clientWidth, clientHeight } = this.box;
    this.hover.style.left = `${Math.max(4, Math.min(place[0], clientWidth - this.hover.offsetWidth - 8))}px`;
    const below = place[1] + 18;
    const fits = below + this.hover.offsetHeight < clientHeight;
    this.hover.style.top = `${fits ? below : Math.max(4, place[1] - this.hover.offsetHeight - 8)}px`;
  }

  async showSignature() {
    const found = await this.core.ask("signature_help", { at: this.toByte(this.text.selectionStart) });
    this.signature.hidden = !found;
    if (!found) return;
    const [start, end, doc] = found.parameters[found.active] ?? [0, 0, ""];
    const { label } = found;
    this.signature.innerHTML = `<code>${escape(label.slice(0, start))}<b>${escape(label.slice(start, end))}</b>${escape(label.slice(end))}</code>${doc ? `<p>${escape(doc)}</p>` : ""}`;
    this.float(this.signature);
  }

  /** Marks what the name at the cursor refers to, everywhere. */
  async showOccurrences() {
    const now = this.version;
    const { selectionStart, selectionEnd } = this.text;
    const isName = selectionStart === selectionEnd && /[%@#!^\w]/.test(this.value.slice(selectionStart - 1, selectionStart + 1));
    const found = isName ? await this.core.ask("references", { at: this.toByte(selectionStart) }) : [];
    if (now !== this.version) return;
    this.marks = this.marks.filter((m) => m[2] !== "same");
    this.marks.push(...this.fromBytes(found).map(([a, b]) => [a, b, "same"]));
    this.draw();
  }

  // Keys and the mouse.

  listen() {
    const { text } = this;
    let timer;
    const hide = () => { clearTimeout(timer); this.hover.hidden = true; };
    text.addEventListener("mousemove", (event) => {
      clearTimeout(timer);
      const { left, top } = this.box.getBoundingClientRect();
      const [x, y] = [event.clientX - left, event.clientY - top];
      timer = setTimeout(() => {
        const at = this.offsetAt(x, y);
        at === undefined ? hide() : this.explain(at, [x, y]);
      }, 300);
    });
    this.box.addEventListener("mouseleave", hide);
    text.addEventListener("input", () => {
      this.signature.hidden = true;
      this.changed().then(() => {
        const before = this.value.slice(0, text.selectionStart);
        const line = before.slice(before.lastIndexOf("\n") + 1);
        if (/[%@!#][\w$.-]*$|\w\.\w*$|^\s*\w{2,}$/.test(line)) this.complete();
        else this.hideCompletions();
        if (/[(,]\s?$/.test(line)) this.showSignature();
      });
    });
    text.addEventListener("scroll", () => { this.draw(); this.hideCompletions(); hide(); this.signature.hidden = true; });
    text.addEventListener("blur", () => { this.hideCompletions(); this.signature.hidden = true; });
    let occurrences;
    document.addEventListener("selectionchange", () => {
      if (document.activeElement !== text) return;
      clearTimeout(occurrences);
      occurrences = setTimeout(() => this.showOccurrences(), 150);
    });
    text.addEventListener("keydown", (event) => this.key(event));
  }

  async key(event) {
    const { text } = this;
    const done = () => event.preventDefault();
    if (!this.list.hidden) {
      const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 };
      if (event.key in moves) return done(), this.choose(this.chosen + moves[event.key]);
      if (event.key === "Enter" || event.key === "Tab") return done(), this.accept(this.chosen);
      if (event.key === "Escape") return done(), event.stopPropagation(), this.hideCompletions();
    }
    if (event.key === "Escape") this.hover.hidden = this.signature.hidden = true;
    else if (event.key === " " && event.ctrlKey && event.shiftKey) done(), this.showSignature();
    else if (event.key === " " && event.ctrlKey) done(), this.complete();
    else if (event.key === "F1") done(), this.explain(text.selectionStart);
    else if (event.key === "F12") {
      done();
      const found = await this.core.ask("definition", { at: this.toByte(text.selectionStart) });
      if (found) this.select(this.fromByte(found[0]), this.fromByte(found[1]));
    } else if (event.key === "F2") {
      done();
      const name = prompt("New name");
      if (!name) return;
      const edits = this.core.ask("rename", { at: this.toByte(text.selectionStart), name });
      edits.then((all) => this.apply(all), (error) => this.onFailure(error.message));
    } else if (event.key === "F8" && this.problems.length) {
      done();
      const at = text.selectionStart;
      const next = this.problems.find((p) => p.from > at) ?? this.problems[0];
      this.select(next.from, next.to);
    } else if (event.key === "/" && (event.ctrlKey || event.metaKey)) done(), this.comment();
    else if (event.key === "Enter" && !event.ctrlKey && !event.metaKey) {
      // The next line has the indentation of this one, or more after an opening brace.
      done();
      const before = this.value.slice(0, text.selectionStart);
      const line = before.slice(before.lastIndexOf("\n") + 1);
      const indent = /^ */.exec(line)[0] + (/[{(]\s*$/.test(line) ? "  " : "");
      document.execCommand("insertText", false, `\n${indent}`);
    }
  }

  /** Makes comments of the lines of the selection, or undoes that. */
  comment() {
    const { selectionStart, selectionEnd } = this.text;
    const from = this.starts[lineAt(this.starts, selectionStart)];
    const end = this.value.indexOf("\n", selectionEnd);
    const to = end < 0 ? this.value.length : end;
    const lines = this.value.slice(from, to).split("\n");
    const isComment = lines.every((line) => /^\s*(\/\/|$)/.test(line));
    const changed = lines.map((line) => (isComment ? line.replace(/\/\/ ?/, "") : line.replace(/\S/, (c) => `// ${c}`)));
    this.replace(from, to, changed.join("\n"));
  }
}
