//! The memory limit for loading: profiles may come from untrusted sources, and a small file can need a lot.
//!
//! Everything that grows with the input reports its size to the [`Budget`] through a [`Reservation`]: the bytes
//! of an input that has to be held as a whole, and the tables of a profile. An input of 20 MB can hold
//! 20 GB of zeros, and one whose stacks are 100,000 frames deep needs the square of that.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::profile::TooLarge;

/// The memory limit for loading, shared by all inputs that are loaded at the same time.
///
/// ```
/// use prof::format::{Source, load};
/// use prof::profile::{Budget, LoadOptions};
///
/// let options = LoadOptions { budget: Budget::of(1 << 20), ..LoadOptions::default() };
/// let deep = "f;".repeat(4 << 20) + "f 1";
/// let error = load(&mut Source::from_bytes(deep.into()), options, None).unwrap_err();
/// assert!(error.to_string().contains("more memory than the 1.00MiB allowed"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Budget(Option<Arc<Shared>>);

#[derive(Debug)]
struct Shared {
    limit: u64,
    used: AtomicU64,
    /// The most that was in use at once.
    peak: AtomicU64,
}

impl Budget {
    /// No limit.
    pub const UNLIMITED: Budget = Budget(None);

    /// A budget of `limit` bytes. Its clones share it.
    pub fn of(limit: u64) -> Budget {
        Budget(Some(Arc::new(Shared { limit, used: AtomicU64::new(0), peak: AtomicU64::new(0) })))
    }

    /// A reservation of 0 bytes in this budget.
    pub fn reservation(&self) -> Reservation {
        Reservation { budget: self.clone(), bytes: 0 }
    }

    /// This budget, or the other if this one is unlimited.
    #[must_use]
    pub fn or(self, other: Budget) -> Budget {
        if self.0.is_some() { self } else { other }
    }

    /// The limit in bytes, if there is one.
    pub fn limit(&self) -> Option<u64> {
        self.0.as_ref().map(|shared| shared.limit)
    }

    /// Whether more was needed than the limit.
    pub fn is_exceeded(&self) -> bool {
        self.0.as_ref().is_some_and(|shared| shared.peak.load(Ordering::Relaxed) > shared.limit)
    }

    /// Fails if more was needed than the limit.
    pub fn check(&self) -> Result<(), TooLarge> {
        match &self.0 {
            Some(shared) if self.is_exceeded() => Err(TooLarge::Memory { limit: shared.limit }),
            _ => Ok(()),
        }
    }
}

impl PartialEq for Budget {
    fn eq(&self, other: &Budget) -> bool {
        self.0.as_ref().map(Arc::as_ptr) == other.0.as_ref().map(Arc::as_ptr)
    }
}

impl Eq for Budget {}

/// The memory that one user has reserved in a [`Budget`]; released when dropped.
#[derive(Debug)]
pub struct Reservation {
    budget: Budget,
    bytes: u64,
}

impl Reservation {
    /// How much is reserved.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Sets how much this user needs now. Once the total exceeds the limit, this fails for this and every other
    /// user.
    pub fn set(&mut self, bytes: u64) -> Result<(), TooLarge> {
        if let Some(shared) = &self.budget.0 {
            // Wrapping, so that a smaller value can be added as well.
            let change = bytes.wrapping_sub(self.bytes);
            let used = shared.used.fetch_add(change, Ordering::Relaxed).wrapping_add(change);
            shared.peak.fetch_max(used, Ordering::Relaxed);
        }
        self.bytes = bytes;
        self.budget.check()
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if let Some(shared) = &self.budget.0 {
            shared.used.fetch_sub(self.bytes, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reservations_add_up_and_are_released() {
        let budget = Budget::of(100);
        let (mut a, mut b) = (budget.reservation(), budget.reservation());
        a.set(60).unwrap();
        b.set(40).unwrap();
        b.set(10).unwrap();
        drop(a);
        b.set(90).unwrap();
        assert!(!budget.is_exceeded());
        let mut c = budget.reservation();
        assert_eq!(c.set(11), Err(TooLarge::Memory { limit: 100 }));
        drop(c);
        assert_eq!(b.set(0), Err(TooLarge::Memory { limit: 100 }), "all users learn of it");
    }

    #[test]
    fn without_a_limit_nothing_is_too_much() {
        let mut reservation = Budget::UNLIMITED.reservation();
        reservation.set(u64::MAX).unwrap();
        assert!(!Budget::UNLIMITED.is_exceeded());
    }
}
