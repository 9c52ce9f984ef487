//! Which row of a timeline each sample belongs to.

use hashbrown::{HashMap, HashSet};

use crate::profile::{Column, LabelSetId, Profile, Samples, StackId};
use crate::report::Name;
use crate::transform::THREAD_KEYS;
use crate::tree::{By, Keys};

/// What a row of a timeline stands for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum TimelineRows {
    /// A thread.
    #[default]
    Thread,
    /// A process.
    Process,
    /// The package of the function that was running.
    Package,
    /// The value of the label with this key.
    Label(String),
}

impl TimelineRows {
    /// As it is typed: `thread`, `label:route`.
    pub fn name(&self) -> String {
        match self {
            TimelineRows::Thread => "thread".to_string(),
            TimelineRows::Process => "process".to_string(),
            TimelineRows::Package => "package".to_string(),
            TimelineRows::Label(key) => format!("label:{key}"),
        }
    }
}

/// The rows of a timeline.
pub(in crate::view) struct RowKeys {
    /// The unique name of each row.
    pub(in crate::view) names: Vec<Name>,
    of: RowOf,
}

/// What decides the row of a sample.
enum RowOf {
    Labels(Column<LabelSetId, usize>),
    Stack(Column<StackId, usize>),
}

impl RowKeys {
    /// The rows of a profile. Fails with the key of a label that no sample has.
    pub(in crate::view) fn new(profile: &Profile, by: &TimelineRows) -> Result<Self, String> {
        match by {
            TimelineRows::Thread => Ok(threads(profile)),
            TimelineRows::Process => Ok(values(profile, "process").unwrap_or_else(|| one_row(profile))),
            TimelineRows::Label(key) => values(profile, key).ok_or_else(|| key.clone()),
            TimelineRows::Package => Ok(packages(profile)),
        }
    }

    /// The row of a sample.
    pub(in crate::view) fn row(&self, samples: &Samples, sample: usize) -> usize {
        match &self.of {
            RowOf::Labels(rows) => rows[samples.labels[sample]],
            RowOf::Stack(rows) => rows[samples.stack[sample]],
        }
    }
}

/// Numbers distinct keys in the order in which they are found.
struct Numbered<K> {
    keys: Vec<K>,
    numbers: HashMap<K, usize>,
}

impl<K: Clone + Eq + std::hash::Hash> Numbered<K> {
    fn new() -> Self {
        Numbered { keys: Vec::new(), numbers: HashMap::new() }
    }

    fn number(&mut self, key: K) -> usize {
        *self.numbers.entry(key).or_insert_with_key(|key| {
            self.keys.push(key.clone());
            self.keys.len() - 1
        })
    }
}

/// The label of a set with this key, as text.
fn label(profile: &Profile, set: LabelSetId, key: &str) -> Option<String> {
    profile.label(set, key).map(|value| profile.label_text(value))
}

fn threads(profile: &Profile) -> RowKeys {
    let mut threads: Numbered<[String; 3]> = Numbered::new();
    let of_set = profile
        .label_sets
        .ids()
        .map(|set| threads.number(THREAD_KEYS.map(|key| label(profile, set, key).unwrap_or_default())));
    let of = RowOf::Labels(of_set.collect());
    let processes: HashSet<&str> =
        threads.keys.iter().map(|[.., process]| process.as_str()).filter(|name| !name.is_empty()).collect();
    let name = |[thread, tid, process]: &[String; 3]| {
        let own = match (thread.is_empty(), tid.is_empty()) {
            (false, _) => thread.clone(),
            (true, false) => format!("thread {tid}"),
            (true, true) if process.is_empty() => return NO_THREAD.to_string(),
            (true, true) => return process.clone(),
        };
        let is_told = processes.len() < 2 || process.is_empty() || *process == own;
        if is_told { own } else { format!("{process}/{own}") }
    };
    let mut names: Vec<String> = threads.keys.iter().map(name).collect();
    let mut of_name: HashMap<String, usize> = HashMap::new();
    for name in &names {
        *of_name.entry(name.clone()).or_default() += 1;
    }
    // Pools have many threads of one name.
    for (name, [_, tid, process]) in names.iter_mut().zip(&threads.keys) {
        if of_name[name.as_str()] > 1 {
            name.push_str(&format!(" {}", if tid.is_empty() { process } else { tid }));
        }
    }
    if let [only] = &mut names[..]
        && only == NO_THREAD
    {
        *only = ALL.to_string();
    }
    let names = names.iter().map(|name| name.trim_end().into()).collect();
    RowKeys { names, of }
}

/// The row of samples without a thread.
const NO_THREAD: &str = "(no thread)";

/// The only row of a recording that does not tell threads or processes apart.
const ALL: &str = "(all)";

/// A row per value of a label; `None` if no sample has it.
fn values(profile: &Profile, key: &str) -> Option<RowKeys> {
    let mut values: Numbered<Option<String>> = Numbered::new();
    let of_set: Column<LabelSetId, usize> =
        profile.label_sets.ids().map(|set| values.number(label(profile, set, key))).collect();
    values.keys.iter().any(Option::is_some).then(|| {
        let name = |value: &Option<String>| value.clone().unwrap_or_else(|| format!("(no {key})")).into();
        RowKeys { names: values.keys.iter().map(name).collect(), of: RowOf::Labels(of_set) }
    })
}

fn one_row(profile: &Profile) -> RowKeys {
    let of = RowOf::Labels(profile.label_sets.ids().map(|_| 0).collect());
    RowKeys { names: vec![ALL.into()], of }
}

/// A row per package of the function that was running.
fn packages(profile: &Profile) -> RowKeys {
    let keys = Keys::new(profile, &By::Package);
    let mut packages: Numbered<Name> = Numbered::new();
    let of_stack = profile.stacks.ids().map(|stack| {
        let leaf = profile.stacks.frames(stack).last();
        packages.number(leaf.map_or("(no stack)".into(), |&leaf| keys.name(keys.of_frame(leaf)).clone()))
    });
    let of = RowOf::Stack(of_stack.collect());
    RowKeys { names: packages.keys, of }
}
