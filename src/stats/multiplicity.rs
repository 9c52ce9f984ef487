//! Many functions are tested at once, and one alarm among them fails a build: the p-values are adjusted for that.

/// Holm's step-down adjustment (1979): with every adjusted value below α called a change, the chance of even one false
/// alarm among *all* the tests is below α, whatever their dependence. The result keeps the order of `p`.
///
/// Not the gentler false discovery rate, because the exit code asks for "any": there, one true regression lowers the
/// bar for all the others.
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

/// The adjustment of Benjamini and Hochberg (1995): among the rows listed below α at most that *fraction* is expected to
/// be false. The verdicts use [`holm`]; this one is here to be compared with it: the test vectors that other
/// implementations of these statistics share hold both.
pub fn benjamini_hochberg(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    let mut adjusted = vec![1.0; p.len()];
    let mut running: f64 = 1.0;
    for (rank, &i) in order.iter().enumerate().rev() {
        running = running.min(p[i] * p.len() as f64 / (rank + 1) as f64);
        adjusted[i] = running;
    }
    adjusted
}

/// How many of the tests count for the adjustment? Tarone's (1990) answer: a test whose smallest *possible* p-value
/// cannot pass the bar can raise no false alarm, so it is left out and costs the others nothing. Returns the smallest
/// k such that at most k tests could pass α / k.
///
/// Example: of 60 functions 50 hold three samples each. Three of three give p >= 1/16, so only ten tests share the 1 %.
pub fn tarone(smallest_p: &[f64], alpha: f64) -> usize {
    let mut sorted = smallest_p.to_vec();
    sorted.sort_by(f64::total_cmp);
    (1..=sorted.len())
        .find(|&k| sorted.partition_point(|&p| p <= alpha / k as f64) <= k)
        .unwrap_or(sorted.len().max(1))
}

/// Tarone's choice and Holm's adjustment together: a q-value for every test, 1 for those left out, and their bar k.
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

/// What [`adjust`] found.
#[derive(Debug, Clone, PartialEq)]
pub struct Adjusted {
    /// The adjusted p-values, in the order given; 1 where `reachable` is false.
    pub q: Vec<f64>,
    /// Whether the test had samples enough that it could have passed at all.
    pub reachable: Vec<bool>,
    /// Tarone's k, the number α is divided by.
    pub counted: usize,
}
