//! The problems of a recording.

use crate::name::clean;
use crate::output::style::Style;
use crate::output::table::{Columns, Form, Kind, Note, Table};
use crate::report::{Lint, Problem};
use crate::unit::plural;

/// A paragraph per problem for people, and a row for programs.
pub(super) fn table<'r>(lint: &'r Lint, form: Form, style: &'r Style) -> Table<'r> {
    let mut columns = Columns::new();
    columns.add("rule", Kind::Key, |problem: &&Problem| problem.rule).titled("RULE");
    columns.add("level", Kind::Text, |problem| problem.level.word()).titled("LEVEL");
    columns.add("says", Kind::Text, |problem| clean(&problem.says).into_owned()).titled("PROBLEM");
    columns.add("remedy", Kind::Text, |problem| problem.remedy.clone()).titled("REMEDY");
    columns.add("share", Kind::Text, |problem| problem.share.map(|share| share.to_string()));
    if form == Form::Csv {
        return columns.table(form, &[], || lint.problems.iter(), []);
    }
    let mut notes: Vec<Note> = lint.problems.iter().flat_map(|problem| paragraph(problem, style)).collect();
    notes.push(Note::faint(verdict(lint)));
    Table::of_notes(notes)
}

fn paragraph(problem: &Problem, style: &Style) -> Vec<Note> {
    let says = format!("{} [{}]: {}", problem.level.word(), problem.rule, clean(&problem.says));
    let mut notes = vec![Note::plain(style.glyphs.plain(&says))];
    if !problem.remedy.is_empty() {
        notes.push(Note::faint(style.glyphs.plain(&format!("  {}", problem.remedy))));
    }
    notes
}

/// The last line: how many problems there are.
fn verdict(lint: &Lint) -> String {
    let rules = lint.rules;
    match lint.problems.len() as u64 {
        0 => format!("no problems: none of the {rules} rules found one"),
        count => format!("{count} {} found by {rules} rules", plural(count, "problem", "problems")),
    }
}
