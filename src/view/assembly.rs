//! `source --asm`: the instructions of a function with their values.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::Arc;

use hashbrown::HashMap;

use crate::binary::{Code, FunctionCode};
use crate::profile::{MappingId, Profile};
use crate::report::{Assembly, AssemblyFunction, AssemblyLine, Message, Name};
use crate::tree::{By, KeyId, Subject};
use crate::view::find::find;
use crate::view::source::{SourceOptions, SourceText};
use crate::view::values::{CountedKeys, RowValues};
use crate::view::{NotFound, Scope, Sort, SortKey};

/// Where code was running: a mapping, and an address as the profile has it.
pub type CodeSpot = (MappingId, u64);

/// The code of functions, and the file that it was read from.
#[derive(Clone, Debug, Default)]
pub struct BinaryCode {
    /// The file.
    pub path: String,
    /// The code, with the linked address of each spot.
    pub code: Code,
}

/// Why there are no instructions to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoAssembly<E> {
    /// No function matches.
    Function(NotFound),
    /// The profile has no addresses of this function.
    Addresses(Name),
    /// The function was always inlined, into these functions.
    Inlined(Name, Vec<Name>),
    /// The code cannot be read.
    Code(E),
}

/// The most functions named in an error.
const NAMED: usize = 3;

/// Self and total of every instruction of the matching functions.
///
/// A sample counts for the instruction at the address that it has in the function: as self if that is where it was taken, and
/// once as total. `code_of` returns the code at some spots of one binary, `text_of` the source of a file that has at
/// least so many lines.
pub fn assembly<E: Display>(
    profile: &Profile,
    options: &SourceOptions,
    code_of: &dyn Fn(&[CodeSpot]) -> Result<BinaryCode, E>,
    text_of: &dyn Fn(&str, u32) -> SourceText,
) -> Result<Assembly, NoAssembly<E>> {
    let scope = Scope { by: By::Function, ..options.scope.clone() };
    let subject = scope.subject(profile);
    let found =
        find(&subject, &By::Function, &options.function, options.fixed).map_err(NoAssembly::Function)?;
    let mut header = scope.header(profile, "prof.assembly.v1");
    header.highlight = scope.highlight(&subject);
    header.warnings.extend(found.note.map(Message::note));
    let mut keys: Vec<KeyId> = subject.keys.ids().filter(|&key| found.wanted[key]).collect();
    let row_values = RowValues::new(&header);
    let counted = CountedKeys::new(&subject, &row_values);
    header.elided_rows = counted.cut(&mut keys, &Sort::by(SortKey::Total), options.limit).len() as u64;
    let spots = Spots::of(&subject);
    let mut listing = Listing::default();
    let mut failed = None;
    for key in keys {
        let name = subject.keys.name(key);
        let problem = match spots.physical.get(&key) {
            Some(binaries) => binaries.values().find_map(|spots| match code_of(spots) {
                Ok(code) => {
                    listing.add(name, code, spots);
                    None
                }
                Err(error) => Some(NoAssembly::Code(error)),
            }),
            None => Some(match spots.inlined.get(&key) {
                Some(hosts) => {
                    let hosts = hosts.iter().take(NAMED).map(|&host| subject.keys.name(host).clone());
                    NoAssembly::Inlined(name.clone(), hosts.collect())
                }
                None => NoAssembly::Addresses(name.clone()),
            }),
        };
        failed = failed.or(problem.map(|problem| (name.clone(), problem)));
    }
    if let Some((name, problem)) = failed {
        if listing.functions.is_empty() {
            return Err(problem);
        }
        let why = match problem {
            NoAssembly::Code(error) => error.to_string(),
            NoAssembly::Inlined(..) => "it was always inlined".to_string(),
            NoAssembly::Function(_) | NoAssembly::Addresses(_) => {
                "the profile has no addresses of it".to_string()
            }
        };
        header.warnings.push(Message::warning(format!("no instructions of {name}: {why}")));
    }
    listing.count(&subject);
    Ok(Assembly { header, functions: listing.functions(text_of) })
}

/// Where the frames of functions are.
#[derive(Default)]
struct Spots {
    /// The spots of functions that were called, by binary: the path of its file and its build ID.
    physical: HashMap<KeyId, BTreeMap<(String, String), Vec<CodeSpot>>>,
    /// The functions into which a function was inlined.
    inlined: HashMap<KeyId, Vec<KeyId>>,
}

impl Spots {
    fn of(subject: &Subject<'_>) -> Spots {
        let symbols = &subject.profile.symbols;
        let mut spots = Spots::default();
        let mut hosts: HashMap<CodeSpot, KeyId> = HashMap::new();
        let of_frames = || symbols.frames.enumerate().filter(|(_, frame)| frame.address != 0);
        for (id, frame) in of_frames().filter(|(_, frame)| !frame.inlined) {
            let mapping = symbols.mappings[frame.mapping];
            let binary = [mapping.file, mapping.build_id].map(|text| symbols.strings.get(text).to_string());
            let key = subject.keys.of_frame(id);
            let of_binary = spots.physical.entry(key).or_default().entry(binary.into()).or_default();
            of_binary.push((frame.mapping, frame.address));
            hosts.insert((frame.mapping, frame.address), key);
        }
        for (id, frame) in of_frames().filter(|(_, frame)| frame.inlined) {
            let hosts = hosts.get(&(frame.mapping, frame.address));
            let known = spots.inlined.entry(subject.keys.of_frame(id)).or_default();
            if let Some(host) = hosts.filter(|host| !known.contains(host)) {
                known.push(*host);
            }
        }
        spots
    }
}

