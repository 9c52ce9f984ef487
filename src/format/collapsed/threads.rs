//! Stacks that Python's own profiler collapsed begin with their threads, which become labels: `tid:28;app.py:main:12 3`.

use crate::format::labels::sample_labels;
use crate::format::{ParseError, finished};
use crate::profile::{
    Column, Frame, FrameId, Function, LabelSetId, LoadOptions, Profile, ProfileBuilder, StackId,
};

/// The number of the thread that a name stands for.
pub(super) fn thread_number(name: &str) -> Option<i64> {
    name.strip_prefix("tid:")?.parse().ok()
}

/// The profile with threads as labels instead of outermost frames.
pub(super) fn label_threads(profile: Profile, options: LoadOptions) -> Result<Profile, ParseError> {
    let thread_of = |stack: StackId| {
        let first = profile.stacks.frames(stack).first()?;
        thread_number(profile.symbols.frame_name(*first))
    };
    let threads: Column<StackId, Option<i64>> = profile.stacks.ids().map(thread_of).collect();
    if threads.iter().all(Option::is_none) {
        return Ok(profile);
    }
    let mut builder = ProfileBuilder::new(profile.meta.format, options);
    for metric in &profile.meta.metrics {
        builder.metric(&metric.name, &metric.unit);
    }
    let mut copied = Column::filled(None, profile.symbols.frames.len());
    let stacks = profile.stacks.ids().map(|stack| {
        let outside = usize::from(threads[stack].is_some());
        let mut copy = |&frame: &FrameId| {
            *copied[frame].get_or_insert_with(|| copied_frame(&profile, frame, &mut builder))
        };
        let inside: Vec<FrameId> = profile.stacks.frames(stack)[outside..].iter().map(&mut copy).collect();
        builder.stack(&inside)
    });
    let stacks: Column<StackId, StackId> = stacks.collect();
    for (row, &stack) in profile.samples.stack.iter().enumerate() {
        let labels = match threads[stack] {
            Some(thread) => sample_labels(&mut builder, |labels| labels.number("tid", thread)),
            None => LabelSetId::default(),
        };
        let values: Vec<i64> = profile.samples.values.iter().map(|column| column[row]).collect();
        builder.sample(stacks[stack], labels, None, &values);
    }
    let mut labelled = finished(builder)?;
    let labelled_rows = labelled.meta.labelled_rows;
    labelled.meta = profile.meta;
    labelled.meta.labelled_rows = labelled_rows;
    Ok(labelled)
}

/// A frame of a profile in another one.
fn copied_frame(profile: &Profile, frame: FrameId, builder: &mut ProfileBuilder) -> FrameId {
    let frame = profile.symbols.frames[frame];
    let function = profile.symbols.functions[frame.function];
    let [name, file] =
        [function.name, function.file].map(|text| builder.string(profile.symbols.strings.get(text)));
    let function = builder.function(Function { name, file, ..function });
    builder.frame(Frame { function, ..frame })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{Source, load, named};
    use crate::profile::to_notation;

    fn loaded(text: &str, options: LoadOptions) -> Profile {
        load(&mut Source::from_bytes(text.into()), options, named("collapsed")).unwrap()
    }

    #[test]
    fn threads_become_labels() {
        let text = "tid:28;<native>;a.py:f:12;<GC> 3\ntid:29;<native>;a.py:f:12;<GC> 4\ntid:28;<native>;a.py:f:13 5\n";
        let profile = loaded(text, LoadOptions::ALL);
        assert_eq!(
            to_notation(&profile),
            "<native>;f@a.py:12;<GC> 3 {tid=28}\n<native>;f@a.py:12;<GC> 4 {tid=29}\n<native>;f@a.py:13 5 {tid=28}"
        );
        let without = loaded(text, LoadOptions { labels: false, ..LoadOptions::default() });
        assert_eq!(to_notation(&without), "<native>;f@a.py:12;<GC> 7\n<native>;f@a.py:13 5");
        assert_eq!(without.meta.labelled_rows, 3);
        // A function of another profiler may be called so.
        let other = loaded("tid:28;main;f 3\n", LoadOptions::ALL);
        assert_eq!(to_notation(&other), "tid:28;main;f 3");
    }
}
