// Older versions of binaryen, such as Debian's, know multiply-adds of relaxed SIMD by the numbers of a draft.
// Writes modules with these numbers, if the given program needs them, and back with the standard's.
//
//   node renumber.mjs draft wasm-opt FILE…
//   node renumber.mjs standard FILE…

import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { PROBE, renumbered } from "../wasm/relaxed.mjs";

/** Numbers of the standard and of the draft. */
const NUMBERS = [[0x105, 0xaf], [0x106, 0xb0], [0x107, 0xcf], [0x108, 0xd0]];

const [, , to, ...rest] = process.argv;
let [files, numbers] = [rest, new Map(NUMBERS.map(([standard, draft]) => [draft, standard]))];
if (to === "draft") {
  const [program, ...more] = rest;
  const flags = ["--enable-simd", "--enable-relaxed-simd", "-", "-o", "/dev/null"];
  const isStandard = spawnSync(program, flags, { input: PROBE }).status === 0;
  [files, numbers] = [more, new Map(isStandard ? [] : NUMBERS)];
}
for (const file of files) {
  writeFileSync(file, renumbered(readFileSync(file), (number) => numbers.get(number) ?? number));
}
