//! Tables that several profiles share.

use std::any::Any;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::profile::{Profile, StackTable, SymbolTable};

/// The tables of names and stacks of profiles that are read one after the other and kept apart.
///
/// Runs of one program have much the same functions and stacks, so that looking them up in the tables of the runs before takes
/// less time and memory than storing them again.
///
/// Each builder borrows the tables and gives them back. Its profile has none until [`SharedTables::give_to`] is called.
#[derive(Clone, Debug, Default)]
pub struct SharedTables(Arc<Mutex<Home>>);

#[derive(Debug, Default)]
struct Home {
    tables: Tables,
    has_remains: bool,
    /// What the reader of the profiles fills again and again.
    buffers: Option<Box<dyn Any + Send>>,
}

/// Tables of names and stacks while they are being filled.
#[derive(Debug, Default)]
pub(super) struct Tables {
    pub(super) symbols: SymbolTable,
    pub(super) stacks: StackTable,
}

impl Tables {
    /// The approximate memory use in bytes.
    fn size(&self) -> usize {
        self.symbols.size() + self.stacks.size()
    }
}

impl SharedTables {
    /// Ends sharing: gives these profiles their tables, and frees everything else.
    pub fn give_to<'p>(&self, profiles: impl Iterator<Item = &'p mut Profile>) {
        let Tables { symbols, stacks } = {
            let mut home = self.home();
            home.buffers = None;
            std::mem::take(&mut home.tables)
        };
        let (symbols, stacks) = (Arc::new(symbols.symbols), Arc::new(stacks.stacks));
        for profile in profiles {
            (profile.symbols, profile.stacks) = (symbols.clone(), stacks.clone());
        }
    }

    /// Whether the tables may have rows of an input that could not be read.
    pub fn has_remains(&self) -> bool {
        self.home().has_remains
    }

    /// The buffers that a reader has left here; new ones if there are none of this type.
    pub fn take_buffers<B: Any + Default>(&self) -> B {
        let kept = self.home().buffers.take().and_then(|kept| (kept as Box<dyn Any>).downcast().ok());
        kept.map(|kept| *kept).unwrap_or_default()
    }

    /// Leaves buffers for the next profile that is read.
    pub fn keep_buffers<B: Any + Send>(&self, buffers: B) {
        self.home().buffers = Some(Box::new(buffers));
    }

    fn home(&self) -> MutexGuard<'_, Home> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The tables of a builder: its own, or shared ones, which it gives back when it is dropped.
#[derive(Debug, Default)]
pub(super) struct BuilderTables {
    tables: Tables,
    shared: Option<SharedTables>,
    /// The size of shared tables before this builder borrowed them.
    size_before: usize,
    is_finished: bool,
}

impl BuilderTables {
    pub(super) fn borrow(shared: SharedTables) -> Self {
        let tables = std::mem::take(&mut shared.home().tables);
        BuilderTables { size_before: tables.size(), tables, shared: Some(shared), is_finished: false }
    }

    /// Tables whose whole size counts as what they grew by.
    pub(super) fn borrow_all(shared: SharedTables) -> Self {
        let mut all = BuilderTables::borrow(shared);
        (all.size_before, all.is_finished) = (0, true);
        all
    }

    /// Tables that are no longer shared.
    pub(super) fn taken(shared: &SharedTables) -> Self {
        let mut own = BuilderTables::default();
        own.tables = std::mem::take(&mut shared.home().tables);
        own
    }

    pub(super) fn are_shared(&self) -> bool {
        self.shared.is_some()
    }

    /// By how many bytes, approximately, the tables grew.
    pub(super) fn growth(&self) -> usize {
        self.tables.size().saturating_sub(self.size_before)
    }

    /// Takes out tables that are not shared.
    pub(super) fn finish(mut self) -> Tables {
        self.is_finished = true;
        if self.are_shared() { Tables::default() } else { std::mem::take(&mut self.tables) }
    }
}

impl Drop for BuilderTables {
    fn drop(&mut self) {
        if let Some(shared) = self.shared.take() {
            let mut home = shared.home();
            home.has_remains |= !self.is_finished && self.growth() > 0;
            home.tables = std::mem::take(&mut self.tables);
        }
    }
}

impl Deref for BuilderTables {
    type Target = Tables;

    fn deref(&self) -> &Tables {
        &self.tables
    }
}

impl DerefMut for BuilderTables {
    fn deref_mut(&mut self) -> &mut Tables {
        &mut self.tables
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{LabelSetId, LoadOptions, ProfileBuilder, to_notation};

    fn builder(shared: &SharedTables) -> ProfileBuilder {
        let mut builder = ProfileBuilder::new("test", LoadOptions::default());
        builder.share_tables(shared.clone());
        builder.metric("samples", "count");
        builder
    }

    fn add(builder: &mut ProfileBuilder, names: &[&str], value: i64) {
        let frames: Vec<_> = names.iter().map(|name| builder.named_frame(name)).collect();
        let stack = builder.stack(&frames);
        builder.sample(stack, LabelSetId::default(), None, &[value]);
    }

    #[test]
    fn profiles_with_the_same_tables_differ_in_their_samples() {
        let shared = SharedTables::default();
        let profiles = [[("a", 1), ("b", 2)], [("b", 3), ("c", 4)]].map(|samples| {
            let mut builder = builder(&shared);
            for (name, value) in samples {
                add(&mut builder, &["main", name], value);
            }
            builder.finish().unwrap()
        });
        let [mut first, mut second] = profiles;
        shared.give_to([&mut first, &mut second].into_iter());
        assert_eq!(to_notation(&first), "main;a 1\nmain;b 2");
        assert_eq!(to_notation(&second), "main;b 3\nmain;c 4");
        assert_eq!((first.stacks.len(), first.symbols.functions.len()), (3, 4));
        assert!(Arc::ptr_eq(&first.symbols, &second.symbols));
        assert!(!shared.has_remains());
    }

    #[test]
    fn tables_come_back_from_a_builder_that_fails() {
        let shared = SharedTables::default();
        let mut first = builder(&shared);
        add(&mut first, &["main"], 1);
        let mut first = first.finish().unwrap();
        let mut broken = builder(&shared);
        add(&mut broken, &["other"], 2);
        drop(broken);
        assert!(shared.has_remains());
        shared.give_to([&mut first].into_iter());
        assert_eq!(to_notation(&first), "main 1");
    }
}
