//! Tests of the cursor.

use proptest::prelude::*;
use serde_json::{Map, Number, Value};

use super::*;

/// Reads any value recursively, to compare the cursor with `serde_json`.
fn value(json: &mut Json) -> Result<Value, ParseError> {
    Ok(match json.kind()? {
        Kind::Object => {
            json.object()?;
            let mut map = Map::new();
            while let Some(key) = json.key()? {
                map.insert(key.into_owned(), value(json)?);
            }
            Value::Object(map)
        }
        Kind::Array => Value::Array(json.list(value)?),
        Kind::String => Value::String(json.string()?.into_owned()),
        Kind::Number => Number::from_f64(json.number()?).map_or(Value::Null, Value::Number),
        Kind::Bool => Value::Bool(json.is_true()?),
        Kind::Null => json.skip().map(|()| Value::Null)?,
    })
}

fn read(text: &str) -> Result<Value, ParseError> {
    let mut json = Json::new("test", text.as_bytes());
    let value = value(&mut json)?;
    json.end()?;
    Ok(value)
}

/// The same value with all numbers as `f64`, which is how the test reads them.
fn floats(value: Value) -> Value {
    match value {
        Value::Number(number) => {
            number.as_f64().and_then(Number::from_f64).map_or(Value::Null, Value::Number)
        }
        Value::Array(list) => Value::Array(list.into_iter().map(floats).collect()),
        Value::Object(map) => {
            Value::Object(map.into_iter().map(|(key, value)| (key, floats(value))).collect())
        }
        other => other,
    }
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<f64>().prop_map(|number| Number::from_f64(number).map_or(Value::Null, Value::Number)),
        any::<i32>().prop_map(|number| Value::Number(Number::from_f64(f64::from(number)).unwrap())),
        any::<String>().prop_map(Value::String),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        let object = proptest::collection::btree_map(any::<String>(), inner.clone(), 0..6);
        prop_oneof![
            proptest::collection::vec(inner, 0..6).prop_map(Value::Array),
            object.prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn values_are_read_as_serde_json_wrote_them(written in any_value(), pretty in any::<bool>()) {
        let text = if pretty { serde_json::to_string_pretty(&written) } else { serde_json::to_string(&written) };
        let text = text.unwrap();
        prop_assert_eq!(&read(&text).unwrap(), &written);
        let mut json = Json::new("test", text.as_bytes());
        json.skip().unwrap();
        prop_assert!(json.is_at_end());
    }

    #[test]
    fn any_text_is_read_as_serde_json_reads_it_or_rejected(text in "[\\[\\]{}:,\"\\\\ueE0-9a.+ntrf-]{0,24}") {
        let expected = serde_json::from_str::<Value>(&text);
        let skipped = Json::new("test", text.as_bytes()).skip();
        prop_assert!(skipped.is_ok() || expected.is_err());
        if let (Ok(read), Ok(expected)) = (read(&text), expected) {
            prop_assert_eq!(read, floats(expected));
        }
    }
}

#[test]
fn malformed_text_is_rejected_with_its_position() {
    let refusals = [
        ("", "unexpected end of JSON; the file is truncated (byte 0)"),
        ("[1, 2", "unexpected end of JSON; the file is truncated (byte 5)"),
        ("{\"a\" 1}", "expected `:` (byte 5)"),
        ("[1 2]", "expected `,` or a closing bracket (byte 3)"),
        ("[1,]", "expected a JSON value (byte 3)"),
        ("{\"a\": \"\\x\"}", "invalid escape in a string (byte 7)"),
        ("\"abc\\", "unexpected end of JSON; the file is truncated (byte 5)"),
        ("[1-2]", "expected `,` or a closing bracket (byte 2)"),
        ("[1.2.3]", "not a number (byte 1)"),
        ("1 2", "unexpected data after the end of the JSON (byte 2)"),
        ("nul", "expected a JSON value (byte 0)"),
    ];
    for (text, message) in refusals {
        assert_eq!(read(text).unwrap_err().to_string(), format!("test: {message}"), "{text}");
    }
}

#[test]
fn escapes_in_strings_are_resolved() {
    let string = |text: &str| Json::new("test", text.as_bytes()).string().unwrap().into_owned();
    assert_eq!(string(r#""a\"\\\/\n\u00e9\ud83d\ude00""#), "a\"\\/\né😀");
    assert_eq!(string(r#""\ud83d \ude00""#), "\u{fffd} \u{fffd}");
    assert_eq!(Json::new("test", b"\"a\xff\"").string().unwrap(), "a\u{fffd}");
}

#[test]
fn nesting_may_be_deep() {
    let text = "[".repeat(1_000_000) + &"]".repeat(1_000_000);
    let mut json = Json::new("test", text.as_bytes());
    json.skip().unwrap();
    json.end().unwrap();
}

#[test]
fn integers_that_fit_are_exact() {
    let integer = |text: &str| Json::new("test", text.as_bytes()).integer();
    assert_eq!(integer("9223372036854775807"), Ok(i64::MAX));
    assert_eq!(integer("-12345678901234567"), Ok(-12_345_678_901_234_567));
    assert_eq!(integer("1.5e3"), Ok(1500));
    assert_eq!(integer("2.5"), Ok(3));
    assert!(integer("1e30").is_err());
}

#[test]
fn numbers_of_any_length_are_read() {
    let digits = "1234567890123456789012345";
    for length in 1..=digits.len() {
        for after in ["", " ", ",", "]", "-", "/", ":", "\u{b1}", "e", "123456789x"] {
            // Eight bytes at a time need eight bytes; so what follows is short or long.
            for end in ["", ", 1, 2, 3, 4"] {
                let text = format!("{}{after}{end}", &digits[..length]);
                let (value, count) = digits_of(text.as_bytes(), 0);
                let expected: String = text.chars().take_while(char::is_ascii_digit).collect();
                assert_eq!(count, expected.len(), "{text}");
                let wrapped = expected
                    .bytes()
                    .fold(0_i64, |value, digit| value.wrapping_mul(10).wrapping_add((digit - b'0').into()));
                assert_eq!(value, wrapped, "{text}");
            }
        }
    }
    assert_eq!(digits_of(b"", 7), (7, 0));
    assert_eq!(digits_of(b"x2345678", 7), (7, 0));
}

#[test]
fn strings_of_any_length_end_at_their_quote() {
    for length in 0..80 {
        let plain = "\u{7f}!#[]~".chars().cycle().take(length).collect::<String>();
        for (inner, read) in [("", ""), ("\\\"", "\""), ("\\\\", "\\"), ("\u{a2}\u{dc}", "\u{a2}\u{dc}")] {
            for after in ["", ": \"x\", 1, 2"] {
                let text = format!("\"{plain}{inner}\"{after}");
                let mut json = Json::new("test", text.as_bytes());
                assert_eq!(json.string().unwrap(), format!("{plain}{read}"), "{text}");
                assert_eq!(json.at, text.len() - after.len(), "{text}");
            }
            let cut = format!("\"{plain}{inner}");
            let error = Json::new("test", cut.as_bytes()).string().unwrap_err();
            assert!(error.to_string().contains("truncated"), "{cut}");
        }
    }
}
