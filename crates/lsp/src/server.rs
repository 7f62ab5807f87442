//! The main loop: one thread answers requests in order. Diagnostics follow when no message waits;
//! of large texts at once for the part around an edit, and for all of it from another thread when
//! typing pauses.

use crate::handlers;
use crate::position::{Encoding, LineIndex};
use crate::worker::{Job, Outcome, Progress, Worker};
use ide::{Edit, File, Finding, Severity, Span};
use ls_types::Uri;
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// Diagnostics that take long are computed when no message has come for this long.
const PAUSE: Duration = Duration::from_millis(20);

/// Diagnostics are computed after this long, even if messages keep coming.
const PATIENCE: Duration = Duration::from_millis(300);

/// Diagnostics that took less time last are computed without a pause.
const SHORT: Duration = Duration::from_millis(10);

/// A large text is checked as a whole when it has not changed for this long.
const LARGE_PAUSE: Duration = Duration::from_millis(150);

/// A text that is open in the editor.
pub(crate) struct Document {
    /// The text.
    pub file: File,
    /// Its lines.
    pub lines: LineIndex,
    /// The version that the editor counts.
    pub version: i32,
    /// The diagnostics of a large text: from its last check, moved by edits, and newer ones of the
    /// part around the last edit.
    pub findings: Vec<Finding>,
    /// The range of edits since diagnostics were published.
    edited: Option<Span>,
    /// When the text is to be checked as a whole.
    due: Option<Instant>,
    /// How long its diagnostics took last.
    took: Duration,
}

impl Document {
    /// An open text.
    pub(crate) fn new(file: File, encoding: Encoding, version: i32) -> Document {
        let lines = LineIndex::new(file.text(), encoding);
        let due = file.is_large().then(Instant::now);
        let findings = Vec::new();
        Document { file, lines, version, findings, edited: None, due, took: Duration::ZERO }
    }

    /// Replaces a part of the text.
    pub(crate) fn edit(&mut self, edit: &Edit) {
        if !self.file.edit(edit) {
            return;
        }
        self.lines.edit(self.file.text(), edit);
        self.findings.retain_mut(|finding| finding.follow(edit));
        let end = edit.span.start + edit.text.len() as u32;
        let Some(before) = self.edited else {
            self.edited = Some(Span { start: edit.span.start, end });
            return;
        };
        let by = (edit.text.len() as u32).wrapping_sub(edit.span.end - edit.span.start);
        let last = if before.end > edit.span.end { before.end.wrapping_add(by) } else { end };
        self.edited = Some(Span { start: before.start.min(edit.span.start), end: last.max(end) });
    }

    /// Replaces the whole text.
    pub(crate) fn set_text(&mut self, text: String, encoding: Encoding) {
        self.file.set_text(text);
        self.lines = LineIndex::new(self.file.text(), encoding);
        self.findings.clear();
        self.edited = None;
    }

    /// Replaces the errors in the part around the last edit by its present ones.
    fn check_part(&mut self) {
        let Some(edited) = self.edited.take() else { return };
        let Some((part, found)) = self.file.diagnostics_around(edited) else { return };
        self.findings.retain(|finding| {
            let is_within = part.start <= finding.span.start && finding.span.end <= part.end;
            !(is_within && finding.severity == Severity::Error)
        });
        self.findings.extend(found);
        self.findings.sort_by_key(|finding| finding.span.start);
    }
}

/// The capabilities of a client.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Client {
    /// Completions may have placeholders.
    pub snippets: bool,
    /// Edits may name versions and create files.
    pub document_changes: bool,
    /// Outlines may be nested.
    pub hierarchical_symbols: bool,
    /// Edits may create files.
    pub new_files: bool,
    /// Results of commands are shown by the client: it says so by the option `panels`.
    pub panels: bool,
    /// The client opens files that the server names.
    pub show_document: bool,
}

