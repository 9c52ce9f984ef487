//! Screens and keys.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Color;

use crate::profile::from_notation;
use crate::report::Report;
use crate::ui::answer::{Answer, Line};
use crate::ui::draw::flame::blocks;
use crate::ui::draw::{Palette, Theme, draw, text_of};
use crate::ui::keys::{KEYS, Key};
use crate::ui::offers::offers;
use crate::ui::question::{Choice, Grammar, OptionHelp, Question, View};
use crate::ui::search::Search;
use crate::ui::state::State;
use crate::ui::update::{Effect, press};
use crate::view::{FlameOptions, Scope, SiblingOrder, TopOptions, TreeOptions, flame, top, tree};

/// `parse` costs 6 of 10 by itself; `read` is called by it and by `main`.
const PICTURE: &str = "main;parse 6\nmain;parse;read 2\nmain;read 1\nmain;Render 1";

/// A screen of 40 columns and 12 lines, six of which are rows.
fn screen(view: View) -> (State, Answer) {
    screen_of(PICTURE, view)
}

fn screen_of(picture: &str, view: View) -> (State, Answer) {
    let profile = from_notation(picture);
    let scope = Scope::metric(0);
    let report: Report = match view {
        View::Top => top(&profile, &TopOptions::new(scope)).into(),
        View::Tree => tree(&profile, &TreeOptions::new(scope)).into(),
        _ => {
            let order = SiblingOrder::Weight;
            flame(&profile, &FlameOptions { order, ..FlameOptions::new(scope) }).into()
        }
    };
    let question = Question { view, choices: Vec::new(), subject: None, inputs: vec!["cpu".to_string()] };
    let answer = Answer::new(question.clone(), report, Vec::new(), true);
    let mut state = State::new(question, Arc::default(), (40, 12));
    state.show(&answer, None);
    (state, answer)
}

fn names(state: &State, answer: &Answer) -> Vec<String> {
    state.lines.iter().map(|line| answer.text_of(*line)).collect()
}

/// The note on the watch stays for long, so it must not cover a tab.
#[test]
fn the_note_is_above_the_tabs_where_it_does_not_fit_next_to_them() {
    let (mut state, answer) = screen(View::Top);
    let note = " every 1 s, w stops ";
    let theme = Theme { palette: Palette::None, unicode: true };
    for (width, line) in [(90, 0), (140, 1)] {
        state.size = (width, 12);
        let area = Rect::new(0, 0, width, 12);
        let mut cells = Buffer::empty(area);
        draw(&state, &answer, theme, note, area, &mut cells);
        let text = text_of(&cells);
        assert!(text.lines().nth(1).unwrap().contains("9 report"), "{text}");
        assert!(text.lines().nth(line).unwrap().trim_end().ends_with(note.trim_end()), "{text}");
    }
}

fn type_text(state: &mut State, answer: &Answer, text: &str) {
    for c in text.chars() {
        press(state, answer, Key::Char(c));
    }
}

#[test]
fn a_click_selects_and_a_second_one_shows_the_callers() {
    let (mut state, answer) = screen(View::Top);
    assert_eq!(names(&state, &answer), ["parse", "read", "Render", "main"]);
    press(&mut state, &answer, Key::Click(20, 4));
    assert_eq!(state.selected(&answer), Some("read"));
    for nothing in [0, 7, 8, 11, 500] {
        press(&mut state, &answer, Key::Click(20, nothing));
        assert_eq!((state.selected(&answer), state.question.view), (Some("read"), View::Top), "{nothing}");
    }
    press(&mut state, &answer, Key::Click(20, 4));
    assert_eq!((state.question.view, state.question.subject.as_deref()), (View::Focus, Some("read")));
    assert_eq!(state.command_line(), "prof focus read cpu");
    assert!(state.back());
    assert_eq!(state.question.view, View::Top);
}

