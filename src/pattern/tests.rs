use super::*;
use proptest::prelude::*;

const DECODE: FrameNames<'_> = FrameNames {
    function: "encoding/gob.(*Decoder).Decode",
    short: "gob.(*Decoder).Decode",
    file: "encoding/gob/decoder.go",
    mapping: "/bin/server",
    package: "encoding/gob",
};

#[test]
fn matching() {
    for (text, fixed, want) in [
        ("Decode", false, true),
        ("decode$", false, false),
        (r"\.Decode$", false, true),
        ("^gob", false, true),
        ("^encoding", false, true),
        ("server$", false, true),
        ("function:server", false, false),
        ("file:decoder", false, true),
        ("file:Decode", false, false),
        ("mapping:^/bin/", false, true),
        ("package:^encoding/gob$", false, true),
        ("package:Decode", false, false),
        ("gob.(*Decoder).Decode", false, true),
        ("gob…Decode", false, true),
        ("gob.(*…).Decode", false, true),
        ("function:gob.(*Dec…", false, true),
        ("Dec.de", true, false),
        ("gob.(*Decoder)", true, true),
        ("gob…Decode", true, false),
        ("file::open", false, false),
        ("file:///srv/decoder.go", false, false),
        ("file:/*decoder", false, true),
        ("@idle", false, false),
        ("exact:encoding/gob.(*Decoder).Decode", false, true),
        ("exact:gob.(*Decoder).Decode", false, false),
        ("exact:encoding/gob.(*Decoder).Dec…", false, false),
        ("exact:encoding/gob.(*Decoder).Decode", true, false),
    ] {
        let (pattern, _) = Pattern::parse(text, fixed).unwrap();
        assert_eq!(pattern.matches(DECODE), want, "{text} fixed: {fixed}");
    }
}

#[test]
fn a_pasted_name_is_found_literally() {
    let names = FrameNames {
        short: "gpq.(*GPQ[…]).DeQueue",
        function: "x/gpq.(*GPQ[go.shape.int]).DeQueue",
        ..FrameNames::default()
    };
    let pasted = "gpq.(*GPQ[…]).DeQueue";
    let (pattern, note) = Pattern::parse(pasted, false).unwrap();
    assert!(pattern.matches(names) && note.is_some());
    // Valid as a regular expression, where `[…]` is one of two characters.
    let names = FrameNames { function: "gpq.NewGPQ[go.shape.int].func1", ..FrameNames::default() };
    let (pattern, note) = Pattern::parse("gpq.NewGPQ[…].func1", false).unwrap();
    assert!(!pattern.matches(names) && note.is_none());
    assert!(Pattern::literal_of("gpq.NewGPQ[…].func1").unwrap().matches(names));
}

#[test]
fn unknown_names_match_nothing() {
    let nameless = FrameNames::default();
    assert!(Pattern::parse("function:^$", false).unwrap().0.matches(nameless));
    for text in ["file:^", "mapping:.*", "package:"] {
        assert!(!Pattern::parse(text, false).is_ok_and(|(pattern, _)| pattern.matches(nameless)));
    }
}

#[test]
fn refusals() {
    for text in ["", "file:", "function:", "exact:"] {
        assert!(matches!(Pattern::parse(text, false), Err(PatternError::Empty { .. })), "{text}");
    }
    let error = Pattern::parse("((a{999}){999}){999}", false).unwrap_err();
    assert!(error.to_string().ends_with("is too large as a regular expression"), "{error}");
    let (_, note) = Pattern::parse("a(b", false).unwrap();
    assert_eq!(
        note.unwrap(),
        "`a(b` is not a valid regular expression (unclosed group at character 2); matching it literally"
    );
}

#[test]
fn lists_are_alternatives() {
    let (patterns, notes) = Patterns::parse(&["nothing", "gob.(*"], false).unwrap();
    assert!(patterns.matches(DECODE));
    assert_eq!(notes.len(), 1);
    assert_eq!(patterns.iter().map(Pattern::text).collect::<Vec<_>>(), ["nothing", "gob.(*"]);
    assert!(Patterns::default().is_empty());
    assert!(!Patterns::default().matches(DECODE));
}

proptest! {
    #[test]
    fn an_exact_pattern_matches_its_name_and_nothing_else(name in "\\PC{0,8}|:{0,3}/{0,3}a?", other in "\\PC{1,8}") {
        let (pattern, note) = Pattern::parse(&exactly(&name), false).unwrap();
        prop_assert_eq!(note, None);
        let matches = |function: &str| pattern.matches(FrameNames { function, ..FrameNames::default() });
        let longer = format!("{other}{name}");
        prop_assert_eq!([matches(&name), matches(&longer)], [true, false]);
    }

    #[test]
    fn a_name_finds_itself(name in "\\PC{1,20}") {
        let (pattern, _) = Pattern::parse(&name, true).unwrap();
        let names = FrameNames { function: &name, ..FrameNames::default() };
        prop_assert!(pattern.matches(names));
        if let Ok(literal) = Pattern::literal_of(&name) {
            let body = literal.body().to_owned();
            let all = FrameNames { function: &body, short: "", file: &body, mapping: &body, package: &body };
            prop_assert!(literal.matches(all));
        }
    }
}