/// The state of the server.
pub(crate) struct Server {
    /// Open texts.
    pub documents: HashMap<Uri, Document>,
    /// The unit of columns.
    pub encoding: Encoding,
    /// Abilities of the client.
    pub client: Client,
    /// Folders of the workspace.
    pub folders: Vec<std::path::PathBuf>,
    /// The folder with results of commands, for clients that show files.
    pub results: Option<std::path::PathBuf>,
    /// Texts whose diagnostics are out of date.
    stale: BTreeSet<Uri>,
    /// When the first of them became so.
    stale_since: Option<Instant>,
    /// Requests about large texts that wait for their check.
    waiting: Vec<(Uri, Request)>,
    worker: Worker,
    /// The number of requests to the client.
    asked: i32,
    sender: crossbeam_channel::Sender<Message>,
}

/// Serves a client until it says goodbye. Returns true if it did so in the order of the protocol:
/// `shutdown`, then `exit`.
pub fn serve(connection: &Connection) -> bool {
    let mut server = Server {
        documents: HashMap::new(),
        encoding: Encoding::Utf16,
        client: Client::default(),
        folders: Vec::new(),
        results: None,
        stale: BTreeSet::new(),
        stale_since: None,
        waiting: Vec::new(),
        worker: Worker::start(),
        asked: 0,
        sender: connection.sender.clone(),
    };
    let mut queue: VecDeque<Message> = VecDeque::new();
    let mut phase = Phase::New;
    loop {
        queue.extend(connection.receiver.try_iter());
        if server.stale_since.is_some_and(|since| since.elapsed() > PATIENCE) {
            server.publish_one();
        }
        let message = match queue.pop_front() {
            Some(message) => message,
            None => match server.wait(connection) {
                Wait::Message(message) => message,
                Wait::Again => continue,
                Wait::Disconnected => return false,
            },
        };
        match message {
            Message::Request(request) => {
                // Cancellations that are already here count.
                queue.extend(connection.receiver.try_iter());
                let response = match (phase, &*request.method) {
                    (_, "shutdown") => {
                        phase = Phase::ShutDown;
                        let code = ErrorCode::RequestCanceled;
                        server.refuse_waiting(|_, _| true, code, "the server is shut down");
                        Response::new_ok(request.id, Value::Null)
                    }
                    (Phase::New, "initialize") => {
                        phase = Phase::Running;
                        let (id, params) = (request.id, request.params);
                        Response::new_ok(id, handlers::initialize(&mut server, &params))
                    }
                    (Phase::New, _) => Response::new_err(
                        request.id,
                        ErrorCode::ServerNotInitialized as i32,
                        "`initialize` must be the first request".into(),
                    ),
                    (Phase::ShutDown, _) | (Phase::Running, "initialize") => Response::new_err(
                        request.id,
                        ErrorCode::InvalidRequest as i32,
                        "the server is shut down or already initialized".into(),
                    ),
                    (Phase::Running, _) if is_cancelled(&queue, &request.id) => Response::new_err(
                        request.id,
                        ErrorCode::RequestCanceled as i32,
                        "cancelled".into(),
                    ),
                    (Phase::Running, _) => match server.defer(request) {
                        Some(request) => server.respond(request),
                        None => continue,
                    },
                };
                server.send(response.into());
            }
            Message::Notification(notification) => {
                if notification.method == "exit" {
                    return phase == Phase::ShutDown;
                }
                if phase == Phase::Running {
                    server.notified(notification);
                }
            }
            Message::Response(_) => {}
        }
    }
}

/// The result of waiting for a message.
enum Wait {
    Message(Message),
    /// Something else was done.
    Again,
    Disconnected,
}

/// The phase of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    New,
    Running,
    ShutDown,
}

