// Runs StableHLO programs by WebAssembly.
//
//   const stablo = await load(await readFile("stablo_wasm.wasm"));
//   const [sum] = stablo.run(program, [{ type: "tensor<2xf32>", elements: new Float32Array([1, 2]) }]);

import { compilable } from "./relaxed.mjs";

/** Bytes of records: a length of four bytes, little-endian, and that many bytes. */
function pack(records) {
  const size = records.reduce((sum, record) => sum + 4 + record.length, 0);
  const buffer = new Uint8Array(size);
  const view = new DataView(buffer.buffer);
  let at = 0;
  for (const record of records) {
    view.setUint32(at, record.length, true);
    buffer.set(record, at + 4);
    at += 4 + record.length;
  }
  return buffer;
}

/** The records in bytes. */
function unpack(buffer) {
  const view = new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength);
  const records = [];
  for (let at = 0; at < buffer.length; ) {
    const end = at + 4 + view.getUint32(at, true);
    records.push(buffer.slice(at + 4, end));
    at = end;
  }
  return records;
}

const ARRAYS = {
  f64: Float64Array, f32: Float32Array,
  i64: BigInt64Array, i32: Int32Array, i16: Int16Array, i8: Int8Array,
  ui64: BigUint64Array, ui32: Uint32Array, ui16: Uint16Array, ui8: Uint8Array,
};

/**
 * Loads the module. `run` takes a program (text or bytes), tensors, and optionally the limits
 * `maxMemory` (bytes), `maxSteps` (ops) and `maxSeconds`. It throws diagnostics.
 */
export async function load(wasm) {
  const module = await WebAssembly.compile(compilable(wasm));
  const host = { now: () => performance.now() };
  let instance;
  const encoder = new TextEncoder();
  const decoder = new TextDecoder();

  /** The result of a run, as bytes. */
  function call(program, records, { maxMemory = 0, maxSteps = 0, maxSeconds = 0 }) {
    instance ??= new WebAssembly.Instance(module, { host });
    const { memory, stablo_alloc, stablo_free, stablo_run } = instance.exports;
    const give = (bytes) => {
      const at = stablo_alloc(bytes.length);
      new Uint8Array(memory.buffer, at, bytes.length).set(bytes);
      return [at, bytes.length];
    };
    const source = give(program);
    const values = give(pack(records));
    const at = stablo_run(...source, ...values, maxMemory, maxSteps, maxSeconds);
    stablo_free(...source);
    stablo_free(...values);
    const length = new DataView(memory.buffer).getUint32(at, true);
    const result = new Uint8Array(memory.buffer, at + 4, length).slice();
    stablo_free(at, length + 4);
    return result;
  }

  return {
    run(program, inputs, limits = {}) {
      const bytes = typeof program === "string" ? encoder.encode(program) : program;
      const records = inputs.flatMap(({ type, elements }) => [
        encoder.encode(type),
        new Uint8Array(elements.buffer, elements.byteOffset, elements.byteLength),
      ]);
      let result;
      try {
        result = call(bytes, records, limits);
      } catch (error) {
        // The stack of the engine or its memory is exhausted: the next run gets a new instance.
        instance = undefined;
        throw new Error(`the program cannot run here: ${error.message}`, { cause: error });
      }
      if (result[0] === 0) throw new Error(decoder.decode(result.subarray(1)));
      const parts = unpack(result.subarray(1));
      const tensors = [];
      for (let i = 0; i < parts.length; i += 2) {
        const type = decoder.decode(parts[i]);
        const array = ARRAYS[type.slice(type.lastIndexOf("x") + 1).replace(/^tensor<|>$/g, "")];
        const elements = array ? new array(parts[i + 1].buffer) : parts[i + 1];
        tensors.push({ type, elements });
      }
      return tensors;
    },
  };
}
