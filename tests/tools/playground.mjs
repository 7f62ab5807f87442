// Uses the playground in headless Chromium as a person would: runs each program of the gallery, steps, finds
// errors while typing, completes, transforms, converts and compares, works without a network and on a phone.
// Audits accessibility if the package axe-core is there. With NATIVE, the path of stablo, results of the
// gallery have the hashes of those of the native program; with UPSTREAM, a folder, so have those of COUNT of
// the programs in it. `.ci/playground` runs it.

import { createServer } from "node:http";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { chromium } from "playwright-core";

const [folder] = process.argv.slice(2);
const axe = await readFile(join(import.meta.dirname ?? ".", "node_modules/axe-core/axe.min.js"), "utf8").catch(() => undefined);
let audits = 0;

/** A file of NumPy with 32-bit floats. */
function npy(shape, values) {
  const head = `{'descr': '<f4', 'fortran_order': False, 'shape': (${shape.join(", ")}), }`.padEnd(117) + "\n";
  const length = Buffer.alloc(2);
  length.writeUInt16LE(head.length);
  return Buffer.concat([Buffer.from("\x93NUMPY\x01\x00", "latin1"), length, Buffer.from(head), Buffer.from(new Float32Array(values).buffer)]);
}

/** The hash that the page shows of bytes: FNV-1a of 64 bits. */
function hash(bytes) {
  let state = 0xcbf29ce484222325n;
  for (const byte of bytes) state = ((state ^ BigInt(byte)) * 0x100000001b3n) & 0xffffffffffffffffn;
  return state.toString(16).padStart(16, "0");
}

/** The hashes of the results of the native program on random arguments. */
function nativeHashes(path, count) {
  const output = mkdtempSync(join(tmpdir(), "stablo-"));
  try {
    const inputs = Array.from({ length: count }, () => ["--input", "random"]).flat();
    execFileSync(process.env.NATIVE, ["run", path, ...inputs, "--outputs", output], { stdio: "pipe" });
    const number = (name) => parseInt(name.replace(/\D/g, ""));
    const files = readdirSync(output).filter((name) => name.endsWith(".npy")).sort((a, b) => number(a) - number(b));
    return files.map((name) => {
      const bytes = readFileSync(join(output, name));
      return hash(bytes.subarray(bytes[6] > 1 ? 12 + bytes.readUInt32LE(8) : 10 + bytes.readUInt16LE(8)));
    });
  } finally {
    rmSync(output, { recursive: true });
  }
}

const TYPES = { ".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".wasm": "application/wasm" };

const server = createServer(async (request, response) => {
  const path = new URL(request.url, "http://x").pathname;
  try {
    const file = join(folder, path === "/" ? "index.html" : path);
    response.setHeader("Content-Type", TYPES[extname(file)] ?? "application/octet-stream");
    response.end(await readFile(file));
  } catch {
    response.statusCode = 404;
    response.end();
  }
});
await new Promise((resolve) => server.listen(0, resolve));
const url = `http://localhost:${server.address().port}/`;

let failures = 0;
function check(what, holds, found) {
  if (holds) return;
  failures++;
  console.error(`failed: ${what}: ${JSON.stringify(found)}`);
}

const browser = await chromium.launch({ executablePath: process.env.BROWSER, args: ["--no-sandbox"] });
const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme: "light" });
const page = await context.newPage();
const errors = [];
page.on("pageerror", (error) => errors.push(error.message));
page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
const shot = (name) => process.env.SCREENSHOTS && page.screenshot({ path: join(process.env.SCREENSHOTS, `${name}.png`) });
const statusIs = (pattern) =>
  page.waitForFunction((p) => new RegExp(p).test(document.getElementById("status").textContent), pattern, { timeout: 60000 });

