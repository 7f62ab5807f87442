// The core in WebAssembly: answers {id, method, …} with {id, ok} or {id, error}.

let instance;
let module;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

function start() {
  instance = new WebAssembly.Instance(module, { host: { now: () => performance.now() } });
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

/** Runs `main`: [{type, bytes}] to the same. */
function run({ text, inputs }) {
  const records = inputs.flatMap(({ type, bytes }) => [encoder.encode(type), bytes]);
  const before = performance.now();
  const result = call("stablo_run", [encoder.encode(text), pack(records)], 1 << 30, 0, 60);
  const milliseconds = performance.now() - before;
  if (result[0] === 0) throw new Error(decoder.decode(result.subarray(1)));
  const parts = unpack(result.subarray(1));
  const values = [];
  for (let i = 0; i < parts.length; i += 2) values.push({ type: decoder.decode(parts[i]), bytes: parts[i + 1] });
  return { values, milliseconds };
}

onmessage = async ({ data }) => {
  const { id, method } = data;
  try {
    if (method === "start") {
      module = data.module ?? (await WebAssembly.compile(await (await fetch("stablo.wasm")).arrayBuffer()));
      start();
      return postMessage({ id, ok: module });
    }
    if (method === "run") return postMessage({ id, ok: run(data) });
    const answer = JSON.parse(decoder.decode(call("stablo_edit", [encoder.encode(JSON.stringify(data))])));
    postMessage({ id, ...answer });
  } catch (error) {
    // A trap leaves the instance in an unknown state.
    if (module && !(method === "run" && !(error instanceof WebAssembly.RuntimeError))) start();
    postMessage({ id, error: error.message, trap: error instanceof WebAssembly.RuntimeError });
  }
};