#[test]
fn a_tree_is_opened_row_by_row() {
    let (mut state, answer) = screen(View::Tree);
    // All rows have at least a twentieth, so all are open.
    assert_eq!(names(&state, &answer), ["main", "parse", "read", "Render", "read"]);
    press(&mut state, &answer, Key::Left);
    assert_eq!(names(&state, &answer), ["main"]);
    press(&mut state, &answer, Key::Char('H'));
    assert_eq!(state.selected(&answer), Some("parse"), "read has only 2 of its 8");
    press(&mut state, &answer, Key::Left);
    press(&mut state, &answer, Key::Char('j'));
    assert_eq!(state.selected(&answer), Some("Render"));
    press(&mut state, &answer, Key::Left);
    assert_eq!(state.selected(&answer), Some("main"), "its caller");
}

#[test]
fn a_search_opens_rows_and_respects_capitals() {
    let (mut state, answer) = screen(View::Tree);
    press(&mut state, &answer, Key::Left);
    type_text(&mut state, &answer, "/rea");
    // Of the two, that below parse is heavier.
    assert_eq!((state.line(), state.selected(&answer)), (Some(Line::Tree(2)), Some("read")));
    press(&mut state, &answer, Key::Enter);
    press(&mut state, &answer, Key::Char('n'));
    assert_eq!(state.line(), Some(Line::Tree(4)));
    press(&mut state, &answer, Key::Char('N'));
    assert_eq!(state.line(), Some(Line::Tree(2)));
    let finds = |text: &str, name: &str| Search::new(text).unwrap().finds(name);
    assert!(finds("render", "Render") && finds("R", "Render") && !finds("R", "parse") && finds("(", "f(x)"));
    // Given up, one is where one was.
    press(&mut state, &answer, Key::Char('g'));
    type_text(&mut state, &answer, "/Rend");
    assert_eq!(state.selected(&answer), Some("Render"));
    press(&mut state, &answer, Key::Esc);
    assert_eq!(state.selected(&answer), Some("main"));
}

#[test]
fn a_search_prefers_whole_names_and_heavy_ones() {
    let found = |picture: &str, view: View, text: &str| {
        let (mut state, answer) = screen_of(picture, view);
        type_text(&mut state, &answer, text);
        answer.shown(&state.selected(&answer).unwrap().into()).to_string()
    };
    let picture = "main;alloc_small 5\nmain;alloc_large 7\nmain;io.alloc 1\nmain;x;alloc_large 1";
    for view in [View::Top, View::Tree, View::Flame] {
        assert_eq!(found(picture, view, "/alloc"), "io.alloc", "a whole word");
        assert_eq!(found(picture, view, "/alloc_"), "alloc_large", "the heaviest");
    }
    assert_eq!(found("main;alloc.free 9\nmain;alloc 1", View::Tree, "/alloc"), "alloc", "the whole name");
}

#[test]
fn lines_are_filtered_while_typing() {
    let (mut state, answer) = screen(View::Top);
    type_text(&mut state, &answer, "&RE");
    assert_eq!(names(&state, &answer), Vec::<String>::new(), "no name has capitals like these");
    type_text(&mut state, &answer, "");
    press(&mut state, &answer, Key::Esc);
    assert_eq!(names(&state, &answer).len(), 4);
    type_text(&mut state, &answer, "&re");
    assert_eq!(names(&state, &answer), ["read", "Render"]);
    press(&mut state, &answer, Key::Enter);
    assert_eq!(state.message.as_deref(), Some("2 lines match re; & and Enter shows all again"));
    press(&mut state, &answer, Key::Char('j'));
    assert_eq!(state.selected(&answer), Some("Render"));
    assert_eq!(press(&mut state, &answer, Key::Esc), Some(Effect::Cancel));
    assert!(state.forget_search(&answer), "which Esc does if there is nothing to stop");
    assert_eq!(names(&state, &answer).len(), 4);
    assert_eq!(state.selected(&answer), Some("Render"), "the same line is selected");
    // In a tree, the callers of what matches stay.
    let (mut state, answer) = screen(View::Tree);
    press(&mut state, &answer, Key::Left);
    type_text(&mut state, &answer, "&read");
    assert_eq!(names(&state, &answer), ["main", "parse", "read", "read"]);
    press(&mut state, &answer, Key::Enter);
    type_text(&mut state, &answer, "&nowhere");
    press(&mut state, &answer, Key::Enter);
    assert_eq!(state.message.as_deref(), Some("nothing matches nowhere"));
    assert_eq!(names(&state, &answer)[0], "main");
}

