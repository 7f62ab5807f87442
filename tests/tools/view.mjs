// Looks at pages of programs in tests/tools in a browser, and measures that of a large program.
// Run by .ci/view.
import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { chromium } from "playwright-core";

const [small, run, difference, layers, judged, large, bert] = process.argv.slice(2);
const { BROWSER, SCREENSHOTS } = process.env;
const browser = await chromium.launch({ executablePath: BROWSER, args: ["--no-sandbox"] });

/** Opens a page without a network; what goes wrong in it fails the test. */
async function open(file, colorScheme) {
  const page = await browser.newPage({ colorScheme, viewport: { width: 1400, height: 900 } });
  page.on("pageerror", (error) => assert.fail(error.stack));
  page.on("request", (request) => assert(request.url().startsWith("file:"), request.url()));
  page.on("dialog", (dialog) => assert.fail(dialog.message()));
  await page.goto(`file://${file}`);
  return page;
}

async function screenshot(page, name) {
  if (SCREENSHOTS) await page.screenshot({ path: `${SCREENSHOTS}/${name}.png` });
}

/** The text of the panel. */
const details = (page) => page.locator("#details").innerText();
/** A node by the texts in it. */
const node = (page, label) =>
  page.locator("#graph").getByRole("button", { name: label, exact: true });

async function looksAt(page) {
  // The program and the cost of a run: 80 operations.
  assert.match(await details(page), /32 ops in 3 functions[^]*FLOPs\s+80 FLOP/);

  // An op shows its text, source, scope, cost and specification.
  await node(page, "dot_general, with 0.5").locator("text").first().click({ force: true });
  const dot = await details(page);
  assert.match(dot, /^stablehlo\.dot_general\s+@main › net › layer_0/);
  assert.match(dot, /contracting_dims = \[1\] x \[0\] : \(tensor<2x4xf32>, tensor<4x3xf32>\)/);
  assert.match(dot, /source\s+model\.py:3:1[^]*scope\s+net\/layer_0/);
  assert.match(dot, /runs\s+1\s+FLOPs\s+48 FLOP[^]*moved\s+104 B/);
  assert.match(dot, /inputs\['x'\]\s+2x4xf32[^]*4x3xf32\s+0\.5/);
  assert.match(dot, /Dot products of slices[^]*dot_general_c1/);
  assert((await page.locator(".edge.link.from").count()) > 0, "from the argument");
  assert.equal(await page.locator(".edge.link.to").count(), 1, "to tanh");
  await screenshot(page, "op");

  // Types are on edges, exporters' names on arguments.
  const types = await page.locator("#graph .type").allTextContents();
  assert(types.includes("2x4xf32") && types.includes("2x3xf32"), types.join());
  assert.equal(await node(page, "inputs['x']").count(), 1);

  // Values have the names that the text gives them; edges lead down, from arguments, too.
  assert.equal(await node(page, "%sum").count(), 1);
  await checkEdges(page);

  // The argument of the body is that of the loop: its edge starts at the argument of the program.
  await node(page, "%sum").dispatchEvent("click");
  const ends = await page.locator(".edge.link.from").evaluateAll((all) => all.length);
  assert(ends >= 3, "through the borders of the loop and of its body");
  await page.keyboard.press("Escape");

  // Scopes close and open.
  const layer = node(page, "layer_1");
  await layer.locator(".toggle").first().dispatchEvent("click");
  assert.equal(await node(page, "sine").count(), 0);
  await node(page, "layer_1, 2 ops · 12 FLOP").dispatchEvent("dblclick");
  assert.equal(await node(page, "sine").count(), 1);

  // A search finds what is closed, and opens it.
  assert.equal(await node(page, "abs, 2x3xf32").count(), 0);
  await page.keyboard.press("/");
  await page.keyboard.type("ABS tensor<2x3xf32>");
  assert.match(await page.locator("#matches").innerText(), /^1 match\s+%0 = stablehlo\.abs/);
  assert.match(await page.locator("#matches .where").innerText(), /^@main › @<\/script>/);
  await screenshot(page, "search");
  await page.keyboard.press("Enter");
  assert.match(await details(page), /^stablehlo\.abs/);
  assert.equal(await page.locator(".selected").getAttribute("aria-label"), "abs");

  // Regions and their ops.
  await page.fill("#search", "stablehlo.compare");
  await page.locator("#matches button").click();
  assert.match(await details(page), /@main › while › cond[^]*runs\s+6/);
  await page.fill("#search", "");

  // A constant has a histogram, with the element 4 in the last bar.
  await page.fill("#search", "dense<[0.000000e+00, 1.0");
  await page.locator("#matches button").click();
  assert.match(await details(page), /elements\s+4\s+min\s+0\s+max\s+4\s+mean\s+1\.75/);
  const bars = await page.locator(".histogram rect title").allTextContents();
  assert.equal(bars.length, 24);
  assert.match(bars.at(-1), /to 4: 1$/);
  await screenshot(page, "constant");

  // Texts of the program are no markup.
  await page.fill("#search", "onerror=alert");
  await page.locator("#matches button").click();
  assert.match(await details(page), /<img src=x onerror=alert\(1\)> \{\{page\.js\}\}/);
  assert.match(await details(page), /<\/script><img src=x onerror=document\.title='owned'>/);
  assert.equal(await page.locator("img, #graph b, #details p b b").count(), 0);
  assert.match(await page.title(), /view\.mlir – stablo view$/);
  assert.equal(await node(page, "@</script><b>bold</b>").count(), 1);

  // Costs by colour: the product has 48 of 92 operations, functions of elements included.
  await page.selectOption("#colour", "flops");
  assert.equal(await node(page, "dot_general, with 0.5, 52 %").count(), 1);
  await page.click("#fit");
  await screenshot(page, "cost");

  // Keys: space opens and closes, escape goes back to the program.
  await page.click("#collapse");
  assert.equal(await page.locator(".node").count(), 2);
  await page.keyboard.press("Tab");
  const main = page.locator(".node").first();
  await main.focus();
  await page.keyboard.press("Space");
  assert((await page.locator(".node").count()) > 3);
  await page.keyboard.press("Escape");
  assert.match(await details(page), /32 ops in 3 functions/);
  await keys(page);
  await saves(page);
}

