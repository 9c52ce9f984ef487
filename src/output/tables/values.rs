//! Columns that several views have: values with their shares, or both sides of a comparison.

use crate::name::clean;
use crate::output::Scaled;
use crate::output::scale;
use crate::output::style::{Style, TextColumn};
use crate::output::table::{Cell, Columns, Entry, Group, Kind, Note, Rank};
use crate::report::{Artefact, Grouping, Header, MetricName, Name, Pair, PairBySide, Values};
use crate::unit::{self, Scale, share};

/// What a row has of a metric. A row that closes a table may have only one of the values.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Measured {
    pub(super) own: Option<i64>,
    pub(super) total: Option<i64>,
}

impl From<Pair> for Measured {
    fn from(pair: Pair) -> Self {
        Measured { own: Some(pair.self_value), total: Some(pair.total) }
    }
}

/// The values of a row on both sides of a comparison. Without one, those of the old side are not asked for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RowSides {
    pub(super) new: Measured,
    pub(super) old: Measured,
}

impl From<PairBySide> for RowSides {
    fn from(values: PairBySide) -> Self {
        RowSides { new: values.new.into(), old: values.old.map_or_else(Measured::default, Measured::from) }
    }
}

impl RowSides {
    pub(super) fn of_total(new: i64, old: Option<i64>) -> Self {
        let total = |total| Measured { own: None, total: Some(total) };
        RowSides { new: total(new), old: total(old.unwrap_or(0)) }
    }
}

/// A row with values.
pub(super) trait HasValues {
    /// Its values on both sides.
    fn sides(&self) -> RowSides;

    /// Its values, on the new side of a comparison.
    fn values(&self) -> Measured {
        self.sides().new
    }

    /// Its values on the old side.
    fn old_values(&self) -> Measured {
        self.sides().old
    }
}

/// One of the two values of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    Own,
    Total,
}

impl Which {
    /// Its key in JSON.
    pub(super) fn key(self) -> &'static str {
        match self {
            Which::Own => "self",
            Which::Total => "total",
        }
    }

    pub(super) fn title(self) -> &'static str {
        match self {
            Which::Own => "SELF",
            Which::Total => "TOTAL",
        }
    }

    /// Its title in a table of several metrics: `CPU SELF`.
    pub(super) fn title_of(self, metric: &MetricName) -> String {
        format!("{} {}", clean(&metric.name).to_uppercase(), self.title())
    }

    pub(super) fn group(self) -> Group {
        match self {
            Which::Own => Group::Of(TextColumn::SelfValue),
            Which::Total => Group::Of(TextColumn::Total),
        }
    }

    pub(super) fn of(self, measured: Measured) -> Option<i64> {
        match self {
            Which::Own => measured.own,
            Which::Total => measured.total,
        }
    }
}

/// The columns of a metric's values in one report.
pub(super) struct ValueColumns<'r> {
    pub(super) header: &'r Header,
    pub(super) scale: Scale,
}

impl<'r> ValueColumns<'r> {
    /// For values up to `largest`, in the unit that the style asks for.
    pub(super) fn new(header: &'r Header, largest: i64, style: &Style) -> Scaled<Self> {
        Ok(ValueColumns { header, scale: scale(&header.metric, largest, style.unit.as_ref())? })
    }

    /// A value, for programs.
    pub(super) fn raw<'c, R: HasValues + 'r>(
        &self,
        columns: &'c mut Columns<'r, R>,
        which: Which,
    ) -> &'c mut Entry<'r, R> {
        columns.add(which.key(), Kind::Value(self.scale.clone()), move |row| which.of(row.values()))
    }

