// Runs programs of a folder, as upstream's suite, by WebAssembly and by the native program, and compares all
// bits.
//
//   node upstream.mjs stablo_wasm.wasm stablo FOLDER [COUNT]

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { performance } from "node:perf_hooks";
import { load } from "./stablo.mjs";

const [, , wasm, native, folder, count = "200"] = process.argv;
const stablo = await load(readFileSync(wasm));

/** The elements of a file of NumPy. */
function elements(file) {
  const bytes = readFileSync(file);
  const start = bytes[6] > 1 ? 12 + bytes.readUInt32LE(8) : 10 + bytes.readUInt16LE(8);
  return bytes.subarray(start);
}

const all = readdirSync(folder).filter((name) => name.endsWith(".mlir")).sort();
const step = Math.max(1, Math.floor(all.length / Number(count)));
const chosen = all.filter((_, index) => index % step === 0).slice(0, Number(count));
let [same, results, failures, refused, time] = [0, 0, 0, 0, 0];
for (const name of chosen) {
  const output = mkdtempSync(join(tmpdir(), "stablo-"));
  const path = join(folder, name);
  try {
    let expected;
    try {
      execFileSync(native, ["run", path, "--outputs", output], { stdio: "pipe" });
      expected = readdirSync(output).filter((file) => file.endsWith(".npy")).sort((a, b) => parseInt(a.replace(/\D/g, "")) - parseInt(b.replace(/\D/g, "")));
    } catch (error) {
      // Some expect values of upstream's interpreter that are not the nearest.
      console.error(`${name}: not compared: ${error.stderr?.toString().split("\n")[0]}`);
      refused++;
      rmSync(output, { recursive: true });
      continue;
    }
    const start = performance.now();
    const found = stablo.run(readFileSync(path), []);
    time += performance.now() - start;
    if (found.length !== expected.length) throw new Error(`${found.length} results, not ${expected.length}`);
    found.forEach(({ type, elements: own }, index) => {
      const bytes = Buffer.from(own.buffer ?? own, own.byteOffset, own.byteLength);
      if (!bytes.equals(elements(join(output, expected[index])))) throw new Error(`result ${index}, a ${type}, has other bits`);
      results++;
    });
    same++;
  } catch (error) {
    failures++;
    console.error(`${name}: ${error.message}`);
  }
  rmSync(output, { recursive: true });
}
console.log(`${basename(folder)}: ${same} of ${chosen.length - refused} programs have the native program's bits (${results} results, ${Math.round(time)} ms)`);
// Nearly all programs have results to compare.
process.exit(failures || refused > chosen.length / 20 ? 1 : 0);
