//! Where a change began, for profiles that hold calls instead of stacks: what a function costs because of another one
//! is divided among its callers in proportion to what their calls cost.

use std::cell::{OnceCell, RefCell};
use std::collections::HashSet;
use std::rc::Rc;

use hashbrown::HashMap;

use crate::profile::{Column, Id};
use crate::stats::CountKind;
use crate::stats::attribution::{Caller, ExcludedStacks, Side, StackSource};
use crate::tree::{CallEdge, Flat, KeyId, Subject, call_edges, flat};

/// Functions with a smaller share than this, from 0 to 1, are neither changes that matter nor on the way to one.
const LEAST_SHARE: f64 = 0.0005;
/// Functions of which one calls the other may have equal totals and so be in any order: the shares of callees then need
/// several rounds to reach all callers.
const ROUNDS: usize = 8;

/// The calls of a subject whose series are profiles, the old ones first. Functions have the numbers of their keys.
pub(super) struct CountedGraph<'s, 'p> {
    subject: &'s Subject<'p>,
    counted: Flat,
    old: usize,
    profiles: usize,
    /// How much of the metric makes one sample.
    size: f64,
    /// Found on first use: in most comparisons there is no change to follow.
    graph: OnceCell<Graph>,
    /// The functions that each function calls, directly or not.
    below: RefCell<HashMap<usize, Rc<HashSet<usize>>>>,
}

/// The calls between functions that are heavy enough to matter.
struct Graph {
    edges: Vec<CallEdge>,
    of_caller: HashMap<usize, Vec<usize>>,
    to_callee: HashMap<usize, Vec<usize>>,
    /// Functions that call others, callees mostly before their callers.
    callers: Vec<usize>,
}

impl Graph {
    fn new(subject: &Subject<'_>, counted: &Flat, profiles: usize) -> Self {
        let sum = |columns: &[Column<KeyId, i64>], key: KeyId| -> f64 {
            columns[..profiles].iter().map(|column| column[key] as f64).sum()
        };
        let all: f64 = subject.keys.ids().map(|key| sum(&counted.self_value, key)).sum();
        let heavy = subject.keys.ids().filter(|&key| sum(&counted.total, key) >= LEAST_SHARE * all);
        let is_heavy = Column::marking(heavy, subject.keys.len());
        let mut edges = call_edges(subject, &is_heavy);
        edges.retain(|edge| edge.caller != edge.callee);
        let (mut of_caller, mut to_callee) =
            (HashMap::<usize, Vec<usize>>::new(), HashMap::<usize, Vec<usize>>::new());
        for (number, edge) in edges.iter().enumerate() {
            of_caller.entry(edge.caller.index()).or_default().push(number);
            to_callee.entry(edge.callee.index()).or_default().push(number);
        }
        let mut callers: Vec<usize> = of_caller.keys().copied().collect();
        callers.sort_unstable();
        callers.sort_by(|&a, &b| {
            sum(&counted.total, KeyId::new(a)).total_cmp(&sum(&counted.total, KeyId::new(b)))
        });
        Graph { edges, of_caller, to_callee, callers }
    }

    fn calls_of(&self, function: usize) -> impl Iterator<Item = &CallEdge> {
        self.of_caller.get(&function).into_iter().flatten().map(|&edge| &self.edges[edge])
    }

    fn calls_to(&self, function: usize) -> impl Iterator<Item = &CallEdge> {
        self.to_callee.get(&function).into_iter().flatten().map(|&edge| &self.edges[edge])
    }
}

impl<'s, 'p> CountedGraph<'s, 'p> {
    pub(super) fn new(subject: &'s Subject<'p>, old: usize, profiles: usize, size: f64) -> Self {
        let counted = flat(subject);
        CountedGraph {
            subject,
            counted,
            old,
            profiles,
            size,
            graph: OnceCell::new(),
            below: RefCell::default(),
        }
    }

    fn graph(&self) -> &Graph {
        self.graph.get_or_init(|| Graph::new(self.subject, &self.counted, self.profiles))
    }