/// A newer profile, in which rows have other numbers, is shown at the same place.
#[test]
fn a_newer_report_is_shown_at_the_same_place() {
    const NEWER: &str = "main;added 50\nmain;parse 6\nmain;parse;read 2\nmain;read 1\nmain;Render 1";
    for (view, keys) in [(View::Top, "jj"), (View::Tree, "jjj"), (View::Flame, "jjj")] {
        let (mut state, answer) = screen(view);
        type_text(&mut state, &answer, keys);
        let (line, selected) = (state.cursor.selected, state.selected(&answer).map(str::to_string));
        assert!(selected.is_some(), "{view:?}");
        let (_, newer) = screen_of(NEWER, view);
        state.refresh(&newer, &answer);
        assert_eq!(state.selected(&newer).map(str::to_string), selected, "{view:?}");
        assert!(view == View::Flame || state.cursor.selected == line + 1, "{view:?}: `added` is above");
    }
    // Rows stay closed, and blocks stay zoomed.
    let (mut state, answer) = screen(View::Tree);
    press(&mut state, &answer, Key::Char('j'));
    press(&mut state, &answer, Key::Left);
    let (_, newer) = screen_of(NEWER, View::Tree);
    state.refresh(&newer, &answer);
    assert_eq!(names(&state, &newer), ["main", "added", "parse", "Render", "read"]);
    let (mut state, answer) = screen(View::Flame);
    type_text(&mut state, &answer, "jj");
    press(&mut state, &answer, Key::Enter);
    let (_, newer) = screen_of(NEWER, View::Flame);
    state.refresh(&newer, &answer);
    let zoomed = &newer.flame().unwrap().nodes[state.cursor.zoom as usize];
    assert_eq!(&*zoomed.name, "parse");
    // What is gone leaves its caller.
    let (_, gone) = screen_of("main;other 1", View::Flame);
    state.refresh(&gone, &newer);
    assert_eq!(&*gone.flame().unwrap().nodes[state.cursor.zoom as usize].name, "main");
}

#[test]
fn keys_that_change_nothing_say_why() {
    let (mut state, answer) = screen(View::Top);
    for (key, says) in [
        (Key::Char('1'), "already"),
        (Key::Char('X'), "no filters"),
        (Key::Char('5'), ""),
        (Key::Left, "trees and flame graphs"),
        (Key::Char('H'), "trees and flame graphs"),
        (Key::Char('Z'), "Z does nothing; ? lists the keys"),
        (Key::Char('n'), "press /"),
        (Key::Char('d'), "--base OLD"),
    ] {
        let before = state.question.clone();
        press(&mut state, &answer, key);
        let message = state.message.clone().unwrap_or_default();
        assert!(message.contains(says) && message.is_empty() == says.is_empty(), "{key:?}: {message}");
        assert_eq!(state.question == before, !says.is_empty(), "{key:?}");
        while state.back() {}
    }
    let (mut state, answer) = screen(View::Flame);
    press(&mut state, &answer, Key::Char('&'));
    assert!(state.message.unwrap().contains("/ searches"));
}

#[test]
fn an_option_that_is_typed_again_is_removed() {
    let (mut state, _) = screen(View::Top);
    let fold = || vec![Choice::flag("--collapse-recursion")];
    state.choose(fold());
    assert_eq!(state.command_line(), "prof top --collapse-recursion cpu");
    state.choose(fold());
    assert_eq!(state.command_line(), "prof top cpu");
}

#[test]
fn a_long_command_is_split_between_words() {
    let (mut state, _) = screen(View::Top);
    state.choose(vec![Choice::repeated("--focus", "^encoding/json[.]Marshal$")]);
    assert_eq!(state.command_lines(), ["prof top --focus", "'^encoding/json[.]Marshal$' cpu"]);
    state.choose(vec![Choice::repeated("--focus", "x".repeat(50))]);
    assert_eq!(
        state.command_lines(),
        ["prof top --focus", "'^encoding/json[.]Marshal$' --focus", &"x".repeat(38), &"x".repeat(12), "cpu"]
    );
}

