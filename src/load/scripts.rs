//! Original names for the functions of bundled, compiled and minified scripts, from source maps.
//!
//! A map that a person named is used for the scripts whose name it has. So is a map inside the recording for the script whose URL it
//! has. A map next to a script on this machine, or inside it, is
//! used only if that script is the one that was recorded: its functions must start where the profile says. Nothing is fetched.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::name::base_name;
use crate::profile::{EmbeddedSource, Function, FunctionId, Profile};
use crate::sourcemap::{
    Known, OriginalFunction, Position, Script, SourceMap, data_of_url, is_url, last_word, path_of_url,
    resolved,
};
use crate::transform::{Original, with_originals};
use crate::unit::plural;

/// Where to look for source maps.
#[derive(Clone, Debug)]
pub struct SourceMaps {
    /// Maps, scripts, and folders of them. They have to exist.
    pub given: Vec<PathBuf>,
    /// Whether to use the maps of scripts on this machine.
    pub automatic: bool,
}

impl Default for SourceMaps {
    fn default() -> Self {
        SourceMaps { given: Vec::new(), automatic: true }
    }
}

/// Larger scripts and maps are not read.
const MOST_BYTES: u64 = 256 << 20;

/// Of the functions that can be checked, so many percent must be where the profile says, or it is another script.
const LEAST_FITTING: usize = 80;

/// The maps of the scripts of several profiles, each read once.
pub(super) struct Scripts<'o> {
    options: &'o SourceMaps,
    /// Whether names are wanted at all.
    wanted: bool,
    candidates: Mutex<HashMap<String, Arc<Vec<Candidate>>>>,
    /// What was done, by script.
    done: Mutex<BTreeMap<String, Done>>,
}

/// A map that may be that of a script.
struct Candidate {
    /// The file that contains it.
    path: String,
    map: Result<SourceMap, String>,
    /// The script as it is here.
    script: Option<Script>,
    is_given: bool,
}

/// What was done for the functions of a script.
#[derive(Default)]
struct Done {
    /// The file with the map.
    path: String,
    /// The functions that got the name of the source, and those that kept a short one: name, line, column.
    named: BTreeSet<(String, u32, u32)>,
    unnamed: BTreeSet<(String, u32, u32)>,
    refused: Option<Refused>,
}

/// A map that was not used, and why.
struct Refused {
    path: String,
    why: String,
}

/// Where the code of a function is mapped.
struct MapPlace {
    candidates: Arc<Vec<Candidate>>,
    /// The number of the map.
    chosen: usize,
    /// Where the function starts in the script.
    start: Position,
    /// The number of its source.
    source: u32,
}

/// A function of a script, and where it starts there.
#[derive(Clone, Copy)]
struct ScriptFunction<'p> {
    id: FunctionId,
    name: &'p str,
    start: Position,
}

impl<'o> Scripts<'o> {
    /// Looks for names only if they are `wanted`.
    pub(super) fn new(options: &'o SourceMaps, wanted: bool) -> Self {
        Scripts { options, wanted, candidates: Mutex::default(), done: Mutex::default() }
    }

    /// The profile with the original functions, as far as there are maps.
    pub(super) fn apply(&self, mut profile: Profile) -> Profile {
        let recorded = std::mem::take(&mut profile.meta.source_maps);
        if !self.wanted || (!self.options.automatic && self.options.given.is_empty()) {
            return profile;
        }
        let mut originals = BTreeMap::new();
        let mut sources = BTreeMap::new();
        let mut places: HashMap<FunctionId, MapPlace> = HashMap::new();
        for (file, functions) in scripts(&profile) {
            let mut candidates = self.candidates(file);
            let is_given = candidates.iter().any(|candidate| candidate.is_given);
            if let Some(map) = recorded.get(file).filter(|_| self.options.automatic && !is_given) {
                candidates = Arc::new(vec![Candidate::recorded(map)]);
            }
            let Some(chosen) = self.choose(file, &functions, &candidates) else { continue };
            let candidate = &candidates[chosen];
            let Ok(map) = &candidate.map else { continue };
            for function in functions {
                let Some(found) = original_of(map, candidate.script.as_ref(), function) else { continue };
                let Some(source) = map.source(found.source) else { continue };
                let Some(name) = &source.name else { continue };
                let place = resolved(file, name);
                if let Some(text) = &source.text {
                    let from = candidate.path.clone();
                    let copy = || Arc::new(EmbeddedSource { from, text: text.clone() });
                    sources.entry(place.clone()).or_insert_with(copy);
                }
                self.count(file, &candidate.path, function, &found);
                originals.insert(
                    function.id,
                    Original {
                        name: found.name.unwrap_or_else(|| function.name.to_string()),
                        file: place,
                        line: found.start.line.saturating_add(1),
                        column: found.start.column.saturating_add(1),
                    },
                );
                let (start, source) = (function.start, found.source);
                places
                    .insert(function.id, MapPlace { candidates: candidates.clone(), chosen, start, source });
            }
        }
        if originals.is_empty() {
            return profile;
        }
        let line_of = |id: FunctionId, line: u32| {
            let Some(place) = places.get(&id) else { return 0 };
            let Ok(map) = &place.candidates[place.chosen].map else { return 0 };
            let found = map.original_line(line.saturating_sub(1), place.start, place.source);
            found.map_or(0, |line| line.saturating_add(1))
        };
        let mut named = with_originals(&profile, &originals, line_of);
        named.meta.sources.extend(sources);
        named
    }

