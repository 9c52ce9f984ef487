//! Reads VTune's tables of call stacks (`vtune -report top-down`) and of functions (`vtune -report hotspots`), both with `-format csv`.
//!
//! ```text
//! Function Stack,CPU Time:Self,Module                  Function\tCPU Time\t…\tModule\tSource File
//! main,0.500,shop                                      parse\t0.3\t…\tshop\tparse.c
//!  parse,0.300,shop                  one blank deeper
//! ```
//!
//! Columns are found by their names. Unless told otherwise, VTune puts tabs between them. Times are in seconds.

use crate::format::indented_tree::{From, IndentedTree, plain_sample};
use crate::format::text::{fields_between, lossy};
use crate::format::{Confidence, Format, LoadError, ParseError, Source, finished};
use crate::profile::{Frame, FrameId, LoadOptions, Profile, ProfileBuilder};

/// The entry in the list of readable formats.
pub(super) static VTUNE: Format = Format { name: NAME, title: "VTune CSV", sniff, read };

const NAME: &str = "vtune";

/// The columns of names: of a tree, and of a list.
const STACK: &str = "Function Stack";
const FUNCTION: &str = "Function";

/// How many lines may come before the header, such as `war:Column filter is ON.`
const LINES_BEFORE: usize = 16;

struct Columns {
    delimiter: char,
    is_tree: bool,
    name: usize,
    time: usize,
    module: Option<usize>,
    file: Option<usize>,
}

impl Columns {
    fn of(header: &str) -> Option<Columns> {
        let header = header.trim_start_matches('\u{feff}');
        let delimiter = header.chars().find(|character| [',', '\t', ';', '|'].contains(character))?;
        let names = fields_between(header, delimiter);
        let column = |name: &str| names.iter().position(|known| known.trim() == name);
        let is_tree = column(STACK) == Some(0);
        let name = column(if is_tree { STACK } else { FUNCTION })?;
        // Where another column is the first, the file may be any table with times of functions, such as one in Markdown.
        if name > 0 && (column("Module").is_none() || names[0].trim().is_empty()) {
            return None;
        }
        let time = if is_tree {
            column("CPU Time:Self")
        } else {
            column("CPU Time:Self").or_else(|| column("CPU Time"))
        };
        Some(Columns {
            delimiter,
            is_tree,
            name,
            time: time?,
            module: column("Module"),
            file: column("Source File"),
        })
    }
}

fn sniff(head: &[u8]) -> Confidence {
    let mut lines = head.split(|&byte| byte == b'\n').take(LINES_BEFORE);
    let is_it =
        head.starts_with(b"war:Column filter") || lines.any(|line| Columns::of(&lossy(line)).is_some());
    if is_it { Confidence::Certain } else { Confidence::No }
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let mut builder = ProfileBuilder::new(NAME, options);
    builder.metric("cpu", "nanoseconds");
    let (mut columns, mut number) = (None, 0);
    let mut tree: IndentedTree<1> = IndentedTree::default();
    // How deep the next line may be. The first one may be indented, too.
    let mut deepest = None;
    while let Some(line) = source.line()? {
        number += 1;
        let line = lossy(line);
        let line = line.trim_end();
        let Some(columns) = &columns else {
            columns = Columns::of(line);
            continue;
        };
        // In Markdown, a line separates the titles from the rows: `:--- | ---:`.
        let is_separator =
            columns.delimiter == '|' && line.chars().all(|character| "|:- ".contains(character));
        if line.is_empty() || is_separator {
            continue;
        }
        let row =
            Row::of(line, columns, &mut builder).map_err(|what| ParseError::at_line(NAME, number, what))?;
        if deepest.is_some_and(|deepest| row.depth > deepest) {
            return Err(ParseError::at_line(
                NAME,
                number,
                "the line is more than one level deeper than the one before it",
            )
            .into());
        }
        deepest = Some(row.depth + 1);
        tree.add(
            &mut builder,
            From::Root,
            plain_sample,
            (row.depth, row.frame),
            [(row.time, Some(row.time))],
        );
    }
    tree.close(&mut builder, From::Root, plain_sample, 0);
    if deepest.is_none() {
        return Err(ParseError::at_line(NAME, number, "the file contains no stacks").into());
    }
    if columns.is_some_and(|columns| !columns.is_tree) {
        builder.meta.notes.push(
            "the report lists functions without callers: totals are those of a function alone".to_string(),
        );
    }
    Ok(finished(builder)?)
}

