//! Messages over standard input and output. A message that cannot be read is answered by an error
//! and skipped, so that one bad client request does not end the server.

use lsp_server::{Connection, Message};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::thread::{self, JoinHandle};

/// Longer messages are skipped.
const MAX_MESSAGE: u64 = 1 << 30;

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
            let message = match serde_json::from_slice::<Message>(&body) {
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
    let mut body = Vec::new();
    let read = input.take(length).read_to_end(&mut body)?;
    Ok((read as u64 == length).then_some(body))
}

/// The notification to log a message that cannot be read: it has no id to respond to.
fn unreadable(error: &serde_json::Error) -> Message {
    let message = format!("a message cannot be read and is skipped: {error}");
    let params = serde_json::json!({"type": 1, "message": message});
    Message::Notification(lsp_server::Notification::new("window/logMessage".into(), params))
}
