//! Protocol Buffers.

use wire::protobuf::{ProtobufMessage, Value};

/// The examples of the documentation of the encoding.
#[test]
fn documented_examples() {
    let fields: Vec<_> = ProtobufMessage(&[0x08, 0x96, 0x01]).collect();
    assert_eq!(fields, [(1, Value::Number(150))]);
    let text = [0x12, 0x07, 0x74, 0x65, 0x73, 0x74, 0x69, 0x6E, 0x67];
    assert_eq!(ProtobufMessage(&text).string(2), "testing");
    let nested = [0x1A, 0x03, 0x08, 0x96, 0x01];
    let inner: Vec<_> = ProtobufMessage(&nested).messages(3).flatten().collect();
    assert_eq!(inner, [(1, Value::Number(150))]);
}

/// Truncated fields and unknown kinds end the message.
#[test]
fn malformed_fields_end_the_message() {
    for bytes in [&[0x12, 0x07, 0x74][..], &[0x0B], &[0x09, 1, 2], &[0xFF; 12]] {
        assert_eq!(ProtobufMessage(bytes).count(), 0, "{bytes:?}");
    }
}
