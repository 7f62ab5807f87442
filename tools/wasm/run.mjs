// Runs programs by WebAssembly, compares with what XLA computed, and, if the native program is
// given, with its results to the last bit.
//
//   node run.mjs stablo_wasm.wasm [stablo]

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import { isMultiplyAdd, vectorInstructions } from "./relaxed.mjs";
import { load } from "./stablo.mjs";

const [, , wasm, native] = process.argv;
const examples = fileURLToPath(new URL("../../examples/", import.meta.url));

/** Element types by their names in `.npy` files, and the arrays that hold them. */
const TYPES = {
  "<f4": ["f32", Float32Array], "<f8": ["f64", Float64Array],
  "<i4": ["i32", Int32Array], "<i8": ["i64", BigInt64Array], "|i1": ["i8", Int8Array],
  "<u4": ["ui32", Uint32Array], "|u1": ["ui8", Uint8Array],
};

/** A tensor from an array of `.npy`: a header with type and shape, then the elements. */
function npy(file) {
  const bytes = readFileSync(file);
  const start = 10 + bytes.readUInt16LE(8);
  const header = bytes.toString("latin1", 10, start);
  const [, descr] = header.match(/'descr': '([^']*)'/);
  const [, shape] = header.match(/'shape': \(([^)]*)\)/);
  const [type, array] = TYPES[descr];
  const sizes = shape.split(",").map((size) => size.trim()).filter(Boolean);
  const elements = new array(bytes.buffer.slice(bytes.byteOffset + start, bytes.byteOffset + bytes.length));
  return { type: `tensor<${[...sizes, type].join("x")}>`, elements };
}

/** The tensors `prefix_0.npy`, `prefix_1.npy`, … in a directory. */
function tensors(directory, prefix) {
  const count = readdirSync(directory).filter((name) => name.startsWith(`${prefix}_`)).length;
  return Array.from({ length: count }, (_, index) => npy(join(directory, `${prefix}_${index}.npy`)));
}

function closeTo(found, expected) {
  const tolerance = 1e-4;
  expected.elements.forEach((y, i) => {
    const x = found.elements[i];
    const equal = Object.is(x, y) || x === y || Math.abs(x - y) <= tolerance * Math.max(1, Math.abs(y));
    assert(equal, `element ${i} of ${expected.type} is ${x}, not ${y}`);
  });
}

// Others may have other results on other machines.
for (const { number } of vectorInstructions(readFileSync(wasm))) {
  assert(number < 0x100 || isMultiplyAdd(number), `0x${number.toString(16)} is a relaxed instruction`);
}

let start = performance.now();
const stablo = await load(readFileSync(wasm));
console.log(`compiled in ${Math.round(performance.now() - start)} ms`);

const programs = [
  ["tutorial/classify", "module.mlir"], ["tutorial/classify", "module.jax"],
  ["nbody", "module.mlir"], ["int_bits", "module.mlir"], ["cnn_train", "module.mlir"],
];
for (const [name, file] of programs) {
  const directory = join(examples, name);
  const inputs = tensors(directory, "input");
  start = performance.now();
  const results = stablo.run(readFileSync(join(directory, file)), inputs);
  const time = Math.round(performance.now() - start);
  tensors(directory, "output").forEach((expected, i) => closeTo(results[i], expected));
  let same = "";
  if (native) {
    const output = mkdtempSync(join(tmpdir(), "stablo-"));
    execFileSync(native, ["run", join(directory, file), "--input-dir", directory, "--output-dir", output]);
    tensors(output, "output").forEach((expected, i) => assert.deepEqual(results[i], expected));
    rmSync(output, { recursive: true });
    same = ", same bits as the native program";
  }
  console.log(`${name}/${file}: ${results.length} results in ${time} ms${same}`);
}

const errors = (program, pattern, limits) =>
  assert.throws(() => stablo.run(program, [], limits), { message: pattern });

errors("func.func @main() { stablehlo.nothing }", /stablehlo\.nothing/);
const forever = `func.func @main() -> tensor<f32> {
  %x = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = stablehlo.while(%i = %x) : tensor<f32> cond {
    %true = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %true : tensor<i1>
  } do {
    stablehlo.return %i : tensor<f32>
  }
  return %0 : tensor<f32>
}`;
errors(forever, /more than 1000 steps/, { maxSteps: 1000 });
errors(forever, /longer than 100ms/, { maxSeconds: 0.1 });
const large = `func.func @main() -> tensor<1000000xf32> {
  %0 = stablehlo.iota dim = 0 : tensor<1000000xf32>
  return %0 : tensor<1000000xf32>
}`;
errors(large, /limit of 1048576 bytes/, { maxMemory: 1 << 20 });
errors(large.replaceAll("1000000x", "1000000000x"), /does not fit into the address space/);
errors(
  `func.func @main() -> tensor<f32> {
    %0 = func.call @main() : () -> tensor<f32>
    return %0 : tensor<f32>
  }`,
  /nest deeper than 100 levels/,
);

// Exhausting the stack of the engine is an error that does not affect the next run.
const nest = (levels) => `func.func @main(%c: tensor<i1>) {
  ${'"stablehlo.if"(%c) ({'.repeat(levels)}
  ${'"stablehlo.return"() : () -> () }, { "stablehlo.return"() : () -> () }) : (tensor<i1>) -> ()'.repeat(levels)}
  return
}`;
const truth = { type: "tensor<i1>", elements: new Uint8Array([1]) };
let levels = 0;
for (let next = 10; next <= 250; next += 20) {
  try {
    stablo.run(nest(next), [truth]);
    levels = next;
  } catch (error) {
    assert.match(error.message, /cannot run here|nest deeper/);
  }
}
assert(levels >= 90, `only ${levels} regions nest`);
assert.equal(stablo.run(large, [])[0].elements[999999], 999999);
console.log(`regions nest to ${levels} levels; limits hold`);
