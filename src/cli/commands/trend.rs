//! `prof trend`.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Result;
use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use crate::cli::commands::fit::{Attempt, fitted};
use crate::cli::commands::outcome::{FAILED, Outcome};
use crate::cli::commands::requirement::Requirement;
use crate::cli::commands::show::{needs, write};
use crate::cli::input::paths::names;
use crate::cli::input::request::explain as explain_load;
use crate::cli::options::args::{InputArgs, NodeArgs, RowLimit, fraction, note, percent, say, warn};
use crate::cli::options::base::{NORMALIZE_WORDS, normalize};
use crate::cli::options::completion::one_of;
use crate::cli::options::filters::{FilterArgs, explain as explain_filter};
use crate::cli::options::layout::{LayoutArgs, Output, WordingArgs};
use crate::cli::options::match_args::MatchArgs;
use crate::cli::options::pictures::Drawing;
use crate::cli::terminal::clock::Clock;
use crate::cli::terminal::failure::{hinted, unwritten};
use crate::load::{Combine, LoadedSeries, Request, SeriesError, SeriesOptions};
use crate::output::{self, Style};
use crate::report::{Message, Report, Trend};
use crate::stats::{CountKind, Normalization};
use crate::unit::{Quantity, parse_rfc3339, plural, timestamp_minutes};
use crate::view::{History, TrendOptions, TrendOrder, trend};

/// What changed for good over many profiles, and what leaks
///
/// Steps are found in any metric, leaks in those that say how much there is at a time, such as memory in use.
/// An argument that ends in .svg or .html is a picture or a page to write.
#[derive(Args, Debug)]
#[command(override_usage = "prof trend [OPTIONS] [OUT.svg|OUT.html] [PROFILE]...")]
#[command(mut_arg("how", |option| {
    option.help(
        "How to match functions of earlier and later profiles: auto, exact (same name and location), or the path of a \
         file with lines `old = new`, the names in earlier and in later profiles; `old =` and `= new` for functions \
         without a match",
    )
}))]
#[command(mut_arg("metrics", |option| option.help("Metric to follow, by name, profile type or number")))]
#[command(after_help = "Examples:
  prof trend nightly/                what became more expensive, and since when
  prof trend trend.html nightly/     the same as a page; trend.svg is a picture
  prof trend -m inuse_space heaps/   what leaks, and how fast")]
pub(crate) struct TrendCommand {
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    filters: FilterArgs,
    #[command(flatten)]
    node: NodeArgs,
    #[command(flatten)]
    layout: LayoutArgs,
    #[command(flatten)]
    wording: WordingArgs,
    /// Order of the profiles [default: time if all have one, else as given, or by name in a folder]
    #[arg(long, value_name = "HOW", value_enum, hide_possible_values = true, help_heading = None)]
    order: Option<TrendOrder>,
    /// Leave out older profiles: 30d, 12h, or a date such as 2026-11-01
    #[arg(long, value_name = "WHEN", value_parser = since, help_heading = None)]
    since: Option<Since>,
    /// Which value to follow: self or total (with callees)
    #[arg(long, value_name = "V", value_enum, default_value = "self", hide_possible_values = true, help_heading = None)]
    value: CountKind,
    /// Show at most N rows; 0 for all [default: as many as fit the screen, or 20, at most 5 of them without a verdict; JSON and CSV: all]
    #[arg(short = 'n', long, value_name = "N", help_heading = None)]
    limit: Option<usize>,
    #[command(flatten)]
    test: TestArgs,
    #[command(flatten)]
    matching: MatchArgs,
}

/// Options of the statistical test.
#[derive(Args, Debug)]
#[command(next_help_heading = "Test")]
struct TestArgs {
    /// Accepted probability of a false alarm (0.01 or 1%), in all functions together
    #[arg(long, value_name = "A", default_value = "0.01", value_parser = fraction)]
    alpha: f64,
    /// Smallest change that counts, in percent
    #[arg(long, value_name = "P", default_value = "5", value_parser = percent)]
    min_effect: f64,
    /// Smallest change that counts, in percent of a profile [default: 1; for leaks 0.1]
    #[arg(long, value_name = "P", value_parser = percent)]
    min_points: Option<f64>,
    /// Smallest share that is tested, in percent [default: 0.5; for leaks 0.05]
    #[arg(long, value_name = "P", value_parser = percent)]
    min_tested: Option<f64>,
    /// Rescale profiles to make them comparable: core (unchanged code costs the same), total (equal totals), or none [default: core for time and samples, none for memory and counts of objects or calls]
    #[arg(
        long, value_name = "HOW", value_parser = without_sides,
        add = ArgValueCompleter::new(one_of(&NORMALIZE_WORDS[..3]))
    )]
    normalize: Option<Normalization>,
}

/// The default number of rows in text.
const ROWS: usize = 20;
/// How many of these may be rows without a verdict, unless asked for more.
const OTHER_ROWS: usize = 5;

