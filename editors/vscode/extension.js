// The extension: a client of `stablo lsp`, with panels for what the server computes.

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

/** Programs in bytecode as texts: `stablo:/path/model.mlirbc.mlir`. */
const SCHEME = "stablo";

let client;

/** The file of a text of this scheme. */
const fileOf = (uri) => uri.with({ scheme: "file", path: uri.path.replace(/\.mlir$/, "") });

/** The text of a file. */
const textOf = (uri) => uri.with({ scheme: SCHEME, path: `${uri.path}.mlir` });

/** Opens a text beside the editor. */
async function show(content, language) {
  const document = await vscode.workspace.openTextDocument({ content, language });
  await vscode.window.showTextDocument(document, vscode.ViewColumn.Beside, true);
}

function showPage(html, title) {
  const options = { enableScripts: true, retainContextWhenHidden: true };
  const panel = vscode.window.createWebviewPanel("stablo.graph", title, vscode.ViewColumn.Beside, options);
  panel.webview.html = html;
}

/** Asks for the sizes of a program. Returns what `stablo.refine` takes, or undefined. */
async function askSizes() {
  const answer = await vscode.window.showInputBox({
    title: "Make the program static",
    prompt: "A batch size (16), sizes by name (b=16, n=8), or the types of all arguments",
    value: "1",
  });
  if (answer === undefined) return undefined;
  if (answer.includes("tensor<")) return { types: answer };
  if (/^\d+$/.test(answer.trim())) return { batch: Number(answer) };
  const pairs = answer.split(",").map((pair) => pair.split("="));
  return { dimensions: Object.fromEntries(pairs.map(([name, size]) => [name.trim(), Number(size)])) };
}

/** Runs a command on the server and shows its result. */
async function execute(command, args, next) {
  const argument = { ...args[0] };
  if (command === "stablo.refine") {
    const sizes = await askSizes();
    if (!sizes) return undefined;
    Object.assign(argument, sizes);
  }
  let result;
  try {
    result = await next(command, [argument]);
  } catch (error) {
    return vscode.window.showErrorMessage(error.message);
  }
  if (!result) return result;
  if (command === "stablo.graph") showPage(result.text, `Graph: ${vscode.Uri.parse(argument.uri).path.split("/").pop()}`);
  else if (command === "stablo.showReferences") {
    const uri = vscode.Uri.parse(result.uri);
    const range = (r) => new vscode.Range(r.start.line, r.start.character, r.end.line, r.end.character);
    const places = result.ranges.map((r) => new vscode.Location(uri, range(r)));
    const at = new vscode.Position(argument.position.line, argument.position.character);
    await vscode.commands.executeCommand("editor.action.showReferences", uri, at, places);
  } else if (result.text !== undefined) {
    await show(result.text, ["stablo.run", "stablo.cost"].includes(command) ? "plaintext" : "mlir");
  }
  return result;
}

/** The argument of a command about the active editor. */
function here() {
  const editor = vscode.window.activeTextEditor;
  if (!editor) return undefined;
  const position = ({ line, character }) => ({ line, character });
  const { start, end } = editor.selection;
  return { uri: editor.document.uri.toString(), position: position(start), range: { start: position(start), end: position(end) } };
}

/** Bytecode as text, written back in the format and version of the file. */
class Texts {
  constructor() {
    this.changes = new vscode.EventEmitter();
    this.onDidChangeFile = this.changes.event;
  }
  watch() { return new vscode.Disposable(() => {}); }
  async stat(uri) { return vscode.workspace.fs.stat(fileOf(uri)); }
  readDirectory() { return []; }
  createDirectory() { throw vscode.FileSystemError.NoPermissions(); }
  delete() { throw vscode.FileSystemError.NoPermissions(); }
  rename() { throw vscode.FileSystemError.NoPermissions(); }
  async readFile(uri) {
    const { text } = await client.sendRequest("stablo/open", { uri: fileOf(uri).toString() });
    return Buffer.from(text);
  }
  async writeFile(uri, content) {
    const text = Buffer.from(content).toString();
    const { output } = await client.sendRequest("stablo/save", { uri: fileOf(uri).toString(), text });
    await vscode.workspace.fs.writeFile(fileOf(uri), Buffer.from(output, "base64"));
    this.changes.fire([{ type: vscode.FileChangeType.Changed, uri }]);
  }
}

/** Says what a file of bytecode is, and opens its text. */
const bytecodeEditor = {
  openCustomDocument: (uri) => ({ uri, dispose() {} }),
  async resolveCustomEditor(document, panel) {
    try {
      const { format } = await client.sendRequest("stablo/open", { uri: document.uri.toString() });
      panel.webview.html = `<body><p>${format.replace(/[<&]/g, (c) => `&#${c.charCodeAt(0)};`)}</p><p>Its text is open in another tab; saving that keeps the format and version.</p></body>`;
      const text = await vscode.workspace.openTextDocument(textOf(document.uri));
      await vscode.languages.setTextDocumentLanguage(text, "mlir");
      await vscode.window.showTextDocument(text);
    } catch (error) {
      panel.webview.html = `<body><pre>${error.message.replace(/[<&]/g, (c) => `&#${c.charCodeAt(0)};`)}</pre></body>`;
    }
  },
};

async function activate(context) {
  const command = vscode.workspace.getConfiguration("stablo").get("path");
  const server = { command, args: ["lsp"] };
  const options = {
    documentSelector: [{ language: "mlir" }],
    middleware: { executeCommand: execute },
  };
  client = new LanguageClient("stablo", "StableHLO", server, options);
  const register = (name, run) => context.subscriptions.push(vscode.commands.registerCommand(name, run));
  const onFile = (name, more = {}) => {
    const argument = here();
    return argument && vscode.commands.executeCommand(name, { ...argument, ...more });
  };
  register("stablo.restart", () => client.restart());
  register("stablo.graphOfFile", () => onFile("stablo.graph"));
  register("stablo.makeReproducer", () => onFile("stablo.reproducer"));
  register("stablo.runPasses", async () => {
    const pipeline = await vscode.window.showInputBox({ title: "Passes", value: "canonicalize,cse" });
    return pipeline && onFile("stablo.transform", { pipeline });
  });
  register("stablo.saveArtifact", async () => {
    const target = await vscode.window.showInputBox({ title: "Version of the readers", value: "WEEK_12" });
    if (!target) return;
    const result = await onFile("stablo.convert", { target });
    if (!result?.data) return;
    const uri = await vscode.window.showSaveDialog({ filters: { "Portable artifact": ["stablehlo"] } });
    if (uri) await vscode.workspace.fs.writeFile(uri, Buffer.from(result.data, "base64"));
  });
  context.subscriptions.push(
    vscode.workspace.registerFileSystemProvider(SCHEME, new Texts(), { isCaseSensitive: true }),
    vscode.window.registerCustomEditorProvider("stablo.bytecode", bytecodeEditor),
  );
  await client.start();
}

const deactivate = () => client?.stop();

module.exports = { activate, deactivate };
