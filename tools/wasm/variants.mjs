// Writes programs without arguments whose results have fused multiply-adds in all kinds of loops: products of
// matrices and convolutions of many sizes, of numbers for which it matters where they are rounded, and functions
// of numbers. upstream.mjs compares their results.
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
// Functions of pairs: all of special numbers and some others, by each other.
for (const [element, special] of [
  ["f32", "0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00000, 0x7F800001, 0x00000001, 0x80000001, 0x00800000, 0x7F7FFFFF"],
  ["f64", "0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 0x0000000000000001"],
]) {
  const numbers = `0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.0, -2.0, 3.0, -3.0, 1.0e30, -1.0e30, 16777217.0, 0.70710677, 1.4142135, 33.25, -33.0, 1.0e-20, ${special}`;
  const count = numbers.split(",").length;
  const [type, square] = [`tensor<${count}x${element}>`, `tensor<${count}x${count}x${element}>`];
  for (const name of ["power", "atan2", "remainder", "divide"]) {
    program(square, [
      `%all = stablehlo.constant dense<[${numbers}]> : ${type}`,
      `%a = stablehlo.broadcast_in_dim %all, dims = [0] : (${type}) -> ${square}`,
      `%b = stablehlo.broadcast_in_dim %all, dims = [1] : (${type}) -> ${square}`,
      `%result = stablehlo.${name} %a, %b : ${square}`,
    ]);
    const [many, a] = values("a", [4099], element);
    const [, b] = values("b", [4099], element);
    program(many, [...a, ...b, `%x = stablehlo.abs %a : ${many}`, `%result = stablehlo.${name} %x, %b : ${many}`]);
  }
}

/** A number of 32 bits by its sign, exponent and the 23 bits after the first one. */
function single(exponent, fraction) {
  const scaled = exponent < -126 ? (2 ** 23 + fraction) >>> Math.min(24, -126 - exponent) : fraction;
  const biased = exponent < -126 ? 0 : Math.min(exponent + 127, 254);
  return ((random(2) << 31) | (biased << 23) | scaled) >>> 0;
}
/** Fractions with few bits, with bits at both ends, and any. */
const fraction = () => choose([0, random(256) << 15, random(4096) << 11, random(8), 2 ** 23 - 1 - random(8), random(2 ** 23)]);
/** Factors and summands whose products and sums are near ties, the least numbers, the largest ones, and any. */
const KINDS = {
  // A product of nearly half of the summand's last bit: (1 + e)(1 - e) is not 1 by less than f64 keeps.
  ties: () => {
    const [a, e] = [random(9) - 4, random(9)];
    return [single(-a - 24 + random(3), e), single(a, e ? 2 ** 23 - 2 * e : 0), single(random(3) - 1, fraction())];
  },
  few: () => [single(random(8), random(256) << 15), single(random(8), random(256) << 15), single(8 + random(16), random(64) << 17)],
  small: () => [single(-63 - random(14), fraction()), single(-63 - random(14), fraction()), single(-126 - random(25), fraction())],
  // Likewise where the last bit is that of the least number.
  depths: () => {
    const [a, e] = [random(9) - 4, random(9)];
    return [single(-a - 75 + random(3), e), single(a - 76, e ? 2 ** 23 - 2 * e : 0), single(-121 - random(20), fraction())];
  },
  least: () => [single(-100 - random(50), fraction()), single(-20 + random(40), fraction()), single(-120 - random(30), fraction())],
  large: () => [single(62 + random(3), fraction()), single(62 + random(3), fraction()), single(124 + random(4), fraction())],
  any: () => [0, 1, 2].map(() => ((random(2) << 31) | (random(256) << 23) | fraction()) >>> 0),
};
/** A constant of these bits. */
function constant(name, shape, bits) {
  const bytes = Buffer.from(Uint32Array.from(bits).buffer).toString("hex");
  return `%${name} = stablehlo.constant dense<"0x${bytes}"> : tensor<${shape.join("x")}xf32>`;
}
const ONE = 0x3f800000;
/** Sums of fewer products round these. */
const DEPTH = 5;
for (const make of Object.values(KINDS)) {
  for (let i = 0; i < 4; i++) {
    // Rows (z, x, 0, …) by columns (1, y, 0, …): each sum is z and a product, and all x meet all y.
    const [rows, columns] = [97 + random(8), 97 + random(40)];
    const rest = DEPTH - 2;
    const a = Array.from({ length: rows }, make).flatMap(([x, , z]) => [z, x, ...Array(rest).fill(0)]);
    const ys = Array.from({ length: columns }, () => make()[1]);
    const type = `tensor<${rows}x${columns}xf32>`;
    program(type, [
      constant("a", [rows, DEPTH], a),
      constant("b", [DEPTH, columns], [...ys.map(() => ONE), ...ys, ...Array(rest * columns).fill(0)]),
      `%result = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<${rows}x${DEPTH}xf32>, tensor<${DEPTH}x${columns}xf32>) -> ${type}`,
    ]);
    // A vector by columns that lie side by side: chains of sums.
    const [depth, count] = [DEPTH + random(9), 600];
    const vector = Array.from({ length: depth }, (_, k) => (k ? make()[0] : ONE));
    const weights = Array.from({ length: count }, () => vector.map((_, k) => make()[k ? 1 : 2])).flat();
    program(`tensor<1x${count}xf32>`, [
      constant("a", [1, depth], vector),
      constant("b", [count, depth], weights),
      `%result = stablehlo.dot_general %a, %b, contracting_dims = [1] x [1] : (tensor<1x${depth}xf32>, tensor<${count}x${depth}xf32>) -> tensor<1x${count}xf32>`,
    ]);
    // Windows of one feature each: an element, and a product of the next one.
    const [height, features] = [40, 40];
    const image = Array.from({ length: height * features }, (_, at) => make()[Math.floor(at / features) % 2 ? 1 : 2]);
    const kernel = [...Array(features).fill(ONE), ...Array.from({ length: features }, () => make()[0]), ...Array(rest * features).fill(0)];
    const result = `tensor<1x${height - DEPTH + 1}x1x${features}xf32>`;
    program(result, [
      constant("a", [1, height, 1, features], image),
      constant("b", [DEPTH, 1, 1, features], kernel),
      `%result = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], ` +
        `window = {stride = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = ${features} : i64} : ` +
        `(tensor<1x${height}x1x${features}xf32>, tensor<${DEPTH}x1x1x${features}xf32>) -> ${result}`,
    ]);
  }
}
console.log(`${count} programs`);
