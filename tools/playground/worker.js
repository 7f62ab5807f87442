// The core in WebAssembly: answers {id, method, bytes, …} with {id, ok, bytes} or {id, error}.

let instance;
/** The part of the core that is loaded first: what editing takes. */
let module;
/** The rest, once it is here: what runs programs, mostly. */
let remainder;
let isLinked = false;
/** Makes modules of bytes ones that this engine takes. */
let compilable;
const relaxed = import("./relaxed.js");

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const NONE = new Uint8Array();

function start() {
  isLinked = false;
  // A function of the rest is called by its place in the table, which the rest fills in.
  const table = () => Object.values(instance.exports).find((value) => value instanceof WebAssembly.Table);
  const later = (_, index) => (...args) => {
    link();
    return table().get(Number(index))(...args);
  };
  const placeholder = new Proxy({}, { get: later });
  instance = new WebAssembly.Instance(module, { host: { now: () => performance.now() }, placeholder });
}

/** Adds the rest. Waits for it if it is not here yet. */
function link() {
  if (isLinked) return;
  remainder ??= new WebAssembly.Module(compilable(fetchNow("stablo.rest.wasm")));
  new WebAssembly.Instance(remainder, { primary: instance.exports });
  isLinked = true;
}

/** The bytes of a file, without a promise. */
function fetchNow(url) {
  const request = new XMLHttpRequest();
  request.open("GET", url, false);
  request.responseType = "arraybuffer";
  request.send();
  if (request.status !== 200) throw new Error(`cannot load ${url}: ${request.status}`);
  return request.response;
}

/** Compiles a file. */
async function compiled(url) {
  return WebAssembly.compile(compilable(await (await fetch(url)).arrayBuffer()));
}

/** Calls a function on buffers. Returns the bytes of its record. */
function call(name, buffers, ...more) {
  const { memory, stablo_alloc, stablo_free } = instance.exports;
  const given = buffers.map((bytes) => {
    const at = stablo_alloc(bytes.length);
    new Uint8Array(memory.buffer, at, bytes.length).set(bytes);
    return [at, bytes.length];
  });
  const at = instance.exports[name](...given.flat(), ...more);
  given.forEach((buffer) => stablo_free(...buffer));
  const length = new DataView(memory.buffer).getUint32(at, true);
  const result = new Uint8Array(memory.buffer, at + 4, length).slice();
  stablo_free(at, length + 4);
  return result;
}

/** Bytes of records: a length and that many bytes. */
function pack(records) {
  const buffer = new Uint8Array(records.reduce((size, record) => size + 4 + record.length, 0));
  let at = 0;
  for (const record of records) {
    new DataView(buffer.buffer).setUint32(at, record.length, true);
    buffer.set(record, at + 4);
    at += 4 + record.length;
  }
  return buffer;
}

function unpack(buffer) {
  const records = [];
  const view = new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength);
  for (let at = 0; at < buffer.length; at += 4 + records.at(-1).length) {
    records.push(buffer.slice(at + 4, at + 4 + view.getUint32(at, true)));
  }
  return records;
}

/** Tensors [{type, bytes}] as records, and back. */
const packed = (values) => pack(values.flatMap(({ type, bytes }) => [encoder.encode(type), bytes]));
function tensors(buffer) {
  const parts = unpack(buffer);
  const values = [];
  for (let i = 0; i < parts.length; i += 2) values.push({ type: decoder.decode(parts[i]), bytes: parts[i + 1] });
  return values;
}

/** Runs `main`: [{type, bytes}] to the same. */
function run({ text, inputs }) {
  // Loading is no part of the time.
  link();
  const before = performance.now();
  const result = call("stablo_run", [encoder.encode(text), packed(inputs)], 1 << 30, 0, 60);
  const milliseconds = performance.now() - before;
  if (result[0] === 0) throw new Error(decoder.decode(result.subarray(1)));
  return { values: tensors(result.subarray(1)), milliseconds };
}

/** Asks the editor's core. Bytes of tensors come back as such. */
function ask(request, bytes = NONE) {
  const [answer, rest] = unpack(call("stablo_edit", [encoder.encode(JSON.stringify(request)), bytes]));
  const { ok, error } = JSON.parse(decoder.decode(answer));
  if (error !== undefined) throw new Error(error);
  return [ok, rest];
}

/** Runs `main` and returns the values of all ops. */
function trace({ text, inputs }) {
  ask({ method: "set", text });
  const [found, bytes] = ask({ method: "trace" }, packed(inputs));
  const values = tensors(bytes);
  found.steps.forEach((step, index) => (step.value = values[index]));
  return found;
}

onmessage = async ({ data }) => {
  const { id, method, bytes, ...rest } = data;
  try {
    if (method === "start") {
      ({ compilable } = await relaxed);
      module = data.module ?? (await compiled("stablo.wasm"));
      remainder = data.remainder;
      start();
      return postMessage({ id, ok: module });
    }
    if (method === "rest") {
      const found = remainder ?? (await compiled("stablo.rest.wasm"));
      remainder ??= found;
      link();
      return postMessage({ id, ok: remainder });
    }
    if (method === "run") return postMessage({ id, ok: run(data) });
    if (method === "trace") return postMessage({ id, ok: trace(data) });
    const [ok, answer] = ask({ method, ...rest }, bytes);
    postMessage({ id, ok: method === "random" ? tensors(answer) : answer.length ? answer : ok });
  } catch (error) {
    // A trap leaves the instance in an unknown state.
    if (module && error instanceof WebAssembly.RuntimeError) {
      start();
      error.message = `the program cannot run here: ${error.message}`;
    }
    postMessage({ id, error: error.message });
  }
};
