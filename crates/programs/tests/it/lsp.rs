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

/// A session after `initialize`.
fn initialized() -> Session {
    let mut session = Session::start();
    let capabilities = json!({"general": {"positionEncodings": ["utf-16"]}});
    session.request("initialize", json!({"capabilities": capabilities}));
    session.notify("initialized", json!({}));
    session
}

fn open(session: &mut Session, uri: &str, text: &str) -> Value {
    let document = json!({"uri": uri, "languageId": "mlir", "version": 1, "text": text});
    session.notify("textDocument/didOpen", json!({"textDocument": document}));
    session.notification("textDocument/publishDiagnostics")
}

/// Requests about a position.
const AT_POSITIONS: [&str; 11] = [
    "textDocument/hover",
    "textDocument/definition",
    "textDocument/declaration",
    "textDocument/references",
    "textDocument/documentHighlight",
    "textDocument/prepareRename",
    "textDocument/rename",
    "textDocument/completion",
    "textDocument/signatureHelp",
    "textDocument/prepareCallHierarchy",
    "textDocument/selectionRange",
];

/// Requests about a range or the whole text.
const AT_RANGES: [&str; 9] = [
    "textDocument/documentSymbol",
    "textDocument/foldingRange",
    "textDocument/semanticTokens/full",
    "textDocument/semanticTokens/range",
    "textDocument/inlayHint",
    "textDocument/codeLens",
    "textDocument/codeAction",
    "textDocument/formatting",
    "textDocument/rangeFormatting",
];

#[test]
fn positions_anywhere_are_answered() {
    let mut session = initialized();
    let uri = "file:///places.mlir";
    let text =
        "// \u{1d4b3}\u{e9}\r\nfunc.func @f(%x: tensor<f32>) {\r\n  %0 = stablehlo.sinus %x\r}\n";
    open(&mut session, uri, text);
    let far = u64::from(u32::MAX);
    // Positions within surrogate pairs, past the ends of lines, and past the end of the text.
    let places = [
        (0, 0),
        (0, 4),
        (0, 5),
        (0, far),
        (1, 15),
        (2, 23),
        (2, 24),
        (3, 0),
        (3, far),
        (9, 0),
        (far, far),
    ];
    for (line, character) in places {
        let position = json!({"line": line, "character": character});
        let range = json!({"start": position, "end": {"line": far, "character": far}});
        let params = json!({
            "textDocument": {"uri": uri},
            "position": position,
            "positions": [position],
            "range": range,
            "newName": "new",
            "context": {"includeDeclaration": true, "diagnostics": [], "triggerKind": 1, "isRetrigger": false},
            "options": {"tabSize": 2, "insertSpaces": true},
        });
        for method in AT_POSITIONS.iter().chain(&AT_RANGES) {
            let response = session.request(method, params.clone());
            let code = response["error"]["code"].as_i64().unwrap_or_default();
            // Names that cannot be renamed are refused; nothing is a fault of the server.
            assert!([0, -32803].contains(&code), "{method} at {line}:{character}: {response}");
        }
    }
    assert_eq!(session.end(), 0);
}

