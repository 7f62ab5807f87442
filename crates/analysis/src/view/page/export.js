// The graph as a file: SVG, or PNG that a browser makes of it.

/** Styles of elements that pictures have. */
const STYLES = [
  ..."fill stroke stroke-width stroke-dasharray opacity paint-order".split(" "),
  ..."font-size font-weight font-family text-anchor".split(" "),
];
/** The longest side of a PNG, in pixels, and the most pixels. */
const MAX_SIDE = 16000;
const MAX_PIXELS = 1e8;
const MARGIN = 12;

/** Colours as all programs read them, by their text in CSS. */
const plainColours = new Map();

function plainColour(text) {
  if (text === "none" || /^(rgb|#)/.test(text)) return text;
  if (!plainColours.has(text)) {
    const context = measurer;
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = text;
    context.fillRect(0, 0, 1, 1);
    const [red, green, blue] = context.getImageData(0, 0, 1, 1).data;
    plainColours.set(text, `rgb(${red}, ${green}, ${blue})`);
  }
  return plainColours.get(text);
}

/** A copy of an element that needs no style sheet. */
function withStyles(element) {
  const style = getComputedStyle(element);
  if (style.display === "none") return null;
  const copy = element.cloneNode(false);
  for (const name of ["class", "style", "tabindex", "role", "aria-label"]) {
    copy.removeAttribute(name);
  }
  if (["rect", "path", "text"].includes(element.localName)) {
    for (const name of STYLES) {
      const value = style.getPropertyValue(name);
      const isText = /^(font|text)/.test(name);
      if (!value || (isText && element.localName !== "text")) continue;
      copy.setAttribute(name, /^(fill|stroke)$/.test(name) ? plainColour(value) : value);
    }
  }
  for (const child of element.childNodes) {
    const inner = child.nodeType === Node.TEXT_NODE ? child.cloneNode() : withStyles(child);
    if (inner) copy.append(inner);
  }
  return copy;
}

/** All that is open, as the text of an SVG file. */
function svgText(graph) {
  const { width, height } = graph.places(graph.program.root);
  const { element } = graph;
  // At every scale, all texts are in it.
  const isFar = element.classList.contains("far");
  element.classList.remove("far");
  const drawing = withStyles(graph.view);
  const marker = withStyles(document.querySelector("#arrow").parentNode);
  element.classList.toggle("far", isFar);
  drawing.removeAttribute("transform");
  const [wide, high] = [width + 2 * MARGIN, height + 2 * MARGIN].map(Math.ceil);
  const box = { x: -MARGIN, y: -MARGIN, width: wide, height: high };
  const fill = plainColour(getComputedStyle(document.body).backgroundColor);
  const size = { width: wide, height: high, viewBox: `${-MARGIN} ${-MARGIN} ${wide} ${high}` };
  const picture = svg("svg", size, marker, svg("rect", { ...box, fill }), drawing);
  return new XMLSerializer().serializeToString(picture);
}

/** All that is open, as a PNG of twice the size if that is not too large. */
async function pngBlob(graph) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svgText(graph))}`;
  await image.decode();
  const { width, height } = image;
  const scale = Math.min(2, MAX_SIDE / Math.max(width, height), (MAX_PIXELS / width / height) ** 0.5);
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width * scale, height * scale].map(Math.floor);
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

function download(blob, name) {
  const href = URL.createObjectURL(blob);
  html("a", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 10000);
}

/** Saves a graph as a file with the name of the program. */
async function save(graph, format) {
  const name = graph.program.name.split(/[/\\]/).at(-1).replace(/\.\w+$/, "") || "program";
  const svgBlob = () => new Blob([svgText(graph)], { type: "image/svg+xml" });
  download(format === "png" ? await pngBlob(graph) : svgBlob(), `${name}.${format}`);
}
