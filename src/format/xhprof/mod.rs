//! Reads the data of XHProf and Tideways, profilers of PHP: how often one function called another, and what these calls cost,
//! as JSON or as PHP serializes it.
//!
//! ```text
//! {"main()": {"ct": 1, "wt": 9000, "mu": 4096, "pmu": 0}, "main()==>parse": {"ct": 3, "wt": 7000, …}, "parse==>parse@1": {…}}
//! a:2:{s:6:"main()";a:2:{s:2:"ct";i:1;s:2:"wt";i:9000;}s:14:"main()==>parse";a:2:{s:2:"ct";i:3;s:2:"wt";i:7000;}}
//! ```
//!
//! Costs include those of callees. A function that is running already has the number of its other calls behind its name
//! (`parse@1`), so what it costs in total is known even if it calls itself: that of its calls without a number.
//!
//! XHProf's other mode, `xhprof_sample_enable()`, records stacks and when they were seen:
//!
//! ```text
//! {"1460294938.300000": "main()==>parse", "1460294938.400000": "main()==>parse==>strlen"}
//! ```

mod names;
mod samples;

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::format::json::{self, Json, Kind};
use crate::format::text::lossy;
use crate::format::xhprof::names::{CALLS, NAME, function};
use crate::format::xhprof::samples::TimedStack;
use crate::format::{Confidence, Format, LoadError, ParseError, Source, finished};
use crate::profile::{LoadOptions, Profile, ProfileBuilder};
use crate::unit::plural;

/// The entry in the list of readable formats.
pub(super) static XHPROF: Format = Format { name: NAME, title: "XHProf", sniff, read };

/// The values of a pair: its key, and the name and unit of the metric that it becomes. The last one is the number of calls.
/// Memory is what was allocated and not freed during the calls, and by how much the highest use grew.
const VALUES: [(&str, &str, &str); 5] = [
    ("wt", "wall", "microseconds"),
    ("cpu", "cpu", "microseconds"),
    ("mu", "inuse_space", "bytes"),
    ("pmu", "peak_space", "bytes"),
    ("ct", "calls", "count"),
];

const CALL_COUNT: usize = VALUES.len() - 1;

/// A caller and its callee, or a function that was not called by another one, with those values that the file has.
struct Pair<'a> {
    names: Cow<'a, str>,
    values: [Option<i64>; VALUES.len()],
}

fn sniff(head: &[u8]) -> Confidence {
    if samples::are_samples(head) {
        return Confidence::Certain;
    }
    let has_pairs = json::mentions(head, "\"ct\"") && json::mentions(head, "main()");
    let is_json = || {
        let keys = json::keys(head);
        let is_pair = |key: &str| key == "main()" || key == "profile" || key.contains(CALLS);
        keys.iter().any(|(key, kind)| is_pair(key) && *kind == Some(Kind::Object))
    };
    if has_pairs && (head.starts_with(b"a:") || is_json()) { Confidence::Certain } else { Confidence::No }
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let text = source.read_all()?;
    if samples::are_samples(&text) {
        let stacks =
            if text.starts_with(b"a:") { serialized_stacks(&text)? } else { samples::in_json(&text)? };
        return Ok(samples::collect(&stacks, options)?);
    }
    let pairs = if text.starts_with(b"a:") { serialized(&text)? } else { in_json(&text)? };
    Ok(finished(collect(&pairs, options)?)?)
}

/// The pairs of a JSON object, or of its member `profile`, beside which others keep what was requested.
fn in_json(text: &[u8]) -> Result<Vec<Pair<'_>>, ParseError> {
    let mut json = Json::new(NAME, text);
    let mut pairs = Vec::new();
    json.object()?;
    while let Some(names) = json.key()? {
        if names == "profile" {
            pairs.clear();
            json.object()?;
            while let Some(names) = json.key()? {
                pairs.push(Pair { names, values: json_values(&mut json)? });
            }
        } else if is_pair(&names) {
            pairs.push(Pair { names, values: json_values(&mut json)? });
        } else {
            json.skip()?;
        }
    }
    json.end()?;
    Ok(pairs)
}