#[test]
fn hostile_messages_do_not_end_the_server() {
    let mut session = initialized();
    let uri = "file:///hostile.mlir";
    for body in [
        "",
        "{",
        "null",
        "[]",
        "{}",
        "\"text\"",
        "{\"jsonrpc\": \"2.0\"}",
        "\u{0}\u{1}",
        "{\"id\": {}, \"method\": 1}",
    ] {
        session.send(body);
    }
    session.send(&"[".repeat(100_000));
    session.send(&format!(
        "{{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":{}1{}}}",
        "[".repeat(100_000),
        "]".repeat(100_000)
    ));
    // Headers that are none, and lengths that are none, are skipped up to the next message.
    write!(session.input, "nonsense\r\nContent-Type: x\r\n").expect("it reads");
    write!(session.input, "Content-Length: 0\r\n\r\n").expect("it reads");
    // Texts that are not open, parameters of other types, unknown methods, responses to nothing.
    for (method, params) in [
        (
            "textDocument/didChange",
            json!({"textDocument": {"uri": "file:///none", "version": 1}, "contentChanges": [{"text": "x"}]}),
        ),
        ("textDocument/didClose", json!({"textDocument": {"uri": "file:///none"}})),
        ("textDocument/didOpen", json!({"textDocument": 1})),
        ("textDocument/didChange", json!([1, 2, 3])),
        ("$/cancelRequest", json!({"id": 12345})),
        ("$/unknown", json!(null)),
    ] {
        session.notify(method, params);
    }
    session.send(&json!({"jsonrpc": "2.0", "id": 99, "result": null}).to_string());
    let unknown = session.request("textDocument/unknown", json!({}));
    assert_eq!(unknown["error"]["code"], -32601, "{unknown}");
    for method in AT_POSITIONS.iter().chain(&AT_RANGES) {
        for params in [
            json!(null),
            json!([]),
            json!({"textDocument": {"uri": 1}}),
            json!({"position": {"line": -1}}),
        ] {
            let response = session.request(method, params);
            assert_eq!(response["error"]["code"], -32602, "{method}: {response}");
        }
        let closed = json!({"textDocument": {"uri": "file:///none"}});
        let response = session.request(method, closed);
        assert_eq!(response["error"]["code"], -32602, "{method}: {response}");
    }
    for command in ["stablo.run", "stablo.nothing"] {
        for arguments in [json!([]), json!([1]), json!([{"uri": "file:///none"}])] {
            let response = session.request(
                "workspace/executeCommand",
                json!({"command": command, "arguments": arguments}),
            );
            assert!(response["error"]["code"].is_i64(), "{response}");
        }
    }
    // Texts that are hostile to parsers.
    for text in [
        "(".repeat(100_000),
        "{".repeat(100_000),
        "<".repeat(100_000),
        "%".repeat(100_000),
        "\u{0}".repeat(1000),
    ] {
        open(&mut session, uri, &text);
        let hover = session.request(
            "textDocument/hover",
            json!({"textDocument": {"uri": uri}, "position": {"line": 0, "character": 50}}),
        );
        assert!(hover.get("result").is_some(), "{hover}");
    }
    assert_eq!(session.end(), 0);
}

/// Numbers that follow from a seed.
fn random(seed: &mut u64, below: usize) -> usize {
    *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    (*seed >> 33) as usize % below.max(1)
}

/// The diagnostics of a text of this version that do not change any more.
fn settled(session: &mut Session, uri: &str, version: u64) -> Value {
    let of_it = |m: &Value| m["params"]["uri"] == uri && m["params"]["version"] == version;
    let mut found = Value::Null;
    while found["version"] != version || found["uri"] != uri {
        found = session.notification("textDocument/publishDiagnostics");
    }
    // The answer waits for the check of all of a large text. Diagnostics of its lints follow before
    // any other answer.
    for of in [uri, "file:///none"] {
        let position = json!({"line": 0, "character": 0});
        session.request(
            "textDocument/hover",
            json!({"textDocument": {"uri": of}, "position": position}),
        );
    }
    let last = session.notified.iter().rfind(|m| of_it(m)).map(|m| m["params"].clone());
    session.notified.clear();
    last.unwrap_or(found)["diagnostics"].clone()
}

