//! The table of what a server offers.

use crate::name::clean;
use crate::output::style::Style;
use crate::output::table::{Columns, Form, Kind, Note, Table};
use crate::report::{ServerInfo, ServerProfile};

/// One row per profile or type of profile, and how to fetch one.
pub(super) fn table<'r>(server: &'r ServerInfo, form: Form, style: &Style) -> Table<'r> {
    let mut columns = Columns::new();
    columns
        .add("name", Kind::Key, |profile: &&ServerProfile| clean(&profile.name).into_owned())
        .titled("PROFILE");
    let address = columns.add("address", Kind::Prose, |profile| clean(&profile.address).into_owned());
    if form == Form::Markdown {
        address.titled("ADDRESS");
    }
    let mut table = columns.table(form, &[], || server.profiles.iter(), []);
    if form == Form::Text {
        let title = format!("{}{}{}", clean(&server.address), style.glyphs.dot, server.server);
        table.above.push(Note::title(title));
        if server.profiles.is_empty() {
            table.below.push(Note::plain("no profiles in the last hour"));
        }
        if !server.labels.is_empty() {
            table.below.push(Note::plain(format!("labels: {}", clean(&server.labels.join(", ")))));
        }
        let is_cpu = |profile: &&ServerProfile| profile.name == "profile" || profile.name.contains("cpu");
        if let Some(profile) = server.profiles.iter().find(is_cpu).or(server.profiles.first()) {
            table.below.push(Note::faint(format!("prof top '{}'", clean(&profile.address))));
        }
    }
    table
}
