//! Colours for pictures. They are light enough for black text, and groups have them in the order of their areas.

use std::fmt;

use crate::report::{ColorGroup, Tier};
#[cfg(feature = "ui")]
use crate::report::{Flame, FlameNode};

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

/// Highlighted functions, in both themes.
pub(super) const MATCHED: Color = Color::new(0xff_d83d);
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
    own: colors([0xa0_a9fe, 0xf2_bf9a, 0x3b_c3ae, 0xf4_97ae, 0xf6_e186, 0xe5_c5fb, 0xab_ba5c, 0xb7_f3d1]),
    rest: Color::new(0xdc_d5c8),
    library: Color::new(0xde_e3ea),
    runtime: Color::new(0xc5_ced9),
};

/// Colours on a dark background, for light text.
pub(super) const DARK: Theme = Theme {
    paper: Color::new(0x14_171b),
    own: colors([0x57_68b2, 0x7e_4009, 0x1a_7c79, 0x9b_4d65, 0x8c_691d, 0x59_4771, 0x6c_744c, 0x1d_5e3f]),
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

    /// The colours of all ranks; further ranks have the last one.
    pub(super) fn of_ranks(&self) -> impl Iterator<Item = Color> {
        (0..=2 * self.own.len()).map(|rank| self.of_rank(rank))
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

/// The colours of the nodes of a flame graph, on which black text is readable, as red, green and blue: by package, or by the
/// change of the total in a comparison.
#[cfg(feature = "ui")]
pub(crate) fn block_colors(flame: &Flame) -> Vec<[u8; 3]> {
    let change = |node: &FlameNode| Some(node.total.saturating_sub(node.old?.total));
    let largest = flame.nodes.iter().filter_map(change).map(i64::saturating_abs).max().unwrap_or(0);
    let of_group = |node: &FlameNode| {
        let rank = node.group as usize;
        flame.groups.get(rank).map_or(GREY, |group| LIGHT.of_group(rank, group))
    };
    let color =
        |node: &FlameNode| change(node).map_or_else(|| of_group(node), |change| of_delta(change, largest));
    flame.nodes.iter().map(color).map(|Color { red, green, blue }| [red, green, blue]).collect()
}

/// Colours written as `0xrr_ggbb`.
const fn colors(codes: [u32; 8]) -> [Color; 8] {
    let mut colors = [WHITE; 8];
    let mut index = 0;
    while index < codes.len() {
        colors[index] = Color::new(codes[index]);
        index += 1;
    }
    colors
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
        let groups = (0..20).map(|rank| LIGHT.of_rank(rank)).chain([LIGHT.library, LIGHT.runtime]);
        for color in groups.chain([GREY, MATCHED, PALE, HOT, SAME, GREW, SHRANK]) {
            let contrast = (luminance(color) + 0.05) / 0.05;
            assert!(contrast >= 7.0, "{color} has {contrast}");
        }
    }

    #[test]
    fn the_largest_change_has_the_strongest_colour() {
        assert_eq!((of_delta(0, 5), of_delta(5, 5), of_delta(-5, 5)), (SAME, GREW, SHRANK));
    }

    /// How an eye sees colours: all of them, or without one kind of cones (Machado, Oliveira and Fernandes 2009, severity 1).
    const SIGHTS: [(&str, [[f64; 3]; 3]); 4] = [
        ("normal", [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
        (
            "protanopia",
            [
                [0.152_286, 1.052_583, -0.204_868],
                [0.114_503, 0.786_281, 0.099_216],
                [-0.003_882, -0.048_116, 1.051_998],
            ],
        ),
        (
            "deuteranopia",
            [
                [0.367_322, 0.860_646, -0.227_968],
                [0.280_085, 0.672_501, 0.047_413],
                [-0.011_820, 0.042_940, 0.968_881],
            ],
        ),
        (
            "tritanopia",
            [
                [1.255_528, -0.076_749, -0.178_779],
                [-0.078_411, 0.930_809, 0.147_602],
                [0.004_733, 0.691_367, 0.303_900],
            ],
        ),
    ];

    fn linear(color: Color) -> [f64; 3] {
        [color.red, color.green, color.blue].map(|channel| {
            let value = f64::from(channel) / 255.0;
            if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        })
    }

    fn product(matrix: [[f64; 3]; 3], vector: [f64; 3]) -> [f64; 3] {
        matrix.map(|row| row.iter().zip(vector).map(|(a, b)| a * b).sum())
    }

    /// A colour in CIELAB, as this eye sees it.
    fn lab(color: Color, sight: [[f64; 3]; 3]) -> [f64; 3] {
        const XYZ: [[f64; 3]; 3] = [
            [0.412_390_8, 0.357_584_3, 0.180_480_8],
            [0.212_639_0, 0.715_168_7, 0.072_192_3],
            [0.019_330_8, 0.119_194_8, 0.950_532_2],
        ];
        let seen = product(sight, linear(color)).map(|channel| channel.clamp(0.0, 1.0));
        let [x, y, z] = product(XYZ, seen);
        let f = |t: f64| if t > 0.008_856 { t.cbrt() } else { 7.787 * t + 16.0 / 116.0 };
        let (x, y, z) = (f(x / 0.950_47), f(y), f(z / 1.088_83));
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    }

    /// The difference of two colours in CIELAB (CIEDE2000).
    fn difference([l1, a1, b1]: [f64; 3], [l2, a2, b2]: [f64; 3]) -> f64 {
        let seventh = |c: f64| (c.powi(7) / (c.powi(7) + 25.0_f64.powi(7))).sqrt();
        let g = 0.5 * (1.0 - seventh(f64::midpoint(a1.hypot(b1), a2.hypot(b2))));
        let (a1, a2) = (a1 * (1.0 + g), a2 * (1.0 + g));
        let (c1, c2) = (a1.hypot(b1), a2.hypot(b2));
        let hue = |a: f64, b: f64| {
            if a == 0.0 && b == 0.0 { 0.0 } else { b.atan2(a).to_degrees().rem_euclid(360.0) }
        };
        let (h1, h2) = (hue(a1, b1), hue(a2, b2));
        let is_grey = c1 * c2 == 0.0;
        let turn = match h2 - h1 {
            _ if is_grey => 0.0,
            turn if turn > 180.0 => turn - 360.0,
            turn if turn < -180.0 => turn + 360.0,
            turn => turn,
        };
        let dh = 2.0 * (c1 * c2).sqrt() * (turn / 2.0).to_radians().sin();
        let mean_hue = if is_grey {
            h1 + h2
        } else if (h1 - h2).abs() <= 180.0 {
            f64::midpoint(h1, h2)
        } else {
            (f64::midpoint(h1, h2) + 180.0).rem_euclid(360.0)
        };
        let (l, c) = (f64::midpoint(l1, l2), f64::midpoint(c1, c2));
        let cos = |factor: f64, shift: f64| (factor * mean_hue + shift).to_radians().cos();
        let t = 1.0 - 0.17 * cos(1.0, -30.0) + 0.24 * cos(2.0, 0.0) + 0.32 * cos(3.0, 6.0)
            - 0.20 * cos(4.0, -63.0);
        let sl = 1.0 + 0.015 * (l - 50.0).powi(2) / (20.0 + (l - 50.0).powi(2)).sqrt();
        let (sc, sh) = (1.0 + 0.045 * c, 1.0 + 0.015 * c * t);
        let rotation =
            -2.0 * seventh(c) * (60.0 * (-((mean_hue - 275.0) / 25.0).powi(2)).exp()).to_radians().sin();
        let (dl, dc, dh) = ((l2 - l1) / sl, (c2 - c1) / sc, dh / sh);
        (dl * dl + dc * dc + dh * dh + rotation * dc * dh).sqrt()
    }

    #[test]
    fn differences_of_colours_equal_published_ones() {
        // From the test data of Sharma, Wu and Dalal (2005).
        for (a, b, expected) in [
            ([50.0, 2.6772, -79.7751], [50.0, 0.0, -82.7485], 2.0425),
            ([50.0, -1.3802, -84.2814], [50.0, 0.0, -82.7485], 1.0000),
            ([50.0, 2.49, -0.001], [50.0, -2.49, 0.0009], 7.1792),
            ([50.0, 2.5, 0.0], [73.0, 25.0, -18.0], 27.1492),
            ([60.2574, -34.0099, 36.2677], [60.4626, -34.1751, 39.4387], 1.2644),
            ([2.0776, 0.0795, -1.135], [0.9033, -0.0636, -0.5514], 0.9082),
        ] {
            let found = difference(a, b);
            assert!((found - expected).abs() < 1e-4, "{a:?} {b:?}: {found}");
        }
    }

    #[test]
    fn groups_are_told_apart_by_every_kind_of_sight() {
        for theme in [&LIGHT, &DARK] {
            for (name, sight) in SIGHTS {
                let seen: Vec<[f64; 3]> = theme.own.iter().map(|&color| lab(color, sight)).collect();
                let quiet = [theme.library, theme.runtime].map(|color| lab(color, sight));
                let pairs =
                    seen.iter().enumerate().flat_map(|(at, a)| seen[at + 1..].iter().map(move |b| (a, b)));
                let own = pairs.map(|(a, b)| difference(*a, *b)).fold(f64::MAX, f64::min);
                let to_quiet = seen.iter().flat_map(|a| quiet.iter().map(move |b| difference(*a, *b)));
                let to_quiet = to_quiet.fold(f64::MAX, f64::min);
                let least = if name == "normal" { 14.0 } else { 8.5 };
                assert!(own >= least && to_quiet >= least, "{} {name}: {own:.1} {to_quiet:.1}", theme.paper);
            }
        }
    }

    fn contrast(a: Color, b: Color) -> f64 {
        let (a, b) = (luminance(a) + 0.05, luminance(b) + 0.05);
        a.max(b) / a.min(b)
    }

    fn parsed(code: &str) -> Color {
        let digits: String = match code.len() {
            3 => code.chars().flat_map(|digit| [digit, digit]).collect(),
            _ => code.to_string(),
        };
        Color::new(u32::from_str_radix(&digits, 16).unwrap())
    }

    /// The colours that the page does not take from the palette: by theme, and by name.
    fn fixed(theme: &str) -> std::collections::HashMap<String, Color> {
        let script = include_str!("html/theme.js");
        let (_, rest) = script.split_once(&format!("  {theme}: {{")).unwrap();
        let (body, _) = rest.split_once('}').unwrap();
        let pairs = body.split(',').filter_map(|pair| pair.trim().split_once(": \"#"));
        pairs.map(|(name, code)| (name.to_string(), parsed(code.trim_end_matches('"')))).collect()
    }

    #[test]
    fn text_is_readable_on_every_block_of_the_page() {
        for (name, theme, ink) in [("light", &LIGHT, 0x16_191d), ("dark", &DARK, 0xf2_f4f7)] {
            let fixed = fixed(name);
            let ink = Color::new(ink);
            assert_eq!((fixed["ink"], fixed["paper"]), (ink, theme.paper));
            let groups = theme.of_ranks().chain([theme.library, theme.runtime]);
            let others = ["root", "pale", "hot", "same", "grew", "added", "inherited", "shrank", "unknown"];
            for color in groups.chain(others.map(|other| fixed[other])) {
                assert!(contrast(color, ink) >= 4.4, "{name} {color}: {:.2}", contrast(color, ink));
            }
            assert!(contrast(fixed["hit"], fixed["hitInk"]) >= 7.0);
            // A block that does not match a search is mixed with the background, and its text with the block.
            let dim = if name == "light" { 0.32 } else { 0.45 };
            let least = if name == "light" { 4.5 } else { 4.4 };
            for rank in 0..8 {
                let block = mix(theme.paper, theme.of_rank(rank), dim);
                let text = mix(block, ink, 0.64);
                assert!(contrast(block, text) >= least, "{name} {rank}: {:.2}", contrast(block, text));
            }
        }
    }

    #[test]
    fn text_of_the_page_is_readable_in_both_themes() {
        let style = include_str!("html/static.css");
        let mut checked = 0;
        for name in ["ink", "second", "faint", "link"] {
            let (_, rest) = style.split_once(&format!("--{name}: light-dark(#")).unwrap();
            let (pair, _) = rest.split_once(')').unwrap();
            let (light, dark) = pair.split_once(", #").unwrap();
            for (color, theme) in [(parsed(light), &LIGHT), (parsed(dark), &DARK)] {
                let found = contrast(color, theme.paper);
                assert!(found >= 4.5, "{name} on {}: {found:.2}", theme.paper);
                checked += 1;
            }
        }
        assert_eq!(checked, 8);
    }
}