/// The functions that are listed, and the instructions at spots.
#[derive(Default)]
struct Listing {
    functions: Vec<Listed>,
    /// The function and the instruction at each spot.
    at: HashMap<CodeSpot, (usize, usize)>,
}

struct Listed {
    name: Name,
    path: String,
    code: FunctionCode,
    self_value: i64,
    total: i64,
    /// Self and total of each instruction.
    values: Vec<(i64, i64)>,
}

impl Listing {
    fn add(&mut self, name: &Name, binary: BinaryCode, spots: &[CodeSpot]) {
        let first = self.functions.len();
        for code in binary.code.functions {
            let values = vec![(0, 0); code.instructions.len()];
            let (name, path) = (name.clone(), binary.path.clone());
            self.functions.push(Listed { name, path, code, self_value: 0, total: 0, values });
        }
        for (&spot, linked) in spots.iter().zip(binary.code.linked) {
            let Some(linked) = linked else { continue };
            let of_spot = self.functions[first..]
                .iter()
                .position(|listed| (listed.code.start..listed.code.end).contains(&linked));
            let Some(function) = of_spot.map(|at| first + at) else { continue };
            let instructions = &self.functions[function].code.instructions;
            let after = instructions.partition_point(|instruction| instruction.address <= linked);
            let is_within = |at: &usize| {
                let offset = linked.checked_sub(instructions[*at].address);
                offset.is_some_and(|offset| offset < u64::from(instructions[*at].size))
            };
            if let Some(instruction) = after.checked_sub(1).filter(is_within) {
                self.at.insert(spot, (function, instruction));
            }
        }
    }

    /// Counts the samples, each once per instruction and per function.
    fn count(&mut self, subject: &Subject<'_>) {
        let symbols = &subject.profile.symbols;
        let mut seen: Vec<(usize, usize)> = Vec::new();
        for stack in subject.stacks() {
            let frames = subject.profile.stacks.frames(stack);
            let value = subject.values(stack).next().unwrap_or_default();
            seen.clear();
            for (depth, &id) in frames.iter().enumerate() {
                let frame = symbols.frames[id];
                let Some(&at) = self.at.get(&(frame.mapping, frame.address)) else { continue };
                let listed = &mut self.functions[at.0];
                if !seen.iter().any(|known| known.0 == at.0) {
                    listed.total += value;
                }
                if !seen.contains(&at) {
                    listed.values[at.1].1 += value;
                    seen.push(at);
                }
                if depth + 1 == frames.len() {
                    listed.self_value += value;
                    listed.values[at.1].0 += value;
                }
            }
        }
    }

    fn functions(self, text_of: &dyn Fn(&str, u32) -> SourceText) -> Vec<AssemblyFunction> {
        let mut sources: HashMap<Name, Vec<Name>> = HashMap::new();
        let mut last_lines: HashMap<Name, u32> = HashMap::new();
        let instructions = self.functions.iter().flat_map(|listed| &listed.code.instructions);
        for (file, line) in instructions.filter_map(|instruction| instruction.place.as_ref()) {
            let last = last_lines.entry(file.clone()).or_default();
            *last = (*last).max(*line);
        }
        let mut text = |file: &Name, line: u32| {
            let last_line = last_lines.get(file).copied().unwrap_or_default();
            let lines = sources.entry(file.clone()).or_insert_with(|| match text_of(file, last_line) {
                SourceText::Found(_, lines) => lines.into_iter().map(Arc::from).collect(),
                SourceText::Missing(_) | SourceText::Another(..) => Vec::new(),
            });
            lines.get((line as usize).checked_sub(1)?).cloned()
        };
        let hex = |address: u64| format!("{address:#x}");
        let mut functions = Vec::new();
        for Listed { name, path, code, self_value, total, values } in self.functions {
            let covered = code
                .instructions
                .last()
                .map_or(code.start, |last| last.address.saturating_add(last.size.into()));
            let instructions =
                code.instructions.into_iter().zip(values).map(|(instruction, (own, total))| {
                    let (file, line) = instruction.place.unzip();
                    let text = file.as_ref().zip(line).and_then(|(file, line)| text(file, line));
                    AssemblyLine {
                        address: hex(instruction.address),
                        self_value: own,
                        total,
                        instruction: instruction.text,
                        file,
                        line,
                        text,
                    }
                });
            functions.push(AssemblyFunction {
                name,
                symbol: code.name,
                binary: path,
                start: hex(code.start),
                end: hex(code.end),
                self_value,
                total,
                cut: covered < code.end,
                instructions: instructions.collect(),
            });
        }
        functions
    }
}
