//! The costs of functions, which are only complete at the end of a file.

use hashbrown::{HashMap, HashSet};

use crate::profile::{Function, FunctionId, Id, Mapping, ProfileBuilder, StringId, ValueSums};

/// The costs of functions. Rows of values are indexed by function, and end with a number of calls.
#[derive(Default)]
pub(super) struct Costs {
    /// Functions that have their own section in the file.
    defined: HashSet<FunctionId>,
    /// The binary of each function, by its number; the empty text if unknown.
    object_of: Vec<StringId>,
    self_values: ValueSums,
    /// Self cost and inclusive cost of calls in sections that are not of recursive calls.
    outermost: ValueSums,
    /// Whether the file distinguishes recursive calls.
    has_nested: bool,
    callees: HashSet<FunctionId>,
    /// The cost of all calls of each callee.
    received: ValueSums,
}

impl Costs {
    /// Starts a section; `is_nested` if it is that of recursive calls.
    pub(super) fn start(&mut self, function: FunctionId, is_nested: bool) {
        self.defined.insert(function);
        self.has_nested |= is_nested;
    }

    /// Sets the binary of a function, unless it is already known.
    pub(super) fn set_object(&mut self, function: FunctionId, object: StringId) {
        if self.object_of.len() <= function.index() {
            self.object_of.resize(function.index() + 1, StringId::default());
        }
        let known = &mut self.object_of[function.index()];
        if *known == StringId::default() {
            *known = object;
        }
    }

    /// Whether a function is of this binary, as far as is known.
    pub(super) fn is_of(&self, function: FunctionId, object: StringId) -> bool {
        let unknown = StringId::default();
        let known = self.object(function);
        known == object || known == unknown || object == unknown
    }

    fn object(&self, function: FunctionId) -> StringId {
        self.object_of.get(function.index()).copied().unwrap_or_default()
    }

    pub(super) fn add_self(&mut self, function: FunctionId, values: &[i64]) {
        add(&mut self.self_values, function, values);
    }

    pub(super) fn add_outermost(&mut self, function: FunctionId, values: &[i64]) {
        add(&mut self.outermost, function, values);
    }

    pub(super) fn add_received(&mut self, callee: FunctionId, values: &[i64]) {
        self.callees.insert(callee);
        add(&mut self.received, callee, values);
    }

    /// Passes all functions to the builder, which already has the calls.
    pub(super) fn finish(self, builder: &mut ProfileBuilder) {
        let callee_of = self.defined_callees(builder);
        builder.redirect_callees(&callee_of);
        let calls = builder.meta.metrics.len() - 1;
        let mut called: HashMap<FunctionId, i64> = HashMap::new();
        for &callee in &self.callees {
            let sum = called.entry(callee_of.get(&callee).copied().unwrap_or(callee)).or_default();
            *sum = sum.saturating_add(self.received.at(callee.index(), calls));
        }
        let mut functions: Vec<FunctionId> = self.defined.iter().chain(called.keys()).copied().collect();
        functions.sort_unstable();
        functions.dedup();
        for function in functions {
            let row = |sums: &ValueSums| {
                let mut row: Vec<i64> = (0..calls).map(|metric| sums.at(function.index(), metric)).collect();
                row.push(called.get(&function).copied().unwrap_or(0));
                row
            };
            builder.call_node(function, &row(&self.self_values));
            if !self.defined.contains(&function) {
                // The cost of a callee without a section is the cost of its calls.
                builder.call_total(function, &row(&self.received));
            } else if self.has_nested {
                builder.call_total(function, &row(&self.outermost));
            }
            let file = self.object(function);
            let mapping = builder.mapping(Mapping { file, ..Mapping::default() });
            builder.call_mapping(function, mapping);
        }
    }

    /// Maps callees without a section to the functions with a section that they refer to. Some writers omit the file of a
    /// callee; pprof numbers the callees in a call tree (`lex [1/2]`), but not their sections (`lex`). Such a callee is
    /// the only function with that name and file, or with that name.
    fn defined_callees(&self, builder: &ProfileBuilder) -> HashMap<FunctionId, FunctionId> {
        let mut by_place: HashMap<(&str, StringId), Option<FunctionId>> = HashMap::new();
        let mut by_name: HashMap<&str, Option<FunctionId>> = HashMap::new();
        for &function in &self.defined {
            let Function { name, file, .. } = builder.function_row(function);
            let name = builder.text(name);
            by_place.entry((name, file)).and_modify(|only| *only = None).or_insert(Some(function));
            by_name.entry(name).and_modify(|only| *only = None).or_insert(Some(function));
        }
        let find = |name: &str, file: StringId| {
            by_place.get(&(name, file)).or_else(|| by_name.get(name)).copied().flatten()
        };
        let undefined = self.callees.iter().copied().filter(|callee| !self.defined.contains(callee));
        undefined
            .filter_map(|callee| {
                let Function { name, file, .. } = builder.function_row(callee);
                let name = builder.text(name);
                Some((callee, find(name, file).or_else(|| find(without_number(name)?, file))?))
            })
            .collect()
    }
}

/// Adds values to those of a function. The builder reports sums that do not fit.
fn add(sums: &mut ValueSums, function: FunctionId, values: &[i64]) {
    let _ = sums.add(function.index(), values);
}

/// The name `lex` of `lex [1/2]`, the first of two nodes for `lex` in a call tree.
fn without_number(name: &str) -> Option<&str> {
    let (name, number) = name.strip_suffix(']')?.rsplit_once(" [")?;
    let (which, of) = number.split_once('/')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (is_number(which) && is_number(of)).then_some(name)
}