fn is_pair(names: &str) -> bool {
    names == "main()" || names.contains(CALLS)
}

fn json_values(json: &mut Json<'_>) -> Result<[Option<i64>; VALUES.len()], ParseError> {
    let mut values = [None; VALUES.len()];
    json.object()?;
    while let Some(key) = json.key()? {
        match index_of(&key) {
            Some(index) => values[index] = json.number_if_any()?.map(|value| value.round() as i64),
            None => json.skip()?,
        }
    }
    Ok(values)
}

fn index_of(key: &str) -> Option<usize> {
    VALUES.iter().position(|(known, ..)| *known == key)
}

/// The pairs that PHP's `serialize` wrote, as XHProf's own library stores them.
fn serialized(text: &[u8]) -> Result<Vec<Pair<'_>>, ParseError> {
    let mut php = Php { text, at: 0 };
    let mut pairs = Vec::new();
    for _ in 0..php.array()? {
        let (names, mut values) = (php.string()?, [None; VALUES.len()]);
        for _ in 0..php.array()? {
            let (key, value) = (php.string()?, php.number()?);
            if let Some(index) = index_of(&key) {
                values[index] = Some(value);
            }
        }
        php.expect("}")?;
        pairs.push(Pair { names, values });
    }
    php.expect("}")?;
    Ok(pairs)
}

/// Times and stacks, as PHP's `serialize` wrote them.
fn serialized_stacks(text: &[u8]) -> Result<Vec<TimedStack<'_>>, ParseError> {
    let mut php = Php { text, at: 0 };
    let mut stacks = Vec::new();
    for _ in 0..php.array()? {
        stacks.push((php.string()?, php.string()?));
    }
    php.expect("}")?;
    Ok(stacks)
}

/// A place in the text of PHP's `serialize`.
struct Php<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Php<'a> {
    fn rest(&self) -> &'a [u8] {
        &self.text[self.at..]
    }

    fn error(&self, message: &str) -> ParseError {
        ParseError::at_byte(NAME, self.at as u64, message)
    }

    fn expect(&mut self, token: &str) -> Result<(), ParseError> {
        if !self.rest().starts_with(token.as_bytes()) {
            return Err(self.error(&format!("expected `{token}`")));
        }
        self.at += token.len();
        Ok(())
    }

    /// The text up to a delimiter, which is passed.
    fn until(&mut self, delimiter: u8) -> Result<&'a str, ParseError> {
        let end = memchr::memchr(delimiter, self.rest());
        let end = end.ok_or_else(|| self.error(&format!("expected `{}`", char::from(delimiter))))?;
        let text = str::from_utf8(&self.rest()[..end]).map_err(|_| self.error("expected a number"))?;
        self.at += end + 1;
        Ok(text)
    }

    fn length(&mut self) -> Result<usize, ParseError> {
        let start = self.error("expected a length");
        self.until(b':')?.parse().map_err(|_| start)
    }

    /// Enters an array: how many keys with values follow.
    fn array(&mut self) -> Result<usize, ParseError> {
        self.expect("a:")?;
        let length = self.length()?;
        self.expect("{")?;
        Ok(length)
    }

    fn string(&mut self) -> Result<Cow<'a, str>, ParseError> {
        self.expect("s:")?;
        let length = self.length()?;
        self.expect("\"")?;
        let bytes = self.rest().get(..length).ok_or_else(|| self.error("truncated within a string"))?;
        self.at += length;
        self.expect("\";")?;
        Ok(lossy(bytes))
    }

    fn number(&mut self) -> Result<i64, ParseError> {
        let start = self.error("expected a number");
        let number = if self.rest().starts_with(b"d:") {
            self.expect("d:")?;
            self.until(b';')?.parse::<f64>().ok().map(|number| number.round() as i64)
        } else {
            self.expect("i:")?;
            self.until(b';')?.parse().ok()
        };
        number.ok_or(start)
    }
}