    /// Notes on the maps that were used, and warnings about those that were not.
    pub(super) fn messages(&self) -> (Vec<String>, Vec<String>) {
        let done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        let mut notes = Vec::new();
        for (script, done) in done.iter() {
            let (named, unnamed) = (done.named.len(), done.unnamed.len());
            if named + unnamed == 0 {
                continue;
            }
            let functions = plural(named as u64, "function", "functions");
            let (script, path) = (base_name(script), &done.path);
            let mut note = format!("{named} {functions} of {script} named by the source map {path}");
            if unnamed > 0 {
                let keep = plural(unnamed as u64, "keeps its minified name", "keep their minified names");
                note.push_str(&format!("; {unnamed} {keep}, for which the map has no other"));
            }
            notes.push(note);
        }
        (notes, refusals(&done))
    }

    fn count(&self, file: &str, path: &str, function: ScriptFunction, found: &OriginalFunction) {
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        let done = done.entry(file.to_string()).or_default();
        path.clone_into(&mut done.path);
        let is_minified = last_word(function.name).is_some_and(|word| word.chars().count() <= SHORT);
        let kept = found.name.is_none() && is_minified;
        let counted = if kept { &mut done.unnamed } else { &mut done.named };
        counted.insert((function.name.to_string(), function.start.line, function.start.column));
    }

    fn refuse(&self, file: &str, refused: Refused) {
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        done.entry(file.to_string()).or_default().refused.get_or_insert(refused);
    }

    /// The maps that may be those of a script; given ones come first.
    fn candidates(&self, file: &str) -> Arc<Vec<Candidate>> {
        let mut known = self.candidates.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(file.to_string()).or_insert_with(|| Arc::new(self.find(file))).clone()
    }

    fn find(&self, file: &str) -> Vec<Candidate> {
        let path = path_of_url(file);
        let given = self.options.given.iter().flat_map(|place| given(place, &path));
        let mut found: Vec<Candidate> =
            given.filter_map(|script| Some(Candidate { is_given: true, ..candidate(&script)? })).collect();
        for place in self.options.given.iter().filter(|place| place.is_file()) {
            let read = || read_map(place).filter(|map| map.as_ref().is_ok_and(|map| belongs(map, &path)));
            if !is_map_of(place, &path)
                && is_map(place)
                && let Some(map) = read()
            {
                let path = place.display().to_string();
                found.push(Candidate { path, map, script: None, is_given: true });
            }
        }
        if self.options.automatic && is_own_script(file, &path) {
            found.extend(candidate(Path::new(&*path)));
        }
        found
    }

    /// The number of the map that fits the functions of a script best.
    fn choose(&self, file: &str, functions: &[ScriptFunction], candidates: &[Candidate]) -> Option<usize> {
        let mut best: Option<((usize, usize), usize)> = None;
        let mut refused = None;
        for (number, candidate) in candidates.iter().enumerate() {
            match candidate.fit(functions) {
                Ok(fit) if best.is_none_or(|(known, _)| fit > known) => best = Some((fit, number)),
                Ok(_) => {}
                Err(why) => {
                    refused.get_or_insert_with(|| Refused { path: candidate.path.clone(), why });
                }
            }
        }
        match (best, refused) {
            (Some((_, number)), _) => Some(number),
            (None, Some(refused)) => {
                self.refuse(file, refused);
                None
            }
            (None, None) => None,
        }
    }
}

impl Candidate {
    /// A map inside the recording, where the one who recorded put it.
    fn recorded(map: &[u8]) -> Candidate {
        let (path, map) = ("in the recording".to_string(), SourceMap::parse(map));
        Candidate { path, map, script: None, is_given: true }
    }

