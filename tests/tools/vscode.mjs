// Uses the extension in VS Code as a person would: opens programs, looks at errors, hover texts,
// completions, fixes, lenses and bytecode. VS Code is code-server, whose address and folder are given;
// `.ci/editors` starts it.
//
//   node vscode.mjs http://127.0.0.1:8123 FOLDER [SCREENSHOTS]

import { join } from "node:path";
import { chromium } from "playwright-core";

const [address, folder, screenshots] = process.argv.slice(2);
let failures = 0;
function check(what, holds, found) {
  if (holds) return;
  failures++;
  console.error(`failed: ${what}: ${JSON.stringify(found)}`);
}

const browser = await chromium.launch({ executablePath: process.env.BROWSER, args: ["--no-sandbox"] });
const page = await browser.newPage({ viewport: { width: 1400, height: 850 } });
page.setDefaultTimeout(120000);
const shot = (name) => screenshots && page.screenshot({ path: join(screenshots, `vscode-${name}.png`) });
const press = async (...keys) => {
  for (const key of keys) await page.keyboard.press(key);
};
const seen = (selector, text, timeout = 45000) => {
  const found = page.locator(selector, text ? { hasText: text } : {}).first();
  return found.waitFor({ timeout }).then(() => true, () => false);
};
const lines = (selector) => page.locator(selector).allTextContents();

async function open(name) {
  const row = page.locator(".explorer-folders-view .monaco-list-row").filter({ has: page.getByText(name, { exact: true }) });
  await row.first().dblclick();
  await page.waitForTimeout(800);
}

async function goTo(place) {
  await press("Control+g");
  await page.waitForTimeout(300);
  await page.keyboard.type(place);
  await press("Enter");
  await page.waitForTimeout(300);
}

/** Runs a command by its title. */
async function command(title) {
  await press("F1");
  await page.waitForTimeout(400);
  await page.keyboard.type(title);
  await page.waitForTimeout(700);
  await press("Enter");
}

await page.goto(`${address}/?folder=${folder}`);
check("VS Code starts", await seen(".explorer-folders-view .monaco-list-row"));

// Errors, with their fix.
await open("broken.mlir");
check("an error is underlined", await seen(".squiggly-error"));
check("the outline in the path", await seen(".breadcrumb-item, .monaco-breadcrumb-item", "main"));
await shot("error");
await goTo("2:12");
await press("Control+.");
check("a fix is offered", await seen(".action-widget, .context-view", "Replace by `stablehlo.cosine`"), await lines(".action-widget"));
await shot("fix");
await press("Enter");
await page.waitForTimeout(1500);
const text = () => lines(".view-line").then((all) => all.join("\n").replaceAll("\u00a0", " "));
check("the fix is applied", (await text()).includes("stablehlo.cosine %x"), await text());
await press("Control+z");

// Hover texts and lenses.
await open("attention.mlir");
check("lenses stand above functions", await seen(".codelens-decoration", "Trace"), await lines(".codelens-decoration"));
await goTo("8:15");
await press("Control+k", "Control+i");
check("an op is explained", await seen(".monaco-hover", "The reduction of"), await lines(".monaco-hover"));
await shot("hover");
await press("Escape");
await goTo("15:37");
await press("F12");
await page.waitForTimeout(800);
check("a definition is gone to", await seen(".line-numbers.active-line-number", "14"), await lines(".active-line-number"));

// Lenses show results beside the program.
await page.locator(".codelens-decoration a", { hasText: "Trace" }).first().click();
check("values are shown", await seen(".view-line", "result 0:"), await text());
await shot("trace");
await press("Control+w");
await page.waitForTimeout(300);
await open("attention.mlir");
await page.locator(".codelens-decoration a", { hasText: "Graph" }).first().click();
check("the graph is shown", await seen("iframe.webview.ready"));
await page.waitForTimeout(3000);
await shot("graph");

// Completion.
await open("sort.mlir");
await press("Control+End");
await page.keyboard.type("\nfunc.func @g(%x: tensor<f32>) -> tensor<f32> {\n%0 = stablehlo.cos", { delay: 15 });
const cosine = [".suggest-widget .monaco-list-row", "stablehlo.cosine"];
// The list that typing opens goes when it is empty for too long, as on a loaded machine.
if (!(await seen(...cosine, 10000))) await press("Escape", "Control+Space");
check("an op is completed", await seen(...cosine), await lines(".suggest-widget .monaco-list-row"));
await shot("completion");
await press("Escape");

// Bytecode as text, saved back as bytecode.
await open("attention.mlirbc");
check("bytecode is text", await seen(".view-line", "stablehlo.dot_general"), await text());
await shot("bytecode");
await open("program.stablehlo");
check("an artifact is text", await seen(".view-line", "stablehlo.sort"), await text());

await command("StableHLO: Run passes");
await page.waitForTimeout(500);
await press("Enter");
await page.waitForTimeout(1500);
await shot("passes");

await browser.close();
console.log(failures === 0 ? "vscode: passed" : "vscode: failed");
process.exit(failures === 0 ? 0 : 1);
