// Tensors: types, elements, files of NumPy, and how values are shown.

import { decoder, element } from "./core.js";

const ARRAYS = {
  f64: Float64Array, f32: Float32Array, i64: BigInt64Array, i32: Int32Array, i16: Int16Array, i8: Int8Array,
  ui64: BigUint64Array, ui32: Uint32Array, ui16: Uint16Array, ui8: Uint8Array, i1: Uint8Array,
  i4: Int8Array, i2: Int8Array, ui4: Uint8Array, ui2: Uint8Array,
};
const NUMPY = { f8: "f64", f4: "f32", f2: "f16", i8: "i64", i4: "i32", i2: "i16", i1: "i8", u8: "ui64", u4: "ui32", u2: "ui16", u1: "ui8", b1: "i1", c8: "complex<f32>", c16: "complex<f64>" };
/** Narrow floats: bits of exponent and mantissa, bias, and whether the largest exponent is that of infinities. */
const NARROW = { f16: [5, 10, 15, true], bf16: [8, 7, 127, true], f8E5M2: [5, 2, 15, true], f8E4M3: [4, 3, 7, true], f8E3M4: [3, 4, 3, true], f8E4M3FN: [4, 3, 7, false], f4E2M1FN: [2, 1, 1, false], f6E2M3FN: [2, 3, 1, false], f6E3M2FN: [3, 2, 3, false] };

/** The shape and element type of `tensor<2x3xf32>`; undefined for dynamic ones and others. */
export function parseType(type) {
  const parts = /^tensor<((?:\d+x)*)([a-z].*)>$/i.exec(type);
  if (!parts) return undefined;
  const shape = parts[1].split("x").slice(0, -1).map(Number);
  const element = parts[2].split(",")[0];
  return { shape, element, count: shape.reduce((n, size) => n * size, 1) };
}

function narrow(bits, [exponentBits, mantissaBits, bias, hasInfinities]) {
  const sign = bits >> (exponentBits + mantissaBits) & 1 ? -1 : 1;
  const exponent = (bits >> mantissaBits) & ((1 << exponentBits) - 1);
  const mantissa = bits & ((1 << mantissaBits) - 1);
  const isTop = exponent === (1 << exponentBits) - 1;
  if (isTop && hasInfinities) return mantissa ? NaN : sign * Infinity;
  if (isTop && exponentBits === 4 && mantissa === 7) return NaN;
  if (exponent === 0) return sign * mantissa * 2 ** (1 - bias - mantissaBits);
  return sign * (1 + mantissa / 2 ** mantissaBits) * 2 ** (exponent - bias);
}

/** The elements of a tensor: numbers, bigints, booleans or [real, imaginary]; undefined for types unknown here. */
export function elementsOf({ type, bytes }) {
  const { element: name } = parseType(type) ?? {};
  const complex = /^complex<(f32|f64)>$/.exec(name ?? "");
  const own = bytes.slice().buffer;
  if (complex) {
    const parts = new ARRAYS[complex[1]](own);
    return Array.from({ length: parts.length / 2 }, (_, i) => [parts[2 * i], parts[2 * i + 1]]);
  }
  if (name in NARROW) {
    const bits = ["f16", "bf16"].includes(name) ? new Uint16Array(own) : new Uint8Array(own);
    return Float64Array.from(bits, (b) => narrow(b, NARROW[name]));
  }
  return name in ARRAYS ? new ARRAYS[name](own) : undefined;
}

const scratch = new DataView(new ArrayBuffer(8));

