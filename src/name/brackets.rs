//! Splits Rust and C++ names into parts, with brackets matched in one pass.
//!
//! `std::vector<int, std::allocator<int> >::push_back(int const&)` has three parts; a `::` inside angle
//! brackets is not a separator. Nesting is counted, without recursion.

/// Operators whose name contains a bracket; longer ones first.
const OPERATORS: [&str; 11] = ["()", "[]", "<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->"];

/// Splits a name at each `::` outside brackets. Inside brackets that are kept, as in `<alloc::vec::Vec<T> as
/// core::iter::Extend<T>>`, paths are shortened to their last part: `<Vec as Extend>`. Generic arguments and
/// parameters are kept only if `arguments` is true.
pub(super) fn segments(name: &str, arguments: bool) -> Vec<String> {
    let mut scan =
        Scan { name, at: 0, arguments, depth: 0, closed: true, part: String::new(), parts: Vec::new() };
    // `std::pair<A, B> std::make_pair<A, B>(A, B)`: only the names of template functions include the return type.
    let return_type_before = name.rfind(">(").unwrap_or(0);
    while scan.at < name.len() {
        if scan.rest().starts_with(' ') && scan.depth == 0 && scan.at < return_type_before {
            scan.drop_return_type();
        } else {
            scan.step();
        }
    }
    scan.finish()
}

/// Whether a byte can be part of an identifier; all non-ASCII bytes can.
pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'~' | 0x80..)
}

struct Scan<'a> {
    name: &'a str,
    at: usize,
    arguments: bool,
    /// The number of open brackets that are kept.
    depth: usize,
    /// False once an unclosed bracket has been found; the rest is then kept unchanged.
    closed: bool,
    part: String,
    parts: Vec<String>,
}

impl<'a> Scan<'a> {
    fn rest(&self) -> &'a str {
        &self.name[self.at..]
    }

    fn previous(&self) -> u8 {
        self.at.checked_sub(1).map_or(b' ', |i| self.name.as_bytes()[i])
    }

    fn step(&mut self) {
        let rest = self.rest();
        if let Some(length) = operator(rest).filter(|_| !is_word(self.previous())) {
            self.keep(length);
        } else if rest.starts_with("->") {
            self.keep(2);
        } else if rest.starts_with("(anonymous namespace)::") {
            self.at += "(anonymous namespace)::".len();
        } else if rest.starts_with("::") {
            self.separator();
        } else if let Some(length) = self.argument_list() {
            self.arguments_end(length);
        } else {
            match rest.as_bytes()[0] {
                b'<' | b'(' | b'[' | b'{' if self.closed => self.depth += 1,
                b'>' | b')' | b']' | b'}' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
            self.keep(rest.chars().next().map_or(1, char::len_utf8));
        }
    }

    fn keep(&mut self, length: usize) {
        let end = self.at + length;
        self.part.push_str(&self.name[self.at..end]);
        self.at = end;
    }

    fn separator(&mut self) {
        self.at += 2;
        if self.depth == 0 {
            self.parts.push(std::mem::take(&mut self.part));
            return;
        }
        let path = self.part.bytes().rev().take_while(|&b| is_word(b)).count();
        if path > 0 {
            self.part.truncate(self.part.len() - path);
        } else {
            self.part.push_str("::");
        }
    }

    /// The length of the generic arguments or parameters that start here, including the brackets, if they are to be
    /// dropped or belong to the previous part.
    fn argument_list(&mut self) -> Option<usize> {
        let rest = self.rest();
        let before = self.previous();
        let after_operator = operator_ends(&self.part);
        let is_list = match rest.as_bytes()[0] {
            b'<' if before == b':' => !rest.starts_with("<impl ") && !rest.starts_with("<lambda"),
            b'<' => is_word(before) || after_operator,
            b'(' => is_word(before) || matches!(before, b'>' | b']' | b'!') || after_operator,
            _ => false,
        };
        if !is_list || !self.closed || (self.arguments && self.depth > 0) {
            return None;
        }
        let length = matching(rest);
        self.closed = length.is_some();
        length
    }

    /// Drops an argument list, or appends it to the name that it belongs to, even if that is already complete
    /// (`drop_in_place::<String>`).
    fn arguments_end(&mut self, length: usize) {
        if self.part.is_empty()
            && let Some(part) = self.parts.pop()
        {
            self.part = part;
        }
        if self.arguments {
            self.depth += 1;
            self.keep(1);
        } else {
            self.at += length;
        }
    }

    fn drop_return_type(&mut self) {
        self.at += 1;
        // In `operator bool` and `operator new`, the space is part of the name.
        if self.part.ends_with("operator") {
            self.part.push(' ');
        } else {
            self.parts.clear();
            self.part.clear();
        }
    }

    fn finish(mut self) -> Vec<String> {
        self.parts.push(self.part);
        if !self.arguments {
            self.parts.iter_mut().for_each(drop_qualifiers);
        }
        self.parts.retain(|part| !part.is_empty());
        self.parts
    }
}

