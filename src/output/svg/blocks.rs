//! Parses the blocks that inferno draws: `<g><title>…</title><rect …/><text …>…</text></g>`.

use std::io;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use crate::output::svg::tokens;

/// A block: its node and its position.
pub(super) struct Block<'d> {
    /// The node's index; that of the root is 0.
    pub(super) index: usize,
    pub(super) rect: BytesStart<'d>,
    pub(super) text: BytesStart<'d>,
}

impl<'d> Block<'d> {
    /// Reads the rest of a block after its `<g>`. `None` for a blank, which is not drawn.
    pub(super) fn read(reader: &mut Reader<&'d [u8]>) -> io::Result<Option<Self>> {
        let mut title = String::new();
        let mut rect = None;
        let mut text = None;
        loop {
            match reader.read_event().map_err(io::Error::other)? {
                Event::End(end) if end.name().as_ref() == "g" => break,
                Event::Text(content) if title.is_empty() => title.push_str(&content),
                Event::Empty(element) => rect = Some(element),
                Event::Start(element) if element.name().as_ref() == "text" => text = Some(element),
                Event::Eof => return Err(broken()),
                _ => {}
            }
        }
        let (rect, text) = rect.zip(text).ok_or_else(broken)?;
        let index = match title.split(' ').next().unwrap_or_default() {
            "all" => Some(0),
            token => tokens::node(token),
        };
        Ok(index.map(|index| Block { index, rect, text }))
    }

    /// The distance from the top of the picture, in pixels.
    pub(super) fn top(&self) -> io::Result<usize> {
        let attribute = self.rect.try_get_attribute("y").map_err(io::Error::other)?.ok_or_else(broken)?;
        attribute.value.parse().map_err(io::Error::other)
    }
}

/// The blocks of the callers of a focus, without their root, which the callees have too.
pub(super) fn callers(drawn: &str) -> io::Result<Vec<Block<'static>>> {
    let mut reader = Reader::from_str(drawn);
    let mut blocks = Vec::new();
    loop {
        match reader.read_event().map_err(io::Error::other)? {
            Event::Eof => return Ok(blocks),
            Event::Start(start) if start.name().as_ref() == "g" => {
                let block = Block::read(&mut reader)?.filter(|block| block.index > 0);
                blocks.extend(block.map(|Block { index, rect, text }| Block {
                    index,
                    rect: rect.into_owned(),
                    text: text.into_owned(),
                }));
            }
            _ => {}
        }
    }
}

pub(super) fn broken() -> io::Error {
    io::Error::other("inferno drew an unexpected picture")
}
