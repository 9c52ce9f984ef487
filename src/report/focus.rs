//! The report of `focus`: one function with its callers and callees.

use serde::ser::Error;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::report::{Header, Name, PairBySide};

/// One function, or several counted as one, with its callers and callees.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Focus {
    /// The header; `elided` is what was cut on both sides. Its total is `whole` in JSON, since `total` is that of the function.
    #[serde(flatten, serialize_with = "header_with_whole")]
    pub header: Header,
    /// The unique name; the pattern as typed if several functions are counted as one.
    pub name: Name,
    /// Self and total.
    #[serde(flatten)]
    pub values: PairBySide,
    /// Its callers, anywhere on the stack. The rows that are not functions come last: `(itself)`
    /// and `(root)`.
    pub callers: Vec<Neighbour>,
    /// Its callees, anywhere on the stack; `(itself)` comes last.
    pub callees: Vec<Neighbour>,
    /// The callers that were cut.
    pub more_callers: CutRows,
    /// The callees that were cut.
    pub more_callees: CutRows,
    /// How far the rows exceed `total`.
    pub overlap: Overlap,
    /// The matching functions, the heaviest first.
    pub matches: Vec<FocusMatch>,
    /// The source file, if there is exactly one.
    pub file: Option<Name>,
    /// `overlap` of the old side of a comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old_overlap: Option<Overlap>,
    /// Whether the values are numbers of calls: of a caller, how often it calls the function; of a callee, how often
    /// the function calls it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub counts_calls: bool,
    /// What callers and callees were counted from, which explains sums that differ from `total`.
    pub counted_from: CountedFrom,
}

/// The keys of a header, but `whole` in the place of `total`: no two keys of an object may be the same.
fn header_with_whole<S: Serializer>(header: &Header, serializer: S) -> Result<S::Ok, S::Error> {
    let Value::Object(keys) = serde_json::to_value(header).map_err(S::Error::custom)? else {
        return Err(S::Error::custom("a header is an object"));
    };
    let renamed = |(key, value)| (if key == "total" { "whole".to_string() } else { key }, value);
    keys.into_iter().map(renamed).collect::<Map<String, Value>>().serialize(serializer)
}

/// A caller or a callee.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Neighbour {
    /// The unique name, `(root)` or `(itself)`.
    pub name: Name,
    /// The value of the samples in which it is next to the function, each counted once.
    pub value: i64,
    /// The old side of a comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<i64>,
    /// New − old.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta: Option<i64>,
    /// Whether it is a profiler artefact, whose self belongs to its callers.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub artefact: bool,
    /// What the row stands for.
    pub kind: NeighbourKind,
}

/// The kind of a row in the lists of callers and callees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum NeighbourKind {
    /// Another function.
    Function,
    /// The function itself, or one of those that count as one with it: a direct recursive call.
    Itself,
    /// The start of the stack: nothing calls the function there.
    Root,
}

impl NeighbourKind {
    /// The name of a row that is not a function.
    pub fn name(self) -> Option<Name> {
        match self {
            NeighbourKind::Function => None,
            NeighbourKind::Itself => Some(Name::from("(itself)")),
            NeighbourKind::Root => Some(Name::from("(root)")),
        }
    }
}

/// How far the rows on either side of a function exceed its total. A function that recurs through others
/// may have several callers on one stack, and a sample counts once for each of them. Negative if a profile
/// without stacks does not record the cost of recursive calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Overlap {
    /// All callers, including those that were cut.
    pub callers: i64,
    /// Self and all callees, including those that were cut.
    pub callees: i64,
}

/// What callers and callees were counted from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CountedFrom {
    /// Whole stacks.
    Stacks,
    /// Calls without their stacks.
    Calls,
    /// Calls without their stacks, some of which lead back to the function.
    RecursiveCalls,
}

/// The rows that were cut from a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CutRows {
    /// How many rows.
    pub rows: u64,
    /// Their sum.
    pub value: i64,
    /// Their sum on the old side of a comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<i64>,
}

/// A matching function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FocusMatch {
    /// The unique name.
    pub name: Name,
    /// Self.
    #[serde(rename = "self")]
    pub self_value: i64,
    /// Total.
    pub total: i64,
}
