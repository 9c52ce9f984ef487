//! `prof convert --to parquet`: profiles as a dataset for query engines.

#[cfg(feature = "parquet")]
use std::fs;
use std::path::Path;

use anyhow::Result;

use crate::cli::commands::convert::ConvertCommand;
use crate::cli::terminal::failure::hinted;

/// The name of the format.
const NAME: &str = "parquet";

/// Whether a dataset is to be written: it is named, or meant by the file extension.
pub(super) fn is_wanted(named: Option<&str>, out: &Path) -> bool {
    match named {
        Some(named) => named.trim_start_matches('.').eq_ignore_ascii_case(NAME),
        None => is_file_name(out),
    }
}

fn is_file_name(out: &Path) -> bool {
    out.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(NAME))
}

impl ConvertCommand {
    #[cfg(not(feature = "parquet"))]
    pub(super) fn export(self, _: Option<&str>, _: &Path) -> Result<()> {
        Err(hinted(
            "convert: this build of prof cannot write Parquet",
            "build it with the feature parquet, which is on by default",
        ))
    }

    /// Adds the inputs to a dataset, each as a profile of its own.
    #[cfg(feature = "parquet")]
    pub(super) fn export(self, named: Option<&str>, out: &Path) -> Result<()> {
        use crate::cli::options::args::{note, say};
        use crate::dataset::Export;
        use crate::load::{Combine, ExportedInputs};
        use crate::profile::LoadOptions;

        if named.is_none() || is_file_name(out) || out == Path::new("-") {
            let shown = out.display();
            let message =
                format!("convert: {shown}: Parquet is written as a folder of tables, not as one file");
            return Err(hinted(message, "name a folder: prof convert -o fleet/ --to parquet PROFILE..."));
        }
        let Combine { merge, sampling, heaviest } = self.many.combine();
        let usual = Combine::default();
        if (merge, sampling.most, heaviest) != (usual.merge, usual.sampling.most, usual.heaviest) {
            return Err(hinted(
                "convert: a dataset holds each profile by itself, so they are not combined",
                "leave out --merge, --weight and --max-profiles, and combine profiles in queries",
            ));
        }
        may_add(out, &self.input.files()?)?;
        let filters = self.filters.filters();
        let request = self.input.given(&self.many, LoadOptions::ALL, self.filters.all_frames)?;
        let ExportedInputs { exported, messages } =
            request.export(&filters, Export::open(out)?).map_err(|error| explain(error, &request))?;
        say(messages, &self.input);
        note(&[summary(&exported, out)], &self.input);
        Ok(())
    }
}

/// What was written.
#[cfg(feature = "parquet")]
fn summary(exported: &crate::dataset::Exported, out: &Path) -> String {
    use crate::unit::{group_thousands, plural};

    let count = |count: usize| {
        let count = count as u64;
        format!("{} {}", group_thousands(count.into()), plural(count, "profile", "profiles"))
    };
    let mut text = format!("{}: {} written", out.display(), count(exported.written));
    if exported.known > 0 {
        text.push_str(&format!(", {} already in the dataset", count(exported.known)));
    }
    if exported.untimed > 0 {
        text.push_str(&format!("; {} without a time, so without a date", count(exported.untimed)));
    }
    text
}

#[cfg(feature = "parquet")]
fn explain(error: crate::load::ExportingError, request: &crate::load::Request) -> anyhow::Error {
    use crate::cli::input::request::explain as explain_load;
    use crate::cli::options::filters::explain as explain_filter;
    use crate::load::ExportingError;

    match error {
        ExportingError::Load(error) => explain_load(error, request),
        ExportingError::Filter(error) => explain_filter(error),
        ExportingError::TooLarge { .. } => {
            hinted(error.to_string(), "choose the metrics to write with --metric")
        }
        ExportingError::Calls(_) => hinted(
            error.to_string(),
            "callgrind, pstats and gprof files record calls; prof reads them directly",
        ),
        error => anyhow::Error::msg(error.to_string()),
    }
}

/// Fails if the output is not a dataset or an empty folder, or if it is one of the inputs.
#[cfg(feature = "parquet")]
fn may_add(out: &Path, inputs: &[std::path::PathBuf]) -> Result<()> {
    let shown = out.display();
    if out.exists() && !out.is_dir() {
        return Err(hinted(
            format!("{shown}: is not a folder"),
            "name the folder of a dataset, or a new one",
        ));
    }
    let same = |input: &std::path::PathBuf| {
        fs::canonicalize(input).is_ok_and(|input| fs::canonicalize(out).is_ok_and(|out| out == input))
    };
    if inputs.iter().any(same) {
        return Err(hinted(format!("{shown}: is also an input"), "write to another folder"));
    }
    let is_empty = fs::read_dir(out).map_or(true, |mut entries| entries.next().is_none());
    if !is_empty && !crate::dataset::is_dataset(out) {
        let message = format!("{shown}: this folder is not empty, and not a dataset");
        return Err(hinted(message, "write to a new folder, or to one that prof convert --to parquet made"));
    }
    Ok(())
}
