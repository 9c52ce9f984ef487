//! Java class names that are the same in every run of a program.
//!
//! The virtual machine generates classes at run time and numbers them in the order in which they are
//! needed: the class of a lambda is `Main$$Lambda$14/0x0000000800c03000` in one run and
//! `Main$$Lambda$9/0x0000000801005c28` in the next. A comparison of two runs could not match such names, so
//! the numbers are removed.

use std::borrow::Cow;

/// Prefixes of meaningless numbers, and what replaces prefix and number.
const NUMBERED: [(&str, &str); 5] = [
    ("$$Lambda$", "$$Lambda"),
    ("GeneratedMethodAccessor", "GeneratedMethodAccessor"),
    ("GeneratedConstructorAccessor", "GeneratedConstructorAccessor"),
    ("GeneratedSerializationConstructorAccessor", "GeneratedSerializationConstructorAccessor"),
    ("$Proxy", "$Proxy"),
];

/// The kernel's library of every process, whose name could be that of a class.
const VDSO: &str = "vdso";

/// The name of a class as in Java source: `java.util.HashMap` for `java/util/HashMap`.
pub(super) fn class_name(name: &str) -> Cow<'_, str> {
    // Java 11 to 17 write both: `Main$$Lambda$14+0x0000000800c03000/1023487453`.
    let name = without_number(without_address(without_address(name)));
    if name.contains('/') { Cow::Owned(name.replace('/', ".")) } else { name }
}

/// The source file of a class, named as the Java compiler requires: `java/util/HashMap.java` for
/// `java/util/HashMap$Node`. Recordings do not name files. Empty for what is not a class, such as the
/// libraries of native frames, and for classes generated at run time.
pub(super) fn source_file(class: &str) -> String {
    let class = without_address(class);
    let (folder, simple) =
        class.rsplit_once('/').map_or((None, class), |(folder, simple)| (Some(folder), simple));
    let outer = simple.split('$').next().unwrap_or_default();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let is_class = outer.chars().all(is_word) && outer.starts_with(|c: char| c.is_alphabetic() || c == '_');
    match folder {
        None if outer == VDSO => String::new(),
        _ if !is_class || NUMBERED.iter().any(|(made, _)| outer.starts_with(made)) => String::new(),
        Some(folder) => format!("{folder}/{outer}.java"),
        None => format!("{outer}.java"),
    }
}

/// Removes the suffix of a hidden class, which is its address or another number.
fn without_address(name: &str) -> &str {
    let Some(at) = name.rfind(['/', '.', '+']) else { return name };
    let suffix = &name[at + 1..];
    let is_address =
        suffix.strip_prefix("0x").is_some_and(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit()));
    // The "classes" of native frames are libraries, such as `libc.so.6`.
    let is_number =
        name.as_bytes()[at] == b'/' && !suffix.is_empty() && suffix.bytes().all(|byte| byte.is_ascii_digit());
    if is_address || is_number { &name[..at] } else { name }
}

fn without_number(name: &str) -> Cow<'_, str> {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let found = NUMBERED.iter().find(|(before, _)| stem.len() < name.len() && stem.ends_with(before));
    found.map_or(Cow::Borrowed(name), |(before, kept)| {
        let start = &stem[..stem.len() - before.len()];
        Cow::Owned(format!("{start}{kept}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_source_file_is_named_after_the_outermost_class() {
        for (class, file) in [
            ("java/util/HashMap", "java/util/HashMap.java"),
            ("java/util/HashMap$Node", "java/util/HashMap.java"),
            ("a/Main$$Lambda$14/0x0000000800c03000", "a/Main.java"),
            ("Stock$Clerk", "Stock.java"),
            ("Stock", "Stock.java"),
            ("libc.so.6", ""),
            ("libjvm.so", ""),
            ("vdso", ""),
            ("/usr/lib/libzip.so", ""),
            ("com/sun/proxy/$Proxy7", ""),
            ("jdk/internal/reflect/GeneratedMethodAccessor123", ""),
            ("", ""),
        ] {
            assert_eq!(source_file(class), file, "{class}");
        }
    }

    #[test]
    fn names_have_dots_and_no_run_specific_numbers() {
        for (written, read) in [
            ("java/util/HashMap", "java.util.HashMap"),
            ("[Ljava/lang/Object2", "[Ljava.lang.Object2"),
            ("a/Main$1", "a.Main$1"),
            ("a/Main$$Lambda$14/0x0000000800c03000", "a.Main$$Lambda"),
            ("a/Main$$Lambda$14.0x0000000800c03000", "a.Main$$Lambda"),
            ("a/Main$$Lambda$14/1023487453", "a.Main$$Lambda"),
            ("a/Main$$Lambda$14+0x0000000800c03000/1023487453", "a.Main$$Lambda"),
            ("a/Main$$Lambda/0x00007f3c01002000", "a.Main$$Lambda"),
            ("java/lang/invoke/LambdaForm$DMH+0x00000008013f2400", "java.lang.invoke.LambdaForm$DMH"),
            (
                "jdk/internal/reflect/GeneratedMethodAccessor123",
                "jdk.internal.reflect.GeneratedMethodAccessor",
            ),
            ("com/sun/proxy/$Proxy7", "com.sun.proxy.$Proxy"),
            ("$Proxy", "$Proxy"),
            ("libc.so.6", "libc.so.6"),
            ("", ""),
        ] {
            assert_eq!(class_name(written), read);
        }
    }
}