/// The start of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Since {
    /// So many nanoseconds ago.
    Ago(i64),
    /// Nanoseconds since 1970.
    Time(i64),
}

/// Parses the value of `--since`.
fn since(text: &str) -> Result<Since, String> {
    const DAY: i64 = 86_400_000_000_000;
    let wrong = || "expected an age such as 30d, 12h or 90min, or a date such as 2026-11-01".to_string();
    let days = [("d", DAY), ("w", 7 * DAY)].into_iter().find_map(|(unit, length)| {
        let count: i64 = text.strip_suffix(unit)?.trim_end().parse().ok().filter(|count| *count > 0)?;
        count.checked_mul(length)
    });
    let age = || Quantity::parse(text).ok().filter(|age| age.unit().is_some())?.nanoseconds();
    if let Some(age) = days.or_else(age).filter(|age| *age > 0) {
        return Ok(Since::Ago(age));
    }
    let is_date = text.len() == "2026-11-01".len();
    let time = if is_date { parse_rfc3339(&format!("{text}T00:00:00Z")) } else { parse_rfc3339(text) };
    time.map(Since::Time).map_err(|_| wrong())
}

/// Parses the value of `--normalize`: profiles of a series have no sides with known work.
fn without_sides(text: &str) -> Result<Normalization, String> {
    let is_known = |how: &Normalization| !matches!(how, Normalization::Per { .. });
    normalize(text).ok().filter(is_known).ok_or_else(|| "expected core, total or none".to_string())
}

impl TrendCommand {
    pub(crate) fn run(mut self) -> Result<Outcome> {
        let drawing = Drawing { command: "trend", endings: &["svg", "html"], dash: false };
        let picture = self.layout.picture(&drawing, &mut self.input.profiles)?;
        let mut output = match &picture {
            Some(out) => Output::picture(out, self.layout.force),
            None => self.layout.output(&self.wording, &self.input.profiles, self.input.quiet)?,
        };
        output.check(&self.input.files()?)?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_nanos() as i64);
        let loaded = self.load(now)?;
        let mut clock = Clock::new(self.input.verbose);
        let mut found = self.trend(loaded, now)?;
        clock.step("test");
        let code = if found.has_failed() { FAILED } else { 0 };
        output.style.exit_code = Some(code);
        output.style.all_matches = self.input.verbose;
        let most = RowLimit { given: self.limit, text: ROWS }.rows(output.format, None).unwrap_or(usize::MAX);
        let others = (output.format.is_for_people() && self.limit.is_none()).then_some(OTHER_ROWS);
        found.cut(most, others);
        if let Some(path) = &picture {
            let mut drawn = Vec::new();
            let unit = self.wording.unit.unit();
            let is_page = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("html"));
            if is_page {
                let style = Style { unit, ..output.style.clone() };
                output::trend_page(&found, &style, &mut drawn).map_err(unwritten)?;
            } else {
                output::trend_svg(&found, unit.as_ref(), &mut drawn).map_err(unwritten)?;
            }
            Outcome(code).after(output.target.write(|out| Ok(out.write_all(&drawn)?)))
        } else {
            Outcome(code).after(write(&self.fitted(found, &output)?, &output, self.input.verbose))
        }
    }

    /// Reads the profiles, and prints what there is to say about them.
    fn load(&self, now: i64) -> Result<LoadedSeries> {
        if self.input.metrics.len() > 1 {
            let hint = "run trend once for each metric";
            return Err(hinted("trend follows one metric, but --metric was given several times", hint));
        }
        let filters = self.filters.filters();
        let by = self.node.by();
        let options = SeriesOptions {
            by: by.clone(),
            matching: self.matching.options(self.test.min_tested.unwrap_or(0.5) / 100.0)?,
            since: self.since.map(|since| match since {
                Since::Ago(age) => now.saturating_sub(age),
                Since::Time(time) => time,
            }),
            filters: filters.clone(),
        };
        let inputs = names(&self.input.profiles)?;
        let needs = needs(&filters, &by);
        let request = self.input.request(inputs, Combine::default(), needs, self.filters.all_frames)?;
        let loaded = request.series(&options).map_err(|error| self.explain(error, &request))?;
        let requirement = Requirement::Costs;
        requirement.check(&loaded.reference, &by, &[loaded.metric])?;
        note(requirement.note([&loaded.reference].into_iter(), &by).as_slice(), &self.input);
        say(loaded.messages.clone(), &self.input);
        if loaded.older > 0 {
            let count = loaded.older as u64;
            let text = format!("{count} older {} left out", plural(count, "profile is", "profiles are"));
            note(&[text], &self.input);
        }
        Ok(loaded)
    }

    fn trend(&self, mut loaded: LoadedSeries, now: i64) -> Result<Trend> {
        let (order, doubts) = self.order(&loaded.history, now)?;
        warn(&doubts, &self.input);
        loaded.history.sort(order);
        let matched = loaded.join();
        let LoadedSeries { history, inputs, filters, messages, .. } = loaded;
        let TestArgs { alpha, min_effect, min_points, min_tested, normalize } = self.test;
        let part = |percent: f64| percent / 100.0;
        let options = TrendOptions {
            by: self.node.by(),
            value: self.value,
            order,
            normalize,
            alpha,
            min_effect: part(min_effect).max(f64::MIN_POSITIVE),
            min_points: min_points.map(part),
            min_tested: min_tested.map(part),
        };
        let mut found = trend(&history, &options);
        found.matched = matched;
        found.header.inputs = inputs;
        found.header.filters = filters;
        found.header.warnings.extend(messages);
        found.header.warnings.extend(doubts.iter().map(Message::warning));
        Ok(found)
    }

    /// The order of the profiles, with doubts about it.
    fn order(&self, history: &History, now: i64) -> Result<(TrendOrder, Vec<String>)> {
        let without = history.times().filter(|(_, time)| time.is_none()).map(|(input, _)| input);
        let without: Vec<&str> = without.collect();
        let several = match without.len().saturating_sub(1) {
            0 => "does not say when it was recorded".to_string(),
            more => format!("and {more} more do not say when they were recorded"),
        };
        let order = match (self.order, without.first()) {
            (Some(TrendOrder::Time), Some(first)) => {
                let hint = "--order name and --order given need no times";
                return Err(hinted(format!("--order time: {first} {several}"), hint));
            }
            (Some(order), _) => return Ok((order, in_the_future(history, now).into_iter().collect())),
            (None, None) => TrendOrder::Time,
            // Of the files of a folder, nobody gave an order.
            (None, Some(_)) => match &self.input.profiles[..] {
                [folder] if Path::new(folder).is_dir() => TrendOrder::Name,
                _ => TrendOrder::Given,
            },
        };
        let mut doubts: Vec<String> = in_the_future(history, now).into_iter().collect();
        // If none has a time, as in collapsed stacks, that is no surprise.
        if let Some(first) = without.first().filter(|_| without.len() < history.len()) {
            let how = if order == TrendOrder::Name { "of their names" } else { "given" };
            doubts.push(format!("{first} {several}, so the profiles are in the order {how}"));
        }
        Ok((order, doubts))
    }

    /// The report with as many rows as fit the screen, unless the number of rows was given.
    fn fitted(&self, found: Trend, output: &Output) -> Result<Report> {
        let Some(lines) = output.lines.filter(|_| self.limit.is_none()) else { return Ok(found.into()) };
        let attempt = fitted(&output.style, lines, found.rows.len(), 1, &mut |rows| {
            let mut found = found.clone();
            found.cut(rows, None);
            Ok(Attempt { report: found.into(), notes: Vec::new() })
        })?;
        Ok(attempt.report)
    }

    fn explain(&self, error: SeriesError, request: &Request) -> anyhow::Error {
        match error {
            SeriesError::Load(error) => explain_load(error, request),
            SeriesError::Filter(error) => explain_filter(error),
            SeriesError::Given(error) => self.matching.explain(&error),
            SeriesError::NoTime(_) => {
                hinted(format!("--since: {error}"), "name the profiles to use, without --since")
            }
            SeriesError::AllOlder(_) => {
                hinted(format!("--since: {error}"), "choose an earlier time, such as --since 365d")
            }
            SeriesError::History(error) => hinted(error.to_string(), "leave out some of the profiles"),
        }
    }
}

