//! Screens and keys.

use std::fs;

use crate::ui::keys::KEYS;

#[test]
fn the_page_lists_the_keys() {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/ui.md")).unwrap();
    for (topic, keys) in KEYS {
        assert!(page.contains(&format!("### {topic}\n")), "{topic}");
        for key in *keys {
            let row = format!("| {} | {} |\n", key.keys, key.what);
            assert!(page.contains(&row), "docs/ui.md lacks {row}");
        }
    }
    let rows = page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| keys |")).count();
    assert_eq!(rows, KEYS.iter().map(|(_, keys)| keys.len()).sum::<usize>());
}
