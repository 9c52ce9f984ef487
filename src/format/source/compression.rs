//! Detects and removes compression.

use std::io::{self, BufRead, BufReader, Read};
use std::sync::atomic::Ordering;

use flate2::bufread::GzDecoder;
use lz4_flex::frame::FrameDecoder;
use ruzstd::decoding::StreamingDecoder;

use crate::format::source::counters::Counters;
use crate::format::source::zip::{Compressed, ZipReader};
use crate::format::{LoadError, ParseError};

/// Maximum number of nested compressions.
const MAX_LAYERS: usize = 4;

/// The error for failed decompression, after `byte` decompressed bytes and `read` bytes of the input.
pub(super) fn broken(format: &'static str, byte: u64, read: u64, error: &io::Error) -> ParseError {
    if error.kind() == io::ErrorKind::UnexpectedEof {
        return ParseError::at_byte(format, read, "file is truncated: the compressed stream is incomplete");
    }
    if error.kind() == io::ErrorKind::Unsupported {
        return ParseError::whole(format, error.to_string());
    }
    ParseError::at_byte(format, byte, format!("corrupt compressed data: {error}"))
}

/// Detects compressions by their magic numbers and decompresses them.
pub(super) fn unwrap_layers(
    mut reader: Box<dyn Read + Send>,
    counters: &Counters,
) -> Result<(Box<dyn Read + Send>, Vec<&'static str>), LoadError> {
    let mut layers: Vec<&'static str> = Vec::new();
    loop {
        let mut magic = Vec::with_capacity(4);
        let read = reader.by_ref().take(4).read_to_end(&mut magic);
        if let (Err(error), Some(format)) = (&read, layers.last()) {
            let read = counters.bytes.load(Ordering::Relaxed);
            return Err(broken(format, magic.len() as u64, read, error).into());
        }
        read?;
        let whole = BufReader::with_capacity(64 << 10, io::Cursor::new(magic.clone()).chain(reader));
        let layer = match magic[..] {
            [0x1F, 0x8B, ..] => "gzip",
            [0x28, 0xB5, 0x2F, 0xFD] => "zstd",
            [0x04, 0x22, 0x4D, 0x18] => "lz4",
            [b'P', b'K', 3, 4] => "zip",
            _ => return Ok((Box::new(whole), layers)),
        };
        if layers.len() == MAX_LAYERS {
            return Err(ParseError::whole(layer, format!("compressed more than {MAX_LAYERS} times")).into());
        }
        reader = match layer {
            "gzip" => Box::new(Frames::<GzDecoder<_>>::of(whole)),
            "zip" => Box::new(ZipReader::new(whole)),
            "lz4" => Box::new(Frames::<FrameDecoder<_>>::of(whole)),
            _ => Box::new(Frames::<StreamingDecoder<_, _>>::of(whole)),
        };
        layers.push(layer);
    }
}

/// A decoder that stops at the end of a frame and then gives the rest of the input back.
trait FrameReader: Read + Sized {
    fn start(input: Compressed) -> io::Result<Self>;
    fn rest(self) -> Compressed;
}

impl FrameReader for StreamingDecoder<Compressed, ruzstd::decoding::FrameDecoder> {
    fn start(input: Compressed) -> io::Result<Self> {
        StreamingDecoder::new(input).map_err(io::Error::other)
    }
    fn rest(self) -> Compressed {
        self.into_inner()
    }
}

/// Datadog's library writes lz4 frames around pprof.
impl FrameReader for FrameDecoder<Compressed> {
    fn start(input: Compressed) -> io::Result<Self> {
        Ok(FrameDecoder::new(input))
    }
    fn rest(self) -> Compressed {
        self.into_inner()
    }
}

impl FrameReader for GzDecoder<Compressed> {
    fn start(mut input: Compressed) -> io::Result<Self> {
        if input.fill_buf()?.first() != Some(&0x1F) {
            let message = "the compressed data is followed by something that is not gzip";
            return Err(io::Error::new(io::ErrorKind::Unsupported, message));
        }
        Ok(GzDecoder::new(input))
    }
    fn rest(self) -> Compressed {
        self.into_inner()
    }
}

/// Decodes consecutive frames.
struct Frames<F> {
    frame: Option<F>,
    rest: Option<Compressed>,
}

impl<F: FrameReader> Frames<F> {
    fn of(input: impl BufRead + Send + 'static) -> Self {
        Frames { frame: None, rest: Some(Box::new(input)) }
    }
}

impl<F: FrameReader> Read for Frames<F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(frame) = &mut self.frame {
                let count = frame.read(buffer)?;
                if count > 0 || buffer.is_empty() {
                    return Ok(count);
                }
                self.rest = self.frame.take().map(F::rest);
            }
            let Some(mut rest) = self.rest.take() else { return Ok(0) };
            if rest.fill_buf()?.is_empty() {
                return Ok(0);
            }
            self.frame = Some(F::start(rest)?);
        }
    }
}
