//! What clang's `-ftime-trace` says of its spans.

use std::borrow::Cow;

use crate::format::ParseError;
use crate::format::json::Json;
use crate::name::demangle;

/// The spans that are about something. Those of passes are about a function each, but it is the pass that one asks about.
const ABOUT: &[&str] = &[
    "CodeGen Function",
    "DebugConstGlobalVariable",
    "DebugGlobalVariable",
    "DebugType",
    "EvaluateAsConstantExpr",
    "EvaluateForOverflow",
    "EvaluateAsRValue",
    "InstantiateClass",
    "InstantiateFunction",
    "Module Compile",
    "Module Load",
    "Module Write",
    "OptFunction",
    "OptLoop",
    "OptModule",
    "ParseClass",
    "ParseDeclarationOrFunctionDefinition",
    "ParseFunctionDefinition",
    "ParseTemplate",
    "RunLoopPass",
    "RunPass",
    "Source",
];

/// The arguments of a span: the file, the function or the type that it is about. At the end come totals of all
/// spans of a name: `{"name": "Total Source", "tid": 3, "ts": 0, "dur": 46121, "args": {"count": 2, "avg ms": 23}}`.
#[derive(Default)]
pub(super) struct ClangArgs<'a> {
    detail: Cow<'a, str>,
    pub(super) is_total: bool,
}

impl<'a> ClangArgs<'a> {
    pub(super) fn read(mut args: Json<'a>) -> Result<Self, ParseError> {
        let mut found = ClangArgs::default();
        if args.object_if_any()? {
            while let Some(key) = args.key()? {
                match &*key {
                    "detail" => found.detail = args.text_if_any()?.unwrap_or_default(),
                    key => {
                        found.is_total |= key == "avg ms";
                        args.skip()?;
                    }
                }
            }
        }
        Ok(found)
    }

    /// The name of a span with what it is about: `Source /usr/include/stdio.h`.
    pub(super) fn name_of(&self, name: &str) -> String {
        let name = if name.is_empty() { "(unnamed)" } else { name };
        if !ABOUT.contains(&name) {
            return name.to_string();
        }
        // Names of Objective-C's methods begin with the character 1.
        let detail = self.detail.trim_start_matches('\u{1}');
        if detail.is_empty() { name.to_string() } else { format!("{name} {}", demangle(detail)) }
    }
}
