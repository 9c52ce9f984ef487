//! The reader that `PROF_READER` names, or the one that the content selects, with the checks of `tests/hostile`.

#![no_main]

#[path = "../../tests/hostile/check.rs"]
mod check;
#[path = "../../tests/hostile/clock.rs"]
mod clock;
#[path = "../../tests/hostile/views.rs"]
mod views;

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use peak_alloc::PeakAlloc;
use prof::format::{Format, named};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

static READER: LazyLock<Option<&'static Format>> = LazyLock::new(|| {
    let name = std::env::var("PROF_READER").ok()?;
    Some(named(&name).unwrap_or_else(|| panic!("PROF_READER: there is no reader {name}")))
});

fuzz_target!(|bytes: &[u8]| {
    if let Err(wrong) = check::check(*READER, bytes, Some(bytes.len() % views::VIEWS.len())) {
        panic!("{wrong}");
    }
});
