//! Why the sides of a page differ: the sentences of `diff`, and the names that lead to the evidence.

use hashbrown::HashMap;
use serde::Serialize;

use crate::name::{clean, short_name};
use crate::output::diff::causes::{self, Shown};
use crate::output::diff::evidence::evidence;
use crate::output::diff::words;
use crate::output::style::Explain;
use crate::report::{Diff, DiffCause, Page};

/// What the page says about the comparison.
#[derive(Serialize)]
pub(super) struct CausesHead {
    /// How much of the growth the causes explain; what was detectable, if there are none.
    said: String,
    chips: Vec<Chip>,
    /// What only moved.
    moved: Option<String>,
    /// What the costs compare.
    costs: Option<String>,
}

/// A cause.
#[derive(Serialize)]
struct Chip {
    label: String,
    evidence: String,
    /// The number of the function that is to blame.
    function: usize,
    /// The numbers of the names along the calls that show it, from the caller on.
    path: Vec<usize>,
    /// Whether it is why something became cheaper.
    saves: bool,
}

impl CausesHead {
    pub(super) fn of(page: &Page) -> Option<Self> {
        let diff = page.comparison.as_deref()?;
        let ids = page.ids();
        let shown = Shown::both(diff, Explain::Most);
        let chips = shown.iter().flat_map(|shown| &shown.causes).filter_map(|cause| chip(diff, cause, &ids));
        let chips = chips.collect();
        let said: Vec<String> = shown.iter().map(|shown| shown.headline(diff)).collect();
        Some(CausesHead {
            chips,
            said: if said.is_empty() { words::short_evidence(diff) } else { said.join("; ") },
            moved: causes::moves(diff, Explain::Most, short),
            costs: words::costs_of_page(diff),
        })
    }
}

/// The chip of a cause whose function the page has.
fn chip(diff: &Diff, cause: &DiffCause, ids: &HashMap<&str, usize>) -> Option<Chip> {
    let id = |name: &str| ids.get(name).copied();
    let path: Option<Vec<usize>> = cause.path.iter().map(|name| id(name)).collect();
    let function = id(&cause.function)?;
    let (change, points) = (causes::change(cause), words::change(diff, cause.points));
    Some(Chip {
        label: format!("{} {change} {points}", short(&cause.function)),
        evidence: evidence(diff, cause, short),
        function,
        path: path.filter(|path| !path.is_empty()).unwrap_or_else(|| vec![function]),
        saves: cause.explains_saving(),
    })
}

fn short(name: &str) -> String {
    clean(&short_name(name)).into_owned()
}
