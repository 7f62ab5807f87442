// The arguments of a program: typed, random or from files.

import { $, element } from "./core.js";
import { fromNpy, parseType, typed } from "./values.js";

/** The arguments of the first editor. */
export class Inputs {
  constructor() {
    this.texts = [];
    this.files = new Map();
    this.signature = undefined;
  }

  /** Forgets what was given, for another program. */
  reset(texts = []) {
    this.texts = texts;
    this.files.clear();
    this.signature = undefined;
  }

  /** Shows a field for each argument, if the signature has changed. */
  async show(editor) {
    const now = editor.version;
    const signature = await editor.core.ask("signature").catch(() => undefined);
    if (now !== editor.version || !signature) return;
    const key = JSON.stringify(signature);
    if (key === this.key && this.signature) return;
    [this.key, this.signature] = [key, signature];
    const rows = signature.inputs.map((type, index) => {
      const field = element("input", {
        type: "text", value: this.texts[index] ?? "random", spellcheck: false, id: `input-${index}`,
        title: "random, zeros, a number, lists of numbers, or a .npy file",
      });
      field.oninput = () => { this.texts[index] = field.value; this.files.delete(index); };
      field.setAttribute("list", "kinds");
      const file = element("input", { type: "file", accept: ".npy", className: "sr", tabIndex: -1, ariaLabel: `file for argument ${index}` });
      file.onchange = () => file.files[0] && this.give(index, file.files[0]);
      const choose = element("button", { type: "button", className: "small", textContent: "file", ariaLabel: `File for argument ${index}`, onclick: () => file.click() });
      const name = signature.names[index] || `argument ${index}`;
      const label = element("label", { htmlFor: field.id }, element("b", { textContent: name }), " ", element("code", { textContent: type }));
      return element("div", { className: "input" }, label, element("div", { className: "row" }, field, choose, file));
    });
    const kinds = element("datalist", { id: "kinds" }, ...["random", "zeros", "1"].map((value) => element("option", { value })));
    $("inputs").replaceChildren(...rows, kinds, element("button", { className: "sr", tabIndex: -1, textContent: "Run" }));
  }

  /** Takes a file of NumPy for an argument, or for the first of its type. */
  async give(index, file) {
    const value = fromNpy(await file.arrayBuffer());
    const types = this.signature?.inputs ?? [];
    const of = (type) => type.replace(/, #.*>$/, ">").replace(/, !.*>$/, ">");
    index ??= types.findIndex((type, i) => of(type) === value.type && !this.files.has(i));
    if (index < 0) throw new Error(`no argument is a ${value.type}`);
    if (of(types[index]) !== value.type) throw new Error(`the file has a ${value.type}, the argument is a ${types[index]}`);
    this.files.set(index, value);
    const field = $(`input-${index}`);
    field.value = this.texts[index] = file.name;
  }

  /** The values of the arguments. */
  async values(editor) {
    const { inputs } = await editor.core.ask("signature");
    const random = inputs.length && inputs.some((_, i) => this.isRandom(i)) ? await editor.core.ask("random", { seed: 0 }) : [];
    return inputs.map((type, index) => {
      const file = this.files.get(index);
      if (file) return file;
      if (this.isRandom(index)) return random[index];
      const text = this.texts[index].trim();
      if (parseType(type)) return { type, bytes: typed(text === "zeros" ? "0" : text, type) };
      throw new Error(`a ${type} can only be random, or come from a file`);
    });
  }

  isRandom(index) {
    return !this.files.has(index) && ["", "random"].includes((this.texts[index] ?? "").trim());
  }
}
