use super::*;

/// A bundle by esbuild 0.28.2 (`--bundle --minify`), and its map, shortened to the first function and the start of a class.
const BUNDLE: &str = "function u(n){let t=1;return t}var l=n=>u(n.length*2),o=class{add(t){}};\n";

/// Columns and originals as the package `source-map` gives them for a map of [`BUNDLE`].
fn bundle() -> SourceMap {
    // Generated column, source line, source column, name.
    let segments: [(i64, i64, i64, i64); 9] = [
        (0, 7, 7, -1),
        (9, 7, 16, 0),
        (11, 7, 27, 1),
        (14, 8, 2, -1),
        (31, 15, 7, -1),
        (35, 15, 13, 2),
        (37, 15, 32, 3),
        (54, 19, 13, 4),
        (62, 22, 2, -1),
    ];
    let mut state = [0_i64; 4];
    let mut mappings = Vec::new();
    for (column, line, place, name) in segments {
        let mut text =
            encoded(column - state[0]) + "A" + &encoded(line - state[1]) + &encoded(place - state[2]);
        (state[0], state[1], state[2]) = (column, line, place);
        if name >= 0 {
            text += &encoded(name - state[3]);
            state[3] = name;
        }
        mappings.push(text);
    }
    let names = r#"["burnCycles","units","computeDiscount","items","PriceTable"]"#;
    let sources = r#"["src/pricing.ts"]"#;
    let text =
        format!(r#"{{"version":3,"sources":{sources},"names":{names},"mappings":"{}"}}"#, mappings.join(","));
    SourceMap::parse(text.as_bytes()).unwrap()
}

/// A number in base 64 VLQ.
fn encoded(number: i64) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut rest = number.unsigned_abs() << 1 | u64::from(number < 0);
    let mut text = String::new();
    loop {
        let digit = rest & 31;
        rest >>= 5;
        text.push(char::from(DIGITS[(digit | if rest > 0 { 32 } else { 0 }) as usize]));
        if rest == 0 {
            return text;
        }
    }
}

fn at(line: u32, column: u32) -> Position {
    Position { line, column }
}

#[test]
fn a_function_has_the_name_of_its_token_not_of_its_parameter() {
    let (map, script) = (bundle(), Script::parse(BUNDLE.as_bytes()));
    for script in [None, Some(&script)] {
        let name = |column: u32, name: &str| {
            let found = map.function(at(0, column), name, script).unwrap();
            (found.name, found.start)
        };
        // `(` of `u(n)`, and `n` of `l=n=>`, which is a parameter called `items`.
        assert_eq!(name(10, "u"), (Some("burnCycles".into()), at(7, 16)));
        assert_eq!(name(37, "l"), (Some("computeDiscount".into()), at(15, 13)));
        // A method keeps its name, which no minifier may change.
        assert_eq!(name(65, "add"), (None, at(22, 2)));
    }
    assert_eq!(map.function(at(1, 0), "u", None), None);
}

#[test]
fn without_names_the_source_tells_them() {
    for (source, column, expected) in [
        ("export async function burn<T>(x: T) {", 0, Some("burn")),
        ("export async function burn(x) {", 26, None),
        ("const price: Rule = async (item) => {", 26, Some("price")),
        ("const price = (item) => {", 6, Some("price")),
        ("  total: function (rate) {", 9, Some("total")),
        ("  static async *pages(rate) {", 2, Some("pages")),
        ("  get size() {", 2, Some("size")),
        ("  items.map((item) => item.price)", 12, None),
        ("  return items.map(x => x)", 19, None),
        ("  if (a) {", 2, None),
        ("  #secret(rate) {", 2, Some("secret")),
    ] {
        assert_eq!(original_name::name_at(source, at(0, column)).as_deref(), expected, "{source} {column}");
    }
    let class = "export class Basket {\n  private rows = [];\n  constructor(size: number) {\n";
    assert_eq!(original_name::name_at(class, at(2, 2)).as_deref(), Some("Basket"));
}

#[test]
fn a_line_of_several_lines_of_the_source_is_none_of_them() {
    let text = r#"{"version":3,"sources":["a.ts"],"names":[],"mappings":"AAAA,IACA;AAEA,IAAA;;AAAA"}"#;
    let map = SourceMap::parse(text.as_bytes()).unwrap();
    let start = at(0, 0);
    assert_eq!(map.original_line(0, start, 0), None);
    assert_eq!(map.original_line(0, at(0, 4), 0), Some(1));
    assert_eq!(map.original_line(1, start, 0), Some(3));
    assert_eq!(map.original_line(2, start, 0), None);
    assert_eq!(map.original_line(1, start, 1), None);
}

