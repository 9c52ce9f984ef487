//! The versions of the protocol, which number fields differently without saying so.

/// The numbers of fields that are not the same in all versions.
#[derive(Debug)]
pub(super) struct Numbering {
    /// In a sample.
    pub(super) values: u32,
    pub(super) attributes: u32,
    pub(super) link: u32,
    pub(super) timestamps: u32,
    /// Whether a sample's stack is a range of the profile's list of locations (field 3), not a row of the stack table.
    pub(super) has_ranges: bool,
    /// In a profile.
    pub(super) time: u32,
    pub(super) duration: u32,
    pub(super) period_type: u32,
    pub(super) period: u32,
}

/// Protocol 1.6 and 1.7, until the summer of 2025.
pub(super) const RANGES: Numbering = Numbering {
    values: 3,
    attributes: 4,
    link: 5,
    timestamps: 6,
    has_ranges: true,
    time: 4,
    duration: 5,
    period_type: 6,
    period: 7,
};

/// Protocol 1.8 and 1.9.
pub(super) const VALUES_FIRST: Numbering = Numbering {
    values: 2,
    attributes: 3,
    link: 4,
    timestamps: 5,
    has_ranges: false,
    time: 3,
    duration: 4,
    period_type: 5,
    period: 6,
};

/// Protocol 1.10, from 2026 on.
pub(super) const VALUES_LAST: Numbering = Numbering { values: 4, attributes: 2, link: 3, ..VALUES_FIRST };
