//! Budgets that were checked without an old side.

use crate::output::diff::words;
use crate::output::style::Style;
use crate::output::table::{Columns, Emphasis, Form, Kind, Note, Table};
use crate::report::{BudgetCheck, BudgetReport};

/// One sentence per budget; for programs, one row.
pub(super) fn table<'r>(report: &'r BudgetReport, form: Form, style: &Style) -> Table<'r> {
    if form != Form::Csv {
        return Table::of_notes(notes(report, style));
    }
    let mut columns = Columns::new();
    columns.add("rule", Kind::Text, |budget: &&BudgetCheck| &*budget.rule);
    columns.add("pattern", Kind::Text, |budget| &*budget.pattern);
    columns.add("test", Kind::Word, |budget| budget.test.word());
    columns.add("owner", Kind::Text, |budget| budget.owner.as_deref());
    columns.add("value", Kind::Number, |budget| Some(budget.value));
    columns.add("limit", Kind::Number, |budget| Some(budget.limit));
    columns.add("exceeded", Kind::Flag, |budget| budget.exceeded);
    columns.add("percent", Kind::Flag, |budget| budget.percent);
    columns.add("matched", Kind::Flag, |budget| budget.matched);
    columns.add("cost", Kind::Number, |budget| budget.cost);
    columns.table(form, &[], || report.budgets.iter(), [])
}

fn notes(report: &BudgetReport, style: &Style) -> Vec<Note> {
    let sentence = |budget: &BudgetCheck| Note {
        text: words::budget(&report.header, budget),
        emphasis: if budget.exceeded { Emphasis::Strong } else { Emphasis::None },
        ..Note::default()
    };
    let mut notes: Vec<Note> = words::folded_of_one_side(report).map(Note::faint).into_iter().collect();
    notes.extend(report.budgets.iter().map(sentence));
    let mut result = words::budgets(&report.budgets).unwrap_or_else(|| "no budget was checked".to_string());
    if report.new.profiles > 1 {
        result.push_str(&format!(
            " · values are averages of {} runs; the total above is their sum",
            report.new.profiles
        ));
    }
    result.extend(style.exit_code.map(|code| format!(" · exit {code}")));
    notes.push(Note::plain(style.glyphs.plain(&result)));
    notes
}
