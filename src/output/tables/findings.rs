//! The findings, as sentences for people and as a table for programs.

use crate::name::{base_name, clean, short_name, split_shown};
use crate::output::command::ManyFiles;
use crate::output::diff::evidence::evidence;
use crate::output::diff::{causes, causes::Shown, words};
use crate::output::style::{Explain, Style};
use crate::output::table::{Columns, Form, Kind, Note, ReportPart, Table};
use crate::output::width::wrap;
use crate::output::{Scaled, scale};
use crate::report::{Ceiling, Diff, DiffVerdict, Finding, Findings, Header, Remark, Sentence};
use crate::unit::{self, IncompatibleUnits, group_thousands, plural};

/// The findings: a paragraph each, or a row each in CSV.
pub(super) fn tables<'r>(
    report: &'r Findings,
    form: Form,
    style: &'r Style,
) -> Result<Vec<Table<'r>>, IncompatibleUnits> {
    // Values are in JSON and CSV; sentences have shares. A unit that does not fit is refused as in other views.
    crate::output::scale(&report.header.metric, report.header.shown, style.unit.as_ref())?;
    if form == Form::Csv {
        return Ok(vec![rows(report)]);
    }
    let words = Words { report, style, form, many: ManyFiles::of(&report.header) };
    let mut notes: Vec<Note> = words.what_if()?.into_iter().map(Note::faint).collect();
    if report.folds && !report.is_short {
        let text = "what the profiler inserted, such as runtime.asyncPreempt, counts for the functions that it interrupted (--fold)";
        notes.extend(words.paragraph("", text).into_iter().map(Note::faint));
    }
    notes.extend(words.accuracy().into_iter().map(Note::faint));
    if let Some(verdict) = &report.verdict {
        notes.extend(words.paragraph("", &words.spelled(verdict)).into_iter().map(Note::plain));
    }
    notes.extend(words.changes());
    for (number, finding) in report.findings.iter().enumerate() {
        let part = ReportPart::Finding(number);
        notes.extend(words.finding(number + 1, finding).into_iter().map(|note| note.about(part)));
    }
    notes.extend(words.left_out().into_iter().map(Note::faint));
    for (number, remark) in report.remarks.iter().enumerate() {
        let part = ReportPart::Remark(number);
        notes.extend(words.remark(remark).into_iter().map(|note| note.about(part)));
    }
    notes.extend(words.completed().into_iter().map(Note::faint));
    notes.extend(words.closing().into_iter().map(Note::faint));
    Ok(vec![Table::of_notes(notes)])
}

fn rows(report: &Findings) -> Table<'_> {
    let mut columns = Columns::new();
    columns.add("rule", Kind::Text, |finding: &&Finding| finding.rule);
    columns.add("says", Kind::Text, |finding| finding.says.to_string());
    columns.add("function", Kind::Text, |finding| finding.function.as_deref().map(str::to_string));
    columns.add("file", Kind::Text, |finding| finding.file.as_deref().map(str::to_string));
    columns.add("line", Kind::Number, |finding| finding.line.map(i64::from));
    columns.add("value", Kind::Number, |finding| finding.value);
    columns.add("measured", Kind::Number, |finding| finding.measured);
    columns.add("command", Kind::Text, |finding| finding.command.clone());
    columns.table(Form::Csv, &[], || report.findings.iter(), [])
}

struct Words<'r> {
    report: &'r Findings,
    style: &'r Style,
    form: Form,
    /// What stands for the files in commands.
    many: Option<ManyFiles>,
}

