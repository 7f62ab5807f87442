// Runs the classifier of the tutorial by WebAssembly and compares with what XLA computed.
//
//   node run.mjs stablo_wasm.wasm

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { load } from "./stablo.mjs";

const example = new URL("../../examples/tutorial/classify/", import.meta.url);

/** A tensor from an array of `.npy`: a header with type and shape, then the elements. */
async function npy(name) {
  const bytes = await readFile(new URL(name, example));
  const start = 10 + bytes.readUInt16LE(8);
  const header = bytes.toString("latin1", 10, start);
  const [, descr] = header.match(/'descr': '([^']*)'/);
  const [, shape] = header.match(/'shape': \(([^)]*)\)/);
  const [type, array] = { "<f4": ["f32", Float32Array], "<i4": ["i32", Int32Array] }[descr];
  const sizes = shape.split(",").map((size) => size.trim()).filter(Boolean);
  const elements = new array(bytes.buffer.slice(bytes.byteOffset + start, bytes.byteOffset + bytes.length));
  return { type: `tensor<${[...sizes, type].join("x")}>`, elements };
}

const stablo = await load(await readFile(process.argv[2]));

const inputs = await Promise.all([0, 1, 2].map((k) => npy(`input_${k}.npy`)));
for (const file of ["module.mlir", "module.jax"]) {
  const [classes, likely] = stablo.run(await readFile(new URL(file, example)), inputs);
  const [expectedClasses, expectedLikely] = await Promise.all([npy("output_0.npy"), npy("output_1.npy")]);
  assert.deepEqual(classes, expectedClasses);
  likely.elements.forEach((x, i) => assert(Math.abs(x - expectedLikely.elements[i]) < 1e-6));
  console.log(`${file}: classes ${classes.elements}, likely ${likely.elements}`);
}

const newton = await readFile(new URL("../newton.mlir", example), "utf8");
const [root] = stablo.run(newton, [{ type: "tensor<f32>", elements: new Float32Array([2]) }]);
assert(Math.abs(root.elements[0] - Math.SQRT2) < 1e-6);
console.log(`newton.mlir: ${root.elements[0]}`);

assert.throws(
  () => stablo.run("func.func @main() { stablehlo.nothing }", []),
  (error) => error.message.includes("stablehlo.nothing"),
);
