// Shared by all parts of the page.

export const $ = (id) => document.getElementById(id);
export const encoder = new TextEncoder();
export const decoder = new TextDecoder();

/** A text in HTML. */
export const escape = (text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

/** An element with properties and children. */
export function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

/** A message about a failure, in place of the contents of a box. */
export function fail(box, error) {
  box.replaceChildren(element("p", { className: "failed", textContent: error.message }));
}

/** Offers bytes or a text for download. */
export function download(content, name) {
  const link = element("a", { href: URL.createObjectURL(new Blob([content])), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// The parts of the core, once the first worker has them: what editing takes, and the rest.
let compiled, remainder;

/** A worker with the core, whose requests are promises. All share the compiled modules. */
export class Core {
  constructor() {
    this.worker = new Worker("worker.js");
    this.waiting = new Map();
    this.last = 0;
    this.worker.onmessage = ({ data }) => {
      const { resolve, reject } = this.waiting.get(data.id);
      this.waiting.delete(data.id);
      "error" in data ? reject(new Error(data.error)) : resolve(data.ok);
    };
    const before = compiled;
    this.ready = Promise.resolve(before).then((module) => this.ask("start", { module, remainder }));
    compiled ??= this.ready;
    // Loaded while the program is read; what needs it earlier waits for it.
    this.complete = this.ready.then(() => this.ask("rest")).then((module) => (remainder ??= module));
    this.complete.catch(() => {});
  }
  ask(method, more = {}) {
    const id = ++this.last;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.worker.postMessage({ id, method, ...more });
    });
  }
  /** Ends the worker, and with it what runs. */
  end() {
    this.worker.terminate();
    for (const { reject } of this.waiting.values()) reject(new Error("stopped"));
    this.waiting.clear();
  }
}

/** Lines of two texts that differ: a longest common subsequence between what both begin and end with. */
export function diff(before, after) {
  const [a, b] = [before.split("\n"), after.split("\n")];
  let [head, tail] = [0, 0];
  while (head < Math.min(a.length, b.length) && a[head] === b[head]) head++;
  while (tail < Math.min(a.length, b.length) - head && a.at(-1 - tail) === b.at(-1 - tail)) tail++;
  const [n, m] = [a.length - head - tail, b.length - head - tail];
  const lines = a.slice(0, head).map((line) => [" ", line]);
  if (n * m > 9e6) {
    lines.push(...a.slice(head, head + n).map((line) => ["-", line]), ...b.slice(head, head + m).map((line) => ["+", line]));
  } else {
    const table = Array.from({ length: n + 1 }, () => new Uint32Array(m + 1));
    for (let i = n - 1; i >= 0; i--) for (let j = m - 1; j >= 0; j--) {
      table[i][j] = a[head + i] === b[head + j] ? table[i + 1][j + 1] + 1 : Math.max(table[i + 1][j], table[i][j + 1]);
    }
    let [i, j] = [0, 0];
    while (i < n || j < m) {
      if (i < n && j < m && a[head + i] === b[head + j]) lines.push([" ", a[head + i++]]), j++;
      else if (i < n && (j === m || table[i + 1][j] >= table[i][j + 1])) lines.push(["-", a[head + i++]]);
      else lines.push(["+", b[head + j++]]);
    }
  }
  if (tail) lines.push(...a.slice(-tail).map((line) => [" ", line]));
  return lines;
}

/** A difference as HTML; long stretches of equal lines are folded. */
export function diffHtml(lines, context = 4) {
  const near = new Uint8Array(lines.length);
  lines.forEach(([sign], at) => {
    if (sign !== " ") near.fill(1, Math.max(0, at - context), at + context + 1);
  });
  const html = [];
  for (let at = 0; at < lines.length; at++) {
    if (!near[at]) {
      const end = near.indexOf(1, at);
      const count = (end < 0 ? lines.length : end) - at;
      html.push(`<span class="fold">⋯ ${count} equal ${count === 1 ? "line" : "lines"}</span>`);
      at += count - 1;
      continue;
    }
    const [sign, line] = lines[at];
    html.push(`<span class="${{ "+": "add", "-": "cut", " ": "" }[sign]}">${sign} ${escape(line)}</span>`);
  }
  return html.join("\n");
}
