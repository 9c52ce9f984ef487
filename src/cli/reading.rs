//! Profiles read one by one, several at once, for commands that do not combine them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use anyhow::Result;

use crate::cli::args::InputArgs;
use crate::cli::clock::Clock;
use crate::cli::failure::hinted;
use crate::cli::inputs::{
    InputPath, expand_folders, explain, format_named, load_one, metrics_wanted, skipped_text,
};
use crate::cli::progress::Progress;
use crate::format::{Format, Inflate, LoadError};
use crate::parallel::processors;
use crate::profile::{LoadOptions, Profile};
use crate::transform::drop_frames;

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
            Err(LoadError::Unrecognized { .. }) if path.in_folder => skipped += 1,
            Err(_) if args.skip_broken => skipped += 1,
            Err(error) => return Err(explain(&path.name, error, options.budget, names)),
        }
    }
    if profiles.is_empty() {
        let hint = "name a profile, or a folder that holds one";
        return Err(hinted(format!("{}: no profile there", names.join(", ")), hint));
    }
    args.symbols.apply(profiles.iter_mut().map(|(_, profile)| profile))?;
    clock.step("symbols");
    if !all_frames {
        // Every input has its own idea of what to drop, in the words of names.
        for (_, profile) in &mut profiles {
            *profile = drop_frames(profile);
        }
    }
    let metric_of = |profile: &Profile| {
        let wanted =
            metrics_wanted(&args.metrics, &profile.meta).ok().and_then(|wanted| wanted.into_iter().next());
        wanted.and_then(|wanted| profile.meta.metric_at(&wanted))
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
    let workers = processors().min(paths.len());
    if workers <= 1 {
        return paths.iter().map(load).collect();
    }
    let next = AtomicUsize::new(0);
    let loaded = Mutex::new(Vec::with_capacity(paths.len()));
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(path) = paths.get(number) else { return };
            let profile = load(path);
            loaded.lock().unwrap_or_else(PoisonError::into_inner).push((number, profile));
        }
    };
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(work);
        }
    });
    let mut loaded = loaded.into_inner().unwrap_or_else(PoisonError::into_inner);
    loaded.sort_by_key(|(number, _)| *number);
    loaded.into_iter().map(|(_, profile)| profile).collect()
}
