//! The main loop: one thread answers requests in order. Diagnostics follow when typing pauses.

use crate::handlers;
use crate::position::{Encoding, LineIndex};
use ide::File;
use ls_types::Uri;
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// Diagnostics are computed when no message has come for this long.
const PAUSE: Duration = Duration::from_millis(20);

/// Diagnostics are computed after this long, even if messages keep coming.
const PATIENCE: Duration = Duration::from_millis(300);

/// A text that is open in the editor.
pub struct Document {
    /// The text.
    pub file: File,
    /// Its lines.
    pub lines: LineIndex,
    /// The version that the editor counts.
    pub version: i32,
}

/// The capabilities of a client.
#[derive(Clone, Copy, Debug, Default)]
pub struct Client {
    /// Completions may have placeholders.
    pub snippets: bool,
    /// Edits may name versions and create files.
    pub document_changes: bool,
    /// Outlines may be nested.
    pub hierarchical_symbols: bool,
}

/// The state of the server.
pub struct Server {
    /// Open texts.
    pub documents: HashMap<Uri, Document>,
    /// The unit of columns.
    pub encoding: Encoding,
    /// Abilities of the client.
    pub client: Client,
    /// Folders of the workspace.
    pub folders: Vec<std::path::PathBuf>,
    /// Texts whose diagnostics are out of date.
    stale: BTreeSet<Uri>,
    /// When the first of them became so.
    stale_since: Option<Instant>,
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
        stale: BTreeSet::new(),
        stale_since: None,
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
            None if server.stale.is_empty() => match connection.receiver.recv() {
                Ok(message) => message,
                Err(_) => return false,
            },
            None => match connection.receiver.recv_timeout(PAUSE) {
                Ok(message) => message,
                Err(crossbeam_channel::RecvTimeoutError::Timeout) => {
                    server.publish_one();
                    continue;
                }
                Err(crossbeam_channel::RecvTimeoutError::Disconnected) => return false,
            },
        };
        match message {
            Message::Request(request) => {
                // Cancellations that are already here count.
                queue.extend(connection.receiver.try_iter());
                let response = match (phase, &*request.method) {
                    (_, "shutdown") => {
                        phase = Phase::ShutDown;
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
                    (Phase::Running, _) => server.respond(request),
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

impl Server {
    /// Sends a message. A client that is gone is noticed when the next message is read.
    pub fn send(&self, message: Message) {
        let _ = self.sender.send(message);
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
            document.file = File::new(name, text);
        }
    }

    /// Marks the diagnostics of a text as out of date.
    pub fn changed(&mut self, uri: Uri) {
        self.stale.insert(uri);
        self.stale_since.get_or_insert_with(Instant::now);
    }

    /// Publishes the diagnostics of a text that is out of date.
    fn publish_one(&mut self) {
        let Some(uri) = self.stale.pop_first() else { return };
        self.stale_since = (!self.stale.is_empty()).then(Instant::now);
        let params = catch_unwind(AssertUnwindSafe(|| handlers::diagnostics(self, &uri)));
        match params {
            Ok(params) => self
                .send(Notification::new("textDocument/publishDiagnostics".into(), params).into()),
            Err(_) => {
                self.recover();
                let message = json!({"type": 1, "message": "a fault of stablo in diagnostics"});
                self.send(Notification::new("window/logMessage".into(), message).into());
            }
        }
    }
}
