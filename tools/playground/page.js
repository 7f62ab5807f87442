// The page: an editor around the core in a worker.

import { gallery } from "./gallery.js";

const $ = (id) => document.getElementById(id);
const encoder = new TextEncoder();
const decoder = new TextDecoder();
const [text, paint, status] = [$("text"), $("paint"), $("status")];

/** A worker with the core, whose requests are promises. */
class Core {
  constructor(module) {
    this.worker = new Worker("worker.js");
    this.waiting = new Map();
    this.last = 0;
    this.worker.onmessage = ({ data }) => {
      const { resolve, reject } = this.waiting.get(data.id);
      this.waiting.delete(data.id);
      "error" in data ? reject(new Error(data.error)) : resolve(data.ok);
    };
    this.ready = this.ask("start", { module });
  }
  ask(method, more = {}) {
    const id = ++this.last;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.worker.postMessage({ id, method, ...more });
    });
  }
}

const core = new Core();
const module = core.ready;

// Offsets of the core are bytes of UTF-8.
const isAscii = () => /^[\x00-\x7f]*$/.test(text.value);
const toByte = (at) => (isAscii() ? at : encoder.encode(text.value.slice(0, at)).length);
function fromByte(at) {
  return isAscii() ? at : decoder.decode(encoder.encode(text.value).subarray(0, at)).length;
}
const escape = (s) => s.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

// Painting and problems.

let version = 0;
let problems = [];

async function changed() {
  const now = ++version;
  paintText([]);
  await core.ready;
  await core.ask("set", { text: text.value });
  const tokens = await core.ask("highlights");
  if (now !== version) return;
  paintText(tokens);
  const found = await core.ask("diagnostics");
  if (now !== version) return;
  problems = found;
  paintText(tokens);
  showProblems();
  if (!problems.some((p) => p.severity === "error")) await showInputs(now);
}

let colours = [];

function paintText(tokens) {
  if (tokens.length) colours = tokens;
  const bytes = isAscii() ? null : encoder.encode(text.value);
  const slice = (a, b) => (bytes ? decoder.decode(bytes.subarray(a, b)) : text.value.slice(a, b));
  const length = bytes ? bytes.length : text.value.length;
  const marks = tokens.length ? problems : [];
  const cuts = new Set([0, length]);
  for (const [a, b] of tokens) cuts.add(a), cuts.add(b);
  for (const p of marks) cuts.add(Math.min(p.start, length)), cuts.add(Math.min(Math.max(p.end, p.start + 1), length));
  const edges = [...cuts].sort((a, b) => a - b);
  let html = "";
  let next = 0;
  for (let i = 0; i + 1 < edges.length; i++) {
    const [a, b] = [edges[i], edges[i + 1]];
    while (next < tokens.length && tokens[next][1] <= a) next++;
    const token = tokens[next] && tokens[next][0] <= a ? `t${tokens[next][2]}` : "";
    const mark = marks.find((p) => p.start <= a && a < Math.max(p.end, p.start + 1))?.severity ?? "";
    const part = escape(slice(a, b));
    html += token || mark ? `<span class="${token} ${mark}">${part}</span>` : part;
  }
  paint.innerHTML = html + "\n ";
  scroll();
}

function scroll() {
  paint.scrollTop = text.scrollTop;
  paint.scrollLeft = text.scrollLeft;
}

function lineOf(at) {
  const before = text.value.slice(0, at);
  return `${before.split("\n").length}:${at - before.lastIndexOf("\n")}`;
}

function select(start, end) {
  text.focus();
  text.setSelectionRange(start, end);
  const line = text.value.slice(0, start).split("\n").length - 1;
  const height = parseFloat(getComputedStyle(text).lineHeight);
  if (line * height < text.scrollTop || line * height > text.scrollTop + text.clientHeight - 2 * height) {
    text.scrollTop = line * height - text.clientHeight / 3;
  }
}

function showProblems() {
  const list = $("problems");
  list.replaceChildren();
  for (const problem of problems) {
    const item = document.createElement("li");
    item.className = `is-${problem.severity}`;
    const [start, end] = [fromByte(problem.start), fromByte(problem.end)];
    const go = document.createElement("button");
    go.innerHTML = `${lineOf(start)} <b>${problem.severity}</b> ${escape(problem.message)} <small>${escape(problem.label)}</small>`;
    go.onclick = () => select(start, end);
    item.append(go);
    for (const fix of problem.fixes) {
      const button = document.createElement("button");
      button.className = "fix";
      button.textContent = fix.title;
      button.onclick = () => apply(fix.edits);
      item.append(button);
    }
    list.append(item);
  }
  const errors = problems.filter((p) => p.severity === "error").length;
  const others = problems.length - errors;
  status.textContent = errors ? `${errors} ${errors === 1 ? "error" : "errors"}` : others ? `valid, ${others} remarks` : "valid";
}