/** A number in the bits of an element type, appended to a view. */
function write(view, at, name, value) {
  const complex = /^complex<(f32|f64)>$/.exec(name);
  if (complex) {
    const size = complex[1] === "f32" ? 4 : 8;
    const [re, im] = Array.isArray(value) ? value : [value, 0];
    write(view, at, complex[1], re);
    return size + write(view, at + size, complex[1], im);
  }
  switch (name) {
    case "f64": view.setFloat64(at, value, true); return 8;
    case "f32": view.setFloat32(at, value, true); return 4;
    case "bf16": {
      scratch.setFloat32(0, value);
      const bits = scratch.getUint32(0);
      view.setUint16(at, (bits + 0x7fff + ((bits >> 16) & 1)) >>> 16, true);
      return 2;
    }
    case "i64": case "ui64": view.setBigInt64(at, BigInt(Math.trunc(Number(value))), true); return 8;
    case "i32": case "ui32": view.setInt32(at, Number(value), true); return 4;
    case "i16": case "ui16": view.setInt16(at, Number(value), true); return 2;
    case "i1": view.setUint8(at, value ? 1 : 0); return 1;
    case "i8": case "ui8": case "i4": case "ui4": case "i2": case "ui2": view.setInt8(at, Number(value)); return 1;
    default: break;
  }
  if (!(name in NARROW)) throw new Error(`values of ${name} cannot be typed here: use random, zeros or a file`);
  // The nearest of all values; of two as near, that with even bits.
  const size = name === "f16" ? 2 : 1;
  const count = name === "f16" ? 1 << 16 : 1 << (1 + NARROW[name][0] + NARROW[name][1]);
  let best = 0;
  for (let bits = 0; bits < count; bits++) {
    const [d, e] = [Math.abs(narrow(bits, NARROW[name]) - value), Math.abs(narrow(best, NARROW[name]) - value)];
    if (d < e || (d === e && bits % 2 === 0 && best % 2 === 1)) best = bits;
  }
  size === 2 ? view.setUint16(at, best, true) : view.setUint8(at, best);
  return size;
}

const sizeOf = (name) => write(new DataView(new ArrayBuffer(16)), 0, name, 0);

/** The bytes of a value that is typed: a number for all elements, or nested lists of them. */
export function typed(value, type) {
  const parsed = parseType(type);
  if (!parsed) throw new Error(`a ${type} cannot be typed here`);
  const json = value.replace(/\btrue\b/g, "1").replace(/\bfalse\b/g, "0").replace(/\b-?(nan|inf)\b/gi, (x) => `"${x}"`);
  const flat = [JSON.parse(json)].flat(Infinity).map((x) => (typeof x === "string" ? Number(x.replace(/inf/i, "Infinity")) : x));
  const isComplex = parsed.element.startsWith("complex");
  const pairs = isComplex && flat.length === 2 * parsed.count ? flat.length / 2 : flat.length;
  if (flat.length !== 1 && pairs !== parsed.count) throw new Error(`a ${type} has ${parsed.count} elements, not ${flat.length}`);
  const size = sizeOf(parsed.element);
  const view = new DataView(new ArrayBuffer(parsed.count * size));
  for (let i = 0; i < parsed.count; i++) {
    const one = isComplex && flat.length === 2 * parsed.count ? [flat[2 * i], flat[2 * i + 1]] : flat[flat.length === 1 ? 0 : i];
    write(view, i * size, parsed.element, one);
  }
  return new Uint8Array(view.buffer);
}

/** The type and elements of a file of NumPy. */
export function fromNpy(buffer) {
  const bytes = new Uint8Array(buffer);
  if (decoder.decode(bytes.subarray(1, 6)) !== "NUMPY") throw new Error("the file is no .npy file");
  const isWide = bytes[6] > 1;
  const view = new DataView(buffer);
  const length = isWide ? view.getUint32(8, true) : view.getUint16(8, true);
  const start = (isWide ? 12 : 10) + length;
  const head = decoder.decode(bytes.subarray(start - length, start));
  const code = /'descr': '[<|]([a-z]\d+)'/.exec(head)?.[1];
  const element = NUMPY[code];
  if (!element) throw new Error(`the file has elements of ${code ?? "a structure"}, which programs lack`);
  const shape = /'shape': \(([^)]*)\)/.exec(head)?.[1].split(",").filter((s) => s.trim()).map(Number) ?? [];
  if (/'fortran_order': True/.test(head)) throw new Error("the array is in the order of Fortran: save numpy.ascontiguousarray of it");
  return { type: `tensor<${shape.map((n) => `${n}x`).join("")}${element}>`, bytes: bytes.slice(start) };
}

/** A tensor as a file of NumPy; narrow floats as unsigned integers of their bits. */
export function toNpy({ type, bytes }) {
  const { shape, element } = parseType(type);
  const codes = Object.fromEntries(Object.entries(NUMPY).map(([code, name]) => [name, code]));
  const size = bytes.length / Math.max(1, shape.reduce((n, s) => n * s, 1));
  const code = codes[element] ?? (element.startsWith("i") ? `i${size || 1}` : `u${size || 1}`);
  const order = /1$/.test(code) ? "|" : "<";
  let head = `{'descr': '${order}${code}', 'fortran_order': False, 'shape': (${shape.join(", ")}${shape.length === 1 ? "," : ""}), }`;
  head = head.padEnd(Math.ceil((head.length + 11) / 64) * 64 - 11) + "\n";
  const file = new Uint8Array(10 + head.length + bytes.length);
  file.set([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, head.length & 255, head.length >> 8]);
  file.set(new TextEncoder().encode(head), 10);
  file.set(bytes, 10 + head.length);
  return file;
}