#[test]
fn blocks_are_as_wide_as_their_values() {
    let (mut state, answer) = screen(View::Flame);
    let picture = |state: &State| -> Vec<(String, usize, usize, usize)> {
        let graph = answer.flame().unwrap();
        let name = |node: u32| graph.nodes[node as usize].name.to_string();
        let blocks = blocks(graph, &state.cursor, 40);
        blocks.into_iter().map(|block| (name(block.node), block.row, block.from, block.to)).collect()
    };
    let block = |name: &str, row, from, to| (name.to_string(), row, from, to);
    // 10 in 40 columns: 8 for parse, of which 2 for read, then 1 each, by name.
    let whole = [
        block("(all)", 0, 0, 40),
        block("main", 1, 0, 40),
        block("parse", 2, 0, 32),
        block("read", 3, 0, 8),
        block("Render", 2, 32, 36),
        block("read", 2, 36, 40),
    ];
    assert_eq!(picture(&state), whole);
    type_text(&mut state, &answer, "jj");
    press(&mut state, &answer, Key::Enter);
    let zoomed = [
        block("(all)", 0, 0, 40),
        block("main", 1, 0, 40),
        block("parse", 2, 0, 40),
        block("read", 3, 0, 10),
    ];
    assert_eq!(picture(&state), zoomed);
    press(&mut state, &answer, Key::Backspace);
    assert_eq!(picture(&state), whole);
    press(&mut state, &answer, Key::Click(37, 4));
    assert_eq!(state.selected(&answer), Some("read"));
    press(&mut state, &answer, Key::Click(37, 4));
    assert_eq!(picture(&state).last(), Some(&block("read", 2, 0, 40)));
}

#[test]
fn keys_have_effects() {
    let (mut state, answer) = screen(View::Top);
    for (key, effect) in [
        (Key::Char('q'), Effect::Quit),
        (Key::Ctrl('c'), Effect::Quit),
        (Key::Ctrl('z'), Effect::Suspend),
        (Key::Ctrl('l'), Effect::Redraw),
        (Key::Char('y'), Effect::Copy("parse".to_string())),
        (Key::Char('Y'), Effect::Copy("prof top cpu".to_string())),
        (Key::Char('s'), Effect::SuggestFile),
        (Key::Char('r'), Effect::Reload),
        (Key::Char('w'), Effect::Watch),
        (Key::Esc, Effect::Cancel),
    ] {
        assert_eq!(press(&mut state, &answer, key), Some(effect), "{key:?}");
    }
    type_text(&mut state, &answer, "::--by file");
    assert_eq!(press(&mut state, &answer, Key::Enter), Some(Effect::Options(":--by file".to_string())));
    for (key, line) in [
        ('f', "prof top --focus exact:parse cpu"),
        ('x', "prof top --focus exact:parse --hide-stacks exact:parse cpu"),
        ('h', "prof top --focus exact:parse --hide-stacks exact:parse --hide-frames exact:parse cpu"),
        ('X', "prof top cpu"),
        ('p', "prof top --by package cpu"),
        ('b', "prof tree --by package --bottom-up cpu"),
        ('b', "prof tree --by package cpu"),
    ] {
        press(&mut state, &answer, Key::Char(key));
        assert_eq!(state.command_line(), line, "{key}");
    }
}

#[test]
fn without_utf8_everything_is_ascii() {
    let theme = Theme { palette: Palette::None, unicode: false };
    for view in [View::Top, View::Tree, View::Flame] {
        let (mut state, answer) = screen_of("main;関数;étude→λ 3\nmain;x 1", view);
        for key in [Key::Char('j'), Key::Char('Z'), Key::Char('?'), Key::Esc, Key::Char('/')] {
            press(&mut state, &answer, key);
            let area = Rect::new(0, 0, 40, 12);
            let mut cells = Buffer::empty(area);
            draw(&state, &answer, theme, "", area, &mut cells);
            let screen = text_of(&cells);
            assert!(screen.is_ascii(), "{view:?} {key:?}: {screen}");
            assert!(key == Key::Char('?') || screen.contains("????"), "{view:?} {key:?}: {screen}");
        }
    }
}

