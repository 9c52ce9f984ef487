//! The time that each view takes on a loaded profile, and the pictures of the flame graph.

use std::hint::black_box;
use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, criterion_group, criterion_main};
use prof::output::{HtmlOptions, SvgOptions, html, svg};
use prof::profile::Profile;
use prof::view::{
    FlameOptions, FocusOptions, GraphOptions, HotOptions, PageOptions, Scope, TopOptions, TreeOptions,
    bottom_up, flame, focus, graph, hot, page, top, tree,
};

#[path = "support/generated.rs"]
mod generated;

/// The views whose time depends most on how many stacks are distinct.
fn by_stacks(group: &mut BenchmarkGroup<'_, WallTime>, stacks: &str, profile: &Profile, metric: usize) {
    let scope = || Scope::metric(metric);
    group.bench_function(format!("tree{stacks}"), |bench| {
        // As on a terminal: nodes below 0.5% are not expanded.
        let options = TreeOptions { min_share: 0.5, limit: Some(40), ..TreeOptions::new(scope()) };
        bench.iter(|| black_box(tree(profile, &options)));
    });
    group.bench_function(format!("hot{stacks}"), |bench| {
        let options = HotOptions::new(scope());
        bench.iter(|| black_box(hot(profile, &options)));
    });
    group.bench_function(format!("flame{stacks}"), |bench| {
        let options = FlameOptions::new(scope());
        bench.iter(|| black_box(flame(profile, &options)));
    });
    group.bench_function(format!("page{stacks}"), |bench| {
        let options =
            PageOptions { scope: scope(), title: String::new(), own: None, lines: false, times: false };
        bench.iter(|| html(&page(profile, &options), &HtmlOptions::default(), &mut std::io::sink()).unwrap());
    });
}

fn views(criterion: &mut Criterion) {
    let profile = generated::profile(200_000);
    let scope = || Scope::metric(1);
    let mut group = criterion.benchmark_group("view");
    group.sample_size(10).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(2));
    group.bench_function("top", |bench| {
        let options = TopOptions::new(scope());
        bench.iter(|| black_box(top(&profile, &options)));
    });
    group.bench_function("tree, whole", |bench| {
        let options = TreeOptions::new(scope());
        bench.iter(|| black_box(tree(&profile, &options)));
    });
    group.bench_function("tree --bottom-up", |bench| {
        let options = TreeOptions { limit: Some(10), min_share: 20.0, ..TreeOptions::new(scope()) };
        bench.iter(|| black_box(bottom_up(&profile, &options).unwrap()));
    });
    group.bench_function("focus", |bench| {
        let heaviest = top(&profile, &TopOptions::new(scope())).rows[0].name.to_string();
        let options = FocusOptions::new(scope(), &heaviest);
        bench.iter(|| black_box(focus(&profile, &options).is_ok()));
    });
    group.bench_function("graph", |bench| {
        let options = GraphOptions { max_nodes: Some(80), min_edge: 0.1, ..GraphOptions::new(scope()) };
        bench.iter(|| black_box(graph(&profile, &options)));
    });
    group.bench_function("flame, as SVG", |bench| {
        let options = FlameOptions::new(scope());
        bench.iter(|| svg(&flame(&profile, &options), &SvgOptions::default(), &mut std::io::sink()).unwrap());
    });
    by_stacks(&mut group, "", &profile, 1);
    by_stacks(&mut group, ", distinct stacks", &generated::distinct_profile(50 << 20), 0);
    group.finish();
}

criterion_group!(benches, views);
criterion_main!(benches);
