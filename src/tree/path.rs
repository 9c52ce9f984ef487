//! The heaviest path: from the heaviest root, always to the heaviest callee.

use crate::profile::{Column, StackId};
use crate::tree::{KeyId, Subject};

/// A row of the heaviest path: one node of the call tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathRow {
    /// The key of the node.
    pub key: KeyId,
    /// The value of the stacks that end here.
    pub self_value: i64,
    /// The value of the stacks that start with the path up to here.
    pub total: i64,
}

/// The heaviest path, and the node that would follow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeaviestPath {
    /// The rows, from the root on.
    pub rows: Vec<PathRow>,
    /// The heaviest callee of the last row, which has less than half of that row's total. `None` if the
    /// last row calls nothing.
    pub next: Option<PathRow>,
}

/// Follows the heaviest callee while it has at least half of its caller's total.
pub fn heaviest_path(subject: &Subject<'_>) -> HeaviestPath {
    let mut stacks: Vec<StackId> = subject.stacks().collect();
    let mut path = HeaviestPath::default();
    let mut counted = DepthCounts::new(subject.keys.len());
    loop {
        let depth = path.rows.len();
        let Some(best) = counted.heaviest(subject, &stacks, depth) else { return path };
        let caller = path.rows.last().map_or(0, |row| row.total.unsigned_abs());
        if u128::from(best.total.unsigned_abs()) * 2 < u128::from(caller) {
            path.next = Some(best);
            return path;
        }
        stacks.retain(|&stack| key_at(subject, stack, depth) == Some(best.key));
        path.rows.push(best);
    }
}

/// For each row of a path, the value in another series of the stacks that start with the path up to
/// there.
pub fn along_path(subject: &Subject<'_>, path: &[KeyId], series: usize) -> Vec<PathRow> {
    let row = |&key: &KeyId| PathRow { key, self_value: 0, total: 0 };
    let mut rows: Vec<PathRow> = path.iter().map(row).collect();
    for (stack, &value) in subject.series[series].enumerate().filter(|(_, value)| **value != 0) {
        let mut keys = subject.stack_keys(stack).peekable();
        for row in &mut rows {
            if keys.next() != Some(row.key) {
                break;
            }
            row.total += value;
            if keys.peek().is_none() {
                row.self_value += value;
            }
        }
    }
    rows
}

fn key_at(subject: &Subject<'_>, stack: StackId, depth: usize) -> Option<KeyId> {
    subject.profile.stacks.frames(stack).get(depth).map(|&frame| subject.keys.of_frame(frame))
}

/// The values by key at one depth.
struct DepthCounts {
    total: Column<KeyId, i64>,
    self_value: Column<KeyId, i64>,
    seen: Column<KeyId, bool>,
    keys: Vec<KeyId>,
}

impl DepthCounts {
    fn new(keys: usize) -> Self {
        let zeros = Column::filled(0, keys);
        DepthCounts {
            total: zeros.clone(),
            self_value: zeros,
            seen: Column::filled(false, keys),
            keys: Vec::new(),
        }
    }

    /// The heaviest key at `depth` of the given stacks.
    fn heaviest(&mut self, subject: &Subject<'_>, stacks: &[StackId], depth: usize) -> Option<PathRow> {
        for key in self.keys.drain(..) {
            (self.total[key], self.self_value[key], self.seen[key]) = (0, 0, false);
        }
        for &stack in stacks {
            let Some(key) = key_at(subject, stack, depth) else { continue };
            if !std::mem::replace(&mut self.seen[key], true) {
                self.keys.push(key);
            }
            let value = subject.series[0][stack];
            self.total[key] += value;
            if subject.profile.stacks.frames(stack).len() == depth + 1 {
                self.self_value[key] += value;
            }
        }
        let row = |&key: &KeyId| PathRow { key, self_value: self.self_value[key], total: self.total[key] };
        self.keys.iter().map(row).min_by(|a, b| {
            let weight = |row: &PathRow| (row.total.unsigned_abs(), row.self_value.unsigned_abs());
            weight(b).cmp(&weight(a)).then_with(|| subject.keys.name(a.key).cmp(subject.keys.name(b.key)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::from_notation;
    use crate::tree::By;

    fn drawn(picture: &str) -> String {
        let profile = from_notation(picture);
        let subject = Subject::new(&profile, &By::Function, &[0]);
        let path = heaviest_path(&subject);
        let row = |row: &PathRow| format!("{} {}/{}", subject.keys.name(row.key), row.self_value, row.total);
        let rows: Vec<String> = path.rows.iter().map(row).collect();
        format!("{} | {}", rows.join(", "), path.next.as_ref().map(row).unwrap_or_default())
    }

    #[test]
    fn it_ends_where_no_callee_has_half() {
        for (picture, expected) in [
            (" 1", " | "),
            ("main 1", "main 1/1 | "),
            ("a;b 6\na;c 4\nz 9", "a 0/10, b 6/6 | "),
            ("a;b 4\na;c 3\na;d 3", "a 0/10 | b 4/4"),
            // Half is enough; of two equal halves, the first by name wins.
            ("a;c 5\na;b 5", "a 0/10, b 5/5 | "),
            ("a;c;x 5\na;b 5\na;c 1", "a 0/11, c 1/6, x 5/5 | "),
        ] {
            assert_eq!(drawn(picture), expected);
        }
    }
}
