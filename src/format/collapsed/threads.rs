//! Stacks that a profiler of Python collapsed may begin with their processes and threads, which become labels: `tid:28;app.py:main:12 3`
//! of Python's own profiler, `process 812:"python app.py";thread (815): MainThread;main (app.py:12) 3` of py-spy.

use crate::format::collapsed::python::{Python, thread_number};
use crate::format::labels::sample_labels;
use crate::format::py_spy::OutsideFrame;
use crate::format::threads::Thread;
use crate::format::{ParseError, finished};
use crate::profile::{
    Column, Frame, FrameId, Function, LabelSetId, LoadOptions, Profile, ProfileBuilder, StackId,
};

/// The profile with processes and threads as labels instead of outermost frames.
pub(super) fn label_threads(
    profile: Profile,
    recorder: Python,
    options: LoadOptions,
) -> Result<Profile, ParseError> {
    let threads: Column<StackId, Option<Recorded>> =
        profile.stacks.ids().map(|stack| recorded(&profile, stack, recorder)).collect();
    if threads.iter().all(Option::is_none) {
        return Ok(profile);
    }
    let mut builder = ProfileBuilder::new(profile.meta.format, options);
    for metric in &profile.meta.metrics {
        builder.metric(&metric.name, &metric.unit);
    }
    let mut copied = Column::filled(None, profile.symbols.frames.len());
    let stacks = profile.stacks.ids().map(|stack| {
        let outside = threads[stack].as_ref().map_or(0, |recorded| recorded.frames);
        let mut copy = |&frame: &FrameId| {
            *copied[frame].get_or_insert_with(|| copied_frame(&profile, frame, &mut builder))
        };
        let inside: Vec<FrameId> = profile.stacks.frames(stack)[outside..].iter().map(&mut copy).collect();
        builder.stack(&inside)
    });
    let stacks: Column<StackId, StackId> = stacks.collect();
    for (row, &stack) in profile.samples.stack.iter().enumerate() {
        let labels = match &threads[stack] {
            Some(Recorded { own: Some(thread), .. }) => {
                sample_labels(&mut builder, |labels| labels.number("tid", *thread))
            }
            Some(Recorded { pid, thread, .. }) => sample_labels(&mut builder, |labels| {
                labels.text_if_known("pid", pid);
                thread.add_to(labels);
            }),
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

/// Where a stack was recorded, as its outermost frames say.
#[derive(Default)]
struct Recorded {
    /// How many frames these are.
    frames: usize,
    /// The thread of Python's own profiler.
    own: Option<i64>,
    pid: String,
    thread: Thread,
}

fn recorded(profile: &Profile, stack: StackId, recorder: Python) -> Option<Recorded> {
    let mut names = profile.stacks.frames(stack).iter().map(|&frame| profile.symbols.frame_name(frame));
    if recorder == Python::Own {
        let own = names.next().and_then(thread_number);
        return own.map(|_| Recorded { frames: 1, own, ..Recorded::default() });
    }
    let mut recorded = Recorded::default();
    for outside in names.map_while(OutsideFrame::parse) {
        recorded.frames += 1;
        outside.add_to(&mut recorded.thread);
        if let OutsideFrame::Process { pid, .. } = outside {
            recorded.pid = pid.to_string();
        }
    }
    (recorded.frames > 0).then_some(recorded)
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
        let text = "process 8:\"python x.py\";thread (9): Main;<module> (x.py:20);f (x.py:6) 3\nprocess 8:\"python x.py\";\
                    process 10:\"sh\";thread (11);f (x.py:7) 4\nthread (12) 1\n";
        assert_eq!(
            to_notation(&loaded(text, LoadOptions::ALL)),
            " 1 {tid=12}\n<module>@x.py:20;f@x.py:6 3 {pid=8 process=python x.py thread=Main tid=9}\n\
             f@x.py:7 4 {pid=10 process=sh tid=11}"
        );
        // A function of another profiler may be called so.
        let other = loaded("tid:28;main;f 3\n", LoadOptions::ALL);
        assert_eq!(to_notation(&other), "tid:28;main;f 3");
    }
}
