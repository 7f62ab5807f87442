// Opens the playground in headless Chromium: loads, runs each program of the gallery, finds errors while
// typing, completes, goes to a definition, transforms and converts. `.ci/playground` runs it.

import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { chromium } from "playwright-core";

const [folder] = process.argv.slice(2);
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

const started = Date.now();
await page.goto(url);
await statusIs("^valid");
const loaded = Date.now() - started;

// Each program runs, and has the results that the native program has for zeros.
const names = await page.$$eval("#gallery option", (options) => options.map((option) => option.value));
check("gallery", names.length === 10, names);
let first;
for (const name of names) {
  await page.selectOption("#gallery", name);
  await page.waitForFunction(() => /^valid|error/.test(document.getElementById("status").textContent));
  await page.waitForTimeout(300);
  const status = await page.textContent("#status");
  check(`${name} is valid`, status.startsWith("valid"), status);
  if (name === "dynamic" || name === "sharded") continue;
  const before = Date.now();
  await page.click("#run");
  await page.waitForFunction(() => document.querySelector("#results .result, #results .failed"), { timeout: 60000 });
  first ??= Date.now() - before;
  const failed = await page.$eval("#results", (box) => box.querySelector(".failed")?.textContent ?? "");
  check(`${name} runs`, failed === "", failed);
  await shot(`run-${name}`);
}

// Errors while typing, with a fix.
await page.selectOption("#gallery", "fft");
await page.waitForTimeout(500);
await page.fill("#text", "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %0 = stablehlo.sin %x : tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n");
await page.waitForSelector("#problems .fix");
check("error", (await page.textContent("#status")) === "1 error", await page.textContent("#status"));
await shot("error");
await page.click("#problems .fix");
await statusIs("^valid");
check("fix", (await page.inputValue("#text")).includes("stablehlo.sine"), await page.inputValue("#text"));

// Completion by keys.
await page.click("#text");
await page.evaluate(() => {
  const text = document.getElementById("text");
  const at = text.value.indexOf("  return");
  text.setSelectionRange(at, at);
});
await page.keyboard.type("  %1 = stablehlo.cos");
await page.waitForSelector("#complete:not([hidden])");
await page.waitForTimeout(300);
await shot("completion");
await page.keyboard.press("Enter");
check("completion", (await page.inputValue("#text")).includes("%1 = stablehlo.cosine %operand"), await page.inputValue("#text"));
await page.keyboard.press("Control+z");

// Definition.
await page.selectOption("#gallery", "attention");
await page.waitForTimeout(500);
await page.evaluate(() => {
  const text = document.getElementById("text");
  const at = text.value.lastIndexOf("%weights") + 3;
  text.focus();
  text.setSelectionRange(at, at);
});
await page.keyboard.press("F12");
await page.waitForTimeout(300);
const selected = await page.evaluate(() => {
  const text = document.getElementById("text");
  return text.value.slice(text.selectionStart, text.selectionEnd + 2);
});
check("definition", selected === "%weights =", selected);

// Cost, passes, conversion, graph.
await page.click("#tab-cost");
await page.waitForFunction(() => document.getElementById("cost").textContent.includes("FLOP"));
await page.selectOption("#gallery", "composite");
await page.waitForTimeout(500);
await page.click("#tab-passes");
await page.fill("#pipeline", "stablehlo-legalize-composite-to-call,inline");
await page.click("#passes button:first-of-type");
await page.waitForSelector("#diff .cut");
await shot("passes");
await page.click("#tab-convert");
const [download] = await Promise.all([page.waitForEvent("download"), page.click("#convert button:first-of-type")]);
check("download", download.suggestedFilename() === "program.stablehlo", download.suggestedFilename());
await page.click("#tab-graph");
await page.waitForFunction(() => document.getElementById("graph").srcdoc.length > 1000, { timeout: 30000 });
await page.waitForTimeout(500);
await shot("graph");

// A link holds the program.
await page.click("#share");
await page.waitForFunction(() => location.hash.length > 10);
const other = await context.newPage();
await other.goto(page.url());
await other.waitForFunction(() => document.getElementById("text").value.includes("gallery.swish"), { timeout: 30000 });
await other.close();

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

check("no errors of the page", errors.length === 0, errors);
await browser.close();
server.close();
console.log(`playground: loaded in ${loaded} ms, first result after ${first} ms`);
console.log(failures === 0 ? "playground: passed" : "playground: failed");
process.exit(failures === 0 ? 0 : 1);
