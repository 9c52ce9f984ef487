//! Which files are scripts. Their functions are called `main`, `render` or `__init__` in file after file, so that only the file
//! says which one is meant; a native function has one name, and the files of all lines that were inlined into it.

/// The endings of scripts' names.
const ENDINGS: [&str; 13] =
    ["py", "pyx", "pyw", "rb", "php", "js", "mjs", "cjs", "jsx", "ts", "tsx", "lua", "r"];

/// Whether a file is a script: `orders.py`, `cart.rb`, or Python's `<string>` and `<frozen runpy>`.
pub(crate) fn is_script(file: &str) -> bool {
    let ending = || file.rsplit_once('.').map(|(_, ending)| ending);
    is_generated(file)
        || ending().is_some_and(|ending| ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known)))
}

/// Whether a file is Python's: `orders.py`, `<string>`, `<frozen runpy>`.
pub(crate) fn is_python(file: &str) -> bool {
    is_generated(file) || [".py", ".pyx", ".pyw"].iter().any(|ending| file.ends_with(ending))
}

/// Whether a text can only be the place of code that does not come from a file: `<frozen runpy>`, but not `<int>`, with which
/// names of C++ may end.
pub(super) fn is_known_place(text: &str) -> bool {
    let is_made = ["<frozen ", "<internal:"].iter().any(|start| text.starts_with(start));
    is_made || ["<string>", "<stdin>", "<console>", "<built-in>", "<cfunc>"].contains(&text)
}

/// Whether code does not come from a file: `<string>`.
fn is_generated(file: &str) -> bool {
    file.len() > 2 && file.starts_with('<') && file.ends_with('>')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_told_by_their_endings() {
        let files = ["a.py", "/srv/a b.rb", "C:\\x\\A.PY", "<frozen runpy>", "a.rs", "py", "<>", "", "x.c"];
        assert_eq!(files.map(is_script), [true, true, true, true, false, false, false, false, false]);
        assert_eq!(["a.py", "<string>", "a.rb"].map(is_python), [true, true, false]);
    }
}
