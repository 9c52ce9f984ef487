//! The file of `diff --learn-noise`.

use std::io::{self, Write};

use crate::report::{CountNoise, NoiseHistory};

/// Writes what earlier runs say about noise as TOML. Fails if `out` does.
pub fn noise_file(noise: &NoiseHistory, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "# How much the cost of functions varies between runs of one build: learned by `prof diff --learn-noise`"
    )?;
    writeln!(
        out,
        "# from {} runs. To judge a single new run: prof diff --noise THIS_FILE OLD NEW",
        noise.runs
    )?;
    writeln!(out, "version = {}", noise.version)?;
    writeln!(out, "metric = {}", quoted(&noise.metric))?;
    writeln!(out, "unit = {}", quoted(&noise.unit))?;
    writeln!(out, "by = {}", quoted(&noise.by))?;
    writeln!(out, "normalize = {}", quoted(&noise.normalize))?;
    writeln!(out, "runs = {}", noise.runs)?;
    writeln!(out, "samples_per_run = {:.1}", noise.samples_per_run)?;
    writeln!(out, "# How many times larger than that of independent samples the variance is.")?;
    writeln!(out, "dispersion = {:.3}", noise.dispersion)?;
    writeln!(out, "freedom = {:.1}", noise.freedom)?;
    writeln!(
        out,
        "# Variation is the standard deviation from run to run in percent, beyond the chance of sampling."
    )?;
    writeln!(out, "unlisted = {:.2}", noise.unlisted)?;
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
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}
