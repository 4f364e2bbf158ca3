//! Messages on a stream of bytes: the length of the head and that of the body in four bytes each,
//! lowest first, then the head as JSON, then the body as it is.
//!
//! The body is what may be large: arguments and results cross without being written as a string
//! inside of JSON. Lengths beyond [`FRAME_BYTES`] are an error before anything is allocated for
//! them, on both sides.

use std::io::{self, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::limits::FRAME_BYTES;

/// Length of both lengths.
const LENGTHS: usize = 8;

/// Writes one message that is all head.
pub(super) fn write(to: &mut impl Write, head: &impl Serialize) -> io::Result<()> {
    to.write_all(&start(head, 0)?)
}

/// Reads one message; `None` at the end of the stream.
pub(super) fn read<T: DeserializeOwned>(from: &mut impl Read) -> io::Result<Option<(T, Vec<u8>)>> {
    let mut lengths = [0; LENGTHS];
    if let Err(error) = from.read_exact(&mut lengths) {
        return ended(error);
    }
    let (mut head, mut body) = parts(lengths)?;
    from.read_exact(&mut head)?;
    from.read_exact(&mut body)?;
    Ok(Some((serde_json::from_slice(&head)?, body)))
}

/// Writes one message that is all head.
pub(super) async fn send(
    to: &mut (impl AsyncWrite + Unpin),
    head: &impl Serialize,
) -> io::Result<()> {
    to.write_all(&start(head, 0)?).await
}

/// Reads one message; `None` at the end of the stream. Where the future is dropped, the stream can't
/// be read any more.
pub(super) async fn receive<T: DeserializeOwned>(
    from: &mut (impl AsyncRead + Unpin),
) -> io::Result<Option<(T, Vec<u8>)>> {
    let mut lengths = [0; LENGTHS];
    if let Err(error) = from.read_exact(&mut lengths).await {
        return ended(error);
    }
    let (mut head, mut body) = parts(lengths)?;
    from.read_exact(&mut head).await?;
    from.read_exact(&mut body).await?;
    Ok(Some((serde_json::from_slice(&head)?, body)))
}

/// The bytes of one message up to its body, which has this length.
pub(super) fn start(head: &impl Serialize, body: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(LENGTHS + 128);
    bytes.resize(LENGTHS, 0);
    serde_json::to_writer(&mut bytes, head)?;
    let head = bytes.len() - LENGTHS;
    let lengths = match (u32::try_from(head), u32::try_from(body)) {
        (Ok(head), Ok(body)) => u64::from(head) | (u64::from(body) << 32),
        _ => return Err(too_long(head, body)),
    };
    checked(lengths.to_le_bytes())?;
    if let Some(place) = bytes.first_chunk_mut() {
        *place = lengths.to_le_bytes();
    }
    Ok(bytes)
}

/// Room for head and body.
fn parts(lengths: [u8; LENGTHS]) -> io::Result<(Vec<u8>, Vec<u8>)> {
    let (head, body) = checked(lengths)?;
    Ok((vec![0; head], vec![0; body]))
}

fn checked(lengths: [u8; LENGTHS]) -> io::Result<(usize, usize)> {
    let lengths = u64::from_le_bytes(lengths);
    let head = usize::try_from(lengths & u64::from(u32::MAX)).unwrap_or(usize::MAX);
    let body = usize::try_from(lengths >> 32).unwrap_or(usize::MAX);
    if head.saturating_add(body) > FRAME_BYTES {
        return Err(too_long(head, body));
    }
    Ok((head, body))
}

fn too_long(head: usize, body: usize) -> io::Error {
    let length = head.saturating_add(body);
    let text = format!("a message of {length} bytes, at most {FRAME_BYTES} are allowed");
    io::Error::new(io::ErrorKind::InvalidData, text)
}

/// A stream that ends between two messages, or whose other end was torn down, has ended.
fn ended<T>(error: io::Error) -> io::Result<Option<T>> {
    match error.kind() {
        io::ErrorKind::UnexpectedEof
        | io::ErrorKind::ConnectionReset
        | io::ErrorKind::BrokenPipe => Ok(None),
        _ => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[tokio::test]
    async fn messages_come_out_as_they_went_in() {
        let messages = [
            (json!({"a": [1, "ü", null]}), &b"\0\xff"[..]),
            (json!(""), b""),
        ];
        let mut bytes = Vec::new();
        for (head, body) in &messages {
            bytes.extend(start(head, body.len()).unwrap());
            bytes.extend(*body);
        }
        let (mut sync, mut other) = (&bytes[..], &bytes[..]);
        for (head, body) in messages {
            let expected = Some((head, body.to_owned()));
            assert_eq!(read::<Value>(&mut sync).unwrap(), expected);
            assert_eq!(receive(&mut other).await.unwrap(), expected);
        }
        assert!(read::<Value>(&mut sync).unwrap().is_none());
        assert!(receive::<Value>(&mut other).await.unwrap().is_none());
    }

    #[test]
    fn a_message_beyond_the_cap_or_cut_in_two_is_an_error() {
        let error = read::<Value>(&mut &[0xff; 8][..]).unwrap_err();
        assert!(error.to_string().contains("at most"), "{error}");
        let mut whole = start(&json!([1, 2, 3]), 4).unwrap();
        whole.extend(b"body");
        for length in LENGTHS..whole.len() {
            read::<Value>(&mut &whole[..length]).unwrap_err();
        }
        start(&"", FRAME_BYTES).unwrap_err();
    }
}
