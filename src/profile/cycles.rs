//! Cycles in a call graph, and the total cost of its nodes.

/// The cycles of a call graph: its strongly connected components.
///
/// Outside of cycles, a node's total is its self plus the cost of its calls. Within a cycle, the cost of a call may
/// contain that of its caller, which must not be counted again. For a node that only calls itself, it is enough to
/// ignore the calls to itself.
pub(crate) struct Cycles {
    /// The cycle of each node. A node that is in no cycle has one of its own.
    of: Vec<usize>,
    /// Number of nodes in each cycle.
    size: Vec<usize>,
}

/// The total of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Total {
    pub(crate) value: i64,
    /// Whether it is only an upper bound.
    pub(crate) is_bound: bool,
}

impl Cycles {
    /// Finds the cycles among `nodes` nodes; an edge is a caller and a callee. This is Tarjan's algorithm with an
    /// explicit stack instead of recursion.
    pub(crate) fn find(nodes: usize, edges: impl Iterator<Item = (usize, usize)> + Clone) -> Cycles {
        const NEW: usize = usize::MAX;
        let (starts, callees) = by_caller(nodes, edges);
        let mut cycles = Cycles { of: vec![NEW; nodes], size: Vec::new() };
        let (mut order, mut low) = (vec![NEW; nodes], vec![0; nodes]);
        let (mut open, mut next) = (Vec::new(), 0);
        for root in 0..nodes {
            if order[root] != NEW {
                continue;
            }
            // Nodes being visited, each with its next edge.
            let mut visits = vec![(root, starts[root])];
            while let Some((node, edge)) = visits.pop() {
                if order[node] == NEW {
                    (order[node], low[node]) = (next, next);
                    next += 1;
                    open.push(node);
                }
                if edge > starts[node] {
                    let done = callees[edge - 1];
                    if cycles.of[done] == NEW {
                        low[node] = low[node].min(low[done]);
                    }
                }
                if edge < starts[node + 1] {
                    visits.push((node, edge + 1));
                    let callee = callees[edge];
                    if order[callee] == NEW {
                        visits.push((callee, starts[callee]));
                    }
                } else if low[node] == order[node] {
                    cycles.close(node, &mut open);
                }
            }
        }
        cycles
    }

    fn close(&mut self, first: usize, open: &mut Vec<usize>) {
        let cycle = self.size.len();
        self.size.push(0);
        while let Some(member) = open.pop() {
            self.of[member] = cycle;
            self.size[cycle] += 1;
            if member == first {
                return;
            }
        }
    }

    /// Whether a node is in a cycle with others.
    pub(crate) fn holds(&self, node: usize) -> bool {
        self.size[self.of[node]] > 1
    }

    /// The total of every node, given its self, the cost of calls, and `charged`, the cost charged to it otherwise.
    /// Within a cycle, it is an upper bound: the cost charged by callers and that with which stacks start, but at least
    /// the node's self and its calls out of the cycle, and at most the cost of the whole cycle. It is exact if it is that
    /// least, or what callers outside of the cycle are charged for: none of these calls contains another. Nor does a node
    /// recur that is called once, if no stack starts with it; `calls` has how often each is called, if that is known.
    ///
    /// Nothing calls the outermost function. If `a` calls `t` for 15, and `t` calls `a` for 10 of them, the cycle costs
    /// 15 and nobody outside is charged for it, so the stacks start in it: with `a`, which spends more than the 10.
    pub(crate) fn totals(
        &self,
        self_values: &[i64],
        edges: impl Iterator<Item = (usize, usize, i64)>,
        mut charged: Vec<i64>,
        calls: Option<&[i64]>,
    ) -> Vec<Total> {
        let mut own = self_values.to_vec();
        let mut from_outside = vec![0_i64; own.len()];
        // What a node spends: its self and all of its calls.
        let mut spent = self_values.to_vec();
        let mut of_cycle = vec![0_i64; self.size.len()];
        // What a cycle costs beyond what those outside of it are charged for: stacks start in it.
        let mut starting = vec![0_i64; self.size.len()];
        for (node, (&value, &charged)) in own.iter().zip(&charged).enumerate() {
            let cycle = self.of[node];
            of_cycle[cycle] = of_cycle[cycle].saturating_add(value);
            starting[cycle] = starting[cycle].saturating_sub(charged);
        }
        for (caller, callee, value) in edges {
            let (from, to) = (self.of[caller], self.of[callee]);
            if from != to {
                own[caller] = own[caller].saturating_add(value);
                of_cycle[from] = of_cycle[from].saturating_add(value);
                starting[to] = starting[to].saturating_sub(value);
                from_outside[callee] = from_outside[callee].saturating_add(value);
            }
            if caller != callee {
                spent[caller] = spent[caller].saturating_add(value);
                charged[callee] = charged[callee].saturating_add(value);
            }
        }
        for (starting, &cost) in starting.iter_mut().zip(&of_cycle) {
            *starting = starting.saturating_add(cost).max(0);
        }
        let total = |node: usize| {
            if !self.holds(node) {
                return Total { value: own[node], is_bound: false };
            }
            let cycle = self.of[node];
            let uncalled = spent[node].saturating_sub(charged[node]).clamp(0, starting[cycle]);
            let value = charged[node].saturating_add(uncalled).max(own[node]).min(of_cycle[cycle]);
            let recurs = calls.is_none_or(|calls| calls[node] != 1) || uncalled > 0;
            Total { value, is_bound: recurs && value > own[node].max(from_outside[node]) }
        };
        (0..own.len()).map(total).collect()
    }
}

/// The callees of all nodes in one list, and where those of each node start.
fn by_caller(nodes: usize, edges: impl Iterator<Item = (usize, usize)> + Clone) -> (Vec<usize>, Vec<usize>) {
    let mut starts = vec![0; nodes + 1];
    for (caller, _) in edges.clone() {
        starts[caller + 1] += 1;
    }
    for node in 0..nodes {
        starts[node + 1] += starts[node];
    }
    let mut next = starts.clone();
    let mut callees = vec![0; starts[nodes]];
    for (caller, callee) in edges {
        let slot = &mut next[caller];
        callees[*slot] = callee;
        *slot += 1;
    }
    (starts, callees)
}