impl Words<'_> {
    fn header(&self) -> &Header {
        &self.report.header
    }

    /// The share of what is shown.
    fn share(&self, value: i64) -> String {
        unit::share(value, self.header().shown)
    }

    fn spelled(&self, sentence: &Sentence) -> String {
        let name = |name: &str| {
            let name = if self.style.short_names { short(name) } else { name.to_string() };
            clean(&name).into_owned()
        };
        let text = clean(&sentence.with_names(name)).into_owned();
        self.style.glyphs.plain(&text).into_owned()
    }

    /// A text after a lead, on as many lines as it needs; those after the first are indented like the text.
    fn paragraph(&self, lead: &str, text: &str) -> Vec<String> {
        let indent = lead.chars().count();
        let room = match self.style.width {
            Some(width) if self.form == Form::Text => width.saturating_sub(indent),
            _ => usize::MAX,
        };
        if room < LEAST {
            // Whoever prints the line wraps it at the whole width.
            return vec![format!("{lead}{text}")];
        }
        let lines = wrap(text, room).into_iter().enumerate();
        lines
            .map(
                |(number, line)| {
                    if number == 0 {
                        format!("{lead}{line}")
                    } else {
                        format!("{}{line}", " ".repeat(indent))
                    }
                },
            )
            .collect()
    }

    /// How far the shares that are shown may be off by chance. A share of 50 % is the least certain one, and what is known of
    /// that gives the others.
    fn accuracy(&self) -> Option<String> {
        let of_half = self.report.accuracy.filter(|_| !self.report.is_short)?;
        let points = |finding: &Finding| {
            let share = finding.value as f64 / self.header().shown.max(1) as f64;
            of_half * 2.0 * (share * (1.0 - share)).max(0.0).sqrt()
        };
        let (first, last) = (self.report.findings.first()?, self.report.findings.last()?);
        if points(first).max(points(last)) < 0.05 {
            return None;
        }
        let (first_share, last_share) = (self.share(first.value), self.share(last.value));
        let first_is = format!("the {first_share} below by up to {:.1} points", points(first));
        let last_is = if first_share == last_share {
            String::new()
        } else {
            format!(" and the {last_share} by {:.1}", points(last))
        };
        Some(format!("with this many samples, chance moves {first_is}{last_is} (95%)"))
    }

    /// What shares are of, if costs were changed.
    fn what_if(&self) -> Scaled<Option<String>> {
        let what_if = self.header().what_if.as_ref().filter(|_| !self.report.findings.is_empty());
        let Some(what_if) = what_if else { return Ok(None) };
        let (before, after) = (what_if.before, self.header().shown);
        let scale = scale(&self.header().metric, before.max(after), self.style.unit.as_ref())?;
        let [before, after] = [before, after].map(|value| scale.format(value));
        Ok(Some(format!(
            "shares and ceilings are of the {after} that the change leaves, not of the {before} recorded"
        )))
    }

    /// What changed since the old side, before what the new side costs.
    fn changes(&self) -> Vec<Note> {
        let Some(changes) = self.report.changes.as_ref().filter(|_| !self.report.is_short) else {
            return Vec::new();
        };
        let diff = &*changes.diff;
        let both = Shown::both(diff, Explain::Most);
        let headlines = both.iter().map(|shown| shown.headline(diff)).collect::<Vec<_>>().join("; ");
        let headline = if both.is_empty() { unexplained(diff) } else { headlines };
        let whole = |note: Note| note.about(ReportPart::Changes);
        let headline = self.paragraph("changed: ", &self.plain(&headline));
        let mut notes: Vec<Note> = headline.into_iter().map(Note::title).map(whole).collect();
        let lead = " ".repeat(LEAD);
        let spelled = |name: &str| self.spelled(&Sentence::of(&name.into()));
        for cause in both.iter().flat_map(|shown| &shown.causes) {
            let points = words::change(diff, cause.points);
            let evidence = evidence(diff, cause, spelled);
            let says = format!("{}  {}, {evidence}", spelled(&cause.function), causes::change(cause));
            let first = format!("  {points:>8}  ");
            let says = self.paragraph(&self.plain(&first), &self.plain(&says));
            let command = causes::command(diff, cause);
            let command = command.map(|command| self.command(&lead, &command));
            let lines = says.into_iter().map(Note::plain).chain(command);
            match diff.causes.iter().position(|other| std::ptr::eq(other, *cause)) {
                Some(place) => notes.extend(lines.map(|note| note.about(ReportPart::Cause(place)))),
                None => notes.extend(lines),
            }
        }
        let rest = both.iter().filter_map(|shown| shown.rest(diff));
        let moves = causes::moves(diff, Explain::Most, spelled);
        for text in rest.chain(moves) {
            notes.extend(self.paragraph(&lead, &self.plain(&text)).into_iter().map(Note::faint));
        }
        notes.push(whole(self.command(&lead, &changes.command)));
        notes.push(Note::title("now:"));
        notes
    }

    /// A text in characters that the terminal shows.
    fn plain(&self, text: &str) -> String {
        self.style.glyphs.plain(&clean(text)).into_owned()
    }

    fn finding(&self, number: usize, finding: &Finding) -> Vec<Note> {
        let share = self.share(finding.value);
        let lead = match self.form {
            Form::Markdown => format!("{number}: {share} "),
            _ => format!("{number:2}  {share:>6}  "),
        };
        let indent = " ".repeat(lead.chars().count());
        let mut says = self.spelled(&finding.says);
        says.push_str(&self.aside(finding));
        let mut notes: Vec<Note> = self.paragraph(&lead, &says).into_iter().map(Note::plain).collect();
        let ceiling = finding.ceiling.map(|ceiling| self.plain(&self.ceiling(finding, ceiling)));
        for detail in finding.details.iter().map(|detail| self.spelled(detail)).chain(ceiling) {
            notes.extend(self.paragraph(&indent, &detail).into_iter().map(Note::plain));
        }
        notes.push(self.command(&indent, &finding.command));
        notes
    }

    /// What the evidence shows, if that is another number, and what it was on the old side.
    fn aside(&self, finding: &Finding) -> String {
        let mut parts = Vec::new();
        if finding.measured != finding.value {
            let shared = self.share(finding.measured - finding.value);
            parts
                .push(format!("{} in all; other findings have {shared} of it", self.share(finding.measured)));
        }
        if let (Some(old), Some(base)) = (finding.old, &self.header().base) {
            let was = if old == 0 { "nothing".to_string() } else { unit::share(old, base.sum) };
            parts.push(format!("was {was}"));
        }
        if parts.is_empty() { String::new() } else { format!(" ({})", parts.join("; ")) }
    }

    /// `ceiling: CPU time ÷ 1.54 if it cost nothing (95%: 1.46 to 1.62)`
    fn ceiling(&self, finding: &Finding, ceiling: Ceiling) -> String {
        let what = if finding.measured == finding.value {
            "it".to_string()
        } else {
            format!("all {}", self.share(finding.measured))
        };
        let interval = match (ceiling.low, ceiling.high) {
            (Some(low), Some(high)) => format!(" (95%: {low:.2} to {high:.2})"),
            (Some(low), None) => format!(" (95%: at least {low:.2})"),
            _ => String::new(),
        };
        let factor = format!("{:.2}", ceiling.ratio);
        if ceiling.is_estimate {
            let saves = self.report.saves;
            format!(
                "estimate: {saves} ÷ {factor} if {what} cost nothing and no other thread became the bottleneck{interval}"
            )
        } else if ceiling.is_elapsed_time {
            format!("ceiling: {factor} times as fast if {what} cost nothing{interval}")
        } else {
            format!("ceiling: {} ÷ {factor} if {what} cost nothing{interval}", self.report.saves)
        }
    }

    /// A command below what it is about.
    fn command(&self, indent: &str, command: &str) -> Note {
        let command = match &self.many {
            Some(many) => many.shortened(command),
            None => command.to_string(),
        };
        Note::command(format!("{indent}{}", clean(&command)))
    }

    /// How to complete commands that do not name all files.
    fn completed(&self) -> Vec<String> {
        let has_commands = !self.report.findings.is_empty() || !self.report.remarks.is_empty();
        let many = self.many.as_ref().filter(|_| has_commands);
        many.map(|many| self.paragraph("", many.says())).unwrap_or_default()
    }

    /// `… 3 more findings with 7.1%: --budget 0 shows all`
    fn left_out(&self) -> Option<String> {
        let count = self.header().elided_rows;
        let noun = plural(count, "finding", "findings");
        let glyphs = self.style.glyphs;
        (count > 0).then(|| {
            format!(
                "{} {count} more {noun} with {}: --budget 0 shows all",
                glyphs.ellipsis,
                self.share(self.header().elided)
            )
        })
    }

    fn remark(&self, remark: &Remark) -> Vec<Note> {
        let says = self.paragraph("also: ", &self.spelled(&remark.says));
        let command = self.command("      ", &remark.command);
        says.into_iter().map(Note::plain).chain([command]).collect()
    }

    fn closing(&self) -> Vec<String> {
        let rest = &self.report.rest;
        let mut lines = Vec::new();
        let named = rest.value - rest.no_stack - rest.unnamed;
        let mut parts = Vec::new();
        if named > 0 && rest.functions > 0 {
            let functions = plural(rest.functions, "function", "functions");
            let largest = self.share(rest.largest);
            let each = match largest.strip_prefix('<') {
                Some(tenth) if rest.functions > 1 => format!("less than {tenth} each"),
                _ if rest.functions > 1 => format!("at most {largest} each"),
                _ => largest,
            };
            let count = group_thousands(rest.functions.into());
            parts.push(format!("{} in {count} {functions} with {each}", self.share(named)));
        }
        if rest.unnamed > 0 {
            parts.push(format!("{} in code without names", self.share(rest.unnamed)));
        }
        if rest.no_stack > 0 {
            parts.push(format!("{} without a stack", self.share(rest.no_stack)));
        }
        if !parts.is_empty() {
            lines.push(format!("not conclusive: {}", parts.join(", ")));
        }
        let says = &self.report.recording_says;
        let mut shown: Vec<String> = says.iter().take(PROBLEMS).map(|says| self.spelled(says)).collect();
        let more = says.len() - shown.len();
        if more > 0 {
            shown.push(format!("{more} more {}", plural(more as u64, "problem", "problems")));
        }
        lines.push(if says.is_empty() {
            "recording: no problems".to_string()
        } else {
            format!("recording: {} (prof lint says what to do)", shown.join("; "))
        });
        lines.into_iter().flat_map(|line| self.paragraph("", &line)).collect()
    }
}

