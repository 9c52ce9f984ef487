//! Profiles that stay in memory between loads, for programs that ask many questions about the same files.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use crate::profile::{LoadOptions, Profile};

/// Files that were read, the one used last at the end. A file that changed is read again.
#[derive(Debug)]
pub struct Cache {
    entries: Mutex<Vec<Entry>>,
    most_bytes: u64,
}

#[derive(Debug)]
struct Entry {
    key: Key,
    profile: Profile,
}

/// What makes two loads of a file the same.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Key {
    path: PathBuf,
    size: u64,
    modified: SystemTime,
    format: Option<&'static str>,
    labels: bool,
    kinds_only: bool,
    sizes: bool,
    times: bool,
}

impl Cache {
    /// A cache that holds profiles of so many bytes in memory at most; the ones used longest ago are dropped first.
    pub fn new(most_bytes: u64) -> Self {
        Cache { entries: Mutex::default(), most_bytes }
    }

    /// The bytes of memory that the profiles take.
    pub fn bytes(&self) -> u64 {
        self.entries().iter().map(|entry| entry.profile.memory.bytes()).sum()
    }

    /// The profile in a file, which `load` reads if it is not there. What is kept of it includes labels, so that the next view
    /// need not read the file again.
    pub(super) fn profile<E>(
        &self,
        path: &Path,
        needs: &LoadOptions,
        format: Option<&'static str>,
        load: impl FnOnce(LoadOptions) -> Result<Profile, E>,
    ) -> Result<Profile, E> {
        // Sizes come with the statistics of heaps, for which rows must be as they would be without a cache.
        let labels = needs.labels || !needs.sizes;
        let needs = LoadOptions { labels, kinds_only: needs.labels && needs.kinds_only, ..needs.clone() };
        let Some(key) = Key::of(path, &needs, format) else { return load(needs) };
        if let Some(profile) = self.take(&key) {
            return Ok(profile);
        }
        let profile = load(needs)?;
        let mut entries = self.entries();
        entries.retain(|entry| entry.key.path != key.path || entry.key.modified == key.modified);
        entries.push(Entry { key, profile: profile.clone() });
        let mut bytes: u64 = entries.iter().map(|entry| entry.profile.memory.bytes()).sum();
        while bytes > self.most_bytes && !entries.is_empty() {
            bytes -= entries.remove(0).profile.memory.bytes();
        }
        Ok(profile)
    }

    /// The profile with this key, which is now the one used last.
    fn take(&self, key: &Key) -> Option<Profile> {
        let mut entries = self.entries();
        let place = entries.iter().position(|entry| entry.serves(key))?;
        let entry = entries.remove(place);
        let profile = entry.profile.clone();
        entries.push(entry);
        Some(profile)
    }

    fn entries(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entry {
    /// Whether reading the file with the options of `key` would give the same profile.
    fn serves(&self, key: &Key) -> bool {
        let lacks_nothing = self.key.times || !self.profile.meta.has_times;
        self.key == *key || lacks_nothing && Key { times: true, ..self.key.clone() } == *key
    }
}

impl Key {
    /// `None` for what is not a file of known age.
    fn of(path: &Path, needs: &LoadOptions, format: Option<&'static str>) -> Option<Key> {
        let about = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
        Some(Key {
            path: fs::canonicalize(path).ok()?,
            size: about.len(),
            modified: about.modified().ok()?,
            format,
            labels: needs.labels,
            kinds_only: needs.kinds_only,
            sizes: needs.sizes,
            times: needs.times,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::convert::Infallible;

    use super::*;
    use crate::profile::{Budget, from_notation};

    /// How often a file is read if it is asked for with these options.
    fn loads(cache: &Cache, path: &Path, all: &[LoadOptions]) -> usize {
        let count = Cell::new(0);
        for needs in all {
            let load = |_| {
                count.set(count.get() + 1);
                Ok::<_, Infallible>(from_notation("main;work 3"))
            };
            cache.profile(path, needs, None, load).unwrap();
        }
        count.get()
    }

    #[test]
    fn a_file_is_read_again_only_if_it_changed_or_more_is_needed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cpu.folded");
        fs::write(&path, "main;work 3\n").unwrap();
        let cache = Cache::new(1 << 20);
        let labels = LoadOptions { labels: true, ..LoadOptions::LEAST };
        let times = LoadOptions { times: true, ..LoadOptions::LEAST };
        let least = LoadOptions::LEAST.or(LoadOptions::LEAST);
        assert_eq!(loads(&cache, &path, &[LoadOptions::LEAST, labels, least]), 1);
        assert_eq!(
            loads(&cache, &path, &[times.clone(), LoadOptions::LEAST, times.clone()]),
            0,
            "it has no times"
        );
        fs::write(&path, "main;work 4\n").unwrap();
        fs::File::open(&path).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
        assert_eq!(loads(&cache, &path, &[LoadOptions::LEAST, LoadOptions::LEAST]), 1);
        assert_eq!(cache.entries().len(), 1, "what was read before it changed is of no use");
    }

    #[test]
    fn times_are_read_if_there_are_any() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cpu.perf.txt");
        fs::write(&path, "").unwrap();
        let cache = Cache::new(1 << 20);
        let read = |times: bool| {
            let count = Cell::new(0);
            let needs = LoadOptions { times, ..LoadOptions::LEAST };
            let load = |_| {
                count.set(1);
                let mut profile = from_notation("main;work 3");
                profile.meta.has_times = true;
                Ok::<_, Infallible>(profile)
            };
            cache.profile(&path, &needs, None, load).unwrap();
            count.get()
        };
        assert_eq!([false, false, true, true, false].map(read), [1, 0, 1, 0, 0]);
    }

    #[test]
    fn what_was_used_longest_ago_is_dropped_first() {
        let folder = tempfile::tempdir().unwrap();
        let [a, b] = ["a.folded", "b.folded"].map(|name| folder.path().join(name));
        let lines: Vec<String> = (0..1000).map(|number| format!("main;work{number} 3\n")).collect();
        let text = lines.concat();
        let options = LoadOptions { budget: Budget::of(1 << 30), ..LoadOptions::LEAST };
        let read = |cache: &Cache, path: &Path| {
            fs::write(path, &text).unwrap();
            let load = |needs: LoadOptions| {
                crate::format::load(&mut crate::format::Source::from_bytes(text.clone().into()), needs, None)
            };
            cache.profile(path, &options, None, load).unwrap();
        };
        let probe = Cache::new(u64::MAX);
        read(&probe, &a);
        let one = probe.bytes();
        assert!(one > 10_000, "{one}");
        let cache = Cache::new(one * 3 / 2);
        read(&cache, &a);
        read(&cache, &b);
        assert_eq!(cache.bytes(), one, "only b is left");
        assert!(cache.entries()[0].key.path.ends_with("b.folded"));
    }
}
