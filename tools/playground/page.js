// The page: its parts, files, links and settings.

import { $, decoder, encoder } from "./core.js";
import { Editor } from "./editor.js";
import { gallery } from "./gallery.js";
import { Inputs } from "./inputs.js";
import { TABS, Views } from "./views.js";

/** Shows the state of the first program. */
function showState(text, kind = "") {
  $("status").textContent = text;
  $("status").dataset.kind = kind;
}

/** Says what was done, beside the state, for some seconds; a failure until something else is said. */
function say(text, kind = "") {
  $("notice").textContent = text;
  $("notice").dataset.kind = kind;
  clearTimeout(say.timer);
  if (kind !== "error") say.timer = setTimeout(() => ($("notice").textContent = ""), 8000);
}

const inputs = new Inputs();
const first = new Editor($("first"), {
  label: "program",
  onStatus: showState,
  onFailure: (text) => say(text, "error"),
  async onChange(editor) {
    if (editor.isValid) await inputs.show(editor);
    views.refresh();
    saveDraft();
  },
});
const second = new Editor($("second"), { label: "second program", onStatus: () => {}, onFailure: (text) => say(text, "error"), onChange: () => saveDraft() });
const views = new Views(first, second, inputs, say);

// Two programs.

function compare(isOn) {
  $("second").hidden = !isOn;
  $("compare-button").setAttribute("aria-pressed", isOn);
  if (isOn && !second.value) second.value = first.value;
}
$("compare-button").onclick = () => {
  const isOn = $("second").hidden;
  compare(isOn);
  if (isOn) views.open("compare");
};
views.onCompare = () => compare(true);

// Programs.

function take(program, { values = [], other, tab } = {}) {
  inputs.reset(values);
  views.reset();
  first.value = program;
  if (other) {
    second.value = other;
    compare(true);
  }
  if (tab) views.open(tab);
}

async function openFile(file, editor = first) {
  try {
    if (file.name.endsWith(".npy")) {
      await inputs.give(undefined, file);
      views.open("run");
      return say(`${file.name} is an argument`);
    }
    const bytes = new Uint8Array(await file.arrayBuffer());
    const opened = await editor.core.ask("open", { name: file.name, bytes });
    editor === first ? take(opened.text) : (editor.value = opened.text);
    say(`${file.name}: ${opened.format}`);
  } catch (error) {
    say(error.message.split("\n")[0], "error");
  }
}
$("open-button").onclick = () => $("open").click();
$("open").onchange = ({ target }) => {
  if (target.files[0]) openFile(target.files[0]);
  target.value = "";
};
document.addEventListener("dragover", (event) => event.preventDefault());
document.addEventListener("drop", async (event) => {
  event.preventDefault();
  const editor = $("second").contains(event.target) ? second : first;
  for (const file of event.dataTransfer.files) await openFile(file, editor);
});

const examples = $("gallery");
for (const { name } of gallery) examples.add(new Option(name.replaceAll("_", " "), name));
examples.onchange = () => {
  say("");
  take(gallery.find(({ name }) => name === examples.value).text);
};

$("format").onclick = () => first.format();

// A link holds both programs and the arguments.

async function squeeze(bytes, stream) {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}

function state() {
  const other = $("second").hidden ? undefined : second.value;
  return { text: first.value, inputs: inputs.texts.map((text) => text ?? "random"), other, tab: views.tab };
}

$("share").onclick = async () => {
  const packed = await squeeze(encoder.encode(JSON.stringify(state())), new CompressionStream("deflate-raw"));
  let binary = "";
  for (const byte of packed) binary += String.fromCharCode(byte);
  location.hash = btoa(binary).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
  await navigator.clipboard?.writeText(location.href).catch(() => {});
  say(inputs.files.size ? "the link is copied; files are not in it" : "the link is in the address, and copied");
};

async function fromLink() {
  const packed = atob(location.hash.slice(1).replace(/-/g, "+").replace(/_/g, "/"));
  const bytes = await squeeze(Uint8Array.from(packed, (c) => c.charCodeAt(0)), new DecompressionStream("deflate-raw"));
  const { text, inputs: values, other, tab } = JSON.parse(decoder.decode(bytes));
  take(String(text), { values, other, tab: TABS.includes(tab) ? tab : undefined });
}

/** Keeps what is written for the next visit. */
function saveDraft() {
  try {
    localStorage.setItem("draft", JSON.stringify(state()));
  } catch { /* Storage is full or not allowed. */ }
}

async function begin() {
  if (location.hash.length > 1) {
    try {
      return await fromLink();
    } catch {
      say("the link cannot be read", "error");
    }
  }
  try {
    const { text, inputs: values, other } = JSON.parse(localStorage.getItem("draft"));
    if (text) {
      examples.value = gallery.find((example) => example.text === text)?.name ?? "";
      return take(text, { values, other });
    }
  } catch { /* There is no draft. */ }
  take(gallery[0].text);
}

// Settings.

const THEMES = ["automatic", "light", "dark"];

function theme(name) {
  document.documentElement.style.colorScheme = name === "automatic" ? "" : name;
  $("theme").ariaLabel = `Colours: ${name}`;
  $("theme").textContent = { automatic: "◐", light: "☀", dark: "☾" }[name];
}
let chosen = THEMES.includes(localStorage.getItem("theme")) ? localStorage.getItem("theme") : "automatic";
theme(chosen);
$("theme").onclick = () => {
  chosen = THEMES[(THEMES.indexOf(chosen) + 1) % THEMES.length];
  localStorage.setItem("theme", chosen);
  theme(chosen);
  say(`colours: ${chosen}`);
};
$("help").onclick = () => $("keys").showModal();

function width(percent) {
  const value = Math.min(80, Math.max(20, percent));
  document.documentElement.style.setProperty("--left", `${value}%`);
  $("splitter").ariaValueNow = String(Math.round(value));
  localStorage.setItem("width", value);
}
width(Number(localStorage.getItem("width")) || 58);
$("splitter").onpointerdown = (event) => {
  $("splitter").setPointerCapture(event.pointerId);
  $("splitter").onpointermove = ({ clientX }) => width((clientX / innerWidth) * 100);
};
$("splitter").onpointerup = () => ($("splitter").onpointermove = null);
$("splitter").onkeydown = ({ key }) => {
  const by = { ArrowLeft: -2, ArrowRight: 2 }[key];
  if (by) width(Number($("splitter").ariaValueNow) + by);
};

document.addEventListener("keydown", (event) => {
  const isCommand = event.ctrlKey || event.metaKey;
  if (event.key === "Enter" && isCommand) { event.preventDefault(); views.tab === "steps" ? views.record() : views.run(); }
  if (event.code === "KeyF" && event.shiftKey && event.altKey) { event.preventDefault(); first.format(); }
  const digit = event.altKey && /^Digit([1-7])$/.exec(event.code);
  if (digit) { event.preventDefault(); views.open(TABS[Number(digit[1]) - 1]); }
  const by = event.altKey && { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (by && views.tab === "steps") { event.preventDefault(); views.step(views.at + by); }
});

addEventListener("hashchange", () => fromLink().catch(() => {}));

// The page works without a network after the first visit.
if ("serviceWorker" in navigator && location.protocol.startsWith("http")) {
  navigator.serviceWorker.register("offline.js").catch(() => {});
}

begin();
