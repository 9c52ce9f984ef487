//! Annotated instructions: a table per function, with the lines of the source between them.

use crate::name::clean;
use crate::output::Scaled;
use crate::output::label::Label;
use crate::output::style::Style;
use crate::output::table::{Columns, Emphasis, Form, Kind, Note, Table};
use crate::output::tables::source::per_function;
use crate::output::tables::values::{HasValues, RowSides, ValueColumns, Which, Wholes, add_shares};
use crate::report::{Assembly, AssemblyFunction, AssemblyLine, Pair};
use crate::unit::{self};

/// A row of a function.
enum Row<'r> {
    /// An instruction; people see no values if all are zero.
    Instruction(&'r AssemblyFunction, &'r AssemblyLine, Form),
    /// The line of the source that the next instructions belong to.
    Line(&'r AssemblyLine),
    /// Instructions that are left out, because no sample was taken at them or below them.
    Gap(usize),
}

impl<'r> Row<'r> {
    fn function(&self) -> Option<&'r AssemblyFunction> {
        match self {
            Row::Instruction(function, ..) => Some(function),
            _ => None,
        }
    }

    fn instruction(&self) -> Option<&'r AssemblyLine> {
        match self {
            Row::Instruction(_, line, _) => Some(line),
            _ => None,
        }
    }

    /// What people read.
    fn text(&self, style: &Style) -> Label<'r> {
        match self {
            Row::Instruction(_, line, _) => Label::code(clean(&line.instruction)),
            Row::Line(line) => {
                let file = line.file.as_deref().map(crate::name::base_name).unwrap_or_default();
                let number = line.line.unwrap_or_default();
                let text = line.text.as_deref().unwrap_or_default().replace('\t', "    ");
                Label::code(clean(&format!("{file}:{number}  {}", text.trim())))
            }
            Row::Gap(count) => {
                let noun = unit::plural(*count as u64, "instruction", "instructions");
                Label::new(format!("{} {count} {noun} without samples", style.glyphs.ellipsis))
            }
        }
    }
}

impl HasValues for Row<'_> {
    fn sides(&self) -> RowSides {
        match self {
            Row::Instruction(_, line, form)
                if *form == Form::Csv || (line.self_value, line.total) != (0, 0) =>
            {
                let new = Pair { self_value: line.self_value, total: line.total };
                RowSides { new: new.into(), ..RowSides::default() }
            }
            _ => RowSides::default(),
        }
    }
}

/// A table per function, or for programs one of all instructions.
pub(super) fn tables<'r>(assembly: &'r Assembly, form: Form, style: &'r Style) -> Scaled<Vec<Table<'r>>> {
    let header = &assembly.header;
    let values = ValueColumns::new(header, header.shown, style)?;
    if form == Form::Csv {
        let all = move |function: &'r AssemblyFunction| {
            function.instructions.iter().map(move |line| Row::Instruction(function, line, form))
        };
        let rows = move || assembly.functions.iter().flat_map(all);
        return Ok(vec![columns(assembly, &values, style).table(form, &[], rows, [])]);
    }
    let groups = [Which::Own.group(), Which::Total.group()];
    let table = |_, function: &'r AssemblyFunction| {
        let rows = move || rows(function, form).into_iter();
        let mut table = columns(assembly, &values, style).table(form, &groups, rows, []);
        table.above.push(Note::faint(place(function)));
        if function.cut {
            table.below.push(Note::faint("the function is too long to be shown whole"));
        }
        let [own, total] = [function.self_value, function.total].map(|value| values.scale.format(value));
        let share = unit::share(function.total, header.total);
        (table, format!("{}self {own}, total {total}, {share}", style.glyphs.dot))
    };
    Ok(per_function(&assembly.functions, |function| &function.name, &values, form, style, table))
}

/// `mix in /srv/mixer, 0x4caa00 to 0x4caa4f`
fn place(function: &AssemblyFunction) -> String {
    let AssemblyFunction { symbol, binary, start, end, .. } = function;
    clean(&format!("{symbol} in {binary}, {start} to {end}")).into_owned()
}

/// So many instructions before and after those with values are shown.
const AROUND: usize = 4;

/// The instructions of a function, without long runs of those without values, and the lines of the source between them.
fn rows(function: &AssemblyFunction, form: Form) -> Vec<Row<'_>> {
    let lines = &function.instructions;
    let has_value = |line: &AssemblyLine| (line.self_value, line.total) != (0, 0);
    let mut shown = vec![false; lines.len()];
    for (at, _) in lines.iter().enumerate().filter(|(_, line)| has_value(line)) {
        shown[at.saturating_sub(AROUND)..(at + AROUND + 1).min(lines.len())].fill(true);
    }
    let mut rows = Vec::new();
    let mut last = None;
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let hidden = shown[at..].iter().take_while(|shown| !**shown).count();
        // A gap of one instruction would not save a row.
        if hidden > 1 {
            rows.push(Row::Gap(hidden));
            at += hidden;
            last = None;
            continue;
        }
        let place = line.file.as_ref().zip(line.line);
        if place.is_some() && place != last {
            rows.push(Row::Line(line));
        }
        last = place;
        rows.push(Row::Instruction(function, line, form));
        at += 1;
    }
    rows
}

fn columns<'r>(assembly: &'r Assembly, values: &ValueColumns<'r>, style: &'r Style) -> Columns<'r, Row<'r>> {
    let mut columns = Columns::new();
    columns.add("name", Kind::Text, |row: &Row<'r>| row.function().map(|function| &*function.name));
    columns.add("binary", Kind::Text, |row: &Row<'r>| row.function().map(|function| &*function.binary));
    let address = |row: &Row<'r>| row.instruction().map(|line| &*line.address);
    columns.add("address", Kind::Text, address);
    values.raw(&mut columns, Which::Own).titled("SELF").group(Which::Own.group());
    values.raw(&mut columns, Which::Total).titled("TOTAL").group(Which::Total.group());
    let wholes = Wholes::of(&assembly.header);
    add_shares(&mut columns, wholes, Which::Total.group(), |row: &Row<'r>| row.values().total);
    columns.show("ADDRESS", Kind::Number, address).asked(true);
    columns.add("instruction", Kind::Text, |row: &Row<'r>| row.instruction().map(|line| &*line.instruction));
    columns.add("file", Kind::Text, |row: &Row<'r>| row.instruction()?.file.as_deref());
    columns.add("line", Kind::Number, |row: &Row<'r>| row.instruction()?.line.map(i64::from));
    columns.add("text", Kind::Text, |row: &Row<'r>| row.instruction()?.text.as_deref());
    columns.show("INSTRUCTION", Kind::Name, move |row: &Row<'r>| row.text(style));
    columns.emphasis(|row| match row {
        Row::Instruction(function, line, _) => {
            let (own, whole) = (line.self_value.unsigned_abs(), function.self_value.unsigned_abs());
            // A tenth of what the whole function takes.
            if own != 0 && own.saturating_mul(10) >= whole { Emphasis::Strong } else { Emphasis::None }
        }
        Row::Line(_) => Emphasis::Bold,
        Row::Gap(_) => Emphasis::Faint,
    });
    columns
}
