//! Compares the statistics with known results: `fixtures/diff/vectors.json`, and random comparisons that
//! `fixtures/diff/random_cases.py` generated together with the results of the Python reference.

use prof::stats::bulk::{Prior, core_location, fit_bulk};
use prof::stats::compare::{Comparison, Hypothesis, compare};
use prof::stats::detect::{Sensitivity, detectable_ratio};
use prof::stats::dispersion::{Design, RunCounts, dispersion_trend, pearson_dispersion};
use prof::stats::distributions::{
    binomial_mid_p, normal_upper, normal_upper_quantile, t_upper, t_upper_quantile, trigamma_inverse,
};
use prof::stats::effective::heap_row;
use prof::stats::multiplicity::{holm, tarone};
use prof::stats::{
    CountKind, Noise, Normalization, ProfileCounts, SampleCounts, SampleUnit, TestOptions, Verdict,
};
use serde_json::Value;
use statrs::function::beta::checked_beta_reg;

/// The relative tolerance.
const TOLERANCE: f64 = 1e-9;

fn vectors() -> Value {
    serde_json::from_str(include_str!("../../fixtures/diff/vectors.json")).unwrap()
}

fn number(value: &Value, key: &str) -> f64 {
    value[key].as_f64().unwrap_or_else(|| panic!("{key} of {value} is no number"))
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
}

fn matrix(value: &Value) -> Vec<Vec<f64>> {
    match value.as_array().unwrap().first() {
        Some(Value::Array(_)) => value.as_array().unwrap().iter().map(numbers).collect(),
        _ => vec![numbers(value)],
    }
}

/// The relative difference; below 1e-250, near the limit of doubles, the absolute one.
fn difference(got: f64, want: f64) -> f64 {
    if got.to_bits() == want.to_bits() { 0.0 } else { (got - want).abs() / want.abs().max(1e-250) }
}

#[track_caller]
fn close(got: f64, want: f64) {
    assert!(difference(got, want) <= TOLERANCE, "got {got:e}, want {want:e}");
}

#[track_caller]
fn all_close(got: &[f64], want: &[f64]) {
    assert_eq!(got.len(), want.len());
    for (got, want) in got.iter().zip(want) {
        close(*got, *want);
    }
}

fn each<'a>(vectors: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    vectors[name].as_array().unwrap().iter()
}

#[test]
fn tails_of_distributions() {
    let all = vectors();
    for v in each(&all, "betainc") {
        close(checked_beta_reg(number(v, "a"), number(v, "b"), number(v, "x")).unwrap(), number(v, "want"));
    }
    for v in each(&all, "midp_upper") {
        let x = number(v, "x");
        close(binomial_mid_p(x, number(v, "n") - x, number(v, "r")), number(v, "want"));
    }
    for v in each(&all, "norm_isf") {
        close(normal_upper_quantile(number(v, "p")), number(v, "want"));
    }
    for v in each(&all, "norm_sf") {
        close(normal_upper(number(v, "z")), number(v, "want"));
    }
    for v in each(&all, "t_sf") {
        close(t_upper(number(v, "t"), number(v, "df")), number(v, "want"));
    }
    for v in each(&all, "t_isf") {
        close(t_upper_quantile(number(v, "p"), number(v, "df")), number(v, "want"));
    }
    for v in each(&all, "trigamma_inv") {
        close(trigamma_inverse(number(v, "x")), number(v, "want"));
    }
}

#[test]
fn adjustments_for_many_tests() {
    let all = vectors();
    all_close(&holm(&numbers(&all["holm"]["p"])), &numbers(&all["holm"]["want"]));
    for v in each(&all, "tarone") {
        close(tarone(&numbers(&v["pmin"]), number(v, "alpha")) as f64, number(v, "want"));
    }
}