/** A hash of bytes (FNV-1a of 64 bits), which shows whether results have the same bits elsewhere. */
export function hash(bytes) {
  // Four limbs of 16 bits: BigInt would be slow.
  let [a, b, c, d] = [0x2325, 0x8422, 0x9ce4, 0xcbf2];
  for (const byte of bytes) {
    a ^= byte;
    const [w, x, y, z] = [a * 0x1b3, b * 0x1b3, c * 0x1b3 + (a << 8) , d * 0x1b3 + (b << 8)];
    a = w & 0xffff;
    const p = x + Math.floor(w / 65536);
    b = p & 0xffff;
    const q = y + Math.floor(p / 65536);
    c = q % 65536;
    d = (z + Math.floor(q / 65536)) % 65536;
  }
  return [d, c, b, a].map((limb) => limb.toString(16).padStart(4, "0")).join("");
}

const plain = (n) => (typeof n === "bigint" || Number.isInteger(n) ? String(n) : Number(n.toPrecision(6)).toString());

/** An element for people. */
export function number(n) {
  if (!Array.isArray(n)) return plain(n);
  const imaginary = plain(Math.abs(n[1]));
  return `${plain(n[0])}${n[1] < 0 || Object.is(n[1], -0) ? "−" : "+"}${imaginary}i`;
}

const real = (n) => (Array.isArray(n) ? Math.hypot(...n) : Number(n));

/** The smallest and largest finite element, the mean, and how many are not finite. */
export function summary(elements) {
  let [low, high, sum, finite] = [Infinity, -Infinity, 0, 0];
  for (const item of elements) {
    const n = real(item);
    if (!Number.isFinite(n)) continue;
    [low, high, sum, finite] = [Math.min(low, n), Math.max(high, n), sum + n, finite + 1];
  }
  return { low, high, mean: finite ? sum / finite : NaN, others: elements.length - finite };
}

/** `1.5`, or the range of many elements. */
export function brief(value) {
  const elements = elementsOf(value);
  if (!elements) return "";
  if (elements.length <= 4) return [...elements].map(number).join(", ");
  const { low, high, others } = summary(elements);
  const range = low > high ? "" : `${plain(low)} … ${plain(high)}`;
  return others ? `${range}${range ? ", " : ""}${others} not finite` : range;
}

const MAX_CELLS = 64;

function table(elements, rows, columns, label) {
  const made = element("table");
  const body = made.createTBody();
  for (let r = 0; r < Math.min(rows, MAX_CELLS); r++) {
    const row = body.insertRow();
    row.append(element("th", { scope: "row", textContent: r }));
    for (let c = 0; c < Math.min(columns, MAX_CELLS); c++) row.insertCell().textContent = number(elements[r * columns + c]);
  }
  if (rows > 0 && columns > 1) {
    const head = made.createTHead().insertRow();
    head.append(element("td"), ...Array.from({ length: Math.min(columns, MAX_CELLS) }, (_, c) => element("th", { scope: "col", textContent: c })));
  }
  const box = element("div", { className: "scroll", tabIndex: 0, role: "region", ariaLabel: label }, made);
  return box;
}

/** Colours from dark blue by green to yellow, the same for all people. */
const SHADES = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];
function shade(t) {
  const at = Math.min(Math.max(t, 0), 1) * (SHADES.length - 1);
  const [low, part] = [SHADES[Math.floor(at)], at % 1];
  const high = SHADES[Math.min(Math.floor(at) + 1, SHADES.length - 1)];
  return low.map((x, i) => x + (high[i] - x) * part);
}

