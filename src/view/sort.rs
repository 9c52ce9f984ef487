//! The order of rows: `--sort self,total,-name`.

use std::cmp::Ordering;
use std::str::FromStr;

use crate::report::Pair;

/// One thing rows can be sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SortKey {
    /// Self, the largest first.
    SelfValue,
    /// Total, the largest first.
    Total,
    /// Total − self, the largest first.
    Children,
    /// The name, alphabetically.
    Name,
    /// New − old, the largest change first.
    Delta,
    /// The old side.
    Old,
    /// The new side.
    New,
}

/// The keys as they are typed.
pub const SORT_KEYS: [&str; 7] = ["self", "total", "children", "name", "delta", "old", "new"];

/// Sort keys, the most important first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sort {
    keys: Vec<(SortKey, bool)>,
    /// Whether old, new and delta compare self instead of total.
    by_self: bool,
}

/// The values of a row that sorting compares. Signs are ignored.
#[derive(Clone, Copy, Debug)]
pub struct SortRow<'r> {
    /// The values shown: the new side of a comparison.
    pub new: Pair,
    /// The old side of a comparison; zero elsewhere.
    pub old: Pair,
    /// The unique name.
    pub name: &'r str,
}

impl Sort {
    /// Sorts by one key.
    pub fn by(key: SortKey) -> Self {
        Sort { keys: vec![(key, false)], by_self: key == SortKey::SelfValue }
    }

    /// Whether this order needs a comparison of two sides.
    pub fn compares_sides(&self) -> bool {
        let is_of_sides = |key: &SortKey| matches!(key, SortKey::Delta | SortKey::Old | SortKey::New);
        self.keys.iter().any(|(key, _)| is_of_sides(key))
    }

    /// Whether the first rows are the heaviest, or of a comparison those that changed the most.
    pub fn is_by_weight(&self, compares_sides: bool) -> bool {
        let key = if compares_sides { SortKey::Delta } else { SortKey::Total };
        self.keys.first() == Some(&(key, false)) && !self.by_self
    }

    /// Whether rows are sorted by what their callees cost, before anything else.
    pub fn is_by_children(&self) -> bool {
        matches!(self.keys.first(), Some((SortKey::Children, _)))
    }

    /// Sorts by the change of one key between two sides: that of self, otherwise that of total.
    pub fn by_change_of(key: SortKey) -> Self {
        Sort { keys: vec![(SortKey::Delta, false)], by_self: key == SortKey::SelfValue }
    }

    /// The order of two rows. Ties in self are broken by total, ties in total by self, and remaining ties by
    /// name.
    pub fn compare(&self, a: SortRow<'_>, b: SortRow<'_>) -> Ordering {
        for &(key, reversed) in &self.keys {
            let order = self.compare_key(key, a, b);
            if order != Ordering::Equal {
                return if reversed { order.reverse() } else { order };
            }
        }
        let ties = [SortKey::Total, SortKey::SelfValue, SortKey::Name];
        ties.iter()
            .map(|&key| self.compare_key(key, a, b))
            .find(|&order| order != Ordering::Equal)
            .unwrap_or(Ordering::Equal)
    }

    fn compare_key(&self, key: SortKey, a: SortRow<'_>, b: SortRow<'_>) -> Ordering {
        if key == SortKey::Name {
            return a.name.cmp(b.name);
        }
        self.weight(key, b).cmp(&self.weight(key, a))
    }

    fn weight(&self, key: SortKey, row: SortRow<'_>) -> u64 {
        let pick = |pair: Pair| if self.by_self { pair.self_value } else { pair.total };
        let value = match key {
            SortKey::SelfValue => row.new.self_value,
            SortKey::Total => row.new.total,
            SortKey::Children => row.new.total - row.new.self_value,
            SortKey::Delta => pick(row.new) - pick(row.old),
            SortKey::Old => pick(row.old),
            SortKey::New => pick(row.new),
            SortKey::Name => 0,
        };
        value.unsigned_abs()
    }
}

impl FromStr for Sort {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut keys = Vec::new();
        for word in text.split(',').map(str::trim) {
            let (name, reversed) = word.strip_prefix('-').map_or((word, false), |name| (name, true));
            let key = match name {
                "self" | "flat" => SortKey::SelfValue,
                "total" | "cum" => SortKey::Total,
                "children" => SortKey::Children,
                "name" => SortKey::Name,
                "delta" => SortKey::Delta,
                "old" => SortKey::Old,
                "new" => SortKey::New,
                _ => return Err(format!("`{name}` is not one of {}", SORT_KEYS.join(", "))),
            };
            keys.push((key, reversed));
        }
        let by_self = keys.first().is_some_and(|&(key, _)| key == SortKey::SelfValue);
        Ok(Sort { keys, by_self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(sort: &str, rows: &[(&'static str, i64, i64)]) -> Vec<&'static str> {
        let sort: Sort = sort.parse().unwrap();
        let mut rows = rows.to_vec();
        let row = |&(name, self_value, total): &(&'static str, i64, i64)| SortRow {
            new: Pair { self_value, total },
            old: Pair::default(),
            name,
        };
        rows.sort_by(|a, b| sort.compare(row(a), row(b)));
        rows.iter().map(|row| row.0).collect()
    }

    #[test]
    fn keys_ties_and_reversal() {
        let rows = [("b", 1, 5), ("a", 1, 5), ("c", 3, 4), ("d", -4, -4)];
        assert_eq!(sorted("self", &rows), ["d", "c", "a", "b"]);
        assert_eq!(sorted("total", &rows), ["a", "b", "d", "c"]);
        assert_eq!(sorted("-name", &rows), ["d", "c", "b", "a"]);
        assert_eq!(sorted("children,-name", &rows), ["b", "a", "c", "d"]);
        assert_eq!(sorted("cum,flat", &rows), ["a", "b", "d", "c"]);
        assert!("weight".parse::<Sort>().is_err());
    }
}
