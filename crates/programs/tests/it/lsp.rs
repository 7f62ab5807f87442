//! The language server as a process: a session over its standard streams.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A session with `stablo lsp`.
struct Session {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    requests: i64,
    /// Notifications that came before an awaited response.
    notified: Vec<Value>,
}

impl Session {
    fn start() -> Session {
        let mut process = Command::new(env!("CARGO_BIN_EXE_stablo"))
            .arg("lsp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("stablo starts");
        let input = process.stdin.take().expect("a pipe");
        let output = BufReader::new(process.stdout.take().expect("a pipe"));
        Session { process, input, output, requests: 0, notified: Vec::new() }
    }

    fn send(&mut self, body: &str) {
        write!(self.input, "Content-Length: {}\r\n\r\n{body}", body.len()).expect("it reads");
        self.input.flush().expect("it reads");
    }

    fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string());
    }

    /// The next message.
    fn receive(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).expect("it writes") > 0, "the server ended");
            match line.trim_end().split_once(": ") {
                Some(("Content-Length", value)) => length = value.parse().expect("a number"),
                _ => break,
            }
        }
        let mut body = vec![0; length];
        self.output.read_exact(&mut body).expect("it writes");
        serde_json::from_slice(&body).expect("JSON")
    }

    /// The response to a request.
    fn request(&mut self, method: &str, params: Value) -> Value {
        self.requests += 1;
        let id = self.requests;
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.send(&request.to_string());
        loop {
            let message = self.receive();
            if message["id"] == id {
                return message;
            }
            self.notified.push(message);
        }
    }

    /// The parameters of the next notification of a method.
    fn notification(&mut self, method: &str) -> Value {
        loop {
            let message = match self.notified.is_empty() {
                true => self.receive(),
                false => self.notified.remove(0),
            };
            if message["method"] == method {
                return message["params"].clone();
            }
        }
    }

    fn end(mut self) -> i32 {
        assert_eq!(self.request("shutdown", Value::Null)["result"], Value::Null);
        self.notify("exit", Value::Null);
        self.process.wait().expect("it ends").code().expect("an exit code")
    }
}

#[test]
fn a_session_over_standard_streams() {
    let mut session = Session::start();
    let early = session.request("textDocument/hover", json!({}));
    assert_eq!(early["error"]["code"], -32002);
    let capabilities = session.request("initialize", json!({"capabilities": {}}));
    assert_eq!(capabilities["result"]["capabilities"]["positionEncoding"], "utf-16");
    session.notify("initialized", json!({}));
    // A message that is no JSON is skipped.
    session.send("{nonsense");
    let uri = "file:///test.mlir";
    let text = "// \u{1d4b3}\nfunc.func @f(%x: tensor<f32>) -> tensor<f32> {\n  /* */\n}\n";
    let text =
        text.replace("/* */", "%0 = stablehlo.sine %x : tensor<f32>\n  return %1 : tensor<f32>");
    let document = json!({"uri": uri, "languageId": "mlir", "version": 1, "text": text});
    session.notify("textDocument/didOpen", json!({"textDocument": document}));
    let found = session.notification("textDocument/publishDiagnostics");
    assert_eq!(found["diagnostics"][0]["code"], "parse");
    let range = json!({"start": {"line": 3, "character": 9}, "end": {"line": 3, "character": 11}});
    assert_eq!(found["diagnostics"][0]["range"], range);
    // The error is mended in the text, and columns count units of UTF-16.
    let changes = json!([
        {"range": range, "text": "%0"},
        {"range": {"start": {"line": 0, "character": 3}, "end": {"line": 0, "character": 5}}, "text": "X"},
    ]);
    let changed = json!({"textDocument": {"uri": uri, "version": 2}, "contentChanges": changes});
    session.notify("textDocument/didChange", changed);
    let found = session.notification("textDocument/publishDiagnostics");
    assert_eq!(found["version"], 2);
    assert_eq!(found["diagnostics"], json!([]));
    let at = json!({"textDocument": {"uri": uri}, "position": {"line": 3, "character": 10}});
    let definition = session.request("textDocument/definition", at.clone());
    assert_eq!(definition["result"]["range"]["start"], json!({"line": 2, "character": 2}));
    let hover = session.request("textDocument/hover", at.clone());
    assert!(hover["result"]["contents"]["value"].as_str().expect("text").contains("tensor<f32>"));
    let mut references = at;
    references["context"] = json!({"includeDeclaration": true});
    let references = session.request("textDocument/references", references);
    assert_eq!(references["result"].as_array().expect("a list").len(), 2);
    let whole =
        json!({"textDocument": {"uri": uri}, "options": {"tabSize": 2, "insertSpaces": true}});
    let symbols = session.request("textDocument/documentSymbol", whole.clone());
    assert_eq!(symbols["result"][0]["name"], "f");
    assert_eq!(session.request("textDocument/formatting", whole)["result"], json!([]));
    // As bytecode and back, with the requests of mlir-lsp-server.
    let bytecode = session.request("mlir/convertToBytecode", json!({"uri": uri}));
    let bytecode = bytecode["result"]["output"].as_str().expect("base 64").to_string();
    assert!(bytecode.starts_with("TUzvUg"), "the magic number of bytecode");
    let folder = std::env::temp_dir().join(format!("stablo-lsp-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let artifact = folder.join("a.stablehlo");
    std::fs::write(folder.join("a.mlir"), "func.func @main() { return }").expect("a file");
    let converted = Command::new(env!("CARGO_BIN_EXE_stablo"))
        .args(["convert", "a.mlir", "a.stablehlo", "--target", "1.0.0"])
        .current_dir(&folder)
        .status()
        .expect("stablo starts");
    assert!(converted.success());
    let artifact = json!({"uri": format!("file://{}", artifact.display())});
    let opened = session.request("mlir/convertFromBytecode", artifact.clone());
    assert!(opened["result"]["output"].as_str().expect("text").contains("@main"));
    let opened = session.request("stablo/open", artifact.clone());
    assert_eq!(opened["result"]["format"], "portable artifact of StableHLO 1.0.0");
    let mut saved = artifact;
    saved["text"] = opened["result"]["text"].clone();
    let saved = session.request("stablo/save", saved);
    assert!(saved["result"]["output"].as_str().expect("base 64").starts_with("TUzvUg"));
    std::fs::remove_dir_all(&folder).expect("it can go");
    // Lenses and their commands.
    let lenses = session.request("textDocument/codeLens", json!({"textDocument": {"uri": uri}}));
    let run = lenses["result"][0]["command"].clone();
    assert_eq!(run["title"], "Run");
    let result = session.request(
        "workspace/executeCommand",
        json!({"command": run["command"], "arguments": run["arguments"]}),
    );
    assert!(result["result"]["text"].as_str().expect("text").contains("result 0: dense<"));
    let unknown = session.request("textDocument/nonsense", json!({}));
    assert_eq!(unknown["error"]["code"], -32601);
    assert_eq!(session.end(), 0);
}

#[test]
fn a_client_that_goes_away_ends_the_server() {
    let mut session = Session::start();
    session.request("initialize", json!({"capabilities": {}}));
    drop(session.input);
    assert_eq!(session.process.wait().expect("it ends").code(), Some(1));
}