    /// How well the map fits the functions of a script: the percentage of those that are where they should be, and the number of
    /// those that it has a name for. The error says why it is not the map of the script that was recorded.
    fn fit(&self, functions: &[ScriptFunction]) -> Result<(usize, usize), String> {
        let map = self.map.as_ref().map_err(Clone::clone)?;
        let known = functions.iter().map(|function| map.knows(function.start, function.name));
        let known: Vec<Known> = known.collect();
        let named = known.iter().filter(|known| **known == Known::ByName).count();
        if let Some(script) = &self.script {
            if !script.debug_id.is_empty() && !map.debug_id.is_empty() && script.debug_id != map.debug_id {
                return Err(
                    "the script and the map are of different builds (their debugId differs)".to_string()
                );
            }
            if !map.fits(script) {
                return Err("it has code outside the lines of the script".to_string());
            }
            let checked: Vec<(&ScriptFunction, bool)> = functions
                .iter()
                .filter_map(|function| {
                    let Position { line, column } = function.start;
                    Some((function, script.has_function(line, column, function.name)?))
                })
                .collect();
            let fitting = checked.iter().filter(|(_, fits)| *fits).count();
            if fitting * 100 < checked.len() * LEAST_FITTING {
                let other = checked.iter().find(|(_, fits)| !fits).map(|(function, _)| **function);
                return Err(format!(
                    "the script next to it is not the one that was recorded: {} of {} functions are elsewhere in it{}",
                    checked.len() - fitting,
                    checked.len(),
                    other.map(example).unwrap_or_default(),
                ));
            }
            if !checked.is_empty() {
                return Ok((fitting * 100 / checked.len(), named));
            }
            if !self.is_given {
                return Err(
                    "no function with a name shows that the script is the one that was recorded".to_string()
                );
            }
        }
        let placed = known.iter().filter(|known| **known != Known::No).count();
        if placed * 100 < functions.len() * LEAST_FITTING {
            let other = functions.iter().zip(&known).find(|(_, known)| **known == Known::No);
            return Err(format!(
                "it has no code at {} of {} functions{}",
                functions.len() - placed,
                functions.len(),
                other.map(|(function, _)| example(*function)).unwrap_or_default(),
            ));
        }
        Ok((placed * 100 / functions.len().max(1), named))
    }
}

/// The warnings about maps that were not used: one per reason, since a package may have a map for each of its hundred scripts.
fn refusals(done: &BTreeMap<String, Done>) -> Vec<String> {
    let mut by_reason: Vec<(&Refused, &str, usize)> = Vec::new();
    for (script, refused) in done.iter().filter_map(|(script, done)| Some((script, done.refused.as_ref()?))) {
        match by_reason.iter_mut().find(|(first, ..)| first.why == refused.why) {
            Some((.., count)) => *count += 1,
            None => by_reason.push((refused, base_name(script), 1)),
        }
    }
    let warning = |(Refused { path, why }, script, count): (&Refused, &str, usize)| match count {
        1 => format!(
            "the source map {path} is not used for {script}: {why}; name the folder of the right one with --sourcemaps"
        ),
        _ => format!(
            "{count} source maps, such as {path}, are not used for their scripts: {why}; name the folder of the right \
             ones with --sourcemaps"
        ),
    };
    by_reason.into_iter().map(warning).collect()
}

/// `, such as render at 12:7`
fn example(function: ScriptFunction) -> String {
    let ScriptFunction { name, start, .. } = function;
    format!(", such as {name} at {}:{}", u64::from(start.line) + 1, u64::from(start.column) + 1)
}

/// A name with at most so many characters was shortened by a minifier.
const SHORT: usize = 2;

/// Whether a profile has functions that a source map may name.
pub(super) fn has_scripts(profile: &Profile) -> bool {
    !scripts(profile).is_empty()
}

/// The functions of a profile that are distinguished by their place in a script, by script.
fn scripts(profile: &Profile) -> BTreeMap<&str, Vec<ScriptFunction<'_>>> {
    let symbols = &profile.symbols;
    let mut scripts: BTreeMap<&str, Vec<ScriptFunction>> = BTreeMap::new();
    for (id, function) in symbols.functions.enumerate() {
        let Function { line, column, by_place, .. } = *function;
        let file = symbols.strings.get(function.file);
        if !by_place || line == 0 || column == 0 || file.is_empty() || file.starts_with("node:") {
            continue;
        }
        let start = Position { line: line - 1, column: column - 1 };
        scripts.entry(file).or_default().push(ScriptFunction { id, name: symbols.function_name(id), start });
    }
    scripts
}