    fn below(&self, function: usize) -> Rc<HashSet<usize>> {
        if let Some(known) = self.below.borrow().get(&function) {
            return Rc::clone(known);
        }
        let (mut below, mut open) = (HashSet::new(), vec![function]);
        while let Some(caller) = open.pop() {
            let callees = self.graph().calls_of(caller).map(|edge| edge.callee.index());
            open.extend(callees.filter(|&callee| callee != function && below.insert(callee)));
        }
        let below = Rc::new(below);
        self.below.borrow_mut().insert(function, Rc::clone(&below));
        below
    }

    /// What a function costs in one profile because it calls the functions `through`, directly or not.
    fn spent_in(&self, function: usize, through: &[usize], series: usize) -> f64 {
        let totals = &self.counted.total[series];
        // The part of each function that is due to `through`.
        let mut part: HashMap<usize, f64> = through.iter().map(|&callee| (callee, 1.0)).collect();
        let spent = |part: &HashMap<usize, f64>, caller: usize| -> f64 {
            let calls = self.graph().calls_of(caller);
            calls
                .map(|edge| edge.values[series] as f64 * part.get(&edge.callee.index()).unwrap_or(&0.0))
                .sum()
        };
        let below = self.below(function);
        let between: Vec<usize> = self
            .graph()
            .callers
            .iter()
            .copied()
            .filter(|caller| below.contains(caller) && *caller != function && !through.contains(caller))
            .collect();
        for _ in 0..ROUNDS {
            let mut is_settled = true;
            for &caller in &between {
                let total = totals[KeyId::new(caller)] as f64;
                let new = if total > 0.0 { (spent(&part, caller) / total).clamp(0.0, 1.0) } else { 0.0 };
                let known = part.insert(caller, new).unwrap_or(0.0);
                is_settled &= (new - known).abs() < 1e-9;
            }
            if is_settled {
                break;
            }
        }
        spent(&part, function)
    }

    fn value(&self, function: usize, measure: CountKind, series: usize) -> f64 {
        let columns = match measure {
            CountKind::SelfCount => &self.counted.self_value,
            CountKind::Total => &self.counted.total,
        };
        columns[series][KeyId::new(function)] as f64
    }
}

impl StackSource for CountedGraph<'_, '_> {
    fn counts(&self, function: usize, measure: CountKind, cut: ExcludedStacks<'_>) -> Vec<f64> {
        let of_series = |series: usize| {
            let own = if cut.ending { self.value(function, CountKind::SelfCount, series) } else { 0.0 };
            let through = match measure {
                CountKind::Total if !cut.through.is_empty() => self.spent_in(function, cut.through, series),
                _ => 0.0,
            };
            (self.value(function, measure, series) - own - through).max(0.0) / self.size
        };
        (0..self.profiles).map(of_series).collect()
    }

    fn includes(&self, function: usize, callee: usize) -> bool {
        self.below(function).contains(&callee)
    }

    fn callers(&self, function: usize, measure: CountKind, side: Side) -> Vec<Caller> {
        let series = match side {
            Side::Old => 0..self.old,
            Side::New => self.old..self.profiles,
        };
        let part = |series: usize| match measure {
            CountKind::Total => 1.0,
            CountKind::SelfCount => {
                let total = self.value(function, CountKind::Total, series);
                if total > 0.0 { self.value(function, CountKind::SelfCount, series) / total } else { 0.0 }
            }
        };
        let caller = |edge: &CallEdge| {
            let count: f64 = series.clone().map(|series| edge.values[series] as f64 * part(series)).sum();
            Caller { function: edge.caller.index(), count: count / self.size }
        };
        let mut callers: Vec<Caller> = self.graph().calls_to(function).map(caller).collect();
        callers.sort_by(|a, b| b.count.total_cmp(&a.count).then(a.function.cmp(&b.function)));
        callers
    }

    fn leafmost(&self, functions: &[usize]) -> usize {
        let calls_another = |&&function: &&usize| {
            self.graph().calls_of(function).any(|edge| functions.contains(&edge.callee.index()))
        };
        let leafmost = functions.iter().find(|function| !calls_another(function));
        leafmost.or(functions.first()).copied().unwrap_or_default()
    }
}
