//! The pass over inferno's XML that puts in names, numbers and colours.

use std::fmt::Display;
use std::io::{self, Write};

use quick_xml::events::{BytesCData, BytesEnd, BytesStart, BytesText, Event};
use quick_xml::{Reader, Writer};

use crate::name::{display_width, fit};
use crate::output::color;
use crate::output::svg::legend::Legend;
use crate::output::svg::wording::Wording;
use crate::output::svg::{FRAMES_WIDTH, SvgOptions, tokens};
use crate::report::Flame;

/// Pixels of a line of the legend or the notes.
const LINE: usize = 18;

/// How many entries of the legend stand side by side.
const COLUMNS: usize = 3;

/// Pixels of one character, as inferno reckons.
const CHARACTER: f64 = 7.08;

pub(super) fn rewrite(
    drawn: &str,
    flame: &Flame,
    options: &SvgOptions,
    wording: &Wording<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let legend = Legend::new(flame, options.color_by, wording);
    let mut notes = vec![legend.title().to_string()];
    notes.extend(wording.notes());
    let rows = legend.entries.len().div_ceil(COLUMNS) + notes.len();
    let mut pass = Pass {
        reader: Reader::from_str(drawn),
        writer: Writer::new(out),
        flame,
        wording,
        legend,
        notes,
        extra: rows * LINE + LINE / 2,
        height: 0,
    };
    pass.run()?;
    pass.writer.into_inner().flush()
}

struct Pass<'d, 'w> {
    reader: Reader<&'d [u8]>,
    writer: Writer<&'w mut dyn Write>,
    flame: &'w Flame,
    wording: &'w Wording<'w>,
    legend: Legend,
    notes: Vec<String>,
    /// Pixels added under what inferno drew.
    extra: usize,
    /// Pixels of what inferno drew.
    height: usize,
}

impl<'d> Pass<'d, '_> {
    fn run(&mut self) -> io::Result<()> {
        let mut depth = 0;
        loop {
            match self.next()? {
                Event::Eof => return Ok(()),
                Event::Start(start) if start.name().as_ref() == "g" => self.block()?,
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

    /// The picture itself, or its background, with room for the legend.
    fn taller(&mut self, element: &BytesStart<'_>) -> io::Result<BytesStart<'static>> {
        let name = element.name().as_ref().to_owned();
        let mut taller = BytesStart::new(name);
        for attribute in element.attributes() {
            let attribute = attribute.map_err(io::Error::other)?;
            let key = attribute.key.as_ref();
            let value = &*attribute.value;
            match key {
                "height" => {
                    self.height = value.parse().map_err(io::Error::other)?;
                    taller.push_attribute((key, &*(self.height + self.extra).to_string()));
                }
                "viewBox" => {
                    let (rest, height) = value.rsplit_once(' ').unwrap_or((value, value));
                    let height: usize = height.parse().map_err(io::Error::other)?;
                    taller.push_attribute((key, &*format!("{rest} {}", height + self.extra)));
                }
                _ => taller.push_attribute((key, value)),
            }
        }
        Ok(taller)
    }

    /// One block: `<g><title>…</title><rect …/><text …>…</text></g>`, of which the `<g>` is read.
    fn block(&mut self) -> io::Result<()> {
        let mut title = String::new();
        let mut rect = None;
        let mut text = None;
        loop {
            match self.next()? {
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
            "all" => 0,
            token => match tokens::node(token) {
                Some(index) => index,
                None => return Ok(()),
            },
        };
        self.write_block(index, &rect, &text)
    }

    fn write_block(&mut self, index: usize, rect: &BytesStart<'_>, text: &BytesStart<'_>) -> io::Result<()> {
        let node = &self.flame.nodes[index];
        let label = self.wording.label(index);
        let mut group = BytesStart::new("g");
        if label != self.wording.name(index) {
            group.push_attribute(("data-label", &*label));
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
        let mut pixels = 0.0;
        for attribute in rect.attributes() {
            let attribute = attribute.map_err(io::Error::other)?;
            let key = attribute.key.as_ref();
            if key == "width" {
                let percent: f64 = attribute.value.trim_end_matches('%').parse().map_err(io::Error::other)?;
                pixels = percent / 100.0 * FRAMES_WIDTH;
            }
            let fill = fill.to_string();
            filled.push_attribute((key, if key == "fill" { &*fill } else { &*attribute.value }));
        }
        self.writer.write_event(Event::Empty(filled))?;

        let room = ((pixels - 6.0) / CHARACTER).max(0.0) as usize;
        let label = label_fit(&label, room);
        self.element(text.borrow(), &label)?;
        self.writer.write_event(Event::End(BytesEnd::new("g")))
    }

    /// The legend and the notes.
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
            swatch.push_attribute(("fill", &*fill.to_string()));
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

/// A label made to fit: shortened in the middle, or where that leaves too little of it, to its end,
/// since the beginning of a name is what the colour says already.
fn label_fit(label: &str, room: usize) -> String {
    /// Blocks with fewer characters show the end.
    const NARROW: usize = 14;
    if room >= NARROW || display_width(label) <= room {
        return fit(label, room, "…");
    }
    if room < 3 {
        return String::new();
    }
    let mut left = room - 1;
    let cut = label.char_indices().rev().find(|&(at, c)| {
        let width = display_width(&label[at..at + c.len_utf8()]);
        left.checked_sub(width).map(|rest| left = rest).is_none()
    });
    let start = cut.map_or(0, |(at, c)| at + c.len_utf8());
    format!("…{}", &label[start..])
}

fn broken() -> io::Error {
    io::Error::other("the picture came out other than expected")
}
