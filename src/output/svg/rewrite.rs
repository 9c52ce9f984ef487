//! The pass over inferno's XML that fills in names, numbers and colours.

use std::fmt::Display;
use std::io::{self, Write};

use quick_xml::events::{BytesCData, BytesEnd, BytesStart, BytesText, Event};
use quick_xml::{Reader, Writer};

use crate::name::{BlockLabel, display_width, fit};
use crate::output::color::{self, WHITE};
use crate::output::svg::SvgOptions;
use crate::output::svg::blocks::Block;
use crate::output::svg::legend::Legend;
use crate::output::svg::wording::Wording;
use crate::report::Flame;

/// Height in pixels of a line of the legend or the notes.
const LINE: usize = 18;

/// Number of columns of the legend.
const COLUMNS: usize = 3;

/// Width of a character in pixels, as inferno assumes it.
const CHARACTER: f64 = 7.08;

/// Blocks at least this wide, in pixels, have a gap to the next block.
const GAP_FROM: f64 = 3.0;

/// Pixels above the topmost block when inferno draws downwards.
const TOP: usize = 76;

pub(super) fn rewrite(
    drawn: &str,
    callers: &[Block<'_>],
    flame: &Flame,
    options: &SvgOptions,
    wording: &Wording<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let legend = Legend::new(flame, options.color_by, wording);
    let mut notes = vec![legend.title().to_string()];
    notes.extend(wording.notes());
    let rows = legend.entries.len().div_ceil(COLUMNS) + notes.len();
    // The callees that inferno drew move down to make space for the callers.
    let tops = callers.iter().map(Block::top).collect::<io::Result<Vec<_>>>()?;
    let down = tops.iter().max().map_or(0, |deepest| deepest - TOP);
    let mut pass = Pass {
        reader: Reader::from_str(drawn),
        writer: Writer::new(out),
        flame,
        wording,
        legend,
        notes,
        extra: rows * LINE + LINE / 2,
        height: 0,
        down,
        width: options.frames_width() as f64,
    };
    pass.run(callers)?;
    pass.writer.into_inner().flush()
}

struct Pass<'d, 'w> {
    reader: Reader<&'d [u8]>,
    writer: Writer<&'w mut dyn Write>,
    flame: &'w Flame,
    wording: &'w Wording<'w>,
    legend: Legend,
    notes: Vec<String>,
    /// Pixels added below what inferno drew.
    extra: usize,
    /// Height in pixels of what inferno drew and of the callers above it.
    height: usize,
    /// Height in pixels of the callers.
    down: usize,
    /// Width in pixels of the frames.
    width: f64,
}

impl<'d> Pass<'d, '_> {
    fn run(&mut self, callers: &[Block<'_>]) -> io::Result<()> {
        let mut depth = 0;
        loop {
            match self.next()? {
                Event::Eof => return Ok(()),
                Event::Start(start) if start.name().as_ref() == "g" => self.block()?,
                Event::Start(start) if self.down > 0 && is(&start, "frames") => {
                    depth += 1;
                    self.frames_around_focus(start, callers)?;
                }
                Event::Start(start) if self.down > 0 && is(&start, "matched") => {
                    let lower = moved(&start, |y| y + self.down as f64)?;
                    self.writer.write_event(Event::Start(lower))?;
                }
                Event::Start(start) if start.name().as_ref() == "svg" => {
                    depth += 1;
                    let start = if depth == 1 { self.taller(&start)? } else { start };
                    self.writer.write_event(Event::Start(start))?;
                }
                Event::End(end) if end.name().as_ref() == "svg" => {
                    depth -= 1;
                    if depth == 0 {
                        self.below()?;
                    }
                    self.writer.write_event(Event::End(end))?;
                }
                Event::End(end) if end.name().as_ref() == "style" => {
                    self.writer.write_event(Event::Text(BytesText::from_escaped(include_str!("svg.css"))))?;
                    self.writer.write_event(Event::End(end))?;
                }
                Event::End(end) if end.name().as_ref() == "script" => {
                    self.writer.write_event(Event::CData(BytesCData::new(include_str!("svg.js"))))?;
                    self.writer.write_event(Event::End(end))?;
                }
                Event::Empty(rect) if rect.name().as_ref() == "rect" => {
                    let rect = self.taller(&rect)?;
                    self.writer.write_event(Event::Empty(rect))?;
                }
                event => self.writer.write_event(event)?,
            }
        }
    }

    fn next(&mut self) -> io::Result<Event<'d>> {
        self.reader.read_event().map_err(io::Error::other)
    }

    /// The root element or the background, extended to hold the legend.
    fn taller(&mut self, element: &BytesStart<'_>) -> io::Result<BytesStart<'static>> {
        let name = element.name().as_ref().to_owned();
        let mut taller = BytesStart::new(name);
        for attribute in element.attributes() {
            let attribute = attribute.map_err(io::Error::other)?;
            let key = attribute.key.as_ref();
            let value = &*attribute.value;
            match key {
                "height" => {
                    let drawn: usize = value.parse().map_err(io::Error::other)?;
                    self.height = drawn + self.down;
                    taller.push_attribute((key, &*(self.height + self.extra).to_string()));
                }
                "viewBox" => {
                    let (rest, height) = value.rsplit_once(' ').unwrap_or((value, value));
                    let height: usize = height.parse().map_err(io::Error::other)?;
                    taller.push_attribute((key, &*format!("{rest} {}", height + self.down + self.extra)));
                }
                _ => taller.push_attribute((key, value)),
            }
        }
        Ok(taller)
    }

    /// The start of the frames, followed by the callers.
    fn frames_around_focus(&mut self, mut start: BytesStart<'_>, callers: &[Block<'_>]) -> io::Result<()> {
        let focus = TOP + self.down;
        start.push_attribute(("data-focus", &*focus.to_string()));
        self.writer.write_event(Event::Start(start))?;
        for block in callers {
            let row = (block.top()? - TOP) as f64;
            // A caller that was laid out three rows below the root moves to three rows above it.
            let up = |y: f64| y + self.down as f64 - 2.0 * row;
            let (rect, text) = (moved(&block.rect, up)?, moved(&block.text, up)?);
            self.write_block(self.flame.nodes.len() + block.index, &rect, &text)?;
        }
        Ok(())
    }

    /// Writes one block, after its `<g>` was read.
    fn block(&mut self) -> io::Result<()> {
        let Some(Block { index, rect, text }) = Block::read(&mut self.reader)? else { return Ok(()) };
        if self.down == 0 {
            return self.write_block(index, &rect, &text);
        }
        let lower = |y: f64| y + self.down as f64;
        let (rect, text) = (moved(&rect, lower)?, moved(&text, lower)?);
        self.write_block(index, &rect, &text)
    }

    fn write_block(&mut self, index: usize, rect: &BytesStart<'_>, text: &BytesStart<'_>) -> io::Result<()> {
        let node = self.wording.node(index);
        let label = self.wording.label(index);
        let mut group = BytesStart::new("g");
        if label.name != self.wording.name(index) {
            group.push_attribute(("data-label", &*label.name));
        }
        if !label.place.is_empty() {
            group.push_attribute(("data-place", &*label.place));
        }
        if node.inlined {
            group.push_attribute(("font-style", "oblique"));
        }
        self.writer.write_event(Event::Start(group))?;
        self.element(BytesStart::new("title"), &self.wording.title(index))?;

        let fill = match index {
            0 => color::GREY,
            _ if self.flame.header.is_highlighted(&node.name) => color::MATCHED,
            _ => self.legend.color(node),
        };
        let mut filled = BytesStart::new("rect");
        let mut pixels: f64 = 0.0;
        for attribute in rect.attributes() {
            let attribute = attribute.map_err(io::Error::other)?;
            let key = attribute.key.as_ref();
            if key == "width" {
                let percent: f64 = attribute.value.trim_end_matches('%').parse().map_err(io::Error::other)?;
                pixels = percent / 100.0 * self.width;
            }
            let fill = fill.to_string();
            filled.push_attribute((key, if key == "fill" { &*fill } else { &*attribute.value }));
        }
        if pixels >= GAP_FROM {
            filled.push_attribute(("class", "gap"));
        }
        self.writer.write_event(Event::Empty(filled))?;

        let room = ((pixels - 6.0) / CHARACTER).max(0.0) as usize;
        let label = label_fit(&label, room);
        self.element(text.borrow(), &label)?;
        self.writer.write_event(Event::End(BytesEnd::new("g")))
    }

    /// Writes the legend and the notes.
    fn below(&mut self) -> io::Result<()> {
        let entries = std::mem::take(&mut self.legend.entries);
        for (index, (fill, name)) in entries.iter().enumerate() {
            let top = self.height + index / COLUMNS * LINE;
            let left = index % COLUMNS * 100 / COLUMNS;
            let mut place = BytesStart::new("svg");
            place.extend_attributes([("x", &*format!("{left}%")), ("y", &*top.to_string())]);
            self.writer.write_event(Event::Start(place))?;
            let mut swatch = BytesStart::new("rect");
            swatch.extend_attributes([("x", "10"), ("y", "2"), ("width", "12"), ("height", "12")]);
            let fill = if *fill == WHITE { "none".to_string() } else { fill.to_string() };
            swatch.push_attribute(("fill", &*fill));
            self.writer.write_event(Event::Empty(swatch))?;
            self.text(26, 12, name)?;
            self.writer.write_event(Event::End(BytesEnd::new("svg")))?;
        }
        let top = self.height + entries.len().div_ceil(COLUMNS) * LINE;
        for (row, note) in std::mem::take(&mut self.notes).iter().enumerate() {
            self.text(10, top + row * LINE + 12, note)?;
        }
        Ok(())
    }

    fn text(&mut self, x: impl Display, y: impl Display, content: &str) -> io::Result<()> {
        let mut text = BytesStart::new("text");
        text.extend_attributes([("class", "note"), ("x", &*x.to_string()), ("y", &*y.to_string())]);
        self.element(text, content)
    }

    fn element(&mut self, start: BytesStart<'_>, content: &str) -> io::Result<()> {
        let end = start.to_end().into_owned();
        self.writer.write_event(Event::Start(start))?;
        self.writer.write_event(Event::Text(BytesText::new(content)))?;
        self.writer.write_event(Event::End(end))
    }
}

