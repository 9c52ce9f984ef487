//! The file of `diff --learn-noise`.

use std::io::{self, Write};

use crate::report::{CountNoise, NoiseHistory};

/// Writes what earlier runs say about noise as TOML. Fails if `out` does.
pub fn noise_file(noise: &NoiseHistory, out: &mut dyn Write) -> io::Result<()> {
    let NoiseHistory { version, runs, samples_per_run, dispersion, freedom, unlisted, .. } = noise;
    let [metric, unit, by, normalize] = [&noise.metric, &noise.unit, &noise.by, &noise.normalize].map(quoted);
    write!(
        out,
        "\
# How much the cost of functions varies between runs of one build: learned by `prof diff --learn-noise`
# from {runs} runs. To judge a single new run: prof diff --noise THIS_FILE OLD NEW
version = {version}
metric = {metric}
unit = {unit}
by = {by}
normalize = {normalize}
runs = {runs}
samples_per_run = {samples_per_run:.1}
# How many times larger than that of independent samples the variance is.
dispersion = {dispersion:.3}
freedom = {freedom:.1}
# Variation is the standard deviation from run to run in percent, beyond the chance of sampling.
unlisted = {unlisted:.2}
"
    )?;
    for function in &noise.functions {
        writeln!(out, "\n[[function]]")?;
        writeln!(out, "name = {}", quoted(&function.name))?;
        writeln!(out, "runs = {}", function.runs)?;
        count("self", function.own, out)?;
        count("total", function.total, out)?;
    }
    Ok(())
}

fn count(key: &str, noise: Option<CountNoise>, out: &mut dyn Write) -> io::Result<()> {
    let Some(noise) = noise else { return Ok(()) };
    writeln!(out, "{key} = {{ share = {:.3}, variation = {:.2} }}", noise.share, noise.variation)
}

/// A string of TOML, which needs the same escapes as JSON and one more.
fn quoted(text: impl AsRef<str>) -> String {
    serde_json::Value::from(text.as_ref()).to_string().replace('\u{7f}', "\\u007f")
}