/** A matrix as colours, or one of three columns of bytes as such. */
function picture(elements, rows, columns, channels = 1) {
  const canvas = element("canvas", { role: "img" });
  canvas.ariaLabel = "the values as colours, from the smallest, dark, to the largest, light";
  [canvas.width, canvas.height] = [Math.min(columns, 1024), Math.min(rows, 1024)];
  const scale = Math.max(1, Math.min(24, Math.floor(256 / Math.max(canvas.width, canvas.height))));
  canvas.style.width = `${canvas.width * scale}px`;
  const { low, high } = summary(elements);
  const context = canvas.getContext("2d");
  const image = context.createImageData(canvas.width, canvas.height);
  const part = (n) => (real(n) - low) / (high - low || 1);
  for (let r = 0; r < canvas.height; r++) for (let c = 0; c < canvas.width; c++) {
    const at = (r * columns + c) * channels;
    const colour = channels === 3 ? [0, 1, 2].map((i) => part(elements[at + i]) * 255) : shade(part(elements[at]));
    const isFinite = Number.isFinite(real(elements[at]));
    image.data.set(isFinite ? [...colour, 255] : [200, 0, 0, 255], 4 * (r * canvas.width + c));
  }
  context.putImageData(image, 0, 0);
  return canvas;
}

/** A vector as a line. */
function plot(elements) {
  const [width, height, pad] = [480, 160, 6];
  const { low, high } = summary(elements);
  const step = Math.max(1, Math.ceil(elements.length / 2000));
  const points = [];
  for (let i = 0; i < elements.length; i += step) {
    const y = real(elements[i]);
    if (!Number.isFinite(y)) continue;
    const x = pad + (i / Math.max(1, elements.length - 1)) * (width - 2 * pad);
    points.push(`${x.toFixed(1)},${(height - pad - ((y - low) / (high - low || 1)) * (height - 2 * pad)).toFixed(1)}`);
  }
  const box = element("figure", { className: "plot" });
  const dots = points.length <= 64 ? points.map((p) => `<circle cx="${p.split(",")[0]}" cy="${p.split(",")[1]}" r="2.5"/>`).join("") : "";
  box.innerHTML = `<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="the values in order: ${elements.length} from ${plain(low)} to ${plain(high)}"><polyline points="${points.join(" ")}"/>${dots}</svg><figcaption><span>${plain(low)} … ${plain(high)}</span></figcaption>`;
  return box;
}

/** Shows a tensor: a table, and a picture or a plot; of more than two dimensions a slice. */
export function show(value, title) {
  const box = element("section", { className: "result", ariaLabel: title });
  const save = element("button", { type: "button", className: "small", textContent: ".npy", title: "Download as a file of NumPy" });
  save.onclick = () => {
    const link = element("a", { href: URL.createObjectURL(new Blob([toNpy(value)])), download: `${title.replace(/\W+/g, "_")}.npy` });
    link.click();
  };
  box.append(element("h2", {}, `${title} `, element("code", { textContent: value.type }), save));
  const parsed = parseType(value.type);
  const elements = elementsOf(value);
  const note = element("p", { className: "note", textContent: `${value.bytes.length} bytes · hash ${hash(value.bytes)}` });
  if (!elements || !parsed) {
    box.append(note);
    return box;
  }
  const { shape } = parsed;
  const isColoured = shape.length === 3 && shape[2] === 3 && shape[0] >= 4 && shape[1] >= 4;
  const leading = shape.slice(0, Math.max(0, shape.length - 2));
  const at = leading.map(() => 0);
  const body = element("div");
  const draw = () => {
    const size = shape.slice(leading.length).reduce((n, s) => n * s, 1);
    const offset = at.reduce((n, index, i) => n * leading[i] + index, 0) * size;
    const part = elements.slice(offset, offset + size);
    const columns = shape.at(-1) ?? 1;
    const rows = columns ? part.length / columns : 0;
    body.replaceChildren(table(part, rows, columns, `values of ${title}`));
    if (isColoured) body.append(picture(elements, shape[0], shape[1], 3));
    else if (rows >= 3 && columns >= 3) body.append(picture(part, rows, columns));
    else if (part.length >= 4) body.append(plot(part));
    if (rows > MAX_CELLS || columns > MAX_CELLS) body.append(element("p", { className: "note", textContent: `the first ${MAX_CELLS} rows and columns are shown` }));
  };
  if (leading.length && elements.length) {
    const slice = element("p", { className: "slice" }, "slice ");
    leading.forEach((size, i) => {
      const field = element("input", { type: "number", min: 0, max: size - 1, value: 0, ariaLabel: `index in dimension ${i}` });
      field.oninput = () => { at[i] = Math.min(Math.max(0, field.valueAsNumber || 0), size - 1); draw(); };
      slice.append(field, ` of ${size} `);
    });
    box.append(slice);
  }
  draw();
  box.append(body, note);
  return box;
}
