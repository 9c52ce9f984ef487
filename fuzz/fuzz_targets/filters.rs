//! Filters, with the checks of `tests/hostile`.

#![no_main]

#[allow(dead_code)]
#[path = "../../tests/hostile/check.rs"]
mod check;
#[path = "../../tests/hostile/clock.rs"]
mod clock;
#[path = "../../tests/hostile/filters.rs"]
mod filters;
#[path = "../../tests/hostile/views.rs"]
mod views;

use libfuzzer_sys::fuzz_target;
use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

fuzz_target!(|bytes: &[u8]| {
    if let Err(wrong) = filters::check(bytes, bytes.len() % views::VIEWS.len()) {
        panic!("{wrong}");
    }
});