/** Replaces a part of the text so that undo knows it. */
function replace(start, end, new_) {
  text.focus();
  text.setSelectionRange(start, end);
  if (!document.execCommand(new_ ? "insertText" : "delete", false, new_)) {
    text.setRangeText(new_, start, end, "end");
    changed();
  }
}

function apply(edits) {
  const all = edits.map((e) => ({ start: fromByte(e.start), end: fromByte(e.end), text: e.text }));
  all.sort((a, b) => b.start - a.start);
  for (const edit of all) if (edit.start !== edit.end || edit.text) replace(edit.start, edit.end, edit.text);
}

// Completion.

let items = [];
let chosen = 0;

async function complete() {
  const now = version;
  const found = await core.ask("complete", { at: toByte(text.selectionStart) });
  if (now !== version || !found.length) return hideCompletions();
  items = found;
  chosen = 0;
  const list = $("complete");
  list.replaceChildren(...items.map((item, index) => {
    const entry = document.createElement("li");
    entry.role = "option";
    entry.id = `option-${index}`;
    entry.innerHTML = `<span>${escape(item.label)}</span><small>${escape(item.detail)}</small>`;
    entry.onmousedown = (event) => { event.preventDefault(); accept(index); };
    return entry;
  }));
  list.hidden = false;
  const { x, y, height } = place(text.selectionStart);
  const editor = $("editor");
  list.style.left = `${Math.max(4, Math.min(x, editor.clientWidth - list.offsetWidth - 8))}px`;
  const below = y + height + list.offsetHeight < editor.clientHeight;
  list.style.top = `${below ? y + height : Math.max(4, y - list.offsetHeight)}px`;
  choose(0);
}

function choose(index) {
  chosen = (index + items.length) % items.length;
  [...$("complete").children].forEach((entry, i) => entry.setAttribute("aria-selected", i === chosen));
  $("complete").children[chosen].scrollIntoView({ block: "nearest" });
  text.setAttribute("aria-activedescendant", `option-${chosen}`);
}

function hideCompletions() {
  $("complete").hidden = true;
  text.removeAttribute("aria-activedescendant");
}

/** Inserts a completion, with the placeholders as plain text and the first of them selected. */
function accept(index) {
  const item = items[index];
  hideCompletions();
  let first;
  let plain = item.label;
  if (item.snippet) {
    plain = "";
    let rest = item.snippet;
    for (let found; (found = /\$\{(\d+)(?::([^}]*)|\|([^}]*)\|)?\}/.exec(rest)); rest = rest.slice(found.index + found[0].length)) {
      plain += rest.slice(0, found.index);
      const value = found[2] ?? found[3]?.split(",")[0] ?? "";
      first ??= [plain.length, plain.length + value.length];
      plain += value;
    }
    plain += rest;
  }
  const [start, end] = [fromByte(item.start), fromByte(item.end)];
  replace(start, end, plain);
  if (first) text.setSelectionRange(start + first[0], start + first[1]);
}

/** Where a character is in the editor. */
function place(at) {
  const style = getComputedStyle(text);
  const height = parseFloat(style.lineHeight);
  const before = text.value.slice(0, at).split("\n");
  const pad = parseFloat(style.paddingLeft);
  const x = pad + width() * [...before.at(-1)].length - text.scrollLeft;
  return { x, y: pad + height * (before.length - 1) - text.scrollTop, height };
}

/** The character at a place in the editor. */
function offsetAt(x, y) {
  const style = getComputedStyle(text);
  const pad = parseFloat(style.paddingLeft);
  const row = Math.floor((y - pad + text.scrollTop) / parseFloat(style.lineHeight));
  const lines = text.value.split("\n");
  if (row < 0 || row >= lines.length) return -1;
  const column = Math.floor((x - pad + text.scrollLeft) / width());
  if (column < 0 || column >= lines[row].length) return -1;
  return lines.slice(0, row).reduce((sum, line) => sum + line.length + 1, 0) + column;
}