#[test]
fn the_bulk() {
    let all = vectors();
    let priors = [
        ("fit_bulk_auto", Prior { median: 0.10, log_sd: 0.6 }),
        ("fit_bulk_steady", Prior { median: 0.04, log_sd: 0.8 }),
    ];
    for (name, prior) in priors {
        let v = &all[name];
        let bulk = fit_bulk(&numbers(&v["L"]), &numbers(&v["v"]), prior, 1);
        close(bulk.location, number(v, "mu"));
        close(bulk.overdispersion, number(v, "phi"));
        close(bulk.run_to_run, number(v, "tau"));
        close(bulk.location_variance, number(v, "var_mu"));
    }
    let v = &all["core_location"];
    let (location, variance) = core_location(&numbers(&v["L"]), &numbers(&v["s2"]));
    close(location, number(v, "mu"));
    close(variance, number(v, "var_mu"));
}

#[test]
fn dispersions() {
    let all = vectors();
    let v = &all["pearson_disp"];
    let profiles = matrix(&v["X"]);
    let old = numbers(&v["grp"]).iter().filter(|group| **group == 0.0).count();
    let design = Design::new(numbers(&v["E"]), old, false);
    close(design.residual() as f64, number(v, "d"));
    for (function, want) in numbers(&v["want"]).into_iter().enumerate() {
        let column =
            RunCounts { counts: profiles.iter().map(|profile| profile[function]).collect(), unit: 1.0 };
        close(pearson_dispersion(&column, &design), want);
    }
    let v = &all["disp_trend"];
    let residual = number(v, "d") as usize;
    let trend =
        dispersion_trend(&numbers(&v["phi_hat"]), &numbers(&v["mean_count"]), residual, number(v, "cap"));
    close(trend.overdispersion, number(v, "phi0"));
    close(trend.run_to_run, number(v, "tau"));
    close(trend.prior_freedom, number(v, "d0"));
}

/// Profiles of which only the self counts are known: every function is a leaf.
fn leaves(profiles: &Value) -> Vec<ProfileCounts> {
    sampled(profiles, profiles)
}

fn sampled(self_counts: &Value, total_counts: &Value) -> Vec<ProfileCounts> {
    matrix(self_counts)
        .into_iter()
        .zip(matrix(total_counts))
        .map(|(self_counts, total_counts)| ProfileCounts { self_counts, total_counts })
        .collect()
}

/// The verdict in the words of the reference, which only has increases.
fn word(row: &Hypothesis) -> &'static str {
    match row.verdict {
        Verdict::Regressed => "REGRESSED",
        Verdict::Small if row.increase.q < 0.01 => "small",
        _ => "",
    }
}

#[test]
fn whole_comparisons() {
    let all = vectors();
    let known = [
        ("diff_1v1_auto", TestOptions::default()),
        ("diff_1v1_steady", TestOptions { noise: Noise::Steady, ..TestOptions::default() }),
        ("diff_1v1_sigma3", TestOptions { noise: Noise::Fixed(0.03), ..TestOptions::default() }),
        (
            "diff_1v1_total",
            TestOptions { noise: Noise::Steady, normalize: Normalization::Total, ..TestOptions::default() },
        ),
        ("diff_3v3", TestOptions::default()),
        ("diff_2v1", TestOptions::default()),
    ];
    for (name, options) in known {
        let v = &all[name];
        let counts = SampleCounts {
            old: leaves(&v["base"]),
            new: leaves(&v["new"]),
            sample_unit: SampleUnit::Samples,
        };
        let result = compare(&counts, &options).unwrap();
        let model = result.model.as_ref().unwrap();
        close(model.location, number(v, "mu"));
        close(model.expected_share(), number(v, "r"));
        let noise = model.noise();
        for (key, got) in [("phi", noise.0), ("phi0", noise.0), ("tau", noise.1), ("df", model.freedom)] {
            if let Some(want) = v[key].as_f64() {
                close(got, want);
            }
        }
        if let Some(k) = v["k"].as_f64() {
            close(result.tested as f64, k);
        }
        assert_eq!(model.freedom.is_infinite(), v["df"].as_f64().is_none(), "{name}");
        let keys = ["p", "q", "L", "se", "pts", "f"];
        for key in keys.iter().filter(|key| v[**key].is_array()) {
            all_close(&field(&result, key), &numbers(&v[*key]));
        }
        let verdicts: Vec<&str> = result.hypotheses.iter().map(word).collect();
        assert_eq!(serde_json::json!(verdicts), v["verdict"], "{name}");
    }
}