/// The values of all metrics that there may be.
type Costs = [i64; VALUES.len()];

fn collect(pairs: &[Pair<'_>], options: LoadOptions) -> Result<ProfileBuilder, ParseError> {
    let has = |index: usize| pairs.iter().any(|pair| pair.values[index].is_some());
    let present: Vec<usize> = (0..VALUES.len()).filter(|&index| has(index)).collect();
    if present.is_empty() {
        return Err(ParseError::whole(NAME, "there is no function with values"));
    }
    let mut builder = ProfileBuilder::new(NAME, options);
    for &index in &present {
        let (_, name, unit) = VALUES[index];
        let metric = builder.metric(name, unit);
        if index == CALL_COUNT {
            builder.calls_metric(metric);
        }
    }
    let pick = |costs: &Costs| -> Vec<i64> { present.iter().map(|&index| costs[index]).collect() };
    for (caller, callee, costs) in pairs.iter().map(Pair::parts) {
        let (callee, _) = function(callee, &mut builder);
        if let Some(caller) = caller {
            let (caller, _) = function(caller, &mut builder);
            builder.call_edge(caller, callee, None, &pick(&costs));
        }
    }
    let mut cheaper = 0;
    for (name, level) in levels(pairs) {
        let (function, is_first) = function(name, &mut builder);
        let own = level.own();
        cheaper += u64::from(own.iter().any(|&cost| cost < 0));
        builder.call_node(function, &pick(&own.map(|cost| cost.max(0))));
        builder.call_total(function, &pick(&if is_first { level.whole() } else { level.count() }));
    }
    if cheaper > 0 {
        let functions =
            plural(cheaper, "function costs less than its callees", "functions cost less than their callees");
        builder.meta.notes.push(format!(
            "{cheaper} {functions}, as those do that free memory; own costs below 0 are left out"
        ));
    }
    Ok(builder)
}

impl Pair<'_> {
    /// The caller, the callee, and the costs of the calls.
    fn parts(&self) -> (Option<&str>, &str, Costs) {
        let costs = self.values.map(Option::unwrap_or_default);
        match self.names.split_once(CALLS) {
            Some((caller, callee)) => (Some(caller), callee, costs),
            None => (None, &self.names, costs),
        }
    }
}

/// A function at one depth of recursion, such as `parse@1`.
#[derive(Clone, Default)]
struct Level {
    is_called: bool,
    /// The costs of its calls, and of those that it makes.
    called: Costs,
    calls: Costs,
}

impl Level {
    /// What it costs with its callees, and how often it was called. What only calls, and is not called itself, costs what it calls.
    fn whole(&self) -> Costs {
        let mut whole = if self.is_called { self.called } else { self.calls };
        whole[CALL_COUNT] = self.called[CALL_COUNT];
        whole
    }

    /// How often it was called, without costs.
    fn count(&self) -> Costs {
        let mut count = Costs::default();
        count[CALL_COUNT] = self.called[CALL_COUNT];
        count
    }

    /// What it costs without its callees, and how often it was called; negative if it frees memory that they allocated.
    fn own(&self) -> Costs {
        let whole = self.whole();
        let mut own: Costs = std::array::from_fn(|index| whole[index].saturating_sub(self.calls[index]));
        own[CALL_COUNT] = whole[CALL_COUNT];
        own
    }
}