/// What to say of a comparison without causes.
fn unexplained(diff: &Diff) -> String {
    let functions = |count: usize| {
        format!(
            "{} {}",
            group_thousands(count as i128),
            plural(count as u64, "function costs", "functions cost")
        )
    };
    match diff.verdict {
        DiffVerdict::Regressed => format!("{} more than noise explains", functions(diff.regressed)),
        DiffVerdict::Improved => {
            format!("{} less, and none costs more than noise explains", functions(diff.improved))
        }
        DiffVerdict::None => "nothing beyond noise".to_string(),
        // The command says how many samples it takes.
        DiffVerdict::Inconclusive => words::evidence(diff).split(". ").next().unwrap_or_default().to_string(),
    }
}

/// The width of what is before a sentence: its number and its share.
const LEAD: usize = 12;

/// A short name, with the file and the line of its place if it has one: `pay (app.mjs:52:19)`.
fn short(name: &str) -> String {
    match split_shown(name) {
        Some((function, place)) => {
            format!("{} ({})", short_name(function), base_name(place.trim_matches(['(', ')'])))
        }
        None => short_name(name),
    }
}

/// How many problems of the recording are named.
const PROBLEMS: usize = 2;

/// A text is not put next to its lead if there is less space for it.
const LEAST: usize = 20;