/// Drops the ` const` after the parameters of a C++ method.
fn drop_qualifiers(part: &mut String) {
    const QUALIFIERS: [&str; 5] = [" const", " volatile", " &&", " &", " const&"];
    while let Some(qualifier) = QUALIFIERS.iter().find(|q| part.ends_with(**q)) {
        part.truncate(part.len() - qualifier.len());
    }
}

/// The length of an operator's name at the start (`operator<<`), including a space that separates it from template
/// arguments (`operator< <int>`).
fn operator(rest: &str) -> Option<usize> {
    let symbol = rest.strip_prefix("operator")?;
    let length = match OPERATORS.iter().find(|op| symbol.starts_with(**op)) {
        Some(op) => op.len(),
        None if symbol.starts_with(['<', '>']) => 1,
        None => return None,
    };
    let blank = usize::from(symbol[length..].starts_with(" <"));
    Some("operator".len() + length + blank)
}

/// Whether a text ends with an operator's name, so that an argument list may follow.
fn operator_ends(part: &str) -> bool {
    let part = part.strip_suffix(' ').unwrap_or(part);
    if part.as_bytes().last().is_none_or(|&last| is_word(last)) {
        return false;
    }
    let symbols = OPERATORS.iter().chain(&["<", ">"]);
    symbols.filter_map(|symbol| part.strip_suffix(*symbol)).any(|before| before.ends_with("operator"))
}

/// The length of the bracketed text at the start, including both brackets.
fn matching(rest: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(&byte) = rest.as_bytes().get(at) {
        if byte == b'-' && rest.as_bytes().get(at + 1) == Some(&b'>') {
            at += 1;
        } else if byte == b'o'
            && let Some(length) = operator(&rest[at..])
        {
            at += length - 1;
        } else {
            match byte {
                b'<' | b'(' | b'[' | b'{' => depth += 1,
                b'>' | b')' | b']' | b'}' => depth -= 1,
                _ => {}
            }
        }
        at += 1;
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn parts_without_arguments() {
        for (name, want) in [
            ("std::vector<int, std::allocator<int> >::push_back(int const&)", "std|vector|push_back"),
            ("<alloc::vec::Vec<T> as core::iter::Extend<T>>::extend", "<Vec as Extend>|extend"),
            ("<<T as a::B>::C as d::E<F>>::g", "<<T as B>::C as E>|g"),
            ("core::ptr::drop_in_place::<alloc::string::String>", "core|ptr|drop_in_place"),
            ("hashbrown::map::<impl hashbrown::map::HashMap<K,V>>::get", "hashbrown|map|<impl HashMap>|get"),
            (
                "core::array::<impl core::default::Default for [T; 8]>::default",
                "core|array|<impl Default for [T; 8]>|default",
            ),
            ("llvm::(anonymous namespace)::Foo::run(llvm::Function&)", "llvm|Foo|run"),
            ("a::operator<< <int>(std::ostream&, int)", "a|operator<< "),
            ("a::B::operator<(a::B const&) const", "a|B|operator<"),
            (
                "a::B::operator()(int)::{lambda(int)#1}::operator()(int) const",
                "a|B|operator()|{lambda#1}|operator()",
            ),
            ("a::operator->() const&", "a|operator->"),
            ("std::pair<A, B> std::make_pair<A, B>(A&&, B&&)", "std|make_pair"),
            ("Foo::operator std::vector<int>()", "Foo|operator std|vector"),
            ("operator new(unsigned long)", "operator new"),
            ("f<fn(A) -> B>::g", "f|g"),
            ("a::{{closure}}", "a|{{closure}}"),
            ("f(int::g", "f(int|g"),
        ] {
            assert_eq!(segments(name, false).join("|"), want, "{name}");
        }
    }

    #[test]
    fn parts_with_arguments() {
        for (name, want) in [
            ("core::ptr::drop_in_place::<alloc::string::String>", "core|ptr|drop_in_place<String>"),
            (
                "std::vector<int, std::allocator<int> >::push_back(int const&) const",
                "std|vector<int, allocator<int> >|push_back(int const&) const",
            ),
        ] {
            assert_eq!(segments(name, true).join("|"), want, "{name}");
        }
    }

    #[test]
    fn unclosed_brackets_take_linear_time() {
        let name = "f<".repeat(200_000);
        assert_eq!(segments(&name, false), [name]);
    }

    proptest! {
        #[test]
        fn any_name_can_be_split(name in "([a-c]|::|<|>|\\(|\\)|\\[|->| |é|operator|operator<|, ){0,30}", arguments: bool) {
            segments(&name, arguments);
        }
    }
}