/// The levels of all functions, by name.
fn levels<'a>(pairs: &'a [Pair<'_>]) -> BTreeMap<&'a str, Level> {
    let mut levels: BTreeMap<&str, Level> = BTreeMap::new();
    for (caller, callee, costs) in pairs.iter().map(Pair::parts) {
        let called = levels.entry(callee).or_default();
        called.is_called = true;
        add(&mut called.called, &costs);
        if let Some(caller) = caller {
            add(&mut levels.entry(caller).or_default().calls, &costs);
        }
    }
    levels
}

fn add(sums: &mut Costs, costs: &Costs) {
    for (sum, cost) in sums.iter_mut().zip(costs) {
        *sum = sum.saturating_add(*cost);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::FunctionId;

    const JSON: &str = r#"{"main()": {"ct": 1, "wt": 90, "mu": 40}, "main()==>parse": {"ct": 2, "wt": 70, "mu": 48},
        "parse==>parse@1": {"ct": 3, "wt": 50, "mu": 30}, "parse@1==>strlen": {"ct": 9, "wt": 20, "mu": 0}}"#;

    fn load(text: &str) -> Result<Profile, LoadError> {
        read(&mut Source::from_bytes(text.into()), LoadOptions::ALL)
    }

    /// The self values and totals of a function.
    fn costs(profile: &Profile, name: &str) -> Vec<(i64, i64)> {
        let calls = profile.calls.as_ref().unwrap();
        let is_it =
            |id: &FunctionId| profile.symbols.strings.get(profile.symbols.functions[*id].name) == name;
        let function = calls.functions().map(|(id, _)| id).find(is_it).unwrap();
        (0..profile.meta.metrics.len())
            .map(|metric| (calls.self_values[metric][function], calls.totals[metric][function]))
            .collect()
    }

    #[test]
    fn costs_of_recursive_calls_are_not_counted_twice() {
        let profile = load(JSON).unwrap();
        let metrics: Vec<_> =
            profile.meta.metrics.iter().map(|metric| (&*metric.name, metric.total)).collect();
        assert_eq!(metrics, [("wall", 90), ("inuse_space", 48), ("calls", 15)]);
        // 70 − 50 at first, and 50 − 20 when it calls itself; it was called twice and three times.
        assert_eq!(costs(&profile, "parse"), [(50, 70), (48, 48), (5, 5)]);
        assert_eq!(costs(&profile, "main()"), [(20, 90), (0, 40), (1, 1)]);
        assert_eq!(costs(&profile, "strlen")[0], (20, 20));
        // `main()` frees 8 of what `parse` allocated.
        assert!(profile.meta.notes[0].starts_with("1 function costs less than its callees"));
    }

    #[test]
    fn all_forms_say_the_same() {
        let serialized = "a:2:{s:6:\"main()\";a:2:{s:2:\"ct\";i:1;s:2:\"wt\";i:90;}\
            s:14:\"main()==>p\u{e9}re\";a:3:{s:2:\"ct\";i:3;s:2:\"wt\";d:70;s:5:\"other\";i:1;}}";
        let json = r#"{"main()": {"ct": 1, "wt": 90}, "main()==>p\u00e9re": {"ct": 3, "wt": 70}}"#;
        for text in [serialized, json, &format!(r#"{{"meta": {{"wt": 5}}, "profile": {json}}}"#)] {
            assert_eq!(sniff(text.as_bytes()), Confidence::Certain);
            let profile = load(text).unwrap();
            assert_eq!(costs(&profile, "main()"), [(20, 90), (1, 1)], "{text}");
            assert_eq!(costs(&profile, "p\u{e9}re"), [(70, 70), (3, 3)], "{text}");
        }
    }

    #[test]
    fn what_only_calls_has_no_costs_of_its_own() {
        let profile = load(r#"{"f==>g": {"ct": 2, "wt": 7}}"#).unwrap();
        assert_eq!(costs(&profile, "f"), [(0, 7), (0, 0)]);
        assert_eq!(profile.meta.metrics[0].total, 7);
    }

    #[test]
    fn broken_files_are_refused() {
        let error = |text: &str| load(text).unwrap_err().to_string();
        assert!(error("{}").contains("no function with values"));
        assert!(error("a:1:{s:6:\"main").contains("truncated within a string (byte 10)"));
        assert!(error("a:1:{i:6;").contains("expected `s:` (byte 5)"));
        assert!(error("a:1:{s:6:\"main()\";a:1:{s:2:\"ct\";i:x;}}").contains("expected a number"));
        assert!(error("{\"main()\": 5}").contains("xhprof"));
    }
}
