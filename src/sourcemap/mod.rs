//! Source maps: where the code of a generated JavaScript file comes from, and what its functions are called there.
//!
//! Bundlers and compilers rename functions and put many files on a few lines. The map that they write next to such a script
//! leads back, by position:
//!
//! ```text
//! app.js:1:11, function `u`    ──app.js.map──►    burnCycles, src/pricing.ts:8:17
//! ```
//!
//! Nothing here opens a file, and nothing is fetched: bytes come in, and names of files go out.

mod mappings;
mod original_name;
mod script;
mod url;

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

pub use mappings::{Position, Segment};
pub use script::{Script, last_word};
pub(crate) use url::{data_of_url, path_of_url};
pub use url::{is_url, resolved};

use crate::sourcemap::mappings::decode;
use crate::sourcemap::original_name::{has_word, name_at};

/// A source map, ready for lookups. Lines and columns are counted from 0, and columns in UTF-16 code units.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    /// The name of the generated file; empty if the map does not say.
    pub file: String,
    /// The identifier that the script and its map share; empty if there is none.
    pub debug_id: String,
    sources: Vec<MapSource>,
    names: Vec<String>,
    /// Sorted by line and column.
    segments: Vec<Segment>,
}

/// An original file.
#[derive(Clone, Debug, Default)]
pub struct MapSource {
    /// Its name as in the map, with the root of all sources in front; `None` if the map has no name for it.
    pub name: Option<String>,
    /// Its text, if the map contains it.
    pub text: Option<Arc<str>>,
}

/// Where a generated function comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OriginalFunction {
    /// Its name, if the map says it.
    pub name: Option<String>,
    /// The number of its source.
    pub source: u32,
    /// Where it starts there.
    pub start: Position,
}

/// The document as it is written.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Document {
    version: Option<Value>,
    file: Option<Value>,
    debug_id: Option<Value>,
    #[serde(rename = "debug_id")]
    older_debug_id: Option<Value>,
    source_root: Option<Value>,
    sources: Vec<Value>,
    sources_content: Option<Vec<Value>>,
    names: Vec<Value>,
    mappings: String,
    sections: Option<Vec<Section>>,
}

/// A part of a map: the map of one of the files that were joined.
#[derive(Deserialize)]
struct Section {
    offset: Offset,
    map: Option<Document>,
}

#[derive(Deserialize)]
struct Offset {
    line: u32,
    column: u32,
}

/// The version that every tool writes.
const VERSION: u64 = 3;

