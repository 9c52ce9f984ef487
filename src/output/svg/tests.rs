use std::collections::BTreeMap;

use quick_xml::Reader;
use quick_xml::events::Event;

use super::*;
use crate::output::color::ColorBy;
use crate::output::svg::options::printable;
use crate::profile::{LabelSetId, LoadOptions, Profile, ProfileBuilder, from_notation};
use crate::report::{Base, Combined, Direction, Recording, Rescaling, RowVerdict, Selection};
use crate::view::{self, BaseSide, FlameOptions, Scope};

fn draw_with(profile: &Profile, flame: &FlameOptions, options: &SvgOptions) -> String {
    let mut out = Vec::new();
    svg(&view::flame(profile, flame), options, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn draw(profile: &Profile) -> String {
    draw_with(
        profile,
        &FlameOptions { title: "title".into(), ..FlameOptions::new(Scope::metric(0)) },
        &SvgOptions::default(),
    )
}

/// A block of a picture.
#[derive(Debug)]
struct Block {
    /// The left end and the width in percent of the root, rounded.
    left: i64,
    width: i64,
    /// The distance from the top of the picture in pixels.
    top: i64,
    fill: String,
}

/// Parses a picture: the blocks by their titles, and all texts but labels.
fn read(picture: &str) -> (BTreeMap<String, Block>, Vec<String>) {
    let mut reader = Reader::from_str(picture);
    reader.config_mut().check_end_names = true;
    let (mut blocks, mut texts) = (BTreeMap::new(), Vec::new());
    let (mut open, mut content) = (Vec::new(), String::new());
    let mut row = (0, String::new());
    let mut block: Option<Block> = None;
    loop {
        match reader.read_event().unwrap() {
            Event::Eof => return (blocks, texts),
            Event::Start(start) => {
                let get = |key| start.try_get_attribute(key).unwrap().map(|found| found.value.to_string());
                content.clear();
                match start.name().as_ref() {
                    "g" if get("transform").is_some() => {
                        let transform = get("transform").unwrap();
                        let top = transform.strip_prefix("translate(10,").unwrap().strip_suffix(')').unwrap();
                        row = (top.parse().unwrap(), get("fill").unwrap());
                    }
                    "rect" => {
                        let number = |key| get(key).unwrap().parse::<f64>().unwrap();
                        let drawn = number("width");
                        let pixels = if drawn < 2.0 { drawn * 1.5 } else { drawn + 1.0 };
                        let percent = |pixels: f64| (pixels / 11.8).round() as i64;
                        let fill = get("fill").unwrap_or_else(|| row.1.clone());
                        let (left, width) = (percent(number("x")), percent(pixels));
                        block = Some(Block { left, width, top: row.0, fill });
                    }
                    _ => {}
                }
                open.push(start.name().as_ref().to_owned());
            }
            Event::Text(text) => content.push_str(&text),
            Event::GeneralRef(entity) => {
                let text = format!("&{};", &*entity);
                content.push_str(&quick_xml::escape::unescape(&text).unwrap());
            }
            Event::End(_) => match open.pop().unwrap().as_str() {
                "title" if block.is_some() => drop(blocks.insert(joined(&content), block.take().unwrap())),
                "text" => texts.push(content.clone()),
                _ => {}
            },
            _ => {}
        }
    }
}

/// The lines of a tooltip in one line: `main (m.go, total 4 80.0%)`.
fn joined(title: &str) -> String {
    let (name, details) = title.split_once('\n').unwrap();
    format!("{name} ({})", details.replace('\n', ", "))
}

#[test]
fn blocks_have_names_widths_and_numbers() {
    let (blocks, texts) = read(&draw(&from_notation("main@m.go:1;work@w.go:7 3\nmain@m.go:2 1\n 1")));
    let rows: Vec<String> =
        blocks.iter().map(|(title, block)| format!("{}+{} {title}", block.left, block.width)).collect();
    let expected = [
        "0+100 all — 5 (100.0%) (samples, samples without a stack 1 20.0%)",
        "0+80 main (m.go, total 4 80.0%, self 1 20.0%)",
        "0+60 work (w.go, total 3 60.0%, self 3 60.0%)",
    ];
    assert_eq!(rows, expected);
    assert!(texts.contains(&"samples 5 · a wide function was often seen running".to_string()), "{texts:?}");
    assert!(
        texts.iter().any(|text| text
            == "empty space to the right of the blocks on the root: samples without a stack 1 20.0%")
    );
}

#[test]
fn any_name_gives_valid_xml_and_its_own_block() {
    let long = "x".repeat(10_000);
    let names = [
        "a<b>&c\"d'e",
        "]]>",
        "</title><script>alert(1)</script>",
        "-- comment --",
        "semi;colon;",
        "worker 3 100",
        "# hash",
        " ",
        "",
        "n7",
        "x",
        "all",
        "tab\tnew\nline\u{0}\u{1b}[31m",
        "\u{fffe}\u{ffff}",
        "f(int, char)",
        "关数 ключ",
        "100",
        "3.5",
        &long,
    ];
    let mut builder = ProfileBuilder::new("test", LoadOptions::default());
    builder.metric("samples", "count");
    for name in names {
        let frame = builder.named_frame(name);
        let stack = builder.stack(&[frame, frame]);
        builder.sample(stack, LabelSetId::default(), None, &[10]);
    }
    let profile = builder.finish().unwrap();
    let (blocks, _) = read(&draw(&profile));
    for name in names {
        let shown = if name.is_empty() { "\"\"".to_string() } else { printable(name) };
        let title = format!("{shown} (total 10 5.3%, self 10 5.3%)");
        assert!(blocks.contains_key(&title), "{title:.200}");
    }
    assert_eq!(draw(&profile), draw(&profile));
}

#[test]
fn a_hostile_title_and_metric_stay_text() {
    let mut profile = from_notation("main 1");
    profile.meta.metrics[0].name = "</text>--><script>".into();
    let flame = FlameOptions { title: "--><script>&]]>\u{7}".into(), ..FlameOptions::new(Scope::metric(0)) };
    let (_, texts) = read(&draw_with(&profile, &flame, &SvgOptions::default()));
    assert!(texts.contains(&"--><script>&]]>\\u{7}".to_string()), "{texts:?}");
    assert!(texts.iter().any(|text| text.starts_with("</text>--><script> 1")));
}

#[test]
fn colours_follow_color_by() {
    let profile = from_notation("x/b.main;x/b.work;y/d.read 9\nx/b.main;y/d.write 1\nz/e.other 3");
    let flame = FlameOptions::new(Scope::metric(0));
    let fills = |color_by| -> Vec<String> {
        let options = SvgOptions { color_by, ..SvgOptions::default() };
        read(&draw_with(&profile, &flame, &options)).0.into_values().skip(1).map(|block| block.fill).collect()
    };
    let [main, work, read, write, other] = &fills(ColorBy::Package)[..] else { panic!() };
    assert!(main == work && read == write && main != read && other != main && other != read);
    let [main, work, read, write, _] = &fills(ColorBy::SelfValue)[..] else { panic!() };
    assert!(main == work && read != write);
}

#[test]
fn empty_and_huge_profiles_can_be_drawn() {
    let (blocks, _) = read(&draw(&from_notation("main 0")));
    assert_eq!(blocks.keys().collect::<Vec<_>>(), ["all — 0 (samples)"]);

    let huge = format!("a {}\nb {}", i64::MAX / 2, i64::MAX / 2);
    let (blocks, _) = read(&draw(&from_notation(&huge)));
    assert_eq!(blocks.len(), 3);
    assert_eq!(
        blocks.values().map(|block| (block.left, block.width)).collect::<Vec<_>>(),
        [(0, 50), (0, 100), (50, 50)]
    );

    let deep = format!("{} 1", vec!["f"; 50_000].join(";"));
    let (blocks, texts) = read(&draw(&from_notation(&deep)));
    assert_eq!(blocks.len(), 2);
    assert!(texts.iter().any(|text| text.contains("not drawn")));
}

#[test]
fn negative_values_have_a_width_and_keep_their_sign() {
    let (blocks, _) = read(&draw(&from_notation("a 3\nb -1")));
    assert_eq!(blocks["b (total -1 -25.0%, self -1 -25.0%)"].width, 25);
    // They add up to 2, which is half of their size.
    assert!(blocks.keys().any(|title| title.starts_with("all — 2 (50.0%)")), "{blocks:?}");
}

#[test]
fn a_bottom_up_graph_shows_self() {
    let mut options = FlameOptions::new(Scope::metric(0));
    options.direction = Direction::BottomUp;
    let picture = draw_with(
        &from_notation("main;work 3"),
        &options,
        &SvgOptions { icicle: true, ..SvgOptions::default() },
    );
    let (blocks, texts) = read(&picture);
    assert!(blocks.contains_key("work (self 3 100.0%)"), "{blocks:?}");
    assert!(blocks.contains_key("main (self of the function at the root 3 100.0%)"), "{blocks:?}");
    let subtitle = "samples 3 · bottom-up: each function with its callers; wide = a large self value";
    assert!(texts.contains(&subtitle.to_string()), "{texts:?}");
}

#[test]
fn a_comparison_is_red_and_blue() {
    let mut options = FlameOptions::new(Scope::metric(0));
    options.scope.base = Some(BaseSide { metric: 1, ..BaseSide::default() });
    let profile = from_notation("grew 6 2\nshrank 4 8\nsame 5 5\ngone 0 3");
    let by_delta = SvgOptions { color_by: ColorBy::Delta, ..SvgOptions::default() };
    let (blocks, texts) = read(&draw_with(&profile, &options, &by_delta));
    let fill = |name| blocks.iter().find(|(title, _)| title.starts_with(name)).unwrap().1.fill.clone();
    assert_eq!((fill("grew"), fill("same")), ("#f27766".to_string(), "#ececec".to_string()));
    assert_eq!(fill("shrank"), "#6faee6");
    assert!(blocks.contains_key("grew (total 6 40.0%, self 6 40.0%, old 2, change +4)"), "{blocks:?}");
    assert!(texts.contains(&"1 removed: gone 3".to_string()), "{texts:?}");
}

#[test]
fn a_tested_comparison_colours_only_what_is_more_than_noise() {
    let mut options = FlameOptions::new(Scope::metric(0));
    options.scope.base = Some(BaseSide { metric: 1, ..BaseSide::default() });
    let profile =
        from_notation("main;grew 60 20\nmain;noise 50 40\nmain;new 9 0\nshrank 40 80\nuntested 20 10");
    let mut flame = view::flame(&profile, &options);
    flame.verdicts = [
        ("main", RowVerdict::Inherits),
        ("grew", RowVerdict::Regressed),
        ("noise", RowVerdict::Unchanged),
        ("shrank", RowVerdict::Improved),
    ]
    .map(|(name, verdict)| (name.into(), verdict))
    .to_vec();
    let mut out = Vec::new();
    let by_delta = SvgOptions { color_by: ColorBy::Delta, ..SvgOptions::default() };
    svg(&flame, &by_delta, &mut out).unwrap();
    let (blocks, texts) = read(&String::from_utf8(out).unwrap());
    let fill = |name| blocks.iter().find(|(title, _)| title.starts_with(name)).unwrap().1.fill.clone();
    let (red, blue, same) = ("#f27766", "#6faee6", "#ececec");
    assert_eq!(["grew", "new", "shrank"].map(fill), [red, red, blue]);
    assert_eq!(["noise", "untested"].map(fill), [same, same]);
    assert_eq!(fill("main"), "#efb2a9");
    assert!(texts.iter().any(|text| text == "grew in what it calls"), "{texts:?}");
}

#[test]
fn a_focus_has_callers_above_and_callees_below() {
    let profile = from_notation("main;a;x;y 3\nz;main;a;a 2\nb;a 1");
    let (patterns, _) = crate::pattern::Patterns::parse(&["^a$"], false).unwrap();
    let marks = crate::transform::Marks::new(&profile, &patterns);
    let mut options = FlameOptions { title: "title".into(), ..FlameOptions::new(Scope::metric(0)) };
    options.scope.callers = Some(crate::transform::end_before(&profile, &marks).0);
    let below = crate::transform::show_from(&profile, &marks).0;
    let picture = draw_with(&below, &options, &SvgOptions::default());
    let (blocks, _) = read(&picture);
    let titles: Vec<&str> = blocks.keys().map(String::as_str).collect();
    let expected = [
        "a (total 2 33.3%, self 2 33.3%)",
        "a (total 6 100.0%, self 1 16.7%)",
        "b (total 1 16.7%)",
        "callers above, callees below — 6 (100.0%) (samples)",
        "main (total 5 83.3%)",
        "x (total 3 50.0%)",
        "y (total 3 50.0%, self 3 50.0%)",
        "z (total 2 33.3%)",
    ];
    assert_eq!(titles, expected);
    let top = |title: &str| blocks.iter().find(|(name, _)| name.starts_with(title)).unwrap().1.top;
    let rows = ["z", "main", "b", "a (total 6", "a (total 2", "x", "y"]
        .map(|name| (top(name) - top("callers")) / 16);
    assert_eq!(rows, [-2, -1, -1, 1, 2, 2, 3]);
}

#[test]
fn the_subtitle_states_that_the_old_side_is_rescaled() {
    let mut options = FlameOptions { title: "title".into(), ..FlameOptions::new(Scope::metric(0)) };
    options.scope.base = Some(BaseSide {
        metric: 1,
        normalize: Rescaling { method: "total", ratio: 2.0, reason: None },
        about: Base {
            inputs: vec!["runs/old.pb.gz".to_string()],
            recording: Recording { duration_ns: Some(3_000_000_000), ..Recording::default() },
            ..Base::default()
        },
    });
    let (blocks, texts) = read(&draw_with(&from_notation("a 6 2\nb 4 3"), &options, &SvgOptions::default()));
    // The old values 2 and 3 are doubled.
    assert!(blocks.contains_key("a (total 6 60.0%, self 6 60.0%, old 4, change +2)"), "{blocks:?}");
    let sentence = "samples 10 · base old.pb.gz samples 5 in 3.00s · rescaled × 2.000 (total)";
    assert!(texts.iter().any(|text| text.starts_with(sentence)), "{texts:?}");
}

/// After the base, the samples of the new side looked like those of the old one.
#[test]
fn the_subtitle_names_the_samples_before_the_base() {
    let mut flame = view::flame(
        &from_notation("a 6"),
        &FlameOptions { title: "title".into(), ..FlameOptions::new(Scope::metric(0)) },
    );
    flame.header.recording = Recording { samples: Some(970), ..Recording::default() };
    flame.header.base = Some(Base { inputs: vec!["old.pb.gz".to_string()], total: 5, ..Base::default() });
    let mut out = Vec::new();
    svg(&flame, &SvgOptions::default(), &mut out).unwrap();
    let (_, texts) = read(&String::from_utf8(out).unwrap());
    let sentence = "samples 6 · 970 samples · base old.pb.gz samples 5";
    assert!(texts.iter().any(|text| text.starts_with(sentence)), "{texts:?}");
}

#[test]
fn the_subtitle_states_averaging_and_the_rest_of_the_headline_becomes_notes() {
    let mut flame = view::flame(
        &from_notation("a 6"),
        &FlameOptions { title: "Shop".into(), ..FlameOptions::new(Scope::metric(0)) },
    );
    flame.header.inputs = vec!["1.pb.gz".into(), "2.pb.gz".into()];
    let selection = Selection { used: 2, found: 2, seed: None };
    flame.header.combined = Some(Combined { method: "mean", selection, heaviest_percent: None, skipped: 0 });
    flame.header.filters = vec![format!("--show-stacks {}", "x".repeat(80))];
    let mut out = Vec::new();
    svg(&flame, &SvgOptions::default(), &mut out).unwrap();
    let (_, texts) = read(&String::from_utf8(out).unwrap());
    assert!(texts.contains(&"samples 6 · 2 profiles, averaged".to_string()), "{texts:?}");
    for note in [&*flame.header.filters[0], "shown 6, 100.0% of all"] {
        assert!(texts.iter().any(|text| text == note), "{note}: {texts:?}");
    }
}
