//! Takes names apart: the library, the type or the prefix that a function belongs to.

/// The library and the function of a name such as `libc.so.6.clone3`, as async-profiler writes it.
pub(crate) fn split_library(name: &str) -> Option<(&str, &str)> {
    let end = name.find(".so.").map(|at| at + ".so.".len()).filter(|_| name.starts_with("lib"))?;
    let version = name[end..].find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(0);
    let function = &name[end + version..];
    (!function.is_empty()).then(|| (name[..end + version].trim_end_matches('.'), function))
}

/// The type of a method: `com.shop.Orders` of `com.shop.Orders.place`, `a::B<c::D>` of `a::B<c::D>::e`; otherwise the
/// name itself.
pub(crate) fn type_of(function: &str) -> &str {
    // A function within a function of Python belongs to the outer one.
    if let Some((outer, _)) = function.split_once(".<locals>") {
        return outer;
    }
    // The classes that Java makes for lambdas belong to the class around them.
    if let Some((class, _)) = function.split_once("$$Lambda") {
        return class;
    }
    let mut depth = 0_usize;
    for (at, byte) in function.bytes().enumerate().rev() {
        match byte {
            b')' | b']' | b'>' | b'}' => depth += 1,
            b'(' | b'[' | b'<' | b'{' => depth = depth.saturating_sub(1),
            b'.' | b':' | b'/' if depth == 0 && at > 0 => return function[..at].trim_end_matches(':'),
            _ => {}
        }
    }
    function
}

/// The part of a name before its first separator: `ssl` of `ssl_read`; the name itself if it has none.
pub(crate) fn prefix(function: &str) -> &str {
    let inner = function.trim_start_matches('_');
    let skipped = function.len() - inner.len();
    let end = [inner.find("::"), inner.find(['.', '/', '_'])].into_iter().flatten().min();
    match end {
        Some(at) if at > 0 => &function[skipped..skipped + at],
        _ => function,
    }
}
