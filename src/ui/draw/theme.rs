//! What the terminal can show: colours and characters.

use ratatui::style::{Color, Modifier, Style};

/// How many colours there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Palette {
    /// None: bold, underlined and reversed text only.
    None,
    /// The sixteen that every terminal has, in shades that users choose.
    Sixteen,
    /// 256 fixed colours.
    Indexed,
    /// All colours.
    Full,
}

/// How the screen looks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Theme {
    /// The colours.
    pub(crate) palette: Palette,
    /// Whether there are other characters than those of ASCII.
    pub(crate) unicode: bool,
}

/// Backgrounds for groups of own code where there are sixteen colours. Black text is readable on all of them.
const SIXTEEN: [Color; 6] =
    [Color::LightBlue, Color::Yellow, Color::Cyan, Color::LightMagenta, Color::Green, Color::LightRed];

/// What the colour of a block stands for, where there are few colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// A group of own code.
    Own(usize),
    /// A library or the runtime.
    Library,
    /// A change.
    Change(i64),
}

impl Theme {
    /// What text is shortened with.
    pub(super) fn ellipsis(self) -> &'static str {
        if self.unicode { "…" } else { ".." }
    }

    /// A number whose minus sign is as wide as a plus, as in the tables that commands print.
    pub(super) fn signed(self, number: String) -> String {
        match number.strip_prefix('-') {
            Some(rest) if self.unicode => format!("−{rest}"),
            _ => number,
        }
    }

    /// Text that only explains.
    pub(super) fn faint(self) -> Style {
        if self.palette == Palette::None { Style::new() } else { Style::new().add_modifier(Modifier::DIM) }
    }

    /// Titles.
    pub(super) fn bold() -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// The selected line.
    pub(super) fn selected() -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    /// What was searched for.
    pub(super) fn found() -> Style {
        Theme::bold().add_modifier(Modifier::UNDERLINED)
    }

    /// Functions that do most of their work themselves, and keys.
    pub(super) fn strong(self) -> Style {
        self.colored(Color::Magenta)
    }

    /// Costs more than before.
    pub(super) fn grew(self) -> Style {
        self.colored(Color::Red)
    }

    /// Costs less than before.
    pub(super) fn shrank(self) -> Style {
        self.colored(Color::Blue)
    }

    fn colored(self, color: Color) -> Style {
        if self.palette == Palette::None { Style::new() } else { Style::new().fg(color) }
    }

    /// A block of a flame graph.
    pub(super) fn block(self, [red, green, blue]: [u8; 3], meaning: Meaning) -> Style {
        let background = match self.palette {
            Palette::None => return Style::new(),
            Palette::Sixteen => match meaning {
                Meaning::Own(group) => SIXTEEN[group % SIXTEEN.len()],
                Meaning::Change(1..) => Color::LightRed,
                Meaning::Change(..0) => Color::LightBlue,
                Meaning::Library | Meaning::Change(0) => Color::Gray,
            },
            Palette::Indexed => Color::Indexed(indexed([red, green, blue])),
            Palette::Full => Color::Rgb(red, green, blue),
        };
        let text = if self.palette == Palette::Indexed { Color::Indexed(16) } else { Color::Black };
        Style::new().fg(text).bg(background)
    }
}

/// The nearest of the 216 colours of the cube, or of the 24 greys.
fn indexed(color: [u8; 3]) -> u8 {
    const LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];
    let distance =
        |a: [u8; 3]| -> u32 { a.iter().zip(color).map(|(a, b)| u32::from(a.abs_diff(b)).pow(2)).sum() };
    let nearest = |part: u8| (0..6).min_by_key(|&level| LEVELS[level].abs_diff(part)).unwrap_or(0);
    let places = color.map(nearest);
    let of_cube = places.map(|place| LEVELS[place]);
    let grey =
        ((color.iter().map(|&part| u32::from(part)).sum::<u32>() / 3).saturating_sub(3) / 10).min(23) as u8;
    if distance([8 + 10 * grey; 3]) < distance(of_cube) {
        return 232 + grey;
    }
    16 + 36 * places[0] as u8 + 6 * places[1] as u8 + places[2] as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_have_a_nearest_one() {
        assert_eq!(indexed([255, 0, 0]), 196);
        assert_eq!(indexed([0, 0, 0]), 16);
        assert_eq!(indexed([128, 128, 128]), 244);
        assert_eq!(indexed([215, 175, 135]), 180);
    }
}
