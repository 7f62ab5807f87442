// Writes programs without arguments whose results have fused multiply-adds in all kinds of loops: products of
// matrices and convolutions of many sizes, and functions of numbers. upstream.mjs compares their results.
//
//   node variants.mjs FOLDER

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [, , folder] = process.argv;
mkdirSync(folder, { recursive: true });

// Numbers that follow from a seed.
let state = 7;
const random = (below) => (state = (state * 48271) % 2147483647) % below;
const choose = (list) => list[random(list.length)];

let count = 0;
function program(type, lines) {
  const text = `func.func @main() -> ${type} {\n${lines.map((line) => `  ${line}\n`).join("")}  return %result : ${type}\n}\n`;
  writeFileSync(join(folder, `variant_${String(count++).padStart(3, "0")}.mlir`), text);
}

/** Ops that give `%name` values that differ, of a shape and element type. */
function values(name, shape, element) {
  const total = shape.reduce((a, b) => a * b, 1);
  const type = `tensor<${[...shape, element].join("x")}>`;
  const made = { i32: "i32", f64: "f64" }[element] ?? "f32";
  const flat = `tensor<${total}x${made}>`;
  const factor = made === "i32" ? 1000003 + random(8000000) : `${(1 + random(99)) / 8}`.replace(/^\d+$/, "$&.0");
  const lines = [
    `%${name}_iota = stablehlo.iota dim = 0 : ${flat}`,
    `%${name}_factor = stablehlo.constant dense<${factor}> : ${flat}`,
    `%${name}_all = stablehlo.multiply %${name}_iota, %${name}_factor : ${flat}`,
  ];
  let last = `${name}_all`;
  if (made !== "i32") lines.push(`%${name}_sine = stablehlo.sine %${last} : ${flat}`), (last = `${name}_sine`);
  if (made !== element) {
    lines.push(`%${name}_narrow = stablehlo.convert %${last} : (${flat}) -> tensor<${total}x${element}>`);
    last = `${name}_narrow`;
  }
  lines.push(`%${name} = stablehlo.reshape %${last} : (tensor<${total}x${element}>) -> ${type}`);
  return [type, lines];
}

const SIZES = [1, 1, 2, 3, 5, 6, 7, 8, 11, 12, 13, 16, 17, 24, 31, 32, 33, 40, 64, 65, 70, 100, 128, 130];
const DEEP = [200, 256, 257, 300, 512, 513, 700, 1025];
for (let i = 0; i < 150; i++) {
  const element = choose(["f32", "f32", "f32", "f32", "f32", "f64", "f64", "i32", "bf16", "f16"]);
  const [m, n, batch] = [choose(SIZES), choose(SIZES), choose([0, 0, 0, 2, 3])];
  const k = choose(i % 5 < 2 ? DEEP : SIZES);
  const before = batch ? [batch] : [];
  const [swapsLeft, swapsRight] = [random(3) === 0, random(5) < 2];
  const [left, a] = values("a", [...before, ...(swapsLeft ? [k, m] : [m, k])], element);
  const [right, b] = values("b", [...before, ...(swapsRight ? [n, k] : [k, n])], element);
  const result = `tensor<${[...before, m, n, element].join("x")}>`;
  const batching = batch ? "batching_dims = [0] x [0], " : "";
  const dims = `[${before.length + (swapsLeft ? 0 : 1)}] x [${before.length + (swapsRight ? 1 : 0)}]`;
  const op = `%result = stablehlo.dot_general %a, %b, ${batching}contracting_dims = ${dims} : (${left}, ${right}) -> ${result}`;
  program(result, [...a, ...b, op]);
}
for (let i = 0; i < 70; i++) {
  const element = choose(["f32", "f32", "f32", "f64"]);
  const [groups, stride, batch] = [choose([1, 1, 2, 4, 8, 16, 24, 33]), choose([1, 1, 2]), choose([1, 1, 2])];
  const [inputs, outputs] = groups === 1 ? [choose([1, 3, 8, 17, 64]), choose([1, 4, 16, 31, 32, 40])] : [choose([1, 1, 2, 3]), choose([1, 1, 2, 4])];
  const [height, width, rows, columns] = [3 + random(12), 3 + random(12), 1 + random(3), 1 + random(3)];
  const [image, a] = values("a", [batch, height, width, groups * inputs], element);
  const [window, b] = values("b", [rows, columns, inputs, groups * outputs], element);
  const sizes = [(height - rows) / stride, (width - columns) / stride].map((size) => Math.floor(size) + 1);
  const result = `tensor<${[batch, ...sizes, groups * outputs, element].join("x")}>`;
  const op = `%result = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], ` +
    `window = {stride = [${stride}, ${stride}]} {batch_group_count = 1 : i64, feature_group_count = ${groups} : i64} : (${image}, ${window}) -> ${result}`;
  program(result, [...a, ...b, op]);
}
const FUNCTIONS = "exponential exponential_minus_one log log_plus_one logistic rsqrt tanh cosine sine tan sqrt cbrt";
const CHLO = "acos asin atan erf erf_inv erfc sinh";
for (const name of [...FUNCTIONS.split(" ").map((f) => `stablehlo.${f}`), ...CHLO.split(" ").map((f) => `chlo.${f}`)]) {
  for (const [element, length, scale] of [["f32", 4097, "1.0"], ["f32", 1001, "90.0"], ["f32", 63, "1.0e-30"], ["f32", 333, "1.0e38"], ["f64", 501, "3.0"]]) {
    const [type, a] = values("a", [length], element);
    const all = `tensor<${length + 8}x${element}>`;
    const bits = element === "f32" ? "0x7F800000, 0xFF800000, 0x7FC00000, 0x00000001"
      : "0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 0x0000000000000001";
    program(all, [
      ...a,
      `%scale = stablehlo.constant dense<${scale}> : ${type}`,
      `%scaled = stablehlo.multiply %a, %scale : ${type}`,
      `%special = stablehlo.constant dense<[0.0, -0.0, 1.0, -1.0, ${bits}]> : tensor<8x${element}>`,
      `%x = stablehlo.concatenate %special, %scaled, dim = 0 : (tensor<8x${element}>, ${type}) -> ${all}`,
      `%result = ${name} %x : ${name.startsWith("chlo") ? `${all} -> ` : ""}${all}`,
    ]);
  }
}
console.log(`${count} programs`);
