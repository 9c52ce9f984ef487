//! What keys do besides changing the state.

/// What the program does besides changing the state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Copy a text to the clipboard.
    Copy(String),
    /// Write the stacks shown to this file.
    Save(String),
    /// Suggest a name for the file to write.
    SuggestFile,
    /// Ask what this command asks.
    Follow(String),
    /// Read these options.
    Options(String),
    /// Read the profile again.
    Reload,
    /// Read the profile again every few seconds, or no longer.
    Watch,
    /// Stop computing.
    Cancel,
    /// Draw the whole screen again, over what other programs wrote.
    Redraw,
    /// Suspend.
    Suspend,
    /// Quit.
    Quit,
}