let measured;
function width() {
  const font = getComputedStyle(text).font;
  if (measured?.font !== font) {
    const context = document.createElement("canvas").getContext("2d");
    context.font = font;
    measured = { font, width: context.measureText("m".repeat(100)).width / 100 };
  }
  return measured.width;
}

// Hover texts.

let timer;
text.addEventListener("mousemove", (event) => {
  clearTimeout(timer);
  const box = $("editor").getBoundingClientRect();
  const [x, y] = [event.clientX - box.left, event.clientY - box.top];
  timer = setTimeout(async () => {
    const at = offsetAt(x, y);
    if (at < 0) return ($("hover").hidden = true);
    const byte = toByte(at);
    const own = problems.filter((p) => p.start <= byte && byte <= p.end).map((p) => p.message);
    const found = await core.ask("hover", { at: byte });
    show([...own, found?.text ?? ""].filter(Boolean).join("\n\n"), x, y);
  }, 250);
});
text.addEventListener("mouseleave", () => { clearTimeout(timer); $("hover").hidden = true; });

function show(markdown, x, y) {
  const box = $("hover");
  box.hidden = !markdown;
  if (!markdown) return;
  const plain = escape(markdown).replace(/```mlir\n([\s\S]*?)\n```/g, "<code>$1</code>");
  box.innerHTML = plain.replace(/\*\*(.+?)\*\*/g, "<b>$1</b>").replace(/`([^`\n]+)`/g, "<code>$1</code>")
    .replace(/\[([^\]]+)\]\((https:[^)]+)\)/g, '<a href="$2">$1</a>');
  const editor = $("editor");
  box.style.left = `${Math.max(4, Math.min(x, editor.clientWidth - box.offsetWidth - 8))}px`;
  box.style.top = `${y + 18 + box.offsetHeight < editor.clientHeight ? y + 18 : Math.max(4, y - box.offsetHeight - 8)}px`;
}

// Keys.

text.addEventListener("input", () => {
  changed().then(() => {
    const before = text.value.slice(0, text.selectionStart);
    if (/[%@!#][\w$.-]*$|[\w]\.\w*$|^\s*\w{2,}$/m.test(before.split("\n").at(-1))) complete();
    else hideCompletions();
  });
});
text.addEventListener("scroll", () => { scroll(); hideCompletions(); $("hover").hidden = true; });
text.addEventListener("blur", hideCompletions);
text.addEventListener("keydown", async (event) => {
  if (!$("complete").hidden) {
    const moves = { ArrowDown: 1, ArrowUp: -1 };
    if (event.key in moves) { event.preventDefault(); return choose(chosen + moves[event.key]); }
    if (event.key === "Enter" || event.key === "Tab") { event.preventDefault(); return accept(chosen); }
    if (event.key === "Escape") { event.preventDefault(); return hideCompletions(); }
  }
  if (event.key === " " && event.ctrlKey) { event.preventDefault(); complete(); }
  else if (event.key === "F12") {
    event.preventDefault();
    const found = await core.ask("definition", { at: toByte(text.selectionStart) });
    if (found) select(fromByte(found[0]), fromByte(found[1]));
  } else if (event.key === "F2") {
    event.preventDefault();
    const name = prompt("New name");
    if (name) core.ask("rename", { at: toByte(text.selectionStart), name }).then(apply, (error) => (status.textContent = error.message));
  } else if (event.key === "F1") {
    event.preventDefault();
    const found = await core.ask("hover", { at: toByte(text.selectionStart) });
    const { x, y } = place(text.selectionStart);
    show(found?.text ?? "", x, y);
  }
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); run(); }
  if (event.key === "F" && event.shiftKey && event.altKey) { event.preventDefault(); format(); }
  if (event.key === "Escape") $("hover").hidden = true;
});

const format = async () => apply(await core.ask("format"));
$("format").onclick = format;

// Values.

const DTYPES = {
  f64: Float64Array, f32: Float32Array, i64: BigInt64Array, i32: Int32Array, i16: Int16Array, i8: Int8Array,
  ui64: BigUint64Array, ui32: Uint32Array, ui16: Uint16Array, ui8: Uint8Array, i1: Uint8Array,
};
const NUMPY = { f8: "f64", f4: "f32", i8: "i64", i4: "i32", i2: "i16", i1: "i8", u8: "ui64", u4: "ui32", u2: "ui16", u1: "ui8", b1: "i1" };

/** The shape and element type of `tensor<2x3xf32>`. */
function parseType(type) {
  const parts = /^tensor<((?:\d+x)*)(.+)>$/.exec(type);
  if (!parts) return undefined;
  const shape = parts[1].split("x").slice(0, -1).map(Number);
  return { shape, element: parts[2], count: shape.reduce((a, b) => a * b, 1) };
}

let signature;
const files = new Map();
let typed = [];

async function showInputs(now) {
  let found;
  try { found = await core.ask("signature"); } catch { found = undefined; }
  if (now !== version || JSON.stringify(found) === JSON.stringify(signature)) return;
  signature = found;
  const form = $("inputs");
  form.replaceChildren();
  (found?.inputs ?? []).forEach((type, index) => {
    const label = document.createElement("label");
    label.innerHTML = `<span>argument ${index} <code>${escape(type)}</code></span>`;
    const field = document.createElement("input");
    field.type = "text";
    field.value = typed[index] ?? "random";
    field.title = "random, zeros, a number, or numbers in brackets; or drop a .npy file here";
    field.oninput = () => { typed[index] = field.value; files.delete(index); };
    field.ondragover = (event) => event.preventDefault();
    field.ondrop = async (event) => {
      event.preventDefault();
      const file = event.dataTransfer.files[0];
      if (!file) return;
      files.set(index, await file.arrayBuffer());
      field.value = file.name;
    };
    label.append(field);
    form.append(label);
  });
}

/** Numbers from 0 to 1 that follow from a seed. */
function random(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

function fromNpy(buffer, type) {
  const bytes = new Uint8Array(buffer);
  if (decoder.decode(bytes.subarray(1, 6)) !== "NUMPY") throw new Error("the file is no .npy file");
  const wide = bytes[6] > 1;
  const view = new DataView(buffer);
  const length = wide ? view.getUint32(8, true) : view.getUint16(8, true);
  const start = (wide ? 12 : 10) + length;
  const head = decoder.decode(bytes.subarray(start - length, start));
  const element = NUMPY[/'descr': '[<|]([a-z]\d)'/.exec(head)?.[1]];
  const shape = /'shape': \(([^)]*)\)/.exec(head)?.[1].split(",").filter((s) => s.trim()).map(Number) ?? [];
  if (/'fortran_order': True/.test(head)) throw new Error("the array is in the order of Fortran");
  const found = `tensor<${shape.map((n) => `${n}x`).join("")}${element}>`;
  if (found !== type) throw new Error(`the file has a ${found}, the argument is a ${type}`);
  return bytes.slice(start);
}

function inputBytes(type, index) {
  const parsed = parseType(type);
  const Elements = DTYPES[parsed?.element];
  if (!Elements) throw new Error(`argument ${index}: values of ${type} cannot be given here`);
  if (files.has(index)) return fromNpy(files.get(index), type);
  const value = (typed[index] ?? "random").trim();
  const isWhole = !parsed.element.startsWith("f");
  const isBig = Elements === BigInt64Array || Elements === BigUint64Array;
  const cast = (n) => (isBig ? BigInt(Math.trunc(Number(n))) : parsed.element === "i1" ? Number(Boolean(n)) : n);
  const array = new Elements(parsed.count);
  if (value === "random" || value === "") {
    const next = random(index + 1);
    for (let i = 0; i < array.length; i++) array[i] = cast(isWhole ? Math.floor(next() * 10) : next());
  } else if (value !== "zeros") {
    const numbers = JSON.parse(value.replace(/\btrue\b/g, "1").replace(/\bfalse\b/g, "0"));
    const flat = [numbers].flat(Infinity);
    if (flat.length !== 1 && flat.length !== array.length) throw new Error(`argument ${index} has ${array.length} elements, not ${flat.length}`);
    for (let i = 0; i < array.length; i++) array[i] = cast(flat.length === 1 ? flat[0] : flat[i]);
  }
  return new Uint8Array(array.buffer);
}

/** A hash of bytes (FNV-1a of 64 bits), which shows whether results have the same bits elsewhere. */
function hash(bytes) {
  let value = 0xcbf29ce484222325n;
  for (const byte of bytes) value = ((value ^ BigInt(byte)) * 0x100000001b3n) & 0xffffffffffffffffn;
  return value.toString(16).padStart(16, "0");
}

const number = (n) => (typeof n === "bigint" || Number.isInteger(n) ? String(n) : Number(n.toPrecision(6)).toString());

function showValue({ type, bytes }, index) {
  const box = document.createElement("div");
  box.className = "result";
  box.innerHTML = `<h2>result ${index}: ${escape(type)}</h2>`;
  const parsed = parseType(type);
  const Elements = DTYPES[parsed?.element];
  const note = document.createElement("p");
  note.textContent = `${bytes.length} bytes, hash ${bytes.length > 1 << 22 ? "of the first 4 MiB " : ""}${hash(bytes.subarray(0, 1 << 22))}`;
  if (Elements) {
    const array = new Elements(bytes.buffer, bytes.byteOffset, bytes.byteLength / Elements.BYTES_PER_ELEMENT);
    const columns = parsed.shape.at(-1) ?? 1;
    const rows = columns ? array.length / columns : 0;
    const table = document.createElement("table");
    for (let r = 0; r < Math.min(rows, 64); r++) {
      const row = table.insertRow();
      for (let c = 0; c < Math.min(columns, 64); c++) row.insertCell().textContent = number(array[r * columns + c]);
    }
    const scroll = document.createElement("div");
    scroll.className = "scroll";
    scroll.tabIndex = 0;
    scroll.role = "region";
    scroll.setAttribute("aria-label", `values of result ${index}`);
    scroll.append(table);
    box.append(scroll);
    if (rows > 64 || columns > 64) note.textContent += "; the first 64 rows and columns are shown";
    if (rows >= 4 && columns >= 4) box.append(picture(array, rows, columns));
  }
  box.append(note);
  return box;
}

/** A matrix as shades. */
function picture(array, rows, columns) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [Math.min(columns, 512), Math.min(rows, 512)];
  const scale = Math.max(1, Math.floor(192 / Math.max(canvas.width, canvas.height)));
  canvas.style.width = `${canvas.width * scale}px`;
  canvas.role = "img";
  canvas.ariaLabel = "the values as shades, from the smallest, dark, to the largest, light";
  const values = Float64Array.from(array, Number);
  let [low, high] = [Infinity, -Infinity];
  for (const v of values) if (Number.isFinite(v)) { low = Math.min(low, v); high = Math.max(high, v); }
  const context = canvas.getContext("2d");
  const image = context.createImageData(canvas.width, canvas.height);
  for (let r = 0; r < canvas.height; r++) for (let c = 0; c < canvas.width; c++) {
    const shade = ((values[r * columns + c] - low) / (high - low || 1)) * 255;
    image.data.set([shade * 0.95, shade * 0.85 + 12, 70 + shade * 0.5, 255], 4 * (r * canvas.width + c));
  }
  context.putImageData(image, 0, 0);
  return canvas;
}

let runner;

async function run() {
  openTab("run");
  const results = $("results");
  if (runner) {
    // A second press stops the run.
    runner.worker.terminate();
    runner = undefined;
    $("run").textContent = "Run";
    results.textContent = "stopped";
    return;
  }
  try {
    const { inputs } = await core.ask("signature");
    const values = inputs.map((type, index) => ({ type, bytes: inputBytes(type, index) }));
    runner = new Core(await module);
    $("run").textContent = "Stop";
    const { values: found, milliseconds } = await runner.ask("run", { text: text.value, inputs: values });
    results.replaceChildren(...found.map(showValue));
    const time = document.createElement("p");
    time.textContent = `${milliseconds.toFixed(1)} ms`;
    results.append(time);
  } catch (error) {
    fail(results, error);
  }
  runner?.worker.terminate();
  runner = undefined;
  $("run").textContent = "Run";
}
$("run").onclick = run;
$("inputs").onsubmit = (event) => { event.preventDefault(); run(); };

function fail(box, error) {
  const message = document.createElement("p");
  message.className = "failed";
  message.textContent = error.message;
  box.replaceChildren(message);
}

// Views.

const TABS = ["run", "cost", "passes", "convert", "graph"];

async function openTab(name) {
  for (const tab of TABS) {
    const own = tab === name;
    $(`tab-${tab}`).setAttribute("aria-selected", own);
    $(`tab-${tab}`).tabIndex = own ? 0 : -1;
    $(`view-${tab}`).hidden = !own;
  }
  try {
    if (name === "cost") $("cost").textContent = await core.ask("cost");
    if (name === "graph") $("graph").srcdoc = await core.ask("graph");
  } catch (error) {
    if (name === "cost") fail($("cost"), error);
    else $("graph").srcdoc = `<pre>${escape(error.message)}</pre>`;
  }
}
TABS.forEach((tab, index) => {
  $(`tab-${tab}`).onclick = () => openTab(tab);
  $(`tab-${tab}`).onkeydown = (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    const next = TABS[(index + by + TABS.length) % TABS.length];
    openTab(next);
    $(`tab-${next}`).focus();
  };
});

/** Lines of two texts that differ: a longest common subsequence. */
function diff(before, after) {
  const [a, b] = [before.split("\n"), after.split("\n")];
  if (a.length * b.length > 4e6) return b.map((line) => [" ", line]);
  const table = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) for (let j = b.length - 1; j >= 0; j--) {
    table[i][j] = a[i] === b[j] ? table[i + 1][j + 1] + 1 : Math.max(table[i + 1][j], table[i][j + 1]);
  }
  const lines = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) lines.push([" ", a[i++]]), j++;
    else if (j < b.length && (i === a.length || table[i][j + 1] > table[i + 1][j])) lines.push(["+", b[j++]]);
    else lines.push(["-", a[i++]]);
  }
  return lines;
}

let transformed;

async function transform(request) {
  $("take").hidden = true;
  try {
    // Both sides are as MLIR prints them, so that only what the passes did differs.
    const before = await core.ask("transform", { pipeline: "builtin.module()" }).catch(() => text.value);
    transformed = await request();
    $("diff").innerHTML = diff(before.trim(), transformed.trim())
      .map(([sign, line]) => `<span class="${{ "+": "add", "-": "cut", " ": "" }[sign]}">${sign} ${escape(line)}</span>`).join("\n");
    $("take").hidden = false;
  } catch (error) {
    fail($("diff"), error);
  }
}
$("passes").onsubmit = (event) => {
  event.preventDefault();
  transform(() => core.ask("transform", { pipeline: $("pipeline").value }));
};
$("refine").onclick = () => transform(() => core.ask("refine", { batch: Number($("batch").value) }));
$("take").onclick = () => replace(0, text.value.length, transformed);

function download(bytes, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([bytes]));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
$("convert").onsubmit = async (event) => {
  event.preventDefault();
  try {
    const bytes = Uint8Array.from(await core.ask("artifact", { target: $("target").value }));
    download(bytes, "program.stablehlo");
    $("converted").textContent = `${bytes.length} bytes, hash ${hash(bytes)}`;
  } catch (error) {
    fail($("converted"), error);
  }
};
$("download").onclick = () => download(text.value, "program.mlir");

// Programs.

function take(program, values = []) {
  typed = values;
  files.clear();
  signature = undefined;
  $("results").replaceChildren();
  text.value = program;
  text.scrollTop = 0;
  changed();
}

$("open").onchange = async ({ target }) => {
  const file = target.files[0];
  if (!file) return;
  const bytes = new Uint8Array(await file.arrayBuffer());
  try {
    const opened = await core.ask("open", { name: file.name, bytes: [...bytes] });
    take(opened.text);
    status.textContent = opened.format;
  } catch (error) {
    status.textContent = error.message.split("\n")[0];
  }
};

async function squeeze(bytes, stream) {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}
$("share").onclick = async () => {
  const bytes = encoder.encode(JSON.stringify({ text: text.value, inputs: typed }));
  const packed = await squeeze(bytes, new CompressionStream("deflate-raw"));
  location.hash = btoa(String.fromCharCode(...packed)).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
  await navigator.clipboard?.writeText(location.href).catch(() => {});
  status.textContent = "the link is in the address, and copied";
};
async function fromLink() {
  const packed = atob(location.hash.slice(1).replace(/-/g, "+").replace(/_/g, "/"));
  const bytes = await squeeze(Uint8Array.from(packed, (c) => c.charCodeAt(0)), new DecompressionStream("deflate-raw"));
  const { text: program, inputs } = JSON.parse(decoder.decode(bytes));
  take(String(program), inputs ?? []);
}

const select_ = $("gallery");
for (const { name } of gallery) select_.add(new Option(name.replaceAll("_", " "), name));
select_.onchange = () => take(gallery.find(({ name }) => name === select_.value).text);
if (location.hash.length > 1) fromLink().catch(() => take(gallery[0].text));
else take(gallery[0].text);
