//! The `prof` command.
fn main() {}