#[test]
fn requests_about_large_texts_wait_for_their_check() {
    let mut text = String::from("module {\n");
    for number in 0..4000 {
        text.push_str(&format!("  func.func @f{number}(%x: tensor<f32>) -> tensor<f32> {{\n    %0 = stablehlo.sine %x : tensor<f32>\n    return %0 : tensor<f32>\n  }}\n"));
    }
    text.push_str("}\n");
    let mut session = initialized();
    let uri = "file:///large.mlir";
    open(&mut session, uri, &text);
    let edit = |session: &mut Session, version: u64| {
        let at = json!({"line": 0, "character": 0});
        let changes = json!([{"range": {"start": at, "end": at}, "text": "\n"}]);
        let document = json!({"uri": uri, "version": version});
        session.notify(
            "textDocument/didChange",
            json!({"textDocument": document, "contentChanges": changes}),
        );
    };
    let outline = json!({"textDocument": {"uri": uri}});
    edit(&mut session, 2);
    let found = session.request("textDocument/documentSymbol", outline.clone());
    assert_eq!(found["result"].as_array().map(Vec::len), Some(4001));
    let start = &found["result"][0]["location"]["range"]["start"];
    assert_eq!(start["line"], 1, "the outline is of the edited text");
    // Waiting requests are refused when the text changes or the client cancels them, and
    // nothing else waits for it.
    let ask = |session: &mut Session, id: i64| {
        let method = "textDocument/documentSymbol";
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": outline});
        session.send(&request.to_string());
    };
    let answer = |session: &mut Session, id: i64| loop {
        let message = session.receive();
        if message["id"] == id {
            return message;
        }
    };
    edit(&mut session, 3);
    ask(&mut session, 1001);
    let folds = session.request("textDocument/foldingRange", outline.clone());
    assert_eq!(folds["result"].as_array().map(Vec::len), Some(4001));
    edit(&mut session, 4);
    assert_eq!(answer(&mut session, 1001)["error"]["code"], -32801);
    ask(&mut session, 1002);
    session.notify("$/cancelRequest", json!({"id": 1002}));
    assert_eq!(answer(&mut session, 1002)["error"]["code"], -32800);
    ask(&mut session, 1003);
    assert_eq!(session.end(), 0);
}

#[test]
fn edits_of_large_and_small_texts_have_the_diagnostics_of_fresh_ones() {
    let line = "    %0 = stablehlo.sine %x : tensor<f32> loc(\"\u{e9}\u{1d4b3}\")\r\n";
    for functions in [3, 4000] {
        let mut text = String::from("module {\r\n");
        for number in 0..functions {
            text.push_str(&format!("  func.func @f{number}(%x: tensor<f32>) -> tensor<f32> {{\r\n{line}    return %0 : tensor<f32>\r\n  }}\r\n"));
        }
        text.push_str("}\r\n");
        let mut session = initialized();
        open(&mut session, "file:///edited.mlir", &text);
        let (mut seed, mut version) = (functions as u64, 1);
        for _ in 0..40 {
            // An edit in units of UTF-16, made by the client, too.
            let lines: Vec<&str> = text.split('\n').collect();
            let row = random(&mut seed, lines.len());
            let units: Vec<u16> = lines[row].trim_end_matches('\r').encode_utf16().collect();
            let boundary = |at: usize| {
                let is_low = units.get(at).is_some_and(|unit| (0xdc00..0xe000).contains(unit));
                if is_low { at - 1 } else { at }
            };
            let first = boundary(random(&mut seed, units.len() + 1));
            let last = boundary((first + random(&mut seed, 3)).min(units.len())).max(first);
            let typed = ["", "x", "\r\n", "\n", "}", "%0", "\u{1d4b3}"][random(&mut seed, 7)];
            let bytes = |at: usize| String::from_utf16_lossy(&units[..at]).len();
            let start: usize = lines[..row].iter().map(|line| line.len() + 1).sum();
            let (from, to) = (start + bytes(first), start + bytes(last));
            text.replace_range(from..to, typed);
            version += 1;
            let range = json!({"start": {"line": row, "character": first}, "end": {"line": row, "character": last}});
            let document = json!({"uri": "file:///edited.mlir", "version": version});
            session.notify("textDocument/didChange", json!({"textDocument": document, "contentChanges": [{"range": range, "text": typed}]}));
        }
        let found = settled(&mut session, "file:///edited.mlir", version);
        let uri = "file:///fresh.mlir";
        let document = json!({"uri": uri, "languageId": "mlir", "version": 77, "text": text});
        session.notify("textDocument/didOpen", json!({"textDocument": document}));
        let expected = settled(&mut session, uri, 77);
        let places = |list: &Value| -> Vec<String> {
            let list = list.as_array().expect("a list").iter();
            list.map(|d| format!("{} {} {}", d["range"], d["code"], d["message"])).collect()
        };
        assert_eq!(places(&found), places(&expected), "{functions} functions");
        assert_eq!(session.end(), 0);
    }
}
