//! `types`: the table of profile types.

use crate::kind::{KINDS, Kind};
use crate::report::{TypeRow, Types};

/// The known profile types that are called `name` or have a metric of that name, and that profilers of
/// `language` record; all if neither is given. Case does not matter.
pub fn types(name: Option<&str>, language: Option<&str>) -> Types {
    let is = |known: &str| name.is_none_or(|name| known.eq_ignore_ascii_case(name));
    let is_type = KINDS.iter().any(|kind| is(kind.name));
    let named = |kind: &&Kind| is(kind.name) || (!is_type && kind.metrics.iter().any(|metric| is(metric)));
    let spoken = |kind: &&Kind| {
        language
            .is_none_or(|language| kind.languages.iter().any(|known| known.eq_ignore_ascii_case(language)))
    };
    let row = |kind: &Kind| TypeRow {
        name: kind.name,
        unit: kind.unit,
        companion: kind.companion,
        languages: kind.languages,
        when: kind.when,
        width: format!("a wide function {}", kind.width),
        measures: kind.measures,
    };
    let all = || KINDS.iter().flat_map(|kind| kind.languages);
    let language_asked =
        language.and_then(|name| all().find(|known| known.eq_ignore_ascii_case(name)).copied());
    let types = KINDS.iter().filter(named).filter(spoken).map(row).collect();
    Types { schema: "prof.types.v1", types, name: name.map(str::to_string), language: language_asked }
}