#[test]
fn the_parts_of_an_index_start_at_their_offsets() {
    let part = |source: &str, name: &str| {
        format!(r#"{{"version":3,"sources":["{source}"],"names":["{name}"],"mappings":"AAAAA;AACAA"}}"#)
    };
    let text = format!(
        r#"{{"version":3,"file":"all.js","sections":[{{"offset":{{"line":0,"column":0}},"map":{}}},{{"offset":{{"line":1,"column":5}},"map":{}}}]}}"#,
        part("a.ts", "first"),
        part("b.ts", "second")
    );
    let map = SourceMap::parse(text.as_bytes()).unwrap();
    let found: Vec<(u32, u32, u32, u32, &str)> = map
        .segments
        .iter()
        .map(|segment| {
            let name = &*map.names[segment.name.unwrap() as usize];
            (segment.line, segment.column, segment.source.unwrap(), segment.original_line, name)
        })
        .collect();
    let expected =
        [(0, 0, 0, 0, "first"), (1, 0, 0, 1, "first"), (1, 5, 1, 0, "second"), (2, 0, 1, 1, "second")];
    assert_eq!(found, expected);
    assert_eq!(map.source(1).unwrap().name.as_deref(), Some("b.ts"));
    assert_eq!(map.file, "all.js");
}

#[test]
fn what_is_no_map_is_refused_with_a_reason() {
    let parse = |text: &str| SourceMap::parse(text.as_bytes()).unwrap_err();
    assert!(parse("<html>").starts_with("not a source map: "));
    assert_eq!(parse("{}"), "not a source map: it has no version");
    assert_eq!(parse(r#"{"version":4}"#), "its version is not 3");
    let broken = |mappings: &str| {
        parse(&format!(r#"{{"version":3,"sources":["a"],"names":[],"mappings":"{mappings}"}}"#))
    };
    assert_eq!(broken("AAAA;AA"), "its mappings of line 2 are broken at `AA`");
    assert_eq!(broken("AAAAAA"), "its mappings of line 1 are broken at `AAAAAA`");
    assert_eq!(broken("!"), "its mappings of line 1 are broken at `!`");
    // Before the first column, and a number of more than 32 bits.
    assert_eq!(broken("DAAA"), "its mappings of line 1 are broken at `DAAA`");
    assert_eq!(broken("ggggggggggggA"), "its mappings of line 1 are broken at `ggggggggggggA`");
    let nested =
        r#"{"version":3,"sections":[{"offset":{"line":0,"column":0},"map":{"version":3,"sections":[]}}]}"#;
    assert_eq!(parse(nested), "a section has sections itself");
    let deep = format!(r#"{{"version":3,"x":{}"#, "[".repeat(100_000));
    assert!(parse(&deep).starts_with("not a source map: "));
}

#[test]
fn sources_and_names_that_do_not_exist_are_unknown() {
    // Nine sources after the first, and eight before that.
    let text = r#")]}'
{"version":3,"sourceRoot":"/srv","sources":[null,"a.ts"],"sourcesContent":["x"],"names":[7],"mappings":"AAAAA,ISAA,IRAA"}"#;
    let map = SourceMap::parse(text.as_bytes()).unwrap();
    let sources: Vec<Option<u32>> = [0, 4, 8].map(|column| map.at(at(0, column)).unwrap().source).to_vec();
    assert_eq!(sources, [Some(0), None, Some(1)]);
    assert_eq!(map.name(&map.segments[0]), None);
    assert_eq!(map.sources[0].name, None);
    assert_eq!(map.sources[0].text.as_deref(), Some("x"));
    assert_eq!(map.sources[1].name.as_deref(), Some("/srv/a.ts"));
}

#[test]
fn a_script_names_its_map_and_has_its_functions_at_places() {
    let script = Script::parse(
        "\u{feff}var é='\u{1f600}',f=async function(a){},g=b=>b;class K{constructor(){}get size(){}*walk(){}}\n\
         e.prototype.render=function(x){}\n//# sourceMappingURL=old.map\n//# sourceMappingURL=app.js.map\n//# debugId=1-2\n"
            .as_bytes(),
    );
    assert_eq!((&*script.map_url, &*script.debug_id), ("app.js.map", "1-2"));
    let line = "var é='\u{1f600}',f=async function(a){},g=b=>b;class K{constructor(){}get size(){}*walk(){}}";
    let column = |text: &str| line[..line.find(text).unwrap()].encode_utf16().count() as u32;
    for (place, name, expected) in [
        ("(a)", "f", Some(true)),
        ("b=>b", "g", Some(true)),
        ("(a)", "g", Some(false)),
        ("(){}get", "K", Some(true)),
        ("class K", "K", Some(true)),
        ("(){}*walk", "get size", Some(true)),
        ("(){}}", "walk", Some(true)),
        ("(a)", "(anonymous)", None),
        ("(a)", "", None),
    ] {
        assert_eq!(script.has_function(0, column(place), name), expected, "{place} {name}");
    }
    assert_eq!(script.has_function(1, 27, "e.render"), Some(true));
    assert_eq!(script.has_function(9, 27, "render"), Some(false));
    assert_eq!(script.line_length(1), Some(32));
    assert_eq!(script.line_length(5), Some(0));
    assert_eq!(script.line_length(6), None);
}