/// True if a request is cancelled by a message that waits.
fn is_cancelled(queue: &VecDeque<Message>, id: &RequestId) -> bool {
    queue.iter().any(|message| match message {
        Message::Notification(notification) if notification.method == "$/cancelRequest" => {
            let cancelled = notification.params.get("id").cloned();
            cancelled.and_then(|id| serde_json::from_value::<RequestId>(id).ok()).as_ref()
                == Some(id)
        }
        _ => false,
    })
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(folder) = &self.results {
            // Else it stays among the temporary files.
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}

impl Server {
    /// Sends a message. A client that is gone is noticed when the next message is read.
    pub(crate) fn send(&self, message: Message) {
        let _ = self.sender.send(message);
    }

    /// Sends a request whose response does not matter.
    pub(crate) fn ask(&mut self, method: &str, params: Value) {
        self.asked += 1;
        let id = RequestId::from(self.asked);
        self.send(Request::new(id, method.to_string(), params).into());
    }

    /// Answers a request. A fault of the server is an error of that request.
    fn respond(&mut self, request: Request) -> Response {
        let Request { id, method, params } = request;
        let answer = catch_unwind(AssertUnwindSafe(|| handlers::request(self, &method, params)));
        match answer {
            Ok(Ok(result)) => Response::new_ok(id, result),
            Ok(Err((code, message))) => Response::new_err(id, code as i32, message),
            Err(_) => {
                self.recover();
                let message = format!("a fault of stablo in {method}: please report it");
                Response::new_err(id, ErrorCode::InternalError as i32, message)
            }
        }
    }

    fn notified(&mut self, notification: Notification) {
        let Notification { method, params } = notification;
        let handled =
            catch_unwind(AssertUnwindSafe(|| handlers::notification(self, &method, params)));
        if handled.is_err() {
            self.recover();
        }
    }

    /// Drops what a fault may have left half made.
    fn recover(&mut self) {
        for document in self.documents.values_mut() {
            let (name, text) = (document.file.name().to_string(), document.file.text().to_string());
            *document = Document::new(File::new(name, text), self.encoding, document.version);
        }
    }

    /// Marks the diagnostics of a text as out of date.
    pub(crate) fn changed(&mut self, uri: Uri) {
        if let Some(document) = self.documents.get_mut(&uri).filter(|open| open.file.is_large()) {
            self.worker.cancel(&uri);
            if document.due.is_none_or(|due| due > Instant::now()) {
                document.due = Some(Instant::now() + LARGE_PAUSE);
            }
            if document.edited.is_none() {
                return;
            }
        }
        self.stale.insert(uri);
        self.stale_since.get_or_insert_with(Instant::now);
    }

    /// Waits for a message, and meanwhile computes diagnostics.
    fn wait(&mut self, connection: &Connection) -> Wait {
        let first = self.stale.first().and_then(|uri| self.documents.get(uri));
        let is_quick = first.is_none_or(|open| open.file.is_large() || open.took < SHORT);
        if !self.stale.is_empty() && is_quick {
            self.publish_one();
            return Wait::Again;
        }
        let now = Instant::now();
        let due = self.documents.iter().filter_map(|(uri, open)| Some((open.due?, uri)));
        let due = due.min_by_key(|(due, _)| *due).map(|(due, uri)| (due, uri.clone()));
        if let Some((at, uri)) = &due
            && *at <= now
        {
            if let Some(document) = self.documents.get_mut(uri) {
                document.due = None;
                let (snapshot, version) = (document.file.snapshot(), document.version);
                self.worker.submit(Job { uri: uri.clone(), version, snapshot });
            }
            return Wait::Again;
        }
        let until = due.map(|(at, _)| at - now);
        let pause = (!self.stale.is_empty()).then_some(PAUSE).or(until);
        // Without a time limit, as good as one.
        let pause = pause.unwrap_or(Duration::from_secs(1 << 30));
        crossbeam_channel::select! {
            recv(connection.receiver) -> message => match message {
                Ok(message) => Wait::Message(message),
                Err(_) => Wait::Disconnected,
            },
            recv(self.worker.outcomes) -> outcome => {
                if let Ok(outcome) = outcome {
                    self.finished(outcome);
                }
                Wait::Again
            },
            default(pause) => {
                if !self.stale.is_empty() {
                    self.publish_one();
                }
                Wait::Again
            },
        }
    }

    /// Defers a request about a large text whose check is not finished. Returns the request if it
    /// is to be answered now.
    fn defer(&mut self, request: Request) -> Option<Request> {
        let uri = request.params["textDocument"]["uri"].as_str().and_then(|uri| uri.parse().ok());
        let document = uri.as_ref().and_then(|uri: &Uri| self.documents.get(uri));
        let waits = handlers::reads_all(&request.method)
            && self.worker.is_running
            && document.is_some_and(|open| open.file.is_large() && !open.file.is_analysed());
        match (uri, waits) {
            (Some(uri), true) => {
                self.waiting.push((uri, request));
                None
            }
            _ => Some(request),
        }
    }

    /// Answers the requests about a text that waited for its check.
    fn answer_waiting(&mut self, uri: &Uri) {
        for (_, request) in self.waiting.extract_if(.., |(of, _)| of == uri).collect::<Vec<_>>() {
            let response = self.respond(request);
            self.send(response.into());
        }
    }

    /// Refuses the requests that wait and satisfy a predicate.
    pub(crate) fn refuse_waiting(
        &mut self,
        which: impl Fn(&Uri, &Request) -> bool,
        code: ErrorCode,
        message: &str,
    ) {
        let refused = self.waiting.extract_if(.., |(uri, request)| which(uri, request));
        for (_, request) in refused.collect::<Vec<_>>() {
            self.send(Response::new_err(request.id, code as i32, message.to_string()).into());
        }
    }

    /// Takes what the check of a text as a whole has found.
    fn finished(&mut self, outcome: Outcome) {
        let Outcome { uri, version, progress } = outcome;
        let Some(document) = self.documents.get_mut(&uri) else { return };
        let is_current = document.version == version;
        match progress {
            Progress::Types(types) => {
                document.file.set_value_types(types);
                return;
            }
            Progress::Errors(mut findings) if is_current => {
                if !findings.iter().any(|finding| finding.severity == Severity::Error) {
                    // The lints follow; until then the former ones stand.
                    let former = std::mem::take(&mut document.findings).into_iter();
                    findings.extend(former.filter(|finding| finding.severity != Severity::Error));
                }
                document.findings = findings;
            }
            Progress::All { findings, checked } if is_current => {
                document.findings = findings;
                document.file.adopt(*checked);
                self.answer_waiting(&uri);
            }
            Progress::Failed if is_current => self.answer_waiting(&uri),
            Progress::Errors(_) | Progress::All { .. } | Progress::Failed => return,
        }
        if let Some(document) = self.documents.get_mut(&uri) {
            document.edited = None;
        }
        self.publish(&uri);
    }

    /// Computes and publishes the diagnostics of a text that is out of date.
    fn publish_one(&mut self) {
        let Some(uri) = self.stale.pop_first() else { return };
        self.stale_since = (!self.stale.is_empty()).then(Instant::now);
        let start = Instant::now();
        let computed = catch_unwind(AssertUnwindSafe(|| {
            let Some(document) = self.documents.get_mut(&uri) else { return };
            match document.file.is_large() {
                true => document.check_part(),
                false => document.findings = document.file.diagnostics(),
            }
            document.took = start.elapsed();
        }));
        match computed {
            Ok(()) => self.publish(&uri),
            Err(_) => {
                self.recover();
                let message = json!({"type": 1, "message": "a fault of stablo in diagnostics"});
                self.send(Notification::new("window/logMessage".into(), message).into());
            }
        }
    }

    /// Publishes the diagnostics of a text; none for one that is not open.
    fn publish(&self, uri: &Uri) {
        let params = handlers::diagnostics(self, uri);
        self.send(Notification::new("textDocument/publishDiagnostics".into(), params).into());
    }
}