impl SourceMap {
    /// Reads a map. The error says why it is none.
    pub fn parse(bytes: &[u8]) -> Result<SourceMap, String> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        // Servers may put such a line before JSON, so that pages cannot run it as a script.
        let start = match bytes.strip_prefix(b")]}") {
            Some(_) => memchr::memchr(b'\n', bytes).map_or(bytes.len(), |end| end + 1),
            None => 0,
        };
        let document: Document =
            serde_json::from_slice(&bytes[start..]).map_err(|error| format!("not a source map: {error}"))?;
        match document.version.as_ref().map(Value::as_u64) {
            Some(Some(VERSION)) => {}
            Some(_) => return Err(format!("its version is not {VERSION}")),
            None => return Err("not a source map: it has no version".to_string()),
        }
        let mut map = SourceMap {
            file: text(document.file.as_ref()),
            debug_id: text(document.debug_id.as_ref().or(document.older_debug_id.as_ref())),
            ..SourceMap::default()
        };
        match &document.sections {
            None => map.add(&document, Position { line: 0, column: 0 })?,
            Some(sections) => {
                for section in sections {
                    let Offset { line, column } = section.offset;
                    let part = section.map.as_ref().ok_or("a section has no map of its own")?;
                    if part.sections.is_some() {
                        return Err("a section has sections itself".to_string());
                    }
                    map.add(part, Position { line, column })?;
                }
            }
        }
        let place = |segment: &Segment| (segment.line, segment.column);
        if !map.segments.is_sorted_by_key(place) {
            map.segments.sort_by_key(place);
        }
        Ok(map)
    }

    /// Adds the map of a file that starts at `offset` of the generated script.
    fn add(&mut self, part: &Document, offset: Position) -> Result<(), String> {
        let (first_source, first_name) = (self.sources.len() as u32, self.names.len() as u32);
        let root = text(part.source_root.as_ref());
        let texts = part.sources_content.as_deref().unwrap_or_default();
        for (number, source) in part.sources.iter().enumerate() {
            let name = source.as_str().map(|name| url::joined(&root, name));
            let text = texts.get(number).and_then(Value::as_str).map(Arc::from);
            self.sources.push(MapSource { name, text });
        }
        self.names.extend(part.names.iter().map(|name| text(Some(name))));
        let counts = [part.sources.len() as u32, part.names.len() as u32];
        decode(part.mappings.as_bytes(), counts, |mut segment| {
            if segment.line == 0 {
                segment.column = segment.column.saturating_add(offset.column);
            }
            segment.line = segment.line.saturating_add(offset.line);
            segment.source = segment.source.map(|source| source + first_source);
            segment.name = segment.name.map(|name| name + first_name);
            self.segments.push(segment);
        })
    }

    /// An original file.
    pub fn source(&self, number: u32) -> Option<&MapSource> {
        self.sources.get(number as usize)
    }

    /// The name that a piece of code has in its source, if the map says it.
    pub fn name(&self, segment: &Segment) -> Option<&str> {
        let name = self.names.get(segment.name? as usize)?;
        (!name.is_empty()).then_some(&**name)
    }

    /// The number of original files.
    pub fn source_count(&self) -> usize {
        self.sources.len()
    }

    /// The last segment that starts at or before a position, on the same line.
    pub fn at(&self, position: Position) -> Option<&Segment> {
        let before = self.before(position.line, position.column.saturating_add(1));
        before.last().filter(|segment| segment.line == position.line)
    }

    /// The segments before a column of a line, and those of earlier lines.
    fn before(&self, line: u32, column: u32) -> &[Segment] {
        let end = self.segments.partition_point(|segment| (segment.line, segment.column) < (line, column));
        &self.segments[..end]
    }

    /// The segments of a line.
    fn line(&self, line: u32) -> &[Segment] {
        let before = self.before(line, 0).len();
        let end = self.segments[before..].partition_point(|segment| segment.line == line);
        &self.segments[before..before + end]
    }

    /// The function that the generated script calls `name` and that starts at a position there. `script` is the text
    /// of the script, if it is known.
    ///
    /// An engine gives the position of the parameters: of `(` in `function u(n)`, of `n` in `l=n=>n*2`. So the segment
    /// there may be that of a parameter, and the name of the function is that of the token before.
    pub fn function(&self, start: Position, name: &str, script: Option<&Script>) -> Option<OriginalFunction> {
        let word = last_word(name);
        let token = word.and_then(|word| self.token(start, word, script));
        let found = token.or_else(|| self.at(start))?;
        let source = found.source?;
        let text = || self.source(source)?.text.as_deref();
        let original = Position { line: found.original_line, column: found.original_column };
        let named = token.and_then(|token| self.name(token));
        let name = match (named, word) {
            (Some(named), _) => Some(named.to_string()),
            (None, Some(word)) => text().and_then(|text| {
                let line = text.lines().nth(original.line as usize)?;
                // A name that is also in the source was not changed.
                if has_word(line, word) { Some(word.to_string()) } else { name_at(text, original) }
            }),
            (None, None) => None,
        };
        Some(OriginalFunction { name, source, start: original })
    }

    /// The segment of the token that gives the function its name: `u` in `function u(n)`, `l` in `l=n=>n*2`.
    fn token(&self, start: Position, word: &str, script: Option<&Script>) -> Option<&Segment> {
        let length = word.encode_utf16().count() as u32;
        for segment in self.before(start.line, start.column).iter().rev().take(MOST_TOKENS) {
            let end = segment.column.saturating_add(length);
            if segment.line != start.line || start.column.saturating_sub(end) > LONGEST_GLUE {
                return None;
            }
            if segment.name.is_none() || segment.source.is_none() || end > start.column {
                continue;
            }
            let is_token = match script {
                Some(script) => script.names_function(start.line, segment.column..start.column, word),
                None => USUAL_GLUE.contains(&(start.column - end)),
            };
            if is_token {
                return Some(segment);
            }
        }
        None
    }

    /// The original line of a line of a function, whose other code starts at `start`. `None` if the line has code of several
    /// lines of the source, as in a minified script.
    pub fn original_line(&self, line: u32, start: Position, source: u32) -> Option<u32> {
        let is_own = |segment: &&Segment| line != start.line || segment.column >= start.column;
        let lines = self.line(line).iter().filter(is_own).filter(|segment| segment.source == Some(source));
        let mut lines = lines.map(|segment| segment.original_line);
        let first = lines.next()?;
        lines.all(|line| line == first).then_some(first)
    }

    /// Whether the code of this map is within the lines of a script. A few segments may be outside: some tools count columns
    /// in another way.
    pub fn fits(&self, script: &Script) -> bool {
        let is_outside = |segment: &&Segment| {
            let length = script.line_length(segment.line);
            length.is_none_or(|length| segment.column as usize > length)
        };
        let outside = self.segments.iter().filter(is_outside).count();
        outside * 100 <= self.segments.len()
    }

    /// What the map has at the start of a function that the script calls `name`.
    pub fn knows(&self, start: Position, name: &str) -> Known {
        if last_word(name).is_some_and(|word| self.token(start, word, None).is_some()) {
            return Known::ByName;
        }
        if self.at(start).is_some_and(|segment| segment.source.is_some()) {
            Known::ByPlace
        } else {
            Known::No
        }
    }
}

/// What a map knows of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Known {
    /// Nothing.
    No,
    /// Where it comes from.
    ByPlace,
    /// Where it comes from, and what it is called there.
    ByName,
}

/// The number of segments before a function among which its name is searched.
const MOST_TOKENS: usize = 16;

/// The longest code between the name of a function and its position: `=async function* `, with blanks.
const LONGEST_GLUE: u32 = 24;

/// The lengths of the code between name and position in minified scripts, whose text is not known: `u(`, `l=n=>`,
/// `l=async n=>`, `l=function(`, `l=async function(`.
const USUAL_GLUE: [u32; 5] = [0, 1, 7, 9, 15];

fn text(value: Option<&Value>) -> String {
    value.and_then(Value::as_str).unwrap_or_default().to_string()
}

#[cfg(test)]
mod tests;
