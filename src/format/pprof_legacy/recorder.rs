//! Collects stacks of addresses until the memory map, which follows them, has been read.

use hashbrown::{HashMap, HashSet};

use crate::format::pprof_legacy::NAME;
use crate::format::pprof_legacy::maps::MemoryMap;
use crate::format::{LoadError, ParseError};
use crate::profile::{Frame, FrameId, Id, LabelSetId, LoadOptions, Profile, ProfileBuilder, StackId};
use crate::unit::plural;

/// The function at an address, from comments in the profile itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AddressSymbol {
    pub(super) function: String,
    pub(super) file: String,
    pub(super) line: u32,
}

/// What is known before the samples are read.
pub(super) struct Start {
    pub(super) options: LoadOptions,
    /// The functions at an address, innermost first.
    pub(super) symbols: HashMap<u64, Vec<AddressSymbol>>,
    /// What the recorder says before the profile.
    pub(super) warning: String,
}

impl From<LoadOptions> for Start {
    fn from(options: LoadOptions) -> Start {
        Start { options, symbols: HashMap::new(), warning: String::new() }
    }
}

/// A profile whose stacks are lists of addresses, leaf first.
pub(super) struct Recorder {
    pub(super) builder: ProfileBuilder,
    stacks: HashMap<Box<[u64]>, StackId>,
    /// The functions at an address, innermost first: more than one where calls were inlined.
    symbols: HashMap<u64, Vec<AddressSymbol>>,
    /// Addresses that have more than one name.
    ambiguous: HashSet<u64>,
    /// Whether the symbols are Go's comments, which do not name every address.
    pub(super) named_by_go: bool,
    /// Whether to drop the addresses of frames with symbols. In Java's profiles, addresses are only keys.
    pub(super) drop_addresses: bool,
}

impl Recorder {
    pub(super) fn new(start: impl Into<Start>, metrics: &[(&str, &str)]) -> Self {
        let Start { options, symbols, warning } = start.into();
        let mut builder = ProfileBuilder::new(NAME, options);
        builder.meta.warnings.extend(Some(warning).filter(|warning| !warning.is_empty()));
        for (name, unit) in metrics {
            builder.meta.default_metric = builder.metric(name, unit);
        }
        Recorder {
            builder,
            stacks: HashMap::new(),
            symbols,
            ambiguous: HashSet::new(),
            named_by_go: false,
            drop_addresses: false,
        }
    }

    /// Adds a sample. Its addresses, leaf first, must already be within the call instructions.
    pub(super) fn sample(&mut self, leaf_first: &[u64], labels: LabelSetId, values: &[i64]) {
        let known = self.stacks.get(leaf_first).copied();
        let stack = known.unwrap_or_else(|| {
            let stack = StackId::new(self.stacks.len());
            self.stacks.insert(leaf_first.into(), stack);
            stack
        });
        self.builder.sample(stack, labels, None, values);
    }

    /// Sets the functions at `address`, innermost first; only the first call for an address has an effect.
    pub(super) fn symbols(&mut self, address: u64, symbols: &[AddressSymbol]) {
        let known = self.symbols.entry(address).or_insert_with(|| symbols.to_vec());
        // How many calls were inlined there is not compared: if a function calls itself, its address comes twice, too.
        let innermost = |symbols: &[AddressSymbol]| symbols.first().map(|symbol| symbol.function.clone());
        if innermost(known) != innermost(symbols) {
            self.ambiguous.insert(address);
        }
    }

