//! At most one stack per column: the one that takes most of its time.

use hashbrown::HashMap;

use crate::profile::StackId;
use crate::view::chart::stretches::Stretch;

/// Replaces stretches, which are in order, with the heaviest stack of each column. Columns are `width` wide and begin at `from`.
pub(super) fn heaviest_per_column(stretches: &[Stretch], from: i64, width: i64) -> Vec<Stretch> {
    let mut columns = Columns { from, width, current: 0, time: HashMap::new(), drawn: Vec::new() };
    for stretch in stretches {
        columns.add(stretch);
    }
    columns.flush();
    columns.drawn
}

struct Columns {
    from: i64,
    width: i64,
    /// The column that is being counted.
    current: i64,
    /// How long each stack takes in it, and when it was first seen there.
    time: HashMap<StackId, (i64, i64)>,
    drawn: Vec<Stretch>,
}

impl Columns {
    fn add(&mut self, stretch: &Stretch) {
        let column = |moment: i64| (moment - self.from) / self.width;
        let (first, last) = (column(stretch.from), column(stretch.to - 1));
        self.count(first, stretch);
        if last > first {
            // The columns between the first and the last one have no other stack.
            self.flush();
            self.draw(first + 1, last, stretch.stack);
            self.count(last, stretch);
        }
    }

    /// Counts the part of a stretch in a column.
    fn count(&mut self, column: i64, stretch: &Stretch) {
        if column != self.current {
            self.flush();
            self.current = column;
        }
        let start = self.from + column * self.width;
        let part = stretch.to.min(start + self.width) - stretch.from.max(start);
        let (time, _) = self.time.entry(stretch.stack).or_insert((0, stretch.from));
        *time += part;
    }

    fn flush(&mut self) {
        let heaviest = self.time.drain().max_by_key(|&(_, (time, seen))| (time, std::cmp::Reverse(seen)));
        if let Some((stack, _)) = heaviest {
            self.draw(self.current, self.current + 1, stack);
        }
    }

    /// Draws a stack from one column up to another.
    fn draw(&mut self, first: i64, end: i64, stack: StackId) {
        let edge = |column: i64| self.from.saturating_add(column.saturating_mul(self.width));
        let (from, to) = (edge(first), edge(end));
        match self.drawn.last_mut() {
            Some(last) if last.to == from && last.stack == stack => last.to = to,
            _ if from < to => self.drawn.push(Stretch { from, to, stack }),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Id;

    #[test]
    fn each_column_shows_its_heaviest_stack() {
        let stretch = |(from, to, stack): (i64, i64, usize)| Stretch { from, to, stack: StackId::new(stack) };
        let columns = |stretches: &[(i64, i64, usize)]| {
            let stretches: Vec<Stretch> = stretches.iter().copied().map(stretch).collect();
            let drawn = heaviest_per_column(&stretches, 100, 10);
            drawn.iter().map(|drawn| (drawn.from, drawn.to, drawn.stack.index())).collect::<Vec<_>>()
        };
        // Two short ones of 1 weigh more than one of 2.
        assert_eq!(columns(&[(100, 103, 1), (103, 107, 2), (107, 110, 1)]), [(100, 110, 1)]);
        assert_eq!(columns(&[(104, 131, 1), (131, 138, 2)]), [(100, 130, 1), (130, 140, 2)]);
        // A single sample is seen, and what comes first if two are equally heavy.
        assert_eq!(columns(&[(121, 122, 1), (122, 123, 2), (155, 156, 3)]), [(120, 130, 1), (150, 160, 3)]);
        assert_eq!(columns(&[]), []);
    }
}
