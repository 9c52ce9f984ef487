//! Names as they stand on the screen.

use hashbrown::{HashMap, HashSet};

use crate::name::{clean, short_names};
use crate::output::text::Style;
use crate::report::Name;

/// The names of one report: short where the style says so, cleaned of control characters.
pub(super) struct Names {
    shown: HashMap<Name, String>,
}

impl Names {
    pub(super) fn new<'n>(names: impl Iterator<Item = &'n Name>, style: &Style) -> Self {
        // A million stacks have many more frames than names: these are sorted once each.
        let mut distinct: Vec<&Name> = names.collect::<HashSet<_>>().into_iter().collect();
        distinct.sort_unstable();
        let shown = if style.short_names {
            short_names(&distinct)
        } else {
            distinct.iter().map(std::string::ToString::to_string).collect()
        };
        let printable =
            |name: String| if name.is_empty() { EMPTY.to_string() } else { clean(&name).into_owned() };
        let shown = distinct.into_iter().cloned().zip(shown.into_iter().map(printable)).collect();
        Names { shown }
    }

    pub(super) fn get<'s>(&'s self, name: &'s str) -> &'s str {
        self.shown.get(name).map_or(name, String::as_str)
    }
}

/// How a function without a name is shown.
const EMPTY: &str = "\"\"";

/// The end of a path that tells files apart: folder and file.
pub(in crate::output) fn short_file(file: &str) -> String {
    let parts: Vec<&str> = file.rsplitn(3, ['/', '\\']).collect();
    let short = match parts[..] {
        [name, folder, _] if !folder.is_empty() => format!("{folder}/{name}"),
        _ => file.to_string(),
    };
    clean(&short).into_owned()
}