/** Keys and buttons that move, and the help. */
async function keys(page) {
  await page.evaluate(() => document.activeElement.blur());
  const at = () => page.evaluate(() => ({ ...libraries.zoomTransform(panes[0].element) }));
  const start = await at();
  await page.keyboard.press("+");
  const large = await at();
  assert(large.k > start.k);
  await page.keyboard.press("-");
  assert((await at()).k < large.k);
  await page.keyboard.press("ArrowDown");
  assert((await at()).y < start.y, "the graph moves up");
  await page.click("#larger");
  await page.locator("#graph").focus();
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press("f");
  assert.equal((await at()).k, start.k);
  await page.keyboard.press("?");
  assert.equal(await page.locator("#help").isVisible(), true);
  await page.keyboard.press("Escape");
  assert.equal(await page.locator("#help").isVisible(), false);
  // Enter opens what has the focus.
  await page.click("#collapse");
  await page.locator(".node").first().focus();
  await page.keyboard.press("Enter");
  assert.match(await details(page), /^@main/);
  assert((await page.locator(".node").count()) > 3);
  // A click in the small map moves the graph.
  const before = await at();
  await page.locator(".minimap").click({ position: { x: 150, y: 20 } });
  assert.notDeepEqual(await at(), before);
}

/** What is open as files: SVG without a style sheet, and PNG. */
async function saves(page) {
  const saved = async (button) => {
    const [download] = await Promise.all([page.waitForEvent("download"), page.click(button)]);
    return [download.suggestedFilename(), readFileSync(await download.path())];
  };
  const [name, text] = await saved("#svg");
  assert.equal(name, "view.svg");
  assert.match(text.toString(), /^<svg [^]*fill="rgb[^]*>@main<[^]*<\/svg>$/);
  assert(!/class=|<img|style=|var\(/.test(text.toString()));
  const [, png] = await saved("#png");
  assert.equal(png.subarray(1, 4).toString(), "PNG");
  assert(png.readUInt32BE(16) > 200 && png.readUInt32BE(20) > 200);
}

/** No edge leads up, and none of what shows lies on something else. */
async function checkEdges(page) {
  const upwards = await page.evaluate(() =>
    panes.flatMap(({ graph }) =>
      graph.paths
        .filter(({ edge }) => !edge.isLoop && edge.points[0].y > edge.points.at(-1).y + 1)
        .map(({ path }) => path.outerHTML),
    ),
  );
  assert.deepEqual(upwards, []);
  const alone = await page.evaluate(() =>
    [...document.querySelectorAll(".node.argument")]
      .map((node) => panes[0].program.nodes[node.dataset.node])
      .filter((node) => node.values.some((value) => panes[0].program.users[value].length))
      .filter((node) => !panes[0].graph.paths.some(({ edge }) => edge.from === node))
      .map((node) => node.label),
  );
  assert.deepEqual(alone, [], "arguments that are used have edges");
}

/** Layers of one scope name are apart, and so are the calls of one function. */
async function looksAtLayers(page) {
  await page.evaluate(() => {
    const { program, graph } = panes[0];
    for (const node of program.nodes) if (node.children.length) graph.setOpen(node, true);
    graph.draw();
  });
  await screenshot(page, "layers");
  assert.equal(await node(page, "dense").count(), 2);
  assert.equal(await node(page, "act").count(), 1);
  const blocks = page.getByRole("button", { name: /^(Block|block) \d of 3/ });
  assert.equal(await blocks.count(), 3);
  await checkEdges(page);
}

/** A judged program: the op to blame is warm, and so is the element that is outside. */
async function looksAtErrors(page) {
  const heat = (label) =>
    node(page, label).locator("rect").first().evaluate((rect) => rect.style.getPropertyValue("--heat"));
  assert.equal(await page.locator("#colour").inputValue(), "error");
  assert.equal(await heat("abs, 100 %"), "100%");
  assert.equal(await heat("negate"), "");
  const text = await details(page);
  assert.match(text, /Results: outside \(model ieee\)[^]*OUTSIDE: 1 of 3 elements/);
  const cells = await page.locator(".errors .cell").evaluateAll((all) => all.map((cell) => cell.className.baseVal));
  assert.deepEqual(cells, ["cell inside", "cell inside", "cell outside"]);
  await node(page, "abs, 100 %").dispatchEvent("click");
  assert.match(await details(page), /recorded results\s+outside\s+off by at most\s+4194304 ulp/);
  await screenshot(page, "errors");
}

/** BERT opens on its layers. */
async function looksAtBert(page) {
  const labels = await page.locator("#graph .node").evaluateAll((all) => all.map((one) => one.ariaLabel));
  for (let layer = 0; layer < 6; layer++) {
    assert(labels.some((label) => label.startsWith(`layer/${layer}, `)), `layer/${layer}`);
  }
  assert(labels.length >= 10 && labels.length <= 60, `${labels.length} nodes`);
  await checkEdges(page);
  assert((await page.evaluate(() => libraries.zoomTransform(panes[0].element).k)) >= 0.75);
  await screenshot(page, "bert");
}

/** Of the sum with NaN and infinity, half of the elements are neither. */
async function looksAtRun(page) {
  await page.fill("#search", "%constant, %special");
  await page.locator("#matches button").click();
  assert.match(await details(page), /Elements of %5\s+elements\s+4[^]*nan\s+1\s+infinite\s+1/);

  // The profile: times of the program, of a group and of an op.
  await page.keyboard.press("Escape");
  await page.locator("#search").blur();
  await page.keyboard.press("Escape");
  assert.match(await details(page), /Time of a run\s+all\s+[\d.]+ (ns|µs|ms)[^]*Contents[^]*time/);
  await screenshot(page, "times");
  assert.equal(await page.locator("#colour").inputValue(), "seconds");
  await page.fill("#search", "dot_general");
  await page.locator("#matches button").first().click();
  const time = /Time\s+(own|share of its steps)\s+[\d.]+ (ns|µs|ms) \([^]* in 1 execution/;
  assert.match(await details(page), time);
  await screenshot(page, "time");
  await page.selectOption("#colour", "bad");
  assert.equal(await page.getByRole("button", { name: /^add.* with %constant, %special, 50 %$/ }).count(), 1);
  await screenshot(page, "run");
}

/** The bound of the loop is 8 on the left and 9 on the right. */
async function looksAtDifference(page) {
  const [left, right] = [0, 1].map((at) => page.locator(".pane").nth(at));
  await screenshot(page, "difference");
  assert.equal(await left.locator(".node.changed").count(), 1);
  await page.getByRole("button", { name: /^%.* = stablehlo\.constant dense<8/ }).click();
  assert.match(await details(page), /Differences[^]*dense<8\.0+e\+00>.* -> dense<9\.0+e\+00>/);
  // A click on an op selects that of the other program.
  await left.getByRole("button", { name: "add, with 1" }).locator("text").first().click();
  assert.equal(await right.locator(".selected").count(), 1);
  assert.match(await right.locator(".selected").getAttribute("aria-label"), /^add/);
}

/** Opens a large page, and everything in it by and by; reports times. */
async function measure(file) {
  const started = performance.now();
  const page = await open(file, "light");
  const loaded = performance.now() - started;
  await screenshot(page, "large");
  // Frames while the graph is dragged.
  const frames = async () => {
    await page.evaluate(() => {
      window.frames_ = [];
      const frame = (time) => window.frames_.push(time) && requestAnimationFrame(frame);
      requestAnimationFrame(frame);
    });
    await page.mouse.move(500, 800);
    await page.mouse.down();
    for (let step = 0; step < 40; step++) await page.mouse.move(500 + 5 * step, 800 - 10 * step);
    await page.mouse.up();
    return page.evaluate(() => {
      const spans = window.frames_.slice(1).map((time, at) => time - window.frames_[at]);
      return spans.sort((a, b) => a - b)[Math.floor(spans.length * 0.95)];
    });
  };
  const pan = await frames();
  const shown = await page.locator(".node").count();
  const all = await page.evaluate(() => {
    const started = performance.now();
    const { program, graph } = panes[0];
    for (const node of program.nodes) if (node.children.length) graph.setOpen(node, true);
    graph.draw();
    graph.fit();
    return performance.now() - started;
  });
  const everything = await page.locator(".node").count();
  await screenshot(page, "everything");
  const panAll = await frames();
  const search = await page.evaluate(() => {
    const started = performance.now();
    panes[0].program.search("dot_general f32");
    return performance.now() - started;
  });
  const ms = (time) => `${time.toFixed(0)} ms`;
  console.log(
    `view: ${file.split("/").at(-1)}: ${statSync(file).size} bytes, ` +
      `shown in ${ms(loaded)} (${shown} nodes), dragged at ${ms(pan)} a frame; search ${ms(search)}; ` +
      `everything open (${everything} nodes) in ${ms(all)}, dragged at ${ms(panAll)} a frame`,
  );
  assert(shown < 300, "a large program is closed at first");
}

for (const colorScheme of ["light", "dark"]) {
  const page = await open(small, colorScheme);
  await screenshot(page, colorScheme);
  if (colorScheme === "light") await looksAt(page);
}
await looksAtRun(await open(run, "dark"));
await looksAtDifference(await open(difference, "light"));
await looksAtLayers(await open(layers, "light"));
await looksAtErrors(await open(judged, "light"));
if (large) await measure(large);
if (bert) await looksAtBert(await open(bert, "light"));
await browser.close();
