//! Typed ids and the columns they index.
//!
//! A frame id used in a function column does not compile:
//!
//! ```compile_fail
//! use prof::profile::{Column, FrameId, FunctionId, Id};
//! let names: Column<FunctionId, &str> = Column::from_iter(["main"]);
//! let name = names[FrameId::new(0)];
//! ```

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// A row number of one particular table.
pub trait Id: Copy {
    /// The id of row `index`. Tables never have more than `u32::MAX` rows.
    fn new(index: usize) -> Self;
    /// The row number.
    fn index(self) -> usize;
}

/// Declares id types: one `u32` wrapper per table.
macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
        pub struct $name(u32);

        impl $crate::profile::Id for $name {
            #[inline]
            fn new(index: usize) -> Self {
                $name(index as u32)
            }
            #[inline]
            fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}
pub(crate) use ids;

ids! {
    /// A row of [`Strings`](crate::profile::Strings); row 0 is the empty string.
    StringId;
    /// A row of the function table.
    FunctionId;
    /// A row of the frame table.
    FrameId;
    /// A row of the mapping table; row 0 stands for "no mapping known".
    MappingId;
    /// A row of [`Stacks`](crate::profile::Stacks).
    StackId;
    /// A row of [`LabelSets`](crate::profile::LabelSets); row 0 is the empty set.
    LabelSetId;
}

/// A vector that only its own id type can index.
pub struct Column<I, T> {
    rows: Vec<T>,
    id: PhantomData<fn(I)>,
}

impl<I: Id> Column<I, bool> {
    /// A column with `len` rows that says which ids are among these.
    pub fn marking(ids: impl IntoIterator<Item = I>, len: usize) -> Column<I, bool> {
        let mut marks = Column::filled(false, len);
        ids.into_iter().for_each(|id| marks[id] = true);
        marks
    }
}

impl<I: Id, T> Column<I, T> {
    /// A column without rows.
    pub const fn new() -> Self {
        Column { rows: Vec::new(), id: PhantomData }
    }

    /// An empty column with reserved space for `rows` rows.
    pub(crate) fn with_capacity(rows: usize) -> Self {
        Column { rows: Vec::with_capacity(rows), id: PhantomData }
    }

    /// A column with `len` rows, all equal to `value`.
    pub fn filled(value: T, len: usize) -> Self
    where
        T: Clone,
    {
        Column { rows: vec![value; len], id: PhantomData }
    }

    /// Appends a row and returns its id.
    #[inline]
    pub fn push(&mut self, value: T) -> I {
        self.rows.push(value);
        I::new(self.rows.len() - 1)
    }

    /// Removes all rows, but keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.rows.clear();
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The rows in order.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.rows.iter()
    }

    /// The ids in order.
    pub fn ids(&self) -> impl Iterator<Item = I> + use<I, T> {
        (0..self.rows.len()).map(I::new)
    }

    /// Ids and rows in order.
    pub fn enumerate(&self) -> impl Iterator<Item = (I, &T)> {
        self.rows.iter().enumerate().map(|(index, row)| (I::new(index), row))
    }

    /// The rows as a slice.
    pub fn as_slice(&self) -> &[T] {
        &self.rows
    }

    /// A column with the results of calling `map` on every row.
    pub fn map<U>(&self, map: impl FnMut(&T) -> U) -> Column<I, U> {
        self.rows.iter().map(map).collect()
    }
}

impl<I, T> From<Column<I, T>> for Vec<T> {
    fn from(column: Column<I, T>) -> Self {
        column.rows
    }
}

impl<I: Id, T> Index<I> for Column<I, T> {
    type Output = T;
    #[inline]
    fn index(&self, id: I) -> &T {
        &self.rows[id.index()]
    }
}

impl<I: Id, T> IndexMut<I> for Column<I, T> {
    #[inline]
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.rows[id.index()]
    }
}

impl<I, T> FromIterator<T> for Column<I, T> {
    fn from_iter<A: IntoIterator<Item = T>>(rows: A) -> Self {
        Column { rows: rows.into_iter().collect(), id: PhantomData }
    }
}

impl<'a, I: Id, T> IntoIterator for &'a Column<I, T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<I: Id, T> Default for Column<I, T> {
    fn default() -> Self {
        Column::new()
    }
}

impl<I, T: Clone> Clone for Column<I, T> {
    fn clone(&self) -> Self {
        Column { rows: self.rows.clone(), id: PhantomData }
    }
}

impl<I, T: fmt::Debug> fmt::Debug for Column<I, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.rows).finish()
    }
}

impl<I, T: PartialEq> PartialEq for Column<I, T> {
    fn eq(&self, other: &Self) -> bool {
        self.rows == other.rows
    }
}
