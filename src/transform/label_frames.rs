//! `--label-root`, `--label-leaf`, `--by label:KEY`: adding the values of labels as frames.

use std::sync::Arc;

use hashbrown::HashMap;

use crate::profile::{
    Column, Frame, FrameId, Function, LabelSetId, LabelValue, Profile, StackId, StackTable, Symbols, TooLarge,
};
use crate::transform::engine::restack;
use crate::transform::labels::number_text;

/// Where label frames are added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FramePosition {
    Root,
    Leaf,
    /// In place of the whole stack.
    ReplaceStack,
}

/// Adds the values of labels as root frames, the value of the first key outermost. A sample without the label
/// gets no frame. Also returns for each key how many samples carry it.
///
/// ```text
/// --label-root endpoint    main;work 3 {endpoint=/users}    →  /users;main;work 3 {endpoint=/users}
///                          main 1                              main 1
/// ```
///
/// Fails if a table outgrows its ids.
pub fn label_root<S: AsRef<str>>(profile: &Profile, keys: &[S]) -> Result<(Profile, Vec<usize>), TooLarge> {
    frames_of_labels(profile, keys, FramePosition::Root)
}

/// Appends the values of labels as leaf frames, the value of the last key innermost, so that the function's self
/// is counted by label. Also returns for each key how many samples carry it. Fails if a table outgrows its ids.
pub fn label_leaf<S: AsRef<str>>(profile: &Profile, keys: &[S]) -> Result<(Profile, Vec<usize>), TooLarge> {
    frames_of_labels(profile, keys, FramePosition::Leaf)
}

/// Replaces every stack by the value of a label, or by `(no KEY)` for samples without it. Also returns how many
/// samples carry it. Fails if a table outgrows its ids.
pub fn by_label(profile: &Profile, key: &str) -> Result<(Profile, usize), TooLarge> {
    let (labels, matched) = frames_of_labels(profile, &[key], FramePosition::ReplaceStack)?;
    Ok((labels, matched[0]))
}

fn frames_of_labels<S: AsRef<str>>(
    profile: &Profile,
    keys: &[S],
    place: FramePosition,
) -> Result<(Profile, Vec<usize>), TooLarge> {
    let mut symbols = Symbols::clone(&profile.symbols);
    let mut frames = LabelFrames { symbols: &mut symbols, of_name: HashMap::new() };
    let mut carried = Vec::new();
    let mut lists = FrameLists::default();
    for set in profile.label_sets.ids() {
        let texts: Vec<Option<String>> =
            keys.iter().map(|key| value_text(profile, set, key.as_ref())).collect();
        carried.push(texts.iter().map(Option::is_some).collect::<Vec<bool>>());
        let mut list: Vec<FrameId> = texts.iter().flatten().map(|text| frames.frame(text)).collect();
        if list.is_empty() && place == FramePosition::ReplaceStack {
            list.extend(keys.iter().map(|key| frames.frame(&format!("(no {})", key.as_ref()))));
        }
        lists.add(list);
    }
    let samples = &profile.samples;
    let mut restacked = StackBuilder { profile, place, table: StackTable::default(), made: HashMap::new() };
    let mut stacks = Vec::with_capacity(samples.len());
    for (&stack, &set) in samples.stack.iter().zip(&samples.labels) {
        stacks.push(restacked.stack(stack, lists.of_set[set], &lists).ok_or(TooLarge::Ids)?);
    }
    let count =
        |key| samples.labels.iter().filter(|&&set| carried[crate::profile::Id::index(set)][key]).count();
    let matched = (0..keys.len()).map(count).collect();
    let table = restacked.table;
    let samples = restack(profile, stacks.into_iter().enumerate());
    let profile =
        Profile { symbols: Arc::new(symbols), stacks: Arc::new(table.stacks), samples, ..profile.clone() };
    Ok((profile, matched))
}

/// The value of a label as text; several values of one key are joined by commas.
fn value_text(profile: &Profile, set: LabelSetId, key: &str) -> Option<String> {
    let strings = &profile.symbols.strings;
    let labels = profile.label_sets.labels(set).iter().filter(|label| strings.get(label.key) == key);
    let texts: Vec<String> = labels
        .map(|label| match label.value {
            LabelValue::Text(text) => strings.get(text).to_string(),
            LabelValue::Number(number, unit) => number_text(number, strings.get(unit)),
        })
        .collect();
    (!texts.is_empty()).then(|| texts.join(","))
}

/// Creates label frames, one per distinct text.
struct LabelFrames<'s> {
    symbols: &'s mut Symbols,
    of_name: HashMap<String, FrameId>,
}

impl LabelFrames<'_> {
    fn frame(&mut self, text: &str) -> FrameId {
        if let Some(&frame) = self.of_name.get(text) {
            return frame;
        }
        let symbols = &mut *self.symbols;
        let (name, file) = (symbols.strings.intern(text), symbols.strings.intern(""));
        let function = symbols.functions.push(Function { name, file, line: 0, column: 0, by_place: false });
        let frame = symbols.frames.push(Frame { function, ..Frame::default() });
        self.of_name.insert(text.to_string(), frame);
        frame
    }
}

/// The distinct lists of frames to add, and which of them belongs to each label set.
#[derive(Default)]
struct FrameLists {
    distinct: Vec<Vec<FrameId>>,
    number: HashMap<Vec<FrameId>, usize>,
    of_set: Column<LabelSetId, usize>,
}

impl FrameLists {
    fn add(&mut self, list: Vec<FrameId>) {
        let FrameLists { distinct, number, .. } = self;
        let number = *number.entry(list).or_insert_with_key(|list| {
            distinct.push(list.clone());
            distinct.len() - 1
        });
        self.of_set.push(number);
    }
}

/// Builds the new stacks; each combination of a stack and a list is built once.
struct StackBuilder<'p> {
    profile: &'p Profile,
    place: FramePosition,
    table: StackTable,
    made: HashMap<(StackId, usize), StackId>,
}

impl StackBuilder<'_> {
    fn stack(&mut self, stack: StackId, number: usize, lists: &FrameLists) -> Option<StackId> {
        if let Some(&made) = self.made.get(&(stack, number)) {
            return Some(made);
        }
        let (frames, list) = (self.profile.stacks.frames(stack), &lists.distinct[number]);
        let made = match self.place {
            FramePosition::Root => self.table.intern(&[list, frames].concat())?,
            FramePosition::Leaf => self.table.intern(&[frames, list].concat())?,
            FramePosition::ReplaceStack => self.table.intern(list)?,
        };
        self.made.insert((stack, number), made);
        Some(made)
    }
}