/// The original of a function. The code of a whole script is that of all its sources, unless there is only one.
fn original_of(
    map: &SourceMap,
    script: Option<&Script>,
    function: ScriptFunction,
) -> Option<OriginalFunction> {
    let first = Position { line: 0, column: 0 };
    if function.start == first && last_word(function.name).is_none() {
        return (map.source_count() == 1).then_some(OriginalFunction { name: None, source: 0, start: first });
    }
    map.function(function.start, function.name, script)
}

/// The scripts, or what would be their paths, in a file or folder that a person named.
fn given(place: &Path, script: &str) -> Vec<PathBuf> {
    if place.is_file() {
        let is_script = place.file_name().is_some_and(|name| name == base_name(script));
        let of_map = is_map_of(place, script).then(|| place.with_extension(""));
        return is_script.then(|| place.to_path_buf()).or(of_map).into_iter().collect();
    }
    // `https://shop.example/assets/app.js` may be `DIR/assets/app.js` or `DIR/app.js`.
    let parts: Vec<&str> = script.split(['/', '\\', '?', '#']).filter(|part| is_plain(part)).collect();
    let ends = (0..parts.len()).skip(parts.len().saturating_sub(MOST_PARTS));
    let paths = ends.map(|start| place.join(parts[start..].iter().collect::<PathBuf>()));
    paths.filter(|path| path.is_file() || map_beside(path).is_file()).take(1).collect()
}

/// The number of folders of a script's path that are looked for in a folder.
const MOST_PARTS: usize = 16;

fn is_plain(part: &str) -> bool {
    !part.is_empty() && part != "." && part != ".." && !part.contains(':')
}

/// Whether a file is the map of a script, judged by its name: `app.js.map` for `app.js`.
fn is_map_of(file: &Path, script: &str) -> bool {
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    name.strip_suffix(".map").is_some_and(|name| name == base_name(script))
}

fn is_map(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "map" || extension == "json")
}

/// Whether a map says that it is that of a script.
fn belongs(map: &SourceMap, script: &str) -> bool {
    !map.file.is_empty() && base_name(&map.file) == base_name(script)
}

/// `dist/app.js.map` for `dist/app.js`.
fn map_beside(script: &Path) -> PathBuf {
    let mut path = script.to_path_buf().into_os_string();
    path.push(".map");
    PathBuf::from(path)
}

/// Whether a script in a profile may be a file on this machine. Opening a network path would contact another machine, which the
/// author of a profile must not be able to choose.
fn is_own_script(file: &str, path: &str) -> bool {
    let is_file = file.starts_with("file://") || !is_url(file);
    is_file && Path::new(path).is_absolute() && !path.starts_with("//") && !path.starts_with(r"\\")
}

/// The map of a script at a path: inside the script, in the file that the script names, or next to it. The script itself need not
/// exist.
fn candidate(path: &Path) -> Option<Candidate> {
    let script = read(path).map(|bytes| Script::parse(&bytes));
    let url = script.as_ref().map_or("", |script| &script.map_url);
    let own = path.display().to_string();
    if url.starts_with("data:") {
        let data = data_of_url(url).ok_or("the data of its URL are broken".to_string());
        let map = data.and_then(|data| SourceMap::parse(&data));
        return Some(Candidate { path: own, map, script, is_given: false });
    }
    let named = (!url.is_empty() && !is_url(url)).then(|| {
        let url = path_of_url_reference(url);
        path.parent().unwrap_or(Path::new("")).join(url)
    });
    let map_path = named.into_iter().chain([map_beside(path)]).find(|path| path.is_file())?;
    let map = read_map(&map_path)?;
    Some(Candidate { path: map_path.display().to_string(), map, script, is_given: false })
}

/// The path of a relative URL, without its query.
fn path_of_url_reference(url: &str) -> String {
    let path = url.split(['?', '#']).next().unwrap_or(url);
    path_of_url(&format!("file:///{path}")).trim_start_matches('/').to_string()
}

fn read_map(path: &Path) -> Option<Result<SourceMap, String>> {
    read(path).map(|bytes| SourceMap::parse(&bytes))
}

/// The bytes of a file. Devices and pipes, which a profile may also name, are not opened.
fn read(path: &Path) -> Option<Vec<u8>> {
    let about = fs::metadata(path).ok()?;
    (about.is_file() && about.len() <= MOST_BYTES).then(|| fs::read(path).ok()).flatten()
}