    /// A value, and unless two sides are compared its shares.
    pub(super) fn value<R: HasValues + 'r>(&self, columns: &mut Columns<'r, R>, which: Which, asked: bool) {
        self.raw(columns, which).titled(which.title()).group(which.group()).asked(asked);
        if self.header.base.is_none() {
            let wholes = Wholes::of(self.header);
            add_shares(columns, wholes, which.group(), move |row| which.of(row.values()));
        }
    }

    /// The old values of a comparison and the changes. Of the values in `full`, people see all; of those in
    /// `changes`, the change.
    pub(super) fn sides<R: HasValues + 'r>(
        &self,
        columns: &mut Columns<'r, R>,
        full: &[Which],
        changes: &[Which],
    ) {
        let both = [Which::Own, Which::Total];
        for which in both.into_iter().filter(|_| self.header.base.is_some()) {
            let (key, kind) = (format!("old.{}", which.key()), Kind::Value(self.scale.clone()));
            let old = columns.add(key, kind, move |row| which.of(row.old_values()));
            if full.contains(&which) {
                old.titled("OLD").rank(Rank::Old).group(which.group());
            }
        }
        for which in both {
            if self.header.base.is_none() {
                return;
            }
            let whole = self.header.old_total();
            let delta = move |row: &R| Some(which.of(row.values())? - which.of(row.old_values())?);
            let (key, kind) = (format!("delta.{}", which.key()), Kind::Change(self.scale.clone()));
            let change = columns.add(key, kind, delta);
            if changes.contains(&which) {
                change.titled("Δ").group(which.group());
            }
            if full.contains(&which) {
                let share = move |row: &R| delta(row).map(|part| Cell::Share { part, whole });
                let share = columns.show("Δ%", Kind::ChangeShare, share);
                share.rank(Rank::ChangeShare).group(which.group());
            }
        }
    }

    /// The old value and the change of rows that have one value.
    pub(super) fn side<R: HasValues + 'r>(&self, columns: &mut Columns<'r, R>, which: Which) {
        let value = move |row: &R| which.of(row.values());
        let old = move |row: &R| which.of(row.old_values());
        self.add_side(columns, ["old", "delta"], value, old);
    }

    /// The old value and the change of some value; without keys for people only.
    pub(super) fn add_side<R: 'r>(
        &self,
        columns: &mut Columns<'r, R>,
        [old_key, delta_key]: [&'static str; 2],
        value: impl Fn(&R) -> Option<i64> + Copy + 'r,
        old: impl Fn(&R) -> Option<i64> + Copy + 'r,
    ) {
        if self.header.base.is_none() {
            return;
        }
        let whole = self.header.old_total();
        let delta = move |row: &R| Some(value(row)? - old(row)?);
        columns.add(old_key, Kind::Value(self.scale.clone()), old).titled("OLD").rank(Rank::Old);
        columns.add(delta_key, Kind::Change(self.scale.clone()), delta).titled("Δ");
        let share = move |row: &R| delta(row).map(|part| Cell::Share { part, whole });
        columns.show("Δ%", Kind::ChangeShare, share).rank(Rank::ChangeShare);
    }

    /// `» matches runtime: 9.29s, 10.8% of all`
    pub(super) fn highlight_note(&self, style: &Style) -> Option<Note> {
        let highlight = self.header.highlight.as_ref()?;
        let (value, share) =
            (self.scale.format(highlight.total), unit::share(highlight.total, self.header.total));
        let pattern = clean(&highlight.pattern);
        let at_most = if highlight.upper_bound { "at most " } else { "" };
        Some(Note::faint(format!(
            "{}matches {pattern}: {at_most}{value}, {share} of all",
            style.glyphs.marked
        )))
    }
}

/// The note that explains the mark of profiler artefacts, if one of the names has it.
pub(super) fn artefact_note<'n>(
    header: &Header,
    mut names: impl Iterator<Item = &'n Name>,
    style: &Style,
) -> Option<Note> {
    let is_marked = !header.artefacts.is_empty() && names.any(|name| header.is_artefact(name));
    let text = artefact_words(header, style).filter(|_| is_marked)?;
    let text = format!("{} {text}", style.glyphs.artefact.trim_start());
    Some(Note::faint(style.glyphs.plain(&text)))
}

/// What the averages of `--per-event` are.
pub(super) fn per_event_note(header: &Header) -> Option<Note> {
    let (metric, counts) = (&header.metric.name, &header.per_event.as_ref()?.metric);
    Some(Note::faint(format!("SELF and TOTAL are the average {metric} per event; EVENTS counts {counts}")))
}

/// What the shares of a metric refer to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wholes {
    pub(super) total: i64,
    /// What filters leave; `None` if that is everything.
    pub(super) shown: Option<i64>,
}

impl Wholes {
    /// Filters that hide nothing, such as `--collapse-recursion`, leave everything.
    pub(super) fn new(header: &Header, total: i64, shown: i64) -> Self {
        let hides = !header.filters.is_empty() && shown != total;
        Wholes { total, shown: hides.then_some(shown) }
    }

    /// Those of the first metric.
    pub(super) fn of(header: &Header) -> Self {
        Wholes::new(header, header.total, header.shown)
    }
}

/// What a value is of all, and of what filters leave.
pub(super) fn add_shares<'r, R: 'r>(
    columns: &mut Columns<'r, R>,
    wholes: Wholes,
    group: Group,
    value: impl Fn(&R) -> Option<i64> + Copy + 'r,
) {
    let title = if wholes.shown.is_some() { "%ALL" } else { "%" };
    add_shares_titled(columns, title, wholes, group, value);
}

