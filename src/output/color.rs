//! Colours for pictures. They are light enough for black text, and a name has the same colour in every run.

use std::fmt;

use crate::report::{ColorGroup, Tier};

/// What the colour of a block stands for. The command line offers these values, with these descriptions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum ColorBy {
    /// The package, or else the binary or the folder
    #[default]
    Package,
    /// The source file
    File,
    /// The function's self value, as a share
    #[cfg_attr(feature = "cli", value(name = "self"))]
    SelfValue,
    /// The function's total, as a share
    Total,
    /// The change between two profiles
    Delta,
}

/// A colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Color {
    /// Red.
    pub(super) red: u8,
    /// Green.
    pub(super) green: u8,
    /// Blue.
    pub(super) blue: u8,
}

impl fmt::Display for Color {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:02x}{:02x}{:02x}", self.red, self.green, self.blue)
    }
}

/// Highlighted functions.
pub(super) const MATCHED: Color = Color::new(0xff_80ff);
/// Functions without a known package or file.
pub(super) const GREY: Color = Color::new(0xd8_d8d8);

/// No colour.
pub(super) const WHITE: Color = Color::new(0xff_ffff);

/// A share of 0%.
pub(super) const PALE: Color = Color::new(0xfd_f3d7);
/// A share of 100%.
pub(super) const HOT: Color = Color::new(0xf4_7c5c);
/// No change.
pub(super) const SAME: Color = Color::new(0xec_ecec);
// A red and a blue of this lightness can be distinguished by colour-blind readers.
pub(super) const GREW: Color = Color::new(0xf2_7766);
pub(super) const SHRANK: Color = Color::new(0x6f_aee6);

/// The colour of a name. Its hash selects a hue and one of a few shades.
pub(super) fn of_name(name: &str) -> Color {
    if name.is_empty() {
        return GREY;
    }
    let hash = hash(name);
    let hue = (hash % 360) as f64;
    let saturation = [0.50, 0.62, 0.74][(hash / 360 % 3) as usize];
    let lightness = [0.75, 0.79, 0.83][(hash / 1080 % 3) as usize];
    hsl(hue, saturation, lightness)
}

/// The colours of one theme.
pub(super) struct Theme {
    /// The background.
    pub(super) paper: Color,
    /// The largest groups of own code, in this order.
    pub(super) own: [Color; 8],
    /// All groups of own code after the sixteenth.
    pub(super) rest: Color,
    /// The standard library.
    pub(super) library: Color,
    /// The runtime.
    pub(super) runtime: Color,
}

// The hues are those with the largest smallest distance (CIEDE2000) over normal sight, protanopia, deuteranopia and
// tritanopia, under the condition that text on them is readable. Neighbours in the list differ in lightness too.

/// Colours on white, for dark text.
pub(super) const LIGHT: Theme = Theme {
    paper: Color::new(0xff_ffff),
    own: [
        Color::new(0xa0_a9fe),
        Color::new(0xf2_bf9a),
        Color::new(0x3b_c3ae),
        Color::new(0xf4_97ae),
        Color::new(0xf6_e186),
        Color::new(0xe5_c5fb),
        Color::new(0xab_ba5c),
        Color::new(0xb7_f3d1),
    ],
    rest: Color::new(0xdc_d5c8),
    library: Color::new(0xde_e3ea),
    runtime: Color::new(0xc5_ced9),
};

/// Colours on a dark background, for light text.
pub(super) const DARK: Theme = Theme {
    paper: Color::new(0x14_171b),
    own: [
        Color::new(0x57_68b2),
        Color::new(0x7e_4009),
        Color::new(0x1a_7c79),
        Color::new(0x9b_4d65),
        Color::new(0x8c_691d),
        Color::new(0x59_4771),
        Color::new(0x6c_744c),
        Color::new(0x1d_5e3f),
    ],
    rest: Color::new(0x4a_443b),
    library: Color::new(0x2c_3138),
    runtime: Color::new(0x3b_434d),
};

impl Theme {
    /// The colour of the group with this rank: one of eight, then the same half as strong, then a common one.
    pub(super) fn of_rank(&self, rank: usize) -> Color {
        match rank {
            0..8 => self.own[rank],
            8..16 => mix(self.own[rank - 8], self.paper, 0.5),
            _ => self.rest,
        }
    }

    /// The colour of a group of functions.
    pub(super) fn of_group(&self, rank: usize, group: &ColorGroup) -> Color {
        match group.tier {
            Tier::Own => self.of_rank(rank),
            Tier::Library => self.library,
            Tier::Runtime => self.runtime,
        }
    }
}

impl Color {
    /// A colour written as `0xrr_ggbb`.
    pub(super) const fn new(code: u32) -> Self {
        Color { red: (code >> 16) as u8, green: (code >> 8) as u8, blue: code as u8 }
    }
}

/// The colour of a share of `whole`, from pale to red. The square root makes small shares distinguishable.
pub(super) fn of_share(value: i64, whole: i64) -> Color {
    if whole == 0 {
        return PALE;
    }
    mix(PALE, HOT, (value as f64 / whole as f64).abs().sqrt())
}

/// The colour of a change: red for growth, blue for shrinkage, strongest at `largest`.
pub(super) fn of_delta(delta: i64, largest: i64) -> Color {
    if largest == 0 || delta == 0 {
        return SAME;
    }
    let depth = (delta as f64 / largest as f64).abs().sqrt();
    mix(SAME, if delta > 0 { GREW } else { SHRANK }, depth)
}

/// FNV-1a with a final mixing step, so that names with equal endings get different hues.
fn hash(name: &str) -> u64 {
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let hash = (hash ^ (hash >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    hash ^ (hash >> 29)
}

pub(super) fn mix(from: Color, to: Color, part: f64) -> Color {
    let part = part.clamp(0.0, 1.0);
    let channel =
        |from: u8, to: u8| (f64::from(from) + (f64::from(to) - f64::from(from)) * part).round() as u8;
    Color {
        red: channel(from.red, to.red),
        green: channel(from.green, to.green),
        blue: channel(from.blue, to.blue),
    }
}

fn hsl(hue: f64, saturation: f64, lightness: f64) -> Color {
    let reach = saturation * lightness.min(1.0 - lightness);
    let channel = |offset: f64| {
        let at = (offset + hue / 30.0) % 12.0;
        let value = lightness - reach * (at - 3.0).min(9.0 - at).clamp(-1.0, 1.0);
        (value * 255.0).round() as u8
    };
    Color { red: channel(0.0), green: channel(8.0), blue: channel(4.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance as defined in WCAG 2.
    fn luminance(color: Color) -> f64 {
        let linear = |channel: u8| {
            let value = f64::from(channel) / 255.0;
            if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * linear(color.red) + 0.7152 * linear(color.green) + 0.0722 * linear(color.blue)
    }

    #[test]
    fn black_text_is_readable_on_every_colour() {
        let names = (0..2000).map(|number| of_name(&format!("package{number}")));
        for color in names.chain([GREY, MATCHED, PALE, HOT, SAME, GREW, SHRANK]) {
            let contrast = (luminance(color) + 0.05) / 0.05;
            assert!(contrast >= 7.0, "{color} has {contrast}");
        }
    }

    #[test]
    fn a_name_keeps_its_colour() {
        assert_eq!(of_name("runtime"), of_name("runtime"));
        assert_ne!(of_name("runtime"), of_name("runtime/internal"));
        assert_eq!((of_delta(0, 5), of_delta(5, 5), of_delta(-5, 5)), (SAME, GREW, SHRANK));
    }
}
