//! Calling libraries that may panic on malformed input.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    /// Whether panics of this thread are caught, and so not to be printed.
    static IS_QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Calls a function of a library, which may panic on malformed input; `None` if it does. Nothing is printed.
pub(super) fn quietly<T>(call: impl FnOnce() -> T) -> Option<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let print = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !IS_QUIET.get() {
                print(info);
            }
        }));
    });
    IS_QUIET.set(true);
    let result = panic::catch_unwind(AssertUnwindSafe(call));
    IS_QUIET.set(false);
    result.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_of_a_library_are_errors() {
        assert_eq!(quietly(|| 7), Some(7));
        assert_eq!(quietly(|| -> i32 { panic!("malformed") }), None);
        assert!(!IS_QUIET.get());
    }
}
