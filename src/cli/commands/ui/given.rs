//! The options of a command line as they were given, with their long names.

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};

use crate::ui::Choice;

/// The options that `matches` has, in the order of the definition.
pub(super) fn given(command: &Command, matches: &ArgMatches) -> Vec<Choice> {
    let is_given = |arg: &&Arg| {
        let id = arg.get_id().as_str();
        matches.try_contains_id(id).is_ok_and(|_| matches.value_source(id) == Some(ValueSource::CommandLine))
    };
    command.get_arguments().filter(is_given).flat_map(|arg| choices(arg, matches)).collect()
}

fn choices(arg: &Arg, matches: &ArgMatches) -> Vec<Choice> {
    let Some(name) = arg.get_long().map(|long| format!("--{long}")) else { return Vec::new() };
    if !arg.get_action().takes_values() {
        return vec![Choice::flag(&name)];
    }
    let repeats = matches!(arg.get_action(), ArgAction::Append);
    let joined = arg.is_require_equals_set();
    let values = matches.get_raw(arg.get_id().as_str()).into_iter().flatten();
    let choice = |value: &std::ffi::OsStr| {
        let value = value.to_string_lossy().into_owned();
        // `--fold` alone has an empty value.
        let value = Some(value).filter(|value| !(joined && value.is_empty()));
        Choice { name: name.clone(), value, repeats, joined }
    };
    values.map(choice).collect()
}