fn field(result: &Comparison, key: &str) -> Vec<f64> {
    let rows = result.hypotheses.iter();
    rows.map(|row| match key {
        "p" => row.increase.p,
        "q" => row.increase.q,
        "L" => row.log_ratio,
        "se" => row.standard_error,
        "pts" => row.points,
        "f" => row.noise_factor,
        "x0" => row.old,
        "x1" => row.new,
        "fid" => row.function as f64,
        _ => panic!("no field {key}"),
    })
    .collect()
}

#[test]
fn heap_rows() {
    for v in each(&vectors(), "heap_unsample") {
        let row = heap_row(number(v, "objects"), number(v, "bytes"), number(v, "rate"));
        close(row.records, number(v, "k"));
        close(row.bytes_variance, number(v, "var_bytes"));
    }
}

#[test]
fn detectable_ratios() {
    for v in each(&vectors(), "mde") {
        let sensitivity = Sensitivity {
            tests: number(v, "k") as usize,
            run_to_run: number(v, "tau"),
            ..Sensitivity::pure_sampling(number(v, "N"), number(v, "N"))
        };
        close(detectable_ratio(number(v, "p"), &sensitivity).unwrap(), number(v, "want"));
    }
}

/// The largest relative difference of every quantity over all the cases of a file.
fn against_reference(cases: &Value) -> Vec<(String, f64)> {
    let keys = ["fid", "x0", "x1", "L", "se", "pts", "f", "p", "q"];
    let mut worst = vec![0.0_f64; keys.len() + 4];
    for case in cases.as_array().unwrap() {
        let result = compare(&counts_of(case), &options_of(&case["options"])).unwrap();
        let model = result.model.as_ref().unwrap();
        let (phi, tau) = model.noise();
        for (i, (key, got)) in
            [("mu", model.location), ("phi", phi), ("tau", tau), ("r", model.expected_share())]
                .into_iter()
                .enumerate()
        {
            worst[keys.len() + i] = worst[keys.len() + i].max(difference(got, number(&case["info"], key)));
        }
        close(result.tested as f64, number(&case["info"], "k"));
        let is_self: Vec<bool> =
            result.hypotheses.iter().map(|row| row.measure == CountKind::SelfCount).collect();
        assert_eq!(serde_json::json!(is_self), case["rows"]["is_self"]);
        let verdicts: Vec<&str> = result.hypotheses.iter().map(word).collect();
        assert_eq!(serde_json::json!(verdicts), case["rows"]["verdict"], "case {}", case["seed"]);
        for (i, key) in keys.iter().enumerate() {
            let want = numbers(&case["rows"][*key]);
            for (got, want) in field(&result, key).into_iter().zip(want) {
                // Differences of nearly equal shares are compared on the scale of a share.
                let off = if *key == "pts" { (got - want).abs() } else { difference(got, want) };
                worst[i] = worst[i].max(off);
            }
        }
    }
    let names = keys.iter().chain(&["mu", "phi", "tau", "r"]);
    names.map(ToString::to_string).zip(worst).collect()
}

fn counts_of(case: &Value) -> SampleCounts {
    let old = sampled(&case["S0"], &case["T0"]);
    SampleCounts { old, new: sampled(&case["S1"], &case["T1"]), sample_unit: SampleUnit::Samples }
}

fn options_of(options: &Value) -> TestOptions {
    let noise = match (options["sigma"].as_f64(), options["noise"].as_str()) {
        (Some(sigma), _) => Noise::Fixed(sigma),
        (None, Some("steady")) => Noise::Steady,
        _ => Noise::Auto,
    };
    let normalize = if options["normalize"] == "total" { Normalization::Total } else { Normalization::Core };
    TestOptions { noise, normalize, ..TestOptions::default() }
}

#[test]
fn random_comparisons_agree_with_the_reference() {
    let mut files = vec!["fixtures/diff/random.json".to_owned()];
    files.extend(std::env::var("PROF_DIFF_CASES"));
    for file in files {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(&file);
        let cases: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        for (quantity, worst) in against_reference(&cases) {
            println!("{file}: {quantity} differs by at most {worst:.1e}");
            assert!(worst <= TOLERANCE, "{file}: {quantity} differs by {worst:e}");
        }
    }
}
