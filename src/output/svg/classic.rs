//! The classic flame graph, drawn by inferno: the picture that users of FlameGraph know.
//!
//! inferno reads collapsed stacks, one per line: `main;work 3`, or `main;work 5 3` if the value was 5 in the baseline.

use std::io::Write;

use inferno::flamegraph::{self, Direction as Growth, Options};

use crate::name::fit;
use crate::output::error::{ClassicError, Error};
use crate::output::svg::options::{NARROWEST, SvgOptions, TITLE, printable};
use crate::output::svg::wording::Wording;
use crate::report::{Direction, Flame};
use crate::unit::{Unit, group_thousands};

/// The value of `FlameOptions::pixels` that keeps every block that inferno draws, those of at least 0.01% of the whole.
pub const CLASSIC_PIXELS: u32 = 3_334;

/// Maximum number of bytes of all lines. 2,000 levels of long names take much memory, as each stack is written out.
const LIMIT: usize = 256 << 20;

/// Writes a flame graph in the classic style. Of the options, `icicle` and `width` apply; colours are random warm ones, or
/// those of a differential flame graph in a comparison.
pub fn classic(flame: &Flame, options: &SvgOptions, out: &mut dyn Write) -> Result<(), Error> {
    if !flame.callers.is_empty() {
        return Err(ClassicError::TwoGraphs.into());
    }
    if flame.nodes[0].width == 0 {
        return Err(ClassicError::Empty.into());
    }
    let lines = Lines::of(flame, LIMIT)?.done;
    // For a flame chart, inferno takes the lines in their order, the last first. Otherwise, it would sort them by bytes and
    // draw `get` in two parts around `get item`.
    let lines = lines.iter().rev().map(String::as_str);
    flamegraph::from_lines(&mut drawing(flame, options), lines, &mut *out)?;
    Ok(writeln!(out)?)
}

fn drawing(flame: &Flame, options: &SvgOptions) -> Options<'static> {
    let metric = &flame.header.metric;
    let mut drawing = Options::default();
    drawing.title = fit(&printable(&flame.title), TITLE, "…");
    let mut subtitle = Wording::new(flame, None).map(|wording| wording.subtitle()).unwrap_or_default();
    if let Some(depth) = flame.deepest {
        subtitle.push_str(&format!(" · cut at {} levels", group_thousands(depth.into())));
    }
    drawing.subtitle = Some(subtitle);
    drawing.image_width = options.width.map(|width| width.max(NARROWEST));
    drawing.count_name =
        printable(if Unit::parse(&metric.unit) == Unit::COUNT { &metric.name } else { &metric.unit });
    drawing.factor = 1.0 / metric.divisor.max(1) as f64;
    // The same picture in every run.
    drawing.deterministic = true;
    drawing.flame_chart = true;
    if options.icicle {
        drawing.direction = Growth::Inverted;
    }
    drawing
}

/// The lines for inferno.
struct Lines {
    done: Vec<String>,
    bytes: usize,
    limit: usize,
    compares: bool,
}

/// A value of the baseline and of the profile that is drawn.
#[derive(Clone, Copy, Default)]
struct Sides {
    old: i64,
    new: i64,
}

impl Lines {
    /// The stacks of a graph in preorder. Each comes before those that continue it, because inferno takes the change of a
    /// frame from the first line that ends in it.
    fn of(flame: &Flame, limit: usize) -> Result<Lines, ClassicError> {
        let nodes = &flame.nodes;
        let compares = nodes[0].old.is_some();
        let mut lines = Lines { done: Vec::new(), bytes: 0, limit, compares };
        // What no child covers: self, and children too narrow to draw.
        let mut own: Vec<Sides> = Vec::with_capacity(nodes.len());
        for node in nodes {
            let old = node.old.unwrap_or_default();
            if node.width != node.total
                || [node.total, node.self_value, old.total, old.self_value].iter().any(|&value| value < 0)
            {
                return Err(ClassicError::Negative);
            }
            own.push(Sides { old: old.total, new: node.width });
        }
        for node in nodes.iter().skip(1) {
            let parent = &mut own[node.parent as usize];
            parent.new -= node.width;
            parent.old -= node.old.map_or(0, |old| old.total);
        }
        let own_self = |index: usize| {
            let node = &nodes[index];
            // In a bottom-up graph, self of a node is that of the function at the root.
            if flame.direction == Direction::BottomUp && index > 0 {
                return Sides { old: own[index].old.max(0), new: own[index].new };
            }
            Sides { old: node.old.map_or(0, |old| old.self_value), new: node.self_value }
        };
        let mut path = String::new();
        let mut ends = vec![0; nodes.len()];
        for (index, node) in nodes.iter().enumerate().skip(1) {
            path.truncate(ends[node.parent as usize]);
            if !path.is_empty() {
                path.push(';');
            }
            path.push_str(&frame(&node.name));
            ends[index] = path.len();
            let sides = own_self(index);
            lines.push(&path, sides)?;
            lines.push_unchanged(&path, own[index].new - sides.new)?;
        }
        let no_stack = own_self(0);
        lines.push("(no stack)", no_stack)?;
        lines.push_unchanged("(too narrow to draw)", own[0].new - no_stack.new)?;
        Ok(lines)
    }

