//! Messages on a stream of bytes: four bytes of length, lowest first, then JSON.
//!
//! A length beyond [`FRAME_BYTES`] is an error before anything is allocated for it, on both sides.

use std::io::{self, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::limits::FRAME_BYTES;

/// Writes one message.
pub(super) fn write(to: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    to.write_all(&encode(message)?)
}

/// Reads one message; `None` at the end of the stream.
pub(super) fn read<T: DeserializeOwned>(from: &mut impl Read) -> io::Result<Option<T>> {
    let mut length = [0; 4];
    if let Err(error) = from.read_exact(&mut length) {
        return ended(error);
    }
    let mut body = vec![0; checked(length)?];
    from.read_exact(&mut body)?;
    Ok(Some(serde_json::from_slice(&body)?))
}

/// Writes one message.
pub(super) async fn send(
    to: &mut (impl AsyncWrite + Unpin),
    message: &impl Serialize,
) -> io::Result<()> {
    to.write_all(&encode(message)?).await
}

/// Reads one message; `None` at the end of the stream.
pub(super) async fn receive<T: DeserializeOwned>(
    from: &mut (impl AsyncRead + Unpin),
) -> io::Result<Option<T>> {
    let mut length = [0; 4];
    if let Err(error) = from.read_exact(&mut length).await {
        return ended(error);
    }
    let mut body = vec![0; checked(length)?];
    from.read_exact(&mut body).await?;
    Ok(Some(serde_json::from_slice(&body)?))
}

fn encode(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; 4];
    serde_json::to_writer(&mut bytes, message)?;
    let length = bytes.len() - 4;
    let head = u32::try_from(length).map_err(|_| too_long(length))?;
    checked(head.to_le_bytes())?;
    if let Some(place) = bytes.first_chunk_mut() {
        *place = head.to_le_bytes();
    }
    Ok(bytes)
}

fn checked(length: [u8; 4]) -> io::Result<usize> {
    let length = u32::from_le_bytes(length) as usize;
    if length > FRAME_BYTES {
        return Err(too_long(length));
    }
    Ok(length)
}

fn too_long(length: usize) -> io::Error {
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
        let messages = [json!({"a": [1, "ü", null]}), json!("")];
        let mut bytes = Vec::new();
        for message in &messages {
            write(&mut bytes, message).unwrap();
        }
        let mut sent = Vec::new();
        for message in &messages {
            send(&mut sent, message).await.unwrap();
        }
        assert_eq!(bytes, sent);
        let (mut sync, mut other) = (&bytes[..], &bytes[..]);
        for message in messages {
            assert_eq!(read::<Value>(&mut sync).unwrap().as_ref(), Some(&message));
            assert_eq!(receive(&mut other).await.unwrap(), Some(message));
        }
        assert!(read::<Value>(&mut sync).unwrap().is_none());
        assert!(receive::<Value>(&mut other).await.unwrap().is_none());
    }

    #[test]
    fn a_message_beyond_the_cap_or_cut_in_two_is_an_error() {
        let too_long = u32::MAX.to_le_bytes();
        let error = read::<Value>(&mut &too_long[..]).unwrap_err();
        assert!(error.to_string().contains("at most"), "{error}");
        let mut whole = Vec::new();
        write(&mut whole, &json!([1, 2, 3])).unwrap();
        for length in 4..whole.len() {
            read::<Value>(&mut &whole[..length]).unwrap_err();
        }
        let text = "x".repeat(FRAME_BYTES);
        write(&mut Vec::new(), &text).unwrap_err();
    }
}
