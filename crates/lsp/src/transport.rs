//! Messages over standard input and output. A message that cannot be read is answered by an error
//! and skipped, so that one bad client request does not end the server.

use lsp_server::{Connection, Message, Notification, Request, RequestId, Response, ResponseError};
use serde::Deserialize;
use serde_json::Value;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::thread::{self, JoinHandle};

/// Longer messages are skipped.
const MAX_MESSAGE: u64 = 1 << 30;

/// Memory is reserved for messages up to this size.
const MAX_RESERVED: u64 = 64 << 20;

/// The connection over the standard streams of the process, and the thread that writes, which ends
/// when the connection is dropped.
///
/// # Errors
/// If standard input is closed.
pub fn stdio() -> io::Result<(Connection, JoinHandle<io::Result<()>>)> {
    let mut input = BufReader::new(standard_input()?);
    let (own, other) = Connection::memory();
    let Connection { sender, receiver } = other;
    let answers = own.sender.clone();
    let reader = move || {
        while let Ok(Some(body)) = read(&mut input) {
            let parsed = serde_json::from_slice::<Envelope>(&body).map_err(|e| e.to_string());
            drop(body);
            let message = match parsed.and_then(Envelope::open) {
                Ok(message) => message,
                Err(error) => {
                    let _ = answers.send(unreadable(&error));
                    continue;
                }
            };
            let is_exit = matches!(&message, Message::Notification(n) if n.method == "exit");
            if sender.send(message).is_err() || is_exit {
                break;
            }
        }
    };
    let writer = move || {
        let mut output = io::stdout().lock();
        receiver.into_iter().try_for_each(|message: Message| message.write(&mut output))?;
        output.flush()
    };
    // The reader is not waited for: it may be blocked in a read when the server ends.
    drop(thread::spawn(reader));
    Ok((own, thread::spawn(writer)))
}

/// Standard input as a file, which another thread may read while somebody holds the lock of
/// [`io::stdin`].
fn standard_input() -> io::Result<File> {
    #[cfg(unix)]
    let input = std::os::fd::AsFd::as_fd(&io::stdin()).try_clone_to_owned()?;
    #[cfg(windows)]
    let input = std::os::windows::io::AsHandle::as_handle(&io::stdin()).try_clone_to_owned()?;
    Ok(File::from(input))
}

/// A message of any kind. `Message` itself is read by trial, for which the whole message is copied.
#[derive(Deserialize)]
struct Envelope {
    id: Option<RequestId>,
    method: Option<String>,
    #[serde(default)]
    params: Value,
    #[serde(default)]
    result: Value,
    error: Option<ResponseError>,
}

impl Envelope {
    /// Returns the message.
    fn open(self) -> Result<Message, String> {
        let Envelope { id, method, params, result, error } = self;
        Ok(match (id, method) {
            (Some(id), Some(method)) => Request { id, method, params }.into(),
            (None, Some(method)) => Notification { method, params }.into(),
            (Some(id), None) => {
                let response_result = error.map_or(Ok(result), Err);
                Response { id, response_result }.into()
            }
            (None, None) => return Err("it has neither `id` nor `method`".to_string()),
        })
    }
}

/// The body of the next message; `None` at the end of the input.
fn read(input: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut length: Option<u64> = None;
    loop {
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let line = line.trim_end();
        if line.is_empty() {
            // Empty lines between messages are skipped.
            match length {
                Some(_) => break,
                None => continue,
            }
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().ok();
        }
    }
    let length = length.unwrap_or_default();
    if length > MAX_MESSAGE {
        io::copy(&mut input.take(length), &mut io::sink())?;
        return Ok(Some(Vec::new()));
    }
    // Most messages come whole; memory for the others is taken as they come.
    let mut body = Vec::with_capacity(length.min(MAX_RESERVED) as usize);
    let read = input.take(length).read_to_end(&mut body)?;
    Ok((read as u64 == length).then_some(body))
}

/// The notification to log a message that cannot be read: it has no id to respond to.
fn unreadable(error: &str) -> Message {
    let message = format!("a message cannot be read and is skipped: {error}");
    let params = serde_json::json!({"type": 1, "message": message});
    Message::Notification(Notification::new("window/logMessage".into(), params))
}