/// The element with another `y`.
fn moved(element: &BytesStart<'_>, to: impl Fn(f64) -> f64) -> io::Result<BytesStart<'static>> {
    let mut moved = BytesStart::new(element.name().as_ref().to_owned());
    for attribute in element.attributes() {
        let attribute = attribute.map_err(io::Error::other)?;
        let (key, value) = (attribute.key.as_ref(), &*attribute.value);
        if key == "y" {
            let y = to(value.parse().map_err(io::Error::other)?);
            moved.push_attribute((key, &*y.to_string()));
        } else {
            moved.push_attribute((key, value));
        }
    }
    Ok(moved)
}

/// Fits a label into `room` characters: drops the place first, then truncates the name. A wide block
/// loses the middle of the name. A narrow block keeps the end of a qualified name, because the colour
/// stands for its package, and the beginning of any other name.
fn label_fit(label: &BlockLabel, room: usize) -> String {
    /// Below this number of characters, a block is narrow.
    const NARROW: usize = 14;
    let BlockLabel { name, place } = label;
    if !place.is_empty() && display_width(name) + 1 + display_width(place) <= room {
        return format!("{name} {place}");
    }
    if room >= NARROW || display_width(name) <= room {
        return fit(name, room, "…");
    }
    if room < 3 {
        return String::new();
    }
    if !name.contains(['.', ':', '/']) {
        let end = name.char_indices().find(|&(at, _)| display_width(&name[..at]) >= room - 1);
        return format!("{}…", &name[..end.map_or(name.len(), |(at, _)| at)]);
    }
    let mut left = room - 1;
    let cut = name.char_indices().rev().find(|&(at, c)| {
        let width = display_width(&name[at..at + c.len_utf8()]);
        left.checked_sub(width).map(|rest| left = rest).is_none()
    });
    let start = cut.map_or(0, |(at, c)| at + c.len_utf8());
    format!("…{}", &name[start..])
}

fn is(element: &BytesStart<'_>, id: &str) -> bool {
    element.try_get_attribute("id").ok().flatten().is_some_and(|found| &*found.value == id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_keep_the_most_telling_part() {
        for (name, place, room, expected) in [
            ("(anonymous)", "events.js:113", 25, "(anonymous) events.js:113"),
            ("(anonymous)", "events.js:113", 24, "(anonymous)"),
            ("waysToPay", "", 6, "waysT…"),
            ("std::operator delete", "", 9, "…r delete"),
            ("gob.(*Decoder).Decode", "", 15, "gob.(*D….Decode"),
            ("work", "", 2, ""),
        ] {
            let label = BlockLabel { name: name.into(), place: place.into() };
            assert_eq!(label_fit(&label, room), expected, "{name} {room}");
        }
    }
}