    fn push_unchanged(&mut self, path: &str, value: i64) -> Result<(), ClassicError> {
        let value = value.max(0);
        self.push(path, Sides { old: value, new: value })
    }

    fn push(&mut self, path: &str, Sides { old, new }: Sides) -> Result<(), ClassicError> {
        if new == 0 && (old == 0 || !self.compares) {
            return Ok(());
        }
        let line = if self.compares { format!("{path} {old} {new}") } else { format!("{path} {new}") };
        self.bytes += line.len();
        if self.bytes > self.limit {
            return Err(ClassicError::TooLarge(self.limit));
        }
        self.done.push(line);
        Ok(())
    }
}

/// A name as inferno can read it: `;` would end it, ` 3` at its end would be a value, and `# ` starts a comment.
fn frame(name: &str) -> String {
    let text = printable(name).replace(';', ":");
    let text = text.trim();
    let is_value = |word: &str| word.chars().all(|c| c.is_ascii_digit() || c == '.');
    match text.rsplit_once(' ') {
        _ if text.is_empty() => "\"\"".to_string(),
        Some((rest, last)) if is_value(last) => format!("{rest}_{last}"),
        _ if text.starts_with("# ") => text.replacen('#', "_", 1),
        _ => text.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{Profile, from_notation};
    use crate::view::{self, BaseSide, FlameOptions, Scope};

    fn flame(profile: &Profile, change: impl Fn(&mut FlameOptions)) -> Flame {
        let mut options = FlameOptions { title: "title".into(), ..FlameOptions::new(Scope::metric(0)) };
        change(&mut options);
        view::flame(profile, &options)
    }

    fn lines(flame: &Flame) -> Vec<String> {
        Lines::of(flame, LIMIT).unwrap().done
    }

    fn compare(options: &mut FlameOptions) {
        options.scope.base = Some(BaseSide { metric: 1, ..BaseSide::default() });
    }

    #[test]
    fn stacks_with_their_self() {
        let top_down = flame(&from_notation("main;a;x 1\nmain;b 2\nmain 3\n 4"), |_| ());
        assert_eq!(lines(&top_down), ["main 3", "main;a;x 1", "main;b 2", "(no stack) 4"]);
        let bottom_up =
            flame(&from_notation("main;a 1\nmain 3"), |options| options.direction = Direction::BottomUp);
        assert_eq!(lines(&bottom_up), ["a;main 1", "main 3"]);
        let narrow = flame(&from_notation("a;b 9\na;c 1\nd 1"), |options| options.pixels = 1);
        assert_eq!(lines(&narrow), ["a 1", "a;b 9", "(too narrow to draw) 1"]);
    }

    #[test]
    fn a_comparison_has_both_values() {
        let profile = from_notation("main 2 7\nmain;a 3 1\nmain;new 5 0\nmain;gone 0 4");
        let flame = flame(&profile, compare);
        assert_eq!(lines(&flame), ["main 7 2", "main;a 1 3", "main;new 0 5"]);
        let mut out = Vec::new();
        classic(&flame, &SvgOptions::default(), &mut out).unwrap();
        let picture = String::from_utf8(out).unwrap();
        // The change is that of self: blue for main, which shrank most, red for new, which grew as much.
        let fill = |name: &str| {
            let (_, rest) = picture.split_once(&format!("<title>{name} (")).unwrap();
            rest.split_once("fill=\"rgb(").unwrap().1.split_once(')').unwrap().0.to_string()
        };
        assert_eq!([fill("main"), fill("new")], ["100,100,255", "255,100,100"]);
        assert!(picture.contains("<title>a (3 samples, 30.00%; +20.00%)</title>"));
    }

    #[test]
    fn names_stay_one_frame() {
        for (name, want) in [
            ("main", "main"),
            ("semi;colon", "semi:colon"),
            ("worker 3 100", "worker 3_100"),
            ("v 1.5", "v_1.5"),
            ("# hash", "_ hash"),
            (" ", "\"\""),
            ("line\nbreak", "line\\nbreak"),
        ] {
            assert_eq!(frame(name), want);
        }
        // Sorted by bytes, `main;get item` would be between `main;get` and `main;get;x`.
        let flame = flame(&from_notation("main;get 1\nmain;get item 2\nmain;get;x 4"), |_| ());
        let mut out = Vec::new();
        classic(&flame, &SvgOptions::default(), &mut out).unwrap();
        assert!(String::from_utf8(out).unwrap().contains("<title>get (5 samples, 71.43%)</title>"));
    }

    #[test]
    fn what_inferno_cannot_draw_is_refused() {
        let error = |text: &str| {
            let drawn =
                classic(&flame(&from_notation(text), |_| ()), &SvgOptions::default(), &mut std::io::sink());
            drawn.unwrap_err().to_string()
        };
        assert!(error("a 3\nb -1").contains("negative"));
        assert!(error("a;b 3\na;c -3").contains("negative"));
        assert!(error("a 0").contains("other than 0"));
        let large = flame(&from_notation("main;a 3\nmain;b 3"), |_| ());
        assert!(matches!(Lines::of(&large, 15), Err(ClassicError::TooLarge(15))));
        assert!(Lines::of(&large, 16).is_ok());
    }
}
