//! The result of a query as a profile: columns with stacks and values.

use std::borrow::Cow;

use super::column::{Ints, Texts};
use super::table::Table;
use crate::format::{LoadError, finished};
use crate::profile::{FrameId, LabelSetId, LoadOptions, Profile, ProfileBuilder, StackId};

/// The stacks of the dataset that a result came from.
pub(crate) trait StackIds {
    /// The stack with this id.
    fn find(&mut self, builder: &mut ProfileBuilder, id: u64) -> Result<Option<StackId>, LoadError>;
}

/// The key of the name of the table in the metadata of the files of a dataset.
pub(crate) const TABLE_KEY: &str = "prof.table";

/// Whether a result names its stacks by their ids in a dataset.
pub(crate) fn has_ids(table: &Table) -> bool {
    !table.has("stack") && table.has("stack_id")
}

/// Reads a result with the columns `stack` (names, root first) or `stack_id`, `value`, and perhaps `metric` and `unit`.
pub(crate) fn read(
    table: &Table,
    options: LoadOptions,
    mut ids: Option<&mut dyn StackIds>,
) -> Result<Profile, LoadError> {
    let mut builder = ProfileBuilder::new("parquet", options);
    if let Some(kind) = table.note(TABLE_KEY) {
        let what = format!("this is the table `{kind}` of a dataset: name the folder of the whole dataset");
        return Err(table.error(what));
    }
    if !table.has("stack") && !table.has("stack_id") {
        let columns = table.columns().join(", ");
        let what = format!(
            "not a profile: it needs a column `stack` (a list of names, root first) or `stack_id`, and `value`; there are {columns}"
        );
        return Err(table.error(what));
    }
    if has_ids(table) && ids.is_none() {
        let what = "it has `stack_id` but not `stack`: put it into the folder of the dataset that it came from, \
                    or let the query return the names as a list `stack`";
        return Err(table.error(what));
    }
    for group in 0..table.groups() {
        let stacks = if has_ids(table) {
            Stacks::Ids(table.ints(group, "stack_id")?)
        } else {
            Stacks::Names(table.texts(group, "stack")?)
        };
        let optional = |column: &str| table.has(column).then(|| table.texts(group, column)).transpose();
        let rows = Rows {
            table,
            stacks,
            values: table.ints(group, "value")?,
            metric: optional("metric")?,
            unit: optional("unit")?,
        };
        rows.read(&mut builder, &mut ids)?;
    }
    if builder.meta.metrics.is_empty() {
        builder.metric("value", "count");
    }
    Ok(finished(builder)?)
}

/// The columns of a row group.
struct Rows<'t> {
    table: &'t Table,
    stacks: Stacks,
    values: Ints,
    metric: Option<Texts>,
    unit: Option<Texts>,
}

enum Stacks {
    Names(Texts),
    Ids(Ints),
}

impl Rows<'_> {
    fn read(
        mut self,
        builder: &mut ProfileBuilder,
        ids: &mut Option<&mut dyn StackIds>,
    ) -> Result<(), LoadError> {
        loop {
            let (stack_ids, names) = match &mut self.stacks {
                Stacks::Ids(column) => (Some(("stack_id", column)), None),
                Stacks::Names(column) => (None, Some(("stack", column))),
            };
            let metric = self.metric.as_mut().map(|column| ("metric", column));
            let unit = self.unit.as_mut().map(|column| ("unit", column));
            let ints = [("value", &mut self.values)].into_iter().chain(stack_ids);
            let rows = self.table.next_rows(ints, names.into_iter().chain(metric).chain(unit))?;
            if rows == 0 {
                return Ok(());
            }
            for row in 0..rows {
                self.add(builder, ids, row)?;
            }
        }
    }

    fn add(
        &self,
        builder: &mut ProfileBuilder,
        ids: &mut Option<&mut dyn StackIds>,
        row: usize,
    ) -> Result<(), LoadError> {
        let metric = self.metric.as_ref().map_or("value".into(), |texts| texts.text(row));
        let unit = self.unit.as_ref().map_or("count".into(), |texts| texts.text(row));
        let number = builder.metric_once(&metric, &unit);
        if builder.meta.metrics[number].unit != unit {
            let what = format!(
                "the metric {metric} has several units: {}, {unit}",
                builder.meta.metrics[number].unit
            );
            return Err(self.table.error(what));
        }
        let value = self.values.cells.get(row).copied().unwrap_or(0);
        let stack = match &self.stacks {
            Stacks::Names(names) => named_stack(builder, names.list(row)),
            Stacks::Ids(column) => {
                let id = column.cells.get(row).copied().unwrap_or(0) as u64;
                let found = ids.as_deref_mut().map(|ids| ids.find(builder, id)).transpose()?.flatten();
                found.ok_or_else(|| {
                    self.table.error(format!("the stack {id} is not in the dataset beside it"))
                })?
            }
        };
        builder.sample_from(number, stack, LabelSetId::default(), None, &[value]);
        Ok(())
    }
}

/// The stack of these names, root first.
fn named_stack<'n>(builder: &mut ProfileBuilder, names: impl Iterator<Item = Cow<'n, str>>) -> StackId {
    let frames: Vec<FrameId> = names.map(|name| builder.named_frame(&name)).collect();
    builder.stack(&frames)
}
