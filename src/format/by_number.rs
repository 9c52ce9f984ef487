//! What a file defines by number.

use hashbrown::HashMap;

/// Values by their numbers, of which a file may define the same one again.
///
/// Nearly every writer counts from 0 or 1, so a number can be an index into a vector; other numbers are in a hash map.
#[derive(Clone, Debug)]
pub(super) struct ByNumber<T> {
    /// Those with small numbers.
    small: Vec<Option<T>>,
    others: HashMap<u64, T>,
    count: usize,
}

/// Numbers below are always an index.
const SMALL: usize = 256;

impl<T> Default for ByNumber<T> {
    fn default() -> Self {
        ByNumber { small: Vec::new(), others: HashMap::new(), count: 0 }
    }
}

impl<T> ByNumber<T> {
    /// Sets the value of a number, and returns the one that it had before.
    pub(super) fn insert(&mut self, number: u64, value: T) -> Option<T> {
        let index = self.index(number);
        if let Some(known) = self.get_mut(number) {
            return Some(std::mem::replace(known, value));
        }
        self.count += 1;
        match index {
            Some(index) => {
                if self.small.len() <= index {
                    self.small.resize_with(index + 1, || None);
                }
                self.small[index] = Some(value);
            }
            None => {
                self.others.insert(number, value);
            }
        }
        None
    }

    /// The value of a number, which is added if the number is new.
    pub(super) fn or_default(&mut self, number: u64) -> &mut T
    where
        T: Default,
    {
        if self.get(number).is_none() {
            self.insert(number, T::default());
        }
        self.get_mut(number).expect("it was there or has been added")
    }

    /// The index of a number if it is small: at least a quarter of the vector was in use when it grew, whatever a file claims.
    fn index(&self, number: u64) -> Option<usize> {
        let is_small = |&index: &usize| index < SMALL.max(self.small.len()) || index / 4 <= self.count;
        usize::try_from(number).ok().filter(is_small)
    }

    #[inline]
    pub(super) fn get(&self, number: u64) -> Option<&T> {
        match usize::try_from(number).ok().and_then(|index| self.small.get(index)) {
            Some(Some(value)) => Some(value),
            _ if self.others.is_empty() => None,
            _ => self.others.get(&number),
        }
    }

    #[inline]
    pub(super) fn get_mut(&mut self, number: u64) -> Option<&mut T> {
        match usize::try_from(number).ok().and_then(|index| self.small.get_mut(index)) {
            Some(Some(value)) => Some(value),
            _ if self.others.is_empty() => None,
            _ => self.others.get_mut(&number),
        }
    }

    pub(super) fn remove(&mut self, number: u64) -> Option<T> {
        let small = usize::try_from(number).ok().and_then(|index| self.small.get_mut(index));
        let removed = small.and_then(Option::take).or_else(|| self.others.remove(&number));
        self.count -= usize::from(removed.is_some());
        removed
    }

    /// Removes all values, but keeps the memory.
    pub(super) fn clear(&mut self) {
        self.small.clear();
        self.others.clear();
        self.count = 0;
    }

    /// The numbers with their values, in no order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        let small = self.small.iter().zip(0..).filter_map(|(value, number)| Some((number, value.as_ref()?)));
        small.chain(self.others.iter().map(|(&number, value)| (number, value)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_numbers_in_any_order() {
        let mut values = ByNumber::default();
        let numbers = [1, 2, 7, 5000, 4, u64::MAX, 0, 300, 1 << 32];
        for number in numbers {
            assert_eq!(values.insert(number, number), None);
            assert_eq!(values.insert(number, number + u64::from(number == 4)), Some(number));
        }
        // Now 5000 could be an index, and still is the same number.
        for number in 1000..2000 {
            values.insert(number, number);
        }
        assert_eq!(values.insert(5000, 1), Some(5000));
        assert_eq!((values.get(5000), values.get(4), values.get(3)), (Some(&1), Some(&5), None));
        assert_eq!(values.get_mut(u64::MAX).copied(), Some(u64::MAX));
        let mut all: Vec<u64> =
            values.iter().map(|(number, _)| number).filter(|n| !(1000..2000).contains(n)).collect();
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2, 4, 7, 300, 5000, 1 << 32, u64::MAX]);
        assert_eq!((values.remove(5000), values.remove(7), values.remove(7)), (Some(1), Some(7), None));
        assert_eq!((values.get(5000), values.get(7), values.small.len()), (None, None, 2000));
        values.clear();
        assert_eq!(values.iter().count(), 0);
        for number in [3, u64::MAX, 3, u64::MAX] {
            *values.or_default(number) += 1;
        }
        assert_eq!((values.get(3), values.get(u64::MAX), values.count), (Some(&2), Some(&2), 2));
    }
}
