//! The attribute `#[test]` of `tests/suite`.
//!
//! The built-in test runner cannot ignore a test at run time. So `tests/suite` has its own, and this attribute takes
//! the place of the built-in one: it adds the function to the list of tests, together with what it needs.
//!
//! ```text
//! #[test]
//! #[needs(Corpus, Python)]
//! fn sums_are_those_of_python() { … }
//! ```

use proc_macro::{Delimiter, Group, TokenStream, TokenTree};

/// Adds a function to the tests. `#[needs(…)]` below it names variants of `crate::support::needs::Need`.
#[proc_macro_attribute]
pub fn test(_: TokenStream, function: TokenStream) -> TokenStream {
    match register(function) {
        Ok(tokens) => tokens,
        Err(message) => format!("compile_error!({message:?});").parse().expect("a macro call"),
    }
}

fn register(function: TokenStream) -> Result<TokenStream, String> {
    let (mut kept, mut needs, mut conditions) = (TokenStream::new(), String::new(), TokenStream::new());
    let mut name = None;
    let mut tokens = function.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match (&token, tokens.peek()) {
            (TokenTree::Punct(punct), Some(TokenTree::Group(group)))
                if punct.as_char() == '#' && name.is_none() =>
            {
                let attribute =
                    group.stream().into_iter().next().map(|word| word.to_string()).unwrap_or_default();
                match attribute.as_str() {
                    "needs" => {
                        needs.push_str(&listed(group));
                        tokens.next();
                        continue;
                    }
                    "cfg" => conditions.extend([token.clone(), TokenTree::Group(group.clone())]),
                    "ignore" | "should_panic" => {
                        return Err(format!("tests/suite does not support #[{attribute}]"));
                    }
                    _ => {}
                }
            }
            (TokenTree::Ident(word), Some(TokenTree::Ident(next)))
                if word.to_string() == "fn" && name.is_none() =>
            {
                name = Some(next.to_string());
            }
            _ => {}
        }
        kept.extend([token]);
    }
    let name = name.ok_or("#[test] must be put on a function")?;
    let entry = format!(
        "const _: () = {{ ::inventory::submit! {{ crate::runner::Test {{
            module: ::std::module_path!(), name: {name:?}, needs: &[{needs}], run: {name}
        }} }} }};"
    );
    kept.extend(conditions);
    kept.extend(entry.parse::<TokenStream>().map_err(|error| error.to_string())?);
    Ok(kept)
}

/// The needs in `needs(Corpus, Python)`, as expressions.
fn listed(attribute: &Group) -> String {
    let arguments = attribute.stream().into_iter().filter_map(|token| match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis => Some(group.stream()),
        _ => None,
    });
    let words = arguments.flatten().filter_map(|token| match token {
        TokenTree::Ident(word) => Some(format!("crate::support::needs::Need::{word},")),
        _ => None,
    });
    words.collect()
}
