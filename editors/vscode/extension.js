// The extension: a client of `stablo lsp`, with panels for what the server computes.

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

/** Programs in bytecode as texts: `stablo:/path/model.mlirbc.mlir`. */
const SCHEME = "stablo";

/** Results of commands: `stablo-result:/run main.txt`. */
const RESULTS = "stablo-result";

let client;

/** The file of a text of this scheme. */
const fileOf = (uri) => uri.with({ scheme: "file", path: uri.path.replace(/\.mlir$/, "") });

/** The text of a file. */
const textOf = (uri) => uri.with({ scheme: SCHEME, path: `${uri.path}.mlir` });

/** Results of commands: read-only texts, one a command, which a later result replaces. */
class Results {
  constructor() {
    this.texts = new Map();
    this.changes = new vscode.EventEmitter();
    this.onDidChange = this.changes.event;
  }
  provideTextDocumentContent(uri) {
    return this.texts.get(uri.path) ?? "";
  }
  /** Shows a text beside the editor. */
  async show(name, content, language) {
    const uri = vscode.Uri.from({ scheme: RESULTS, path: `/${name}` });
    this.texts.set(uri.path, content);
    this.changes.fire(uri);
    const document = await vscode.workspace.openTextDocument(uri);
    await vscode.languages.setTextDocumentLanguage(document, language);
    const options = { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true, preview: true };
    await vscode.window.showTextDocument(document, options);
  }
}
const results = new Results();

let page;

/** Shows a page in the panel of graphs. */
function showPage(html, title) {
  if (!page) {
    const options = { enableScripts: true, retainContextWhenHidden: true };
    page = vscode.window.createWebviewPanel("stablo.graph", title, { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true }, options);
    page.onDidDispose(() => (page = undefined));
  }
  page.title = title;
  page.webview.html = html;
  page.reveal(undefined, true);
}

/** Asks where to save an artifact, and does so. */
async function save(base64) {
  const uri = await vscode.window.showSaveDialog({ filters: { "Portable artifact": ["stablehlo"] } });
  if (uri) await vscode.workspace.fs.writeFile(uri, Buffer.from(base64, "base64"));
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
    const isProgram = !["stablo.run", "stablo.trace", "stablo.cost"].includes(command);
    const name = `${command.replace("stablo.", "")} ${argument.function ?? "program"}.${isProgram ? "mlir" : "txt"}`;
    await results.show(name, result.text, isProgram ? "mlir" : "plaintext");
  } else if (result.data !== undefined) {
    await save(result.data);
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

/** Opens the text of a file of bytecode in place of an editor of bytes. */
const bytecodeEditor = {
  openCustomDocument: (uri) => ({ uri, dispose() {} }),
  async resolveCustomEditor(document, panel) {
    try {
      const { format } = await client.sendRequest("stablo/open", { uri: document.uri.toString() });
      const text = await vscode.workspace.openTextDocument(textOf(document.uri));
      await vscode.languages.setTextDocumentLanguage(text, "mlir");
      await vscode.window.showTextDocument(text, panel.viewColumn);
      panel.dispose();
      vscode.window.setStatusBarMessage(`${format}: saving keeps the format and version`, 10000);
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
    initializationOptions: { panels: true },
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
  register("stablo.runMain", () => onFile("stablo.run"));
  register("stablo.traceMain", () => onFile("stablo.trace"));
  register("stablo.costOfMain", () => onFile("stablo.cost"));
  register("stablo.makeReproducer", () => onFile("stablo.reproducer"));
  register("stablo.runPasses", async () => {
    const pipeline = await vscode.window.showInputBox({ title: "Passes", value: "canonicalize,cse" });
    return pipeline && onFile("stablo.transform", { pipeline });
  });
  register("stablo.saveArtifact", async () => {
    const target = await vscode.window.showInputBox({ title: "Version of the readers", value: "WEEK_12" });
    return target && onFile("stablo.convert", { target });
  });
  context.subscriptions.push(
    vscode.workspace.registerTextDocumentContentProvider(RESULTS, results),
    vscode.workspace.registerFileSystemProvider(SCHEME, new Texts(), { isCaseSensitive: true }),
    vscode.window.registerCustomEditorProvider("stablo.bytecode", bytecodeEditor),
  );
  try {
    await client.start();
  } catch {
    const settings = "Open the setting";
    const answer = await vscode.window.showErrorMessage(`${command} lsp does not start: is stablo installed, and the setting stablo.path right?`, settings);
    if (answer) await vscode.commands.executeCommand("workbench.action.openSettings", "stablo.path");
  }
}

const deactivate = () => client?.stop();

module.exports = { activate, deactivate };
