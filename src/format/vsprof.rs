//! Reads Visual Studio's CSV: call trees of samples and lists of functions, and call trees of counted calls, which the `inferno`
//! crate converts to collapsed stacks.
//!
//! ```text
//! Level,Function Name,Inclusive Samples,Exclusive Samples,…,Module Name,
//! 1,"main","8,735",0,…,"shop.exe",
//! ```

use std::io;

use inferno::collapse::{Collapse, vsprof};

use crate::format::indented_tree::{From, IndentedTree, plain_sample};
use crate::format::quietly::quietly;
use crate::format::text::{BadLines, csv_fields, decimal, first_line, lossy};
use crate::format::{Confidence, Format, LoadError, ParseError, Source, finished};
use crate::profile::{Frame, FrameId, Function, LabelSetId, LoadOptions, Profile, ProfileBuilder};

/// The entry in the list of readable formats.
pub(super) static VSPROF: Format = Format { name: NAME, title: "Visual Studio CSV", sniff, read };

const NAME: &str = "vsprof";

/// How tables of calls begin.
const CALLS: &[u8] = b"Level,Function Name,Number of Calls,";

/// The columns of a table of samples.
struct Columns {
    /// How deep a function is; a list of functions has none.
    level: Option<usize>,
    name: usize,
    inclusive: usize,
    exclusive: usize,
    module: Option<usize>,
    file: Option<usize>,
    line: Option<usize>,
}

impl Columns {
    fn of(header: &str) -> Option<Columns> {
        let names = csv_fields(header.trim_start_matches('\u{feff}').trim_end());
        let column = |name: &str| names.iter().position(|known| known == name);
        Some(Columns {
            level: column("Level"),
            name: column("Function Name")?,
            inclusive: column("Inclusive Samples")?,
            exclusive: column("Exclusive Samples")?,
            module: column("Module Name"),
            file: column("Source File"),
            line: column("Function Line Number"),
        })
    }
}

fn sniff(head: &[u8]) -> Confidence {
    let is_it = head.starts_with(CALLS) || Columns::of(&lossy(first_line(head))).is_some();
    if is_it { Confidence::Certain } else { Confidence::No }
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let bytes = source.read_all()?;
    let mut builder = ProfileBuilder::new(NAME, options);
    // The text is UTF-8, or is taken to be.
    let text = lossy(&bytes);
    let Some(columns) = Columns::of(&lossy(first_line(text.as_bytes()))) else {
        builder.metric("calls", "count");
        builder.warn(
            "the times are left out: the table has only averages and percentages, which are rounded to two decimals"
                .to_string(),
        );
        return collapse(text.as_bytes(), builder, vsprof::Folder::default);
    };
    builder.metric("samples", "count");
    let mut tree: IndentedTree<1> = IndentedTree::default();
    let (mut bad, mut good) = (BadLines::default(), 0);
    for (number, line) in text.lines().enumerate().skip(1).filter(|(_, line)| !line.trim().is_empty()) {
        match add(line, &columns, &mut tree, &mut builder) {
            Some(()) => good += 1,
            None => bad.add(number as u64 + 1),
        }
    }
    tree.close(&mut builder, From::Root, plain_sample, 0);
    tree.warn_of_missing(&mut builder);
    bad.settle(&mut builder, good, "expected a function with its inclusive and exclusive samples")?;
    Ok(finished(builder)?)
}

/// Adds the function of a line, to the tree or to the list.
fn add(
    line: &str,
    columns: &Columns,
    tree: &mut IndentedTree<1>,
    builder: &mut ProfileBuilder,
) -> Option<()> {
    let fields = csv_fields(line);
    let field =
        |column: Option<usize>| column.and_then(|column| fields.get(column)).map_or("", |field| field.trim());
    // Thousands are divided by commas: `"8,735"`.
    let number = |column: usize| {
        decimal(field(Some(column)).replace(',', "").as_bytes()).filter(|number| *number >= 0)
    };
    let (inclusive, exclusive) = (number(columns.inclusive)?, number(columns.exclusive)?);
    let (name, file) = (builder.string(field(Some(columns.name))), builder.string(field(columns.file)));
    let line = field(columns.line).parse().unwrap_or(0);
    let function = builder.function(Function { name, file, line, column: 0, by_place: false });
    let mapping = builder.named_mapping(field(columns.module));
    match columns.level {
        Some(level) => {
            let frame = builder.frame(Frame { function, mapping, ..Frame::default() });
            let values = [(inclusive, Some(exclusive))];
            tree.add(builder, From::Root, plain_sample, (number(level)? as usize, frame), values);
        }
        None => {
            builder.call_node(function, &[exclusive]);
            builder.call_total(function, &[inclusive]);
            builder.call_mapping(function, mapping);
        }
    }
    Some(())
}

/// Runs a collapser and builds a profile from its output.
fn collapse<F: Collapse>(
    text: &[u8],
    mut builder: ProfileBuilder,
    folder: impl Fn() -> F,
) -> Result<Profile, LoadError> {
    let format = builder.meta.format;
    let mut printed = Vec::new();
    match quietly(|| folder().collapse(text, &mut printed)) {
        Some(Ok(())) => {}
        Some(Err(error)) => return Err(explained(format, text, &error, folder).into()),
        None => return Err(ParseError::whole(format, "the file is malformed").into()),
    }
    for line in printed.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        let (stack, value) = memchr::memrchr(b' ', line)
            .and_then(|at| Some((&line[..at], decimal(&line[at + 1..])?)))
            .ok_or_else(|| ParseError::whole(format, "a count does not fit in 64 bits"))?;
        let frames: Vec<FrameId> = lossy(stack).split(';').map(|frame| builder.named_frame(frame)).collect();
        let stack = builder.stack(&frames);
        builder.sample(stack, LabelSetId::default(), None, &[value]);
    }
    if builder.row_count() == 0 {
        let last = text.trim_ascii_end().split(|&byte| byte == b'\n').count() as u64;
        return Err(ParseError::at_line(format, last, "the file contains no stacks").into());
    }
    Ok(finished(builder)?)
}

