//! Finds the output file of a picture, and rejects file extensions that cannot be written, also by `-o` of commands
//! that write text.

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::cli::terminal::failure::hinted;

/// A command that draws a picture, and the file extensions it writes.
pub(crate) struct Drawing {
    pub(crate) command: &'static str,
    pub(crate) endings: &'static [&'static str],
    /// Whether `-` among the profiles stands for the output, as for a command that always draws a picture.
    pub(crate) dash: bool,
}

/// File extensions of pictures. No profile has one of these.
const PICTURES: [&str; 15] = [
    "svg", "html", "dot", "png", "jpg", "jpeg", "gif", "webp", "bmp", "tif", "tiff", "pdf", "ps", "eps",
    "svgz",
];

impl Drawing {
    /// The output file: `-o`, or the positional argument with the extension of a picture, which is removed from
    /// `positionals`.
    pub(crate) fn target(
        &self,
        given: Option<PathBuf>,
        positionals: &mut Vec<String>,
    ) -> Result<Option<PathBuf>> {
        let place = positionals.iter().position(|path| is_picture(Path::new(path)));
        let place = place.or_else(|| {
            let is_dash = |path: &String| self.dash && given.is_none() && path == "-";
            positionals.iter().position(is_dash)
        });
        let positional = place.map(|place| PathBuf::from(positionals.remove(place)));
        if let (Some(one), Some(other)) = (&given, &positional) {
            let message = format!(
                "{}: two output files given, {} and {}",
                self.command,
                one.display(),
                other.display()
            );
            return Err(hinted(message, "run the command once for each"));
        }
        let target = given.or(positional);
        match &target {
            Some(out) if is_picture(out) && !self.writes(out) => Err(self.refusal(out, positionals)),
            _ => Ok(target),
        }
    }

    pub(crate) fn writes(&self, out: &Path) -> bool {
        self.endings.iter().any(|ending| has_ending(out, ending))
    }

    /// The error for a kind of picture that is not written. Its hint shows a similar command that works.
    fn refusal(&self, out: &Path, profiles: &[String]) -> anyhow::Error {
        let ending = out.extension().unwrap_or_default().to_string_lossy().to_ascii_uppercase();
        let profiles = if profiles.is_empty() { "PROFILE".to_string() } else { profiles.join(" ") };
        let message = format!(
            "{}: cannot write {}: {ending} is not a format that prof {0} writes",
            self.command,
            out.display()
        );
        let as_ending = |ending| out.with_extension(ending).display().to_string();
        let svg = format!("prof {} {} {profiles}", self.command, as_ending("svg"));
        let hint = match &*ending {
            "HTML" => format!(
                "prof flame {} {profiles} writes an interactive page; for a picture of the call graph: {svg}",
                out.display()
            ),
            "DOT" => format!(
                "prof graph {} {profiles} writes the call graph; for a flame graph: {svg}",
                out.display()
            ),
            // Graphviz can draw the .dot file in most formats.
            _ if self.endings.contains(&"dot") => {
                let dot = as_ending("dot");
                format!(
                    "{svg} writes SVG; Graphviz draws other formats: prof graph {dot} {profiles} && dot -T{} -o {} {dot}",
                    ending.to_ascii_lowercase(),
                    out.display()
                )
            }
            _ => format!("write SVG, which Inkscape or rsvg-convert converts to {ending}: {svg}"),
        };
        hinted(message, hint)
    }
}

/// Fails if `-o` of a command that writes a report has the extension of a picture: the file would hold text.
pub(crate) fn refuse_picture(out: &Path, profiles: &[String]) -> Result<()> {
    if !is_picture(out) {
        return Ok(());
    }
    let message = format!("-o {}: this command writes a report, not a picture", out.display());
    let profiles = if profiles.is_empty() { "PROFILE".to_string() } else { profiles.join(" ") };
    let hint = if has_ending(out, "dot") {
        format!("prof graph {} {profiles} writes the call graph", out.display())
    } else {
        let drawn = if has_ending(out, "html") { out.to_path_buf() } else { out.with_extension("svg") };
        format!("prof flame {} {profiles} draws a flame graph", drawn.display())
    };
    Err(hinted(message, hint))
}

