//! Profiles read one by one, several at once, for commands that do not combine them.

use std::ops::Range;

use anyhow::Result;

use crate::cli::args::InputArgs;
use crate::cli::clock::Clock;
use crate::cli::inputs::{
    InputPath, drop_from_each, expand_folders, explain, format_named, load_one, metrics_wanted, no_profile,
    skipped_text,
};
use crate::cli::progress::Progress;
use crate::format::{Format, Inflate, LoadError};
use crate::parallel;
use crate::profile::{LoadOptions, Profile};

/// What was read.
pub(super) struct Read {
    /// Each input's path, and its profile; never none.
    pub(super) profiles: Vec<(String, Profile)>,
    /// That some were not read, where that is so.
    pub(super) skipped: Option<String>,
}

/// Reads the profiles at `names`, those in folders one by one, and gives names to their addresses. Frames
/// that a profile itself says to drop go, unless `all_frames` are wanted.
pub(super) fn read_all(
    args: &InputArgs,
    names: &[String],
    options: LoadOptions,
    all_frames: bool,
) -> Result<Read> {
    let options = args.within_memory(options);
    let format = args.input_format.as_deref().map(format_named).transpose()?;
    let paths = expand_folders(names)?;
    let mut profiles = Vec::new();
    let mut skipped = 0;
    let mut clock = Clock::new(args.verbose);
    let progress = Progress::start(paths.iter().map(|path| &*path.name), args.quiet);
    let all = load_side_by_side(&paths, options, format, &progress);
    clock.step_with("load", &progress.parts());
    drop(progress);
    for (path, loaded) in paths.iter().zip(all) {
        match loaded {
            Ok(profile) => profiles.push((path.name.clone(), profile)),
            Err(error) if path.is_skipped(&error, args.skip_broken) => skipped += 1,
            Err(error) => return Err(explain(&path.name, error, options.budget, names)),
        }
    }
    if profiles.is_empty() {
        return Err(no_profile(names));
    }
    args.symbols.apply(profiles.iter_mut().map(|(_, profile)| profile))?;
    clock.step("symbols");
    if !all_frames {
        drop_from_each(profiles.iter_mut().map(|(_, profile)| profile));
    }
    let metric_of = |profile: &Profile| {
        let wanted =
            metrics_wanted(&args.metrics, &profile.meta).ok().and_then(|wanted| wanted.into_iter().next());
        wanted.and_then(|wanted| wanted.place_in(&profile.meta))
    };
    let metrics = profiles.iter().filter_map(|(_, profile)| Some((profile, metric_of(profile)?)));
    let unresolved = args.symbols.warning(metrics);
    profiles[0].1.meta.warnings.extend(unresolved);
    let skipped = (skipped > 0).then(|| skipped_text(skipped));
    Ok(Read { profiles, skipped })
}

/// Loads every path, as many at once as there are processors.
fn load_side_by_side(
    paths: &[InputPath],
    options: LoadOptions,
    format: Option<&Format>,
    progress: &Progress,
) -> Vec<Result<Profile, LoadError>> {
    let load = |path: &InputPath| load_one(&path.name, Inflate::OnThread, options, format, progress);
    let sizes: Vec<u64> = paths.iter().map(InputPath::size).collect();
    let runs = parallel::balanced(&sizes);
    let read = |run: Range<usize>| paths[run].iter().map(load).collect::<Vec<_>>();
    parallel::each(runs, read).into_iter().flatten().collect()
}