// A page without a network's delays: what a first visit costs. A program is verified before the rest of the
// core is there.
let read;
const isRead = new Promise((resolve) => (read = resolve));
await context.route("**/stablo.rest.wasm", (route) => isRead.then(() => route.continue()).catch(() => {}));
const started = Date.now();
await page.goto(url);
await statusIs("^valid");
const loaded = Date.now() - started;
read();
await context.unroute("**/stablo.rest.wasm");
const setText = (text) => page.fill("#first textarea", text);
const value = () => page.inputValue("#first textarea");
const caret = (find, by = 0) => page.evaluate(([find, by]) => {
  const text = document.querySelector("#first textarea");
  const at = text.value.lastIndexOf(find) + by;
  text.focus();
  text.setSelectionRange(at, at);
}, [find, by]);
const open = async (name) => {
  await page.selectOption("#gallery", name);
  await page.waitForFunction(() => /^valid|error/.test(document.getElementById("status").textContent));
  await page.waitForTimeout(300);
};
const audit = async (where, target = page) => {
  if (!axe) return;
  await target.evaluate(axe);
  const { violations } = await target.evaluate(() => globalThis.axe.run(document, { rules: { "color-contrast": { enabled: true } } }));
  const found = violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.target.join(" ")).join("; ")}`);
  audits += 1;
  check(`accessibility of ${where}`, found.length === 0, found);
};

// Each program runs; --native compares with the results of the native program, from hashes in a file.
const names = await page.$$eval("#gallery option", (options) => options.map((option) => option.value));
check("gallery", names.length === 10, names);
let first;
const hashes = {};
for (const name of names) {
  await open(name);
  const status = await page.textContent("#status");
  check(`${name} is valid`, status.startsWith("valid"), status);
  if (name === "dynamic" || name === "sharded") continue;
  const before = Date.now();
  await page.click("#run");
  await page.waitForFunction(() => document.querySelector("#results .result, #results .failed"), { timeout: 60000 });
  first ??= Date.now() - before;
  const failed = await page.$eval("#results", (box) => box.querySelector(".failed")?.textContent ?? "");
  check(`${name} runs`, failed === "", failed);
  hashes[name] = await page.$$eval("#results .result", (all) => all.map((one) => /hash (\w+)/.exec(one.textContent)[1]));
  await shot(`run-${name}`);
}
await audit("results");

// The same bits as natively.
const equal = (a, b) => JSON.stringify(a) === JSON.stringify(b);
let compared = 0;
if (process.env.NATIVE && process.env.GALLERY) {
  for (const name of Object.keys(hashes)) {
    await open(name);
    const count = await page.$$eval("#inputs input", (all) => all.filter(({ id }) => /^input-\d+$/.test(id)).length);
    const native = nativeHashes(join(process.env.GALLERY, `${name}.mlir`), count);
    check(`${name} has the native bits`, equal(native, hashes[name]), { native, found: hashes[name] });
    compared++;
  }
}
if (process.env.NATIVE && process.env.UPSTREAM) {
  const folder = process.env.UPSTREAM;
  const all = readdirSync(folder).filter((name) => name.endsWith(".mlir")).sort();
  const wanted = Number(process.env.COUNT ?? 200);
  for (const name of all.filter((_, index) => index % Math.max(1, Math.floor(all.length / wanted)) === 0).slice(0, wanted)) {
    let native;
    try {
      native = nativeHashes(join(folder, name), 0);
    } catch {
      // Some expect values that are not the nearest.
      continue;
    }
    // By the page's core, in a worker of its own.
    const found = await page.evaluate(async (text) => {
      const [{ Core }, { hash }] = await Promise.all([import("/core.js"), import("/values.js")]);
      globalThis.core ??= new Core();
      await globalThis.core.complete;
      const ran = await globalThis.core.ask("run", { text, inputs: [] }).catch((error) => error.message);
      return ran.values?.map(({ bytes }) => hash(bytes)) ?? ran;
    }, readFileSync(join(folder, name), "utf8"));
    check(`${name} has the native bits`, equal(native, found), { native, found });
    compared++;
  }
}

// Arguments: typed, and from a file of NumPy.
await setText("func.func @main(%x: tensor<2x3xf32>, %n: tensor<i32>) -> (tensor<2x3xf32>, tensor<i32>) {\n  %0 = stablehlo.add %x, %x : tensor<2x3xf32>\n  %1 = stablehlo.multiply %n, %n : tensor<i32>\n  return %0, %1 : tensor<2x3xf32>, tensor<i32>\n}\n");
await page.waitForSelector("#input-1");
await page.waitForFunction(() => document.querySelector("#inputs").textContent.includes("2x3xf32"));
await page.fill("#input-0", "[[1, 2, 3], [4, 5, 6.5]]");
await page.fill("#input-1", "-7");
await page.keyboard.press("Control+Enter");
await page.waitForSelector("#results .result");
const cells = () => page.$$eval("#results td", (all) => all.map((cell) => cell.textContent).filter(Boolean).join(" "));
check("typed arguments", (await cells()) === "2 4 6 8 10 13 49", await cells());
await page.setInputFiles("#open", { name: "x.npy", mimeType: "application/octet-stream", buffer: npy([2, 3], [1, 1, 2, 3, 5, 8]) });
await page.waitForFunction(() => document.getElementById("input-0").value === "x.npy");
await page.keyboard.press("Control+Enter");
await page.waitForFunction(() => document.querySelector("#results td:nth-child(4)")?.textContent === "4");
check("an argument from a file", (await cells()) === "2 2 4 6 10 16 49", await cells());

// Steps, with the op in the text.
await open("control_flow");
await page.click("#tab-steps");
await page.click("#step-run");
await page.waitForSelector("#steps button");
await page.click("#step-next");
await page.keyboard.press("Alt+ArrowRight");
check("steps", (await page.textContent("#step")).startsWith("step 3 of"), await page.textContent("#step"));
check("the op of a step is marked", (await page.$$(".paint .step")).length > 0, 0);
await shot("steps");
await audit("steps");

// Errors while typing, with a fix.
await open("fft");
await setText("func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %0 = stablehlo.sin %x : tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n");
await page.waitForSelector("#first .problems .fix");
check("error", (await page.textContent("#status")) === "1 error", await page.textContent("#status"));
await shot("error");
await audit("errors");
await page.click("#first .problems .fix");
await statusIs("^valid");
check("fix", (await value()).includes("stablehlo.sine"), await value());

// Completion, hover texts and parameters by keys.
await caret("  return");
await page.keyboard.type("  %1 = stablehlo.cos");
await page.waitForSelector("#first .complete:not([hidden])");
await page.waitForTimeout(300);
await shot("completion");
await page.keyboard.press("Enter");
check("completion", (await value()).includes("%1 = stablehlo.cosine %operand"), await value());
await page.keyboard.press("Control+z");
await open("attention");
await caret("stablehlo.reduce", 12);
await page.keyboard.press("F1");
await page.waitForSelector("#first .hover:not([hidden])");
check("hover", (await page.textContent("#first .hover")).includes("The reduction of"), await page.textContent("#first .hover"));
await shot("hover");
await page.keyboard.press("Escape");

// Definition.
await caret("%weights", 3);
await page.keyboard.press("F12");
await page.waitForTimeout(300);
const selected = await page.evaluate(() => {
  const text = document.querySelector("#first textarea");
  return text.value.slice(text.selectionStart, text.selectionEnd + 2);
});
check("definition", selected === "%weights =", selected);

// Cost, passes, sizes, conversion, graph.
await page.click("#tab-cost");
await page.waitForFunction(() => document.getElementById("cost").textContent.includes("FLOP"));
await shot("cost");
await open("composite");
await page.click("#tab-passes");
await page.fill("#pipeline", "stablehlo-legalize-composite-to-call,inline");
await page.click("#passes button");
await page.waitForSelector("#diff .cut");
check("a difference a pass", (await page.$$("#diff details")).length === 2, await page.$$eval("#diff summary", (all) => all.map((s) => s.textContent)));
await shot("passes");
await audit("passes");
await open("dynamic");
await page.fill("#size", "8");
await page.click("#sizes button");
await page.waitForFunction(() => document.getElementById("diff").textContent.includes("tensor<8x"));
await page.click("#take");
await page.waitForFunction(() => document.querySelector("#first textarea").value.includes("tensor<8x"));
await open("composite");
await page.click("#tab-convert");
const [download] = await Promise.all([page.waitForEvent("download"), page.click("#convert button:first-of-type")]);
check("download", download.suggestedFilename() === "program.stablehlo", download.suggestedFilename());
const artifact = await readFile(await download.path());
check("an artifact", artifact.subarray(0, 4).toString("latin1") === "ML\xefR", artifact.subarray(0, 4));
await page.setInputFiles("#open", { name: "program.stablehlo", mimeType: "application/octet-stream", buffer: artifact });
await page.waitForFunction(() => document.getElementById("notice").textContent.includes("portable artifact"));
await statusIs("^valid");
await page.click("#tab-graph");
await page.waitForFunction(() => document.getElementById("graph").srcdoc.length > 1000, { timeout: 30000 });
await page.waitForTimeout(500);
const graph = page.frameLocator("#graph");
const title = await graph.locator("#name").textContent();
check("the graph", title.length > 0 && await graph.locator("svg").count() > 0, title);
await shot("graph");

// Two programs.
await open("fft");
await page.click("#compare-button");
await page.waitForSelector("#second textarea");
await page.waitForTimeout(500);
await page.click("#compare-run");
await page.waitForSelector("#comparison .verdicts");
check("equal programs", (await page.textContent("#comparison .verdicts")).includes("equal to the last bit"), await page.textContent("#comparison"));
await shot("compare");
await audit("two programs");

// A link holds the programs.
await page.click("#share");
await page.waitForFunction(() => location.hash.length > 10);
const other = await context.newPage();
await other.goto(page.url());
await other.waitForFunction(() => document.querySelector("#second textarea").value.includes("stablehlo.fft"), { timeout: 30000 });
await other.close();
await page.click("#compare-button");

// A program of 1,000 ops.
const many = ["func.func @main(%0: tensor<64x64xf32>) -> tensor<64x64xf32> {"];
for (let i = 1; i <= 1000; i++) many.push(`  %${i} = stablehlo.${["add", "multiply", "subtract", "maximum"][i % 4]} %${i - 1}, %0 : tensor<64x64xf32>`);
many.push("  return %1000 : tensor<64x64xf32>", "}", "");
// Pasted: to fill a field with text takes Chromium seconds, as it types each line.
const checked = await page.evaluate(async (pasted) => {
  const text = document.querySelector("#first textarea");
  const versions = [];
  new MutationObserver(() => versions.push(performance.now())).observe(document.getElementById("status"), { childList: true });
  const before = performance.now();
  text.value = pasted;
  text.dispatchEvent(new Event("input", { bubbles: true }));
  while (versions.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  return Math.round(versions[0] - before);
}, many.join("\n"));
await statusIs("^valid");
await page.click("#tab-run");
await page.click("#run");
await page.waitForSelector("#results .result", { timeout: 60000 });
const thousand = /ran in ([\d.]+) ms/.exec(await page.textContent("#results"))[1];

// Without a network.
await page.evaluate(() => navigator.serviceWorker.ready);
await context.setOffline(true);
await page.reload();
await statusIs("^valid");
await context.setOffline(false);

// A phone in the dark.
const phone = await browser.newContext({ viewport: { width: 390, height: 844 }, colorScheme: "dark", hasTouch: true });
const small = await phone.newPage();
await small.goto(url);
await small.waitForFunction(() => /^valid/.test(document.getElementById("status").textContent), { timeout: 60000 });
await small.click("#run");
await small.waitForSelector("#results .result");
const wide = await small.evaluate(() => document.documentElement.scrollWidth);
check("nothing is wider than a phone", wide <= 390, wide);
if (process.env.SCREENSHOTS) await small.screenshot({ path: join(process.env.SCREENSHOTS, "phone.png") });
await audit("a phone in the dark", small);
const dark = await browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme: "dark" });
const night = await dark.newPage();
await night.goto(url);
await night.waitForFunction(() => /^valid/.test(document.getElementById("status").textContent), { timeout: 60000 });
await night.click("#run");
await night.waitForSelector("#results .result");
if (process.env.SCREENSHOTS) await night.screenshot({ path: join(process.env.SCREENSHOTS, "dark.png") });

check("no errors of the page", errors.length === 0, errors);
await browser.close();
server.close();
if (process.env.HASHES) await writeFile(process.env.HASHES, JSON.stringify(hashes));
console.log(`playground: loaded in ${loaded} ms, first result after ${first} ms, 1,000 ops checked in ${checked} ms and run in ${thousand} ms, ${audits} audits, ${compared} programs compared with the native one`);
console.log(failures === 0 ? "playground: passed" : "playground: failed");
process.exit(failures === 0 ? 0 : 1);