/// The indentation of deep rows left no room for their names on a narrow screen.
#[test]
fn names_of_deep_rows_are_seen_on_a_narrow_screen() {
    let theme = Theme { palette: Palette::None, unicode: true };
    let (mut state, answer) = screen_of(&format!("main;{}deepest 3\nmain;x 1", "f;".repeat(40)), View::Tree);
    press(&mut state, &answer, Key::Char('H'));
    let area = Rect::new(0, 0, 40, 12);
    let mut cells = Buffer::empty(area);
    draw(&state, &answer, theme, "", area, &mut cells);
    let screen = text_of(&cells);
    assert!(screen.contains("↳41   deepest"), "{screen}");
}

#[test]
fn a_flame_graph_that_is_cut_says_so_at_the_end_of_the_heaviest_path() {
    let (mut state, answer) = screen_of(&format!("main;{}end 3", "f;".repeat(2_100)), View::Flame);
    press(&mut state, &answer, Key::Char('H'));
    let said = "the flame graph ends at f, 2,000 levels deep; the call tree goes on";
    assert_eq!(state.message.as_deref(), Some(said));
}

/// A wide character has two cells; without UTF-8, each of them is one of the block.
#[test]
fn without_utf8_blocks_have_no_holes() {
    let theme = Theme { palette: Palette::Indexed, unicode: false };
    let (state, answer) = screen_of("main;関数 3\nmain;x 1", View::Flame);
    let area = Rect::new(0, 0, 40, 12);
    let mut cells = Buffer::empty(area);
    draw(&state, &answer, theme, "", area, &mut cells);
    let row = (0..area.height).find(|&y| cells[(1, y)].symbol() == "?").unwrap();
    let block: Vec<(&str, Color)> = (1..5).map(|x| (cells[(x, row)].symbol(), cells[(x, row)].bg)).collect();
    let color = block[0].1;
    assert_ne!(color, Color::Reset);
    assert_eq!(block, [("?", color); 4]);
}

#[test]
fn the_page_lists_the_keys() {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/ui.md")).unwrap();
    for (topic, keys) in KEYS {
        assert!(page.contains(&format!("### {topic}\n")), "{topic}");
        for key in *keys {
            let row = format!("| {} | {} |\n", key.keys, key.what);
            assert!(page.contains(&row), "docs/ui.md lacks {row}");
        }
    }
    let rows = page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| keys |")).count();
    assert_eq!(rows, KEYS.iter().map(|(_, keys)| keys.len()).sum::<usize>());
}

#[test]
fn tabs_and_titles_can_be_clicked() {
    let (mut state, answer) = screen(View::Top);
    // ` 1 top 2 3 4 …`: only the shown tab has its name on 40 columns.
    press(&mut state, &answer, Key::Click(7, 1));
    assert_eq!(state.question.view, View::Tree);
    press(&mut state, &answer, Key::Click(1, 1));
    assert_eq!(state.question.view, View::Top);
    press(&mut state, &answer, Key::Click(39, 1));
    assert_eq!(state.question.view, View::Top, "there is no tab");
    let (mut state, answer) = screen(View::Top);
    for (x, key) in [(20, "total"), (3, "self"), (39, "name")] {
        press(&mut state, &answer, Key::Click(x, 2));
        assert_eq!(state.command_line(), format!("prof top --sort {key} cpu"), "{x}");
    }
}

#[test]
fn the_line_under_the_mouse_is_selected_while_its_button_is_held() {
    let (mut state, answer) = screen(View::Top);
    for (y, name) in [(4, "read"), (6, "main"), (500, "main"), (0, "parse")] {
        press(&mut state, &answer, Key::Drag(30, y));
        assert_eq!(state.selected(&answer), Some(name), "{y}");
        assert_eq!(state.question.view, View::Top);
    }
    let (mut state, answer) = screen(View::Flame);
    press(&mut state, &answer, Key::Drag(37, 4));
    assert_eq!((state.selected(&answer), state.cursor.zoom), (Some("read"), 0));
}

#[test]
fn tab_leaves_out_what_cannot_be_shown() {
    let (mut state, answer) = screen(View::Flame);
    assert_eq!(state.selected(&answer), None, "no function");
    press(&mut state, &answer, Key::Tab);
    assert_eq!(state.question.view, View::Hot);
    // The screen still shows the flame graph if that failed; the next key goes on.
    assert!(state.back());
    state.show(&answer, None);
    for view in [View::Timeline, View::Labels] {
        press(&mut state, &answer, Key::Tab);
        assert_eq!(state.question.view, view);
        assert!(state.back());
        state.show(&answer, None);
    }
    press(&mut state, &answer, Key::Char('j'));
    press(&mut state, &answer, Key::Tab);
    assert_eq!(state.question.view, View::Focus);
}

