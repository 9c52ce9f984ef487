//! Adjusts p-values for the number of tests: many functions are tested at once, and a single alarm fails
//! a build.

/// Holm's step-down adjustment (1979): if every adjusted value below α counts as a change, the
/// probability of even one false alarm among *all* tests is below α, however they depend on each other.
/// The result has the order of `p`.
///
/// The less strict false discovery rate would not do, because the exit code is about "any": there, one
/// true regression lowers the threshold for all others.
///
/// ```
/// # use prof::stats::multiplicity::holm;
/// assert_eq!(holm(&[0.5, 0.01]), [0.5, 0.02]);
/// ```
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    let mut adjusted = vec![1.0; p.len()];
    let mut running: f64 = 0.0;
    for (rank, &i) in order.iter().enumerate() {
        running = running.max(((p.len() - rank) as f64 * p[i]).min(1.0));
        adjusted[i] = running;
    }
    adjusted
}

/// How many of the tests count for the adjustment? Tarone's (1990) answer: a test whose smallest
/// *possible* p-value cannot pass the threshold cannot raise a false alarm, so it is left out and costs
/// the others nothing. Returns the smallest k such that at most k tests could pass α / k.
///
/// Example: of 60 functions, 50 have three samples each. Three of three give p >= 1/16, so only ten
/// tests share the 1 %.
pub fn tarone(smallest_p: &[f64], alpha: f64) -> usize {
    let mut sorted = smallest_p.to_vec();
    sorted.sort_by(f64::total_cmp);
    (1..=sorted.len())
        .find(|&k| sorted.partition_point(|&p| p <= alpha / k as f64) <= k)
        .unwrap_or(sorted.len().max(1))
}

/// Tarone's selection and Holm's adjustment together: a q-value for every test, 1 for those left out,
/// and k.
pub fn adjust(p: &[f64], smallest_p: &[f64], alpha: f64) -> Adjusted {
    let counted = tarone(smallest_p, alpha);
    let bar = alpha / counted as f64;
    let kept: Vec<usize> = (0..p.len()).filter(|&i| smallest_p[i] <= bar).collect();
    let kept_p: Vec<f64> = kept.iter().map(|&i| p[i]).collect();
    let mut q = vec![1.0; p.len()];
    for (&i, adjusted) in kept.iter().zip(holm(&kept_p)) {
        q[i] = adjusted;
    }
    let mut reachable = vec![false; p.len()];
    for i in kept {
        reachable[i] = true;
    }
    Adjusted { q, reachable, counted }
}

/// The result of [`adjust`].
#[derive(Debug, Clone, PartialEq)]
pub struct Adjusted {
    /// The adjusted p-values, in the given order; 1 where `reachable` is false.
    pub q: Vec<f64>,
    /// Whether the test had enough samples to be able to pass.
    pub reachable: Vec<bool>,
    /// Tarone's k, by which α is divided.
    pub counted: usize,
}