fn is_picture(path: &Path) -> bool {
    PICTURES.iter().any(|ending| has_ending(path, ending))
}

/// Whether a path has this extension, ignoring case.
pub(crate) fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|own| own.eq_ignore_ascii_case(ending))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::terminal::failure::describe;

    const FLAME: Drawing = Drawing { command: "flame", endings: &["svg", "html"], dash: true };
    const GRAPH: Drawing = Drawing { command: "graph", endings: &["svg", "dot"], dash: false };

    fn target(
        drawing: &Drawing,
        given: Option<&str>,
        line: &str,
    ) -> Result<(Option<String>, String), String> {
        let mut positionals: Vec<String> = line.split_whitespace().map(str::to_string).collect();
        let target = drawing.target(given.map(PathBuf::from), &mut positionals);
        let target = target.map_err(|error| describe(&error))?;
        Ok((target.map(|path| path.display().to_string()), positionals.join(" ")))
    }

    #[test]
    fn the_picture_is_found_wherever_it_stands() {
        let found = |out: &str, rest: &str| Ok((Some(out.to_string()), rest.to_string()));
        assert_eq!(target(&FLAME, None, "a.pb out.SVG b.pb"), found("out.SVG", "a.pb b.pb"));
        assert_eq!(target(&FLAME, None, "- cpu.pb"), found("-", "cpu.pb"));
        assert_eq!(target(&FLAME, None, "- -"), found("-", "-"), "the second is standard input");
        assert_eq!(target(&FLAME, None, "out.svg -"), found("out.svg", "-"), "standard input");
        assert_eq!(target(&FLAME, Some("-"), "-"), found("-", "-"), "standard input");
        assert_eq!(target(&GRAPH, None, "- cpu.pb"), Ok((None, "- cpu.pb".to_string())));
    }

    #[test]
    fn a_report_is_not_written_into_a_picture() {
        let refused = |out: &str, profiles: &[&str]| {
            let profiles: Vec<String> = profiles.iter().map(ToString::to_string).collect();
            refuse_picture(Path::new(out), &profiles).map_err(|error| describe(&error))
        };
        for (out, hint) in [
            ("n.svg", "prof flame n.svg cpu.pb"),
            ("n.HTML", "prof flame n.HTML cpu.pb"),
            ("d/n.png", "prof flame d/n.svg cpu.pb"),
            ("n.dot", "prof graph n.dot cpu.pb"),
        ] {
            let error = refused(out, &["cpu.pb"]).unwrap_err();
            assert!(error.contains(&format!("-o {out}: ")) && error.contains(hint), "{error}");
        }
        assert!(refused("n.svg", &[]).unwrap_err().contains("prof flame n.svg PROFILE"));
        for out in ["n.txt", "n.json", "svg", "/dev/stdout", "-"] {
            assert_eq!(refused(out, &["cpu.pb"]), Ok(()), "{out}");
        }
    }

    #[test]
    fn other_pictures_are_refused_with_a_command_that_works() {
        let error = |drawing, given, line| target(drawing, given, line).unwrap_err();
        let png = error(&FLAME, None, "y.png cpu.pb");
        assert!(png.contains("PNG is not a format") && png.contains("prof flame y.svg cpu.pb"), "{png}");
        let given = error(&FLAME, Some("y.pdf"), "cpu.pb");
        assert!(given.contains("prof flame y.svg cpu.pb"), "{given}");
        let graph = error(&GRAPH, Some("y.jpg"), "cpu.pb");
        assert!(graph.contains("prof graph y.dot cpu.pb && dot -Tjpg -o y.jpg y.dot"), "{graph}");
        assert!(error(&GRAPH, None, "y.html cpu.pb").contains("prof flame y.html cpu.pb"));
        assert!(error(&FLAME, None, "y.dot cpu.pb").contains("prof graph y.dot cpu.pb"));
        assert!(error(&FLAME, Some("a.svg"), "b.svg cpu.pb").contains("a.svg and b.svg"));
    }
}