/// The same, with a title for what a value is of all.
pub(super) fn add_shares_titled<'r, R: 'r>(
    columns: &mut Columns<'r, R>,
    title: &'static str,
    wholes: Wholes,
    group: Group,
    value: impl Fn(&R) -> Option<i64> + Copy + 'r,
) {
    let of = |whole: i64| move |row: &R| value(row).map(|part| Cell::Share { part, whole });
    columns.show(title, Kind::Share, of(wholes.total)).rank(Rank::Share).group(group);
    if let Some(left) = wholes.shown {
        columns.show("%SHOWN", Kind::Share, of(left)).rank(Rank::ShareOfShown).group(group);
    }
}

/// Means of a metric, in one or several columns. People see more digits of them than of the values.
#[derive(Clone)]
pub(super) struct Means {
    scale: Scale,
    /// A value is so many parts, in which means are given.
    parts: i64,
    /// What numbers of events are divided by.
    per: i64,
}

impl Means {
    /// The means of these sums and numbers of events, which are divided by `per`.
    pub(super) fn new(
        metric: &MetricName,
        per: u64,
        sums: impl Iterator<Item = (i64, i64)>,
        style: &Style,
    ) -> Scaled<Self> {
        let per = i64::try_from(per.max(1)).unwrap_or(i64::MAX);
        let means = sums.filter_map(|(sum, events)| unit::mean_in_parts(sum, events, per));
        let largest = means.map(i64::saturating_abs).max().unwrap_or(0);
        // Millionths, unless they are too many for the largest one.
        let fits = |parts: &i64| largest < i64::MAX / parts;
        let parts = [1_000_000, 1_000].into_iter().find(fits).unwrap_or(1);
        let divisor = metric.divisor.max(1).saturating_mul(parts.unsigned_abs());
        let metric = MetricName { divisor, resolution: Some(parts), ..metric.clone() };
        Ok(Means { scale: scale(&metric, largest * parts, style.unit.as_ref())?, parts, per })
    }

    /// How they are printed.
    pub(super) fn kind(&self) -> Kind {
        Kind::Mean(self.scale.clone())
    }

    /// What an event weighs on average.
    pub(super) fn mean(&self, sum: Option<i64>, events: Option<i64>) -> Option<i64> {
        unit::mean_in_parts(sum?, events?, self.parts.saturating_mul(self.per))
    }
}

/// How numbers of events are printed: as fractions where profiles were averaged.
pub(super) fn kind_of_events(divisor: u64, largest: i64) -> Scaled<Kind> {
    if divisor <= 1 {
        return Ok(Kind::Count);
    }
    let events = MetricName { unit: "count".to_string(), divisor, ..MetricName::default() };
    Ok(Kind::Value(scale(&events, largest, None)?))
}

/// The self and the total of a row, each with its number of events.
pub(super) fn sums_of_events(values: &Values, events: Option<Pair>) -> impl Iterator<Item = (i64, i64)> {
    let of = move |which: Which| Some((which.of(values.new_pair().into())?, which.of(events?.into())?));
    [Which::Own, Which::Total].into_iter().filter_map(of)
}

/// `… 1,064 more functions`
pub(super) fn more(count: u64, by: &Grouping, style: &Style) -> String {
    let (ellipsis, noun) = (style.glyphs.ellipsis, by.noun(count));
    format!("{ellipsis} {} more {noun}", unit::group_thousands(count.into()))
}

/// What to add to the name of a row that is on one side of a comparison only. What costs nothing because of `--what-if` was not
/// removed.
pub(super) fn side_only<V: Copy + Default + PartialEq>(
    header: &Header,
    new: V,
    old: Option<V>,
) -> &'static str {
    match old {
        Some(_) if new == V::default() && header.what_if.is_some() => "",
        Some(_) if new == V::default() => " (removed)",
        Some(old) if old == V::default() => " (new)",
        _ => "",
    }
}

/// `profiler artefact: runtime.asyncPreempt, self 80ms (1.1%); this cost belongs to the callers, and --fold moves it there`
fn artefact_words(header: &Header, style: &Style) -> Option<String> {
    // The heaviest comes first and sets the scale. The report itself fails if the unit does not fit.
    let scale = scale(&header.metric, header.artefacts.first()?.self_value, style.unit.as_ref()).ok()?;
    let part = |artefact: &Artefact| {
        let (value, share) = (scale.format(artefact.self_value), share(artefact.self_value, header.total));
        format!("{}, self {value} ({share})", clean(&artefact.name))
    };
    let parts = header.artefacts.iter().map(part).collect::<Vec<String>>().join("; ");
    Some(format!("profiler artefact: {parts}; this cost belongs to the callers, and --fold moves it there"))
}