/// A doubt about a profile that was recorded after now.
fn in_the_future(history: &History, now: i64) -> Option<String> {
    /// Clocks may differ by a little.
    const MINUTE: i64 = 60_000_000_000;
    let future = history.times().filter_map(|(input, time)| Some((input, time?)));
    let future: Vec<(&str, i64)> = future.filter(|(_, time)| time.saturating_sub(MINUTE) > now).collect();
    let (first, time) = future.first()?;
    let more = match future.len() - 1 {
        0 => String::new(),
        more => format!(", and {more} more are from the future"),
    };
    let time = timestamp_minutes(*time);
    Some(format!(
        "{first} was recorded in the future, at {time}{more}: a clock is wrong, so the order of the profiles may be, too"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start_of_a_series() {
        const HOUR: i64 = 3_600_000_000_000;
        for (text, expected) in [
            ("30d", Since::Ago(30 * 24 * HOUR)),
            ("2w", Since::Ago(14 * 24 * HOUR)),
            ("12h", Since::Ago(12 * HOUR)),
            ("1.5h", Since::Ago(HOUR * 3 / 2)),
            ("90min", Since::Ago(HOUR * 3 / 2)),
            ("1970-01-02", Since::Time(24 * HOUR)),
            ("1970-01-01T01:00:00Z", Since::Time(HOUR)),
        ] {
            assert_eq!(since(text), Ok(expected), "{text}");
        }
        for text in ["", "30", "-3d", "0d", "d", "yesterday", "2026-13-01", "30MiB", "9999999999999999d"] {
            assert!(since(text).is_err(), "{text}");
        }
    }
}