/// A collapser's error with its line number.
fn explained<F: Collapse>(
    format: &'static str,
    text: &[u8],
    error: &io::Error,
    folder: impl Fn() -> F,
) -> ParseError {
    let whole = error.to_string();
    let (what, _) = whole.split_once('\n').unwrap_or((&whole, ""));
    let mut what = what.trim_end_matches(':').to_string();
    if let Some(first) = what.get_mut(..1) {
        first.make_ascii_lowercase();
    }
    let ends: Vec<usize> = memchr::memchr_iter(b'\n', text).map(|at| at + 1).chain([text.len()]).collect();
    let fails = |end: usize| {
        let outcome = quietly(|| folder().collapse(&text[..end], io::sink()));
        matches!(outcome, Some(Err(found)) if found.to_string() == whole)
    };
    // Finds the line by bisection: text up to the malformed line fails in the same way, shorter text does
    // not.
    let index = ends.partition_point(|&end| !fails(end));
    if index < ends.len() {
        return ParseError::at_line(format, index as u64 + 1, what);
    }
    ParseError::whole(format, what)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::to_notation;

    fn source(text: &str) -> Source {
        Source::from_bytes(text.as_bytes().to_vec())
    }

    #[test]
    fn trees_of_samples_have_inclusive_and_exclusive_ones() {
        let text = "Level,Function Name,Inclusive Samples,Exclusive Samples,Inclusive Samples %,Exclusive Samples %,Module Name,\r\n\
                    1,\"main\",\"8,735\",5,100.00,0.06,\"a.exe\",\r\n2,\"f<a, b>\",\"8,730\",\"8,730\",99.94,99.94,\"a.exe\",\r\n";
        assert_eq!(sniff(text.as_bytes()), Confidence::Certain);
        let profile = read(&mut source(text), LoadOptions::default()).unwrap();
        assert_eq!(to_notation(&profile), "main 5\nmain;f<a, b> 8730");
    }

    #[test]
    fn lists_of_functions_have_totals() {
        let text = "Function Name,Inclusive Samples,Exclusive Samples,Source File,Function Line Number,Module Name,\n\
                    \"main\",100,10,\"a.cpp\",12,\"a.exe\",\n\"f\",90,90,\"a.cpp\",5,\"a.exe\",\n";
        let profile = read(&mut source(text), LoadOptions::default()).unwrap();
        let calls = profile.calls.as_ref().unwrap();
        let columns = [&calls.self_values[0], &calls.totals[0]]
            .map(|column| column.iter().copied().collect::<Vec<i64>>());
        assert_eq!(columns, [[10, 90], [100, 90]]);
        assert_eq!(profile.symbols.functions.iter().map(|function| function.line).max(), Some(12));
    }

    #[test]
    fn generics_of_dotnet_keep_their_class() {
        let text = "Level,Function Name,Number of Calls,Elapsed Inclusive Time %,Elapsed Exclusive Time %,\
                    Avg Elapsed Inclusive Time,Avg Elapsed Exclusive Time,Module Name,\n\
                    1,\"a.exe\",1,1.0,1.0,1.0,1.0,\"\",\n\
                    2,\"System.Collections.Generic.IEnumerator`1.get_Current()\",3,1.0,1.0,1.0,1.0,\"a.dll\",\n";
        let profile = read(&mut source(text), LoadOptions::ALL).unwrap();
        assert_eq!(to_notation(&profile), "a.exe;System.Collections.Generic.IEnumerator`1.get_Current() 3");
        assert!(
            profile.meta.warnings[0].starts_with("the times are left out"),
            "{:?}",
            profile.meta.warnings
        );
    }

    #[test]
    fn bytes_that_are_not_utf8_are_replaced() {
        let text = b"Level,Function Name,Number of Calls,Elapsed Inclusive Time %,Elapsed Exclusive Time %,\
                     Avg Elapsed Inclusive Time,Avg Elapsed Exclusive Time,Module Name,\n\
                     1,\"caf\xe9.exe\",2,1.0,1.0,1.0,1.0,\"\",\n";
        let profile = read(&mut Source::from_bytes(text.to_vec()), LoadOptions::ALL).unwrap();
        assert_eq!(to_notation(&profile), "caf\u{fffd}.exe 2");
    }

    #[test]
    fn errors_report_the_line() {
        let text = "Level,Function Name,Number of Calls,Elapsed Inclusive Time %,Elapsed Exclusive Time %,\
                    Avg Elapsed Inclusive Time,Avg Elapsed Exclusive Time,Module Name,\n\
                    0,\"a.exe\",1,1.0,1.0,1.0,1.0,\"\",\n0\n";
        assert_eq!(sniff(text.as_bytes()), Confidence::Certain);
        let error = read(&mut source(text), LoadOptions::ALL).unwrap_err();
        assert!(error.to_string().contains("(line 3)"), "{error}");
    }
}
