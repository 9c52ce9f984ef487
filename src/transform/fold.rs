//! Leaves that the recorder made itself.

use crate::profile::{Column, FunctionId, Profile};
use crate::transform::engine::{Change, map_stacks};

/// Functions that stand at the end of stacks only because the recorder interrupted there. How often
/// depends on how busy the machine is: in runs of one Go program they held 0.6 to 48 % of the samples.
pub const ARTEFACTS: &[&str] = &["runtime.asyncPreempt", "runtime.asyncPreempt2"];

/// Takes functions called one of `names` off the ends of stacks, so that their self is that of the
/// function they interrupted. A stack of nothing else keeps its outermost frame. Returns how many
/// stacks were changed, too.
///
/// ```
/// use prof::profile::{draw, from_picture};
/// use prof::transform::{ARTEFACTS, fold_leaves};
///
/// let profile = from_picture("main;work;runtime.asyncPreempt 2\nmain;work 3\nruntime.asyncPreempt 1");
/// let (folded, stacks) = fold_leaves(&profile, ARTEFACTS);
/// assert_eq!(draw(&folded), "main;work 5\nruntime.asyncPreempt 1");
/// assert_eq!(stacks, 1);
/// ```
pub fn fold_leaves<S: AsRef<str>>(profile: &Profile, names: &[S]) -> (Profile, usize) {
    let symbols = &profile.symbols;
    let is_artefact: Column<FunctionId, bool> = symbols
        .functions
        .ids()
        .map(|function| names.iter().any(|name| name.as_ref() == symbols.function_name(function)))
        .collect();
    let mut folded = 0;
    let profile = map_stacks(profile, |frames, out| {
        let artefacts =
            frames.iter().rev().take_while(|&&frame| is_artefact[symbols.frames[frame].function]).count();
        let kept = (frames.len() - artefacts).max(1);
        if kept >= frames.len() {
            return Change::Keep;
        }
        folded += 1;
        out.extend_from_slice(&frames[..kept]);
        Change::Replace
    });
    (profile, folded)
}