struct Row {
    depth: usize,
    frame: FrameId,
    /// In nanoseconds.
    time: i64,
}

impl Row {
    fn of(line: &str, columns: &Columns, builder: &mut ProfileBuilder) -> Result<Row, String> {
        let fields = fields_between(line, columns.delimiter);
        let field = |column: Option<usize>| {
            column.and_then(|column| fields.get(column)).map_or("", |field| field.trim())
        };
        let depth =
            if columns.is_tree { fields[0].len() - fields[0].trim_start_matches(' ').len() } else { 0 };
        let time = field(Some(columns.time));
        let seconds = time
            .trim_end_matches('s')
            .parse()
            .ok()
            .filter(|seconds: &f64| seconds.is_finite() && *seconds >= 0.0);
        let seconds = seconds.ok_or_else(|| format!("invalid `CPU Time:Self` field: {time}"))?;
        let frame = frame(builder, field(Some(columns.name)), field(columns.module), field(columns.file));
        Ok(Row { depth, frame, time: (seconds * 1e9).round() as i64 })
    }
}

fn frame(builder: &mut ProfileBuilder, name: &str, module: &str, file: &str) -> FrameId {
    let known = |text| if text == "[Unknown]" { "" } else { text };
    let function = builder.named_function(name, known(file));
    let mapping = builder.named_mapping(known(module));
    builder.frame(Frame { function, mapping, ..Frame::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::to_notation;

    fn load(text: &str) -> Result<Profile, LoadError> {
        assert_eq!(sniff(text.as_bytes()), Confidence::Certain);
        read(&mut Source::from_bytes(text.into()), LoadOptions::default())
    }

    #[test]
    fn columns_may_be_divided_by_tabs() {
        let text = "war:Column filter is ON.\nFunction Stack,CPU Time:Self,Module\nmain,0.5,shop\n parse,0.25,shop\n  \"operator<(a, b)\",0,shop\n\n main,1,\n";
        let expected = "main 500000000\nmain;main 1000000000\nmain;parse 250000000";
        assert_eq!(to_notation(&load(text).unwrap()), expected);
        let tabs =
            "Function Stack\tCPU Time:Self\n main\t0.5\n  parse\t0.25\n   operator<(a, b)\t0\n  main\t1\n";
        assert_eq!(to_notation(&load(tabs).unwrap()), expected);
    }

    #[test]
    fn a_list_of_functions_has_no_callers() {
        let text = "Function\tCPU Time\tCPU Time:Effective Time\tModule\tSource File\nparse\t0.25\t0.2\tshop\ta.c\nread\t1\t1\tlibc.so\t[Unknown]\n";
        let profile = load(text).unwrap();
        assert_eq!(to_notation(&profile), "parse@a.c:0 250000000\nread 1000000000");
        assert!(profile.meta.notes[0].contains("without callers"));
    }

    #[test]
    fn a_list_may_be_a_table_in_markdown() {
        let text = "Function | CPU Time | Source File |\n:------- | -------: | :---------- |\nparse    |     0.25 | a.c         |\n";
        assert_eq!(to_notation(&load(text).unwrap()), "parse@a.c:0 250000000");
    }

    #[test]
    fn functions_may_be_in_any_column() {
        let text =
            "Process;Module;Function;CPU Time:Self\nshop;[Dynamic code];parse;0.25\nshop;libc.so;read;1\n";
        let profile = load(text).unwrap();
        assert_eq!(to_notation(&profile), "parse 250000000\nread 1000000000");
        assert_eq!(
            profile.symbols.mapping_file(profile.symbols.frames.iter().last().unwrap().mapping),
            "libc.so"
        );
        assert_eq!(sniff(b"Process;Function;CPU Time\nshop;parse;0.25\n"), Confidence::No);
        assert_eq!(
            sniff(b"| Function | CPU Time | Module |\n|---|---|---|\n| parse | 0.25 | shop |\n"),
            Confidence::No
        );
    }

    #[test]
    fn malformed_lines_are_refused() {
        let error = |rows: &str| {
            load(&format!("Function Stack,CPU Time:Self,Module\n{rows}")).unwrap_err().to_string()
        };
        assert!(
            error("main,1.0,a\n  f,1.0,a\n").contains("one level deeper than the one before it (line 3)")
        );
        assert!(error("main,x,a\n").contains("invalid `CPU Time:Self` field: x (line 2)"));
        assert!(error("main\n").contains("(line 2)"));
        assert!(error("").contains("the file contains no stacks"));
    }
}