    /// Converts addresses to frames and finishes the profile.
    pub(super) fn finish(mut self, map: &mut MemoryMap) -> Result<Profile, LoadError> {
        if !self.ambiguous.is_empty() {
            let count = self.ambiguous.len() as u64;
            let addresses = plural(count, "address has", "addresses have");
            self.builder
                .warn(format!("{count} {addresses} more than one name; each is shown with its first one"));
        }
        let mut stacks: Vec<(StackId, Box<[u64]>)> =
            self.stacks.drain().map(|(addresses, stack)| (stack, addresses)).collect();
        stacks.sort_unstable_by_key(|&(stack, _)| stack);
        if !self.drop_addresses {
            name_calls(&mut self.symbols, &stacks);
        }
        if self.named_by_go {
            let runtime: Vec<_> =
                stacks.iter().flat_map(|(_, addresses)| omitted_by_go(&self.symbols, addresses)).collect();
            for (address, function) in runtime {
                let symbol = AddressSymbol { function: function.to_string(), file: String::new(), line: 0 };
                self.symbols.insert(address, vec![symbol]);
            }
        }
        // Including an address may extend a mapping, so include all of them before making frames.
        for address in stacks.iter().flat_map(|(_, addresses)| addresses) {
            map.include(*address);
        }
        let mut frames_at: HashMap<u64, Vec<FrameId>> = HashMap::new();
        let (symbols, drop_addresses) = (self.symbols, self.drop_addresses);
        let finished = self.builder.finish_provisional(stacks.len(), |builder, number, frames| {
            for &address in stacks[number].1.iter().rev() {
                let at = frames_at
                    .entry(address)
                    .or_insert_with(|| expand(builder, address, symbols.get(&address), map, drop_addresses));
                frames.extend_from_slice(at);
            }
            Ok::<(), ParseError>(())
        })?;
        finished.map_err(|error| ParseError::whole(NAME, error.to_string()).into())
    }
}

/// Names the addresses of calls where only the address after the call, to which the function returns, has a name. Go does so
/// up to 1.6, and so do programs that name the addresses of samples as they are.
fn name_calls(symbols: &mut HashMap<u64, Vec<AddressSymbol>>, stacks: &[(StackId, Box<[u64]>)]) {
    let used: HashSet<u64> = stacks.iter().flat_map(|(_, addresses)| addresses).copied().collect();
    let unused: Vec<u64> = symbols.keys().filter(|address| !used.contains(*address)).copied().collect();
    for address in unused {
        let call = address.wrapping_sub(1);
        if used.contains(&call)
            && !symbols.contains_key(&call)
            && let Some(names) = symbols.remove(&address)
        {
            symbols.insert(call, names);
        }
    }
}

/// The name for functions of Go's runtime that Go did not name.
pub(super) const UNNAMED_RUNTIME: &str = "runtime.<unnamed>";

/// The addresses of a stack, leaf first, that Go's comments omit, with their functions: those of the runtime
/// between the leaf and the first named function, and `runtime.goexit`, with which every goroutine starts.
fn omitted_by_go(symbols: &HashMap<u64, Vec<AddressSymbol>>, addresses: &[u64]) -> Vec<(u64, &'static str)> {
    let is_named = |address: &u64| symbols.contains_key(address);
    let Some(first) = addresses.iter().position(is_named) else { return Vec::new() };
    let mut omitted: Vec<_> = addresses[..first].iter().map(|&address| (address, UNNAMED_RUNTIME)).collect();
    omitted.extend(addresses.last().filter(|&last| !is_named(last)).map(|&last| (last, "runtime.goexit")));
    omitted
}

/// The frames at an address, outermost first.
fn expand(
    builder: &mut ProfileBuilder,
    address: u64,
    symbols: Option<&Vec<AddressSymbol>>,
    map: &MemoryMap,
    drop_addresses: bool,
) -> Vec<FrameId> {
    let mapping = map.mapping_of(builder, address);
    let Some(symbols) = symbols.filter(|symbols| !symbols.is_empty()) else {
        let function = builder.unnamed_function(mapping);
        return vec![builder.frame(Frame { function, address, mapping, ..Frame::default() })];
    };
    let address = if drop_addresses { 0 } else { address };
    let physical = symbols.len() - 1;
    let mut frames = Vec::with_capacity(symbols.len());
    for (index, symbol) in symbols.iter().enumerate().rev() {
        let function = builder.named_function(&symbol.function, &symbol.file);
        let inlined = index < physical;
        frames.push(builder.frame(Frame { function, line: symbol.line, address, mapping, inlined }));
    }
    frames
}