#[test]
fn a_function_is_found_where_it_is_heaviest() {
    for view in [View::Tree, View::Flame] {
        let (_, before) = screen(View::Top);
        let (mut state, _) = screen(View::Top);
        press(&mut state, &before, Key::Char('j'));
        assert_eq!(state.selected(&before), Some("read"));
        let (_, answer) = screen_of("main;a;read 1\nmain;parse 6\nmain;parse;read 2\nmain;read 1", view);
        state.show(&answer, Some(&before));
        let parent = match (&*answer.report, state.line()) {
            (Report::Flame(flame), _) => {
                let parent = flame.nodes[state.cursor.node as usize].parent;
                flame.nodes[parent as usize].name.to_string()
            }
            (Report::Tree(tree), Some(Line::Tree(row))) => {
                tree.rows[tree.rows[row as usize].parent.unwrap() as usize].name.to_string()
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(parent, "parse", "{view:?}");
    }
}

#[test]
fn options_are_completed() {
    let help = |value: &str, values: &[&str]| OptionHelp {
        value: value.to_string(),
        values: values.iter().map(|value| (value.to_string(), String::new())).collect(),
        is_for_screens: true,
        ..OptionHelp::default()
    };
    let options = [
        ("--focus", help("RE", &[])),
        ("--fold", help("", &[])),
        ("--names", help("HOW", &["short", "full"])),
        ("--show-stacks", help("RE", &[])),
        ("--width", OptionHelp { is_for_screens: false, ..help("N", &[]) }),
    ];
    let options = options.into_iter().map(|(name, help)| (name.to_string(), help)).collect();
    let grammar = Grammar(BTreeMap::from([(View::Top, options)]));
    let (mut state, answer) = screen(View::Top);
    state.grammar = Arc::new(grammar);
    let offered = |typed: &str| -> Vec<String> {
        offers(&state.grammar, View::Top, &answer, typed).into_iter().map(|offer| offer.shown).collect()
    };
    assert_eq!(offered(""), ["--focus RE", "--fold", "--names HOW", "--show-stacks RE"], "not --width");
    assert_eq!(offered("--fo"), ["--focus RE", "--fold"]);
    assert_eq!(offered("stack"), ["--show-stacks RE"], "a part of its name");
    assert_eq!(offered("--names "), ["short", "full"]);
    assert_eq!(offered("--names=f"), ["full"]);
    assert_eq!(offered("--fold --focus re"), ["read", "Render"], "functions on the screen");
    assert_eq!(offered("--focus 'no such"), Vec::<String>::new());
    let mut typed = |keys: &str| {
        type_text(&mut state, &answer, ":");
        type_text(&mut state, &answer, keys);
        press(&mut state, &answer, Key::Tab);
        let text = state.typing.clone().unwrap().text;
        press(&mut state, &answer, Key::Esc);
        text
    };
    assert_eq!(typed("--f"), "--fo");
    assert_eq!(typed("--foc"), "--focus ");
    assert_eq!(typed("--focus pa"), "--focus parse ");
    assert_eq!(typed("--names=s"), "--names=short ");
    assert_eq!(typed("--none"), "--none");
}

#[test]
fn what_was_typed_comes_back() {
    let (mut state, answer) = screen(View::Top);
    for text in ["--by file", "--by line", "--by file"] {
        type_text(&mut state, &answer, &format!(":{text}"));
        press(&mut state, &answer, Key::Enter);
    }
    type_text(&mut state, &answer, "/read");
    press(&mut state, &answer, Key::Enter);
    type_text(&mut state, &answer, ":");
    let mut text_after = |key: Key| {
        press(&mut state, &answer, key);
        state.typing.as_ref().unwrap().text.clone()
    };
    let texts = [Key::Up, Key::Up, Key::Up, Key::Down, Key::Down].map(&mut text_after);
    assert_eq!(texts, ["--by file", "--by line", "--by line", "--by file", ""]);
}
