// Edits programs by an instrumented core, as a person would, and writes which functions that took: these
// are the part that a page loads first.
//
//   node profile.mjs instrumented.wasm profile

import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { compilable } from "../wasm/relaxed.mjs";

const [, , wasm, profile] = process.argv;
const gallery = fileURLToPath(new URL("../../examples/gallery/", import.meta.url));
const { instance } = await WebAssembly.instantiate(compilable(readFileSync(wasm)), { host: { now: () => performance.now() } });
const { memory, stablo_alloc, stablo_edit, stablo_free, __write_profile } = instance.exports;

/** Answers a request of an editor. */
function ask(request) {
  const bytes = new TextEncoder().encode(JSON.stringify(request));
  const at = stablo_alloc(bytes.length);
  new Uint8Array(memory.buffer, at, bytes.length).set(bytes);
  const none = stablo_alloc(0);
  const answer = stablo_edit(at, bytes.length, none, 0);
  const length = new DataView(memory.buffer).getUint32(answer, true);
  const record = new Uint8Array(memory.buffer, answer + 4, length);
  const json = record.slice(4, 4 + new DataView(memory.buffer).getUint32(answer + 4, true));
  stablo_free(at, bytes.length);
  stablo_free(none, 0);
  stablo_free(answer, length + 4);
  return JSON.parse(new TextDecoder().decode(json)).ok;
}

for (const name of readdirSync(gallery).filter((name) => name.endsWith(".mlir"))) {
  const text = readFileSync(gallery + name, "utf8");
  const length = new TextEncoder().encode(text).length;
  // Whole, and with mistakes: a name, a type and a bracket that are missing.
  const places = [...text.matchAll(/stablehlo\.\w+|tensor<|%\w+|\}/g)].filter((_, index) => index % 7 === 3);
  const broken = places.slice(0, 12).map(({ index, 0: found }) => text.slice(0, index) + text.slice(index + found.length));
  for (const version of [text, ...broken]) {
    ask({ method: "set", text: version });
    ask({ method: "highlights" });
    ask({ method: "diagnostics" });
    ask({ method: "signature" });
  }
  ask({ method: "set", text });
  ask({ method: "edit", start: 0, end: 0, text: "// typed\n" });
  ask({ method: "diagnostics" });
  for (let at = 0; at < length; at += 41) {
    for (const method of ["complete", "hover", "signature_help", "definition", "references"]) ask({ method, at });
  }
  ask({ method: "format" });
}

const size = __write_profile(0, 0);
const buffer = stablo_alloc(size);
__write_profile(buffer, size);
writeFileSync(profile, new Uint8Array(memory.buffer, buffer, size));
