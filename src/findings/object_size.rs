//! Large or many: a profile of memory has bytes and objects, and what to change depends on both.

use hashbrown::HashMap;

use crate::findings::evidence::Samples;
use crate::profile::{Column, Profile, StackId};
use crate::report::{Evidence, Sentence};
use crate::tree::KeyId;
use crate::unit::{self, Unit, group_thousands, plural};

/// The bytes and objects of each stack of a profile of memory.
#[derive(Debug)]
pub struct Objects {
    bytes: Column<StackId, i64>,
    count: Column<StackId, i64>,
    /// The metric that counts objects.
    metric: String,
    unit: Unit,
}

/// Objects are small or large if they have at most this part, or at least this multiple, of the average of the profile.
const SMALL: f64 = 0.5;
const LARGE: f64 = 4.0;

/// From this share of all objects on, many small ones are worth a remark.
const MANY: f64 = 20.0;

/// Fewer objects than this are not many.
const FEWEST: i64 = 100;

/// And only if their share of the bytes is at most this part of it: otherwise, the findings name them anyway.
const FEW_BYTES: f64 = 0.34;

impl Objects {
    /// Those of two metrics of a profile, one in bytes and one that counts objects. `None` if there are negative ones.
    pub fn of(profile: &Profile, bytes: usize, count: usize) -> Option<Objects> {
        let about = &profile.meta.metrics[count];
        let unit = Unit::parse(&profile.meta.metrics[bytes].unit);
        let is_usable = |metric: usize| {
            let metric = &profile.meta.metrics[metric];
            !metric.too_large && metric.divisor == 1
        };
        if !is_usable(bytes) || !is_usable(count) || about.total == 0 {
            return None;
        }
        let [bytes, count] = [bytes, count].map(|metric| profile.value_by_stack(metric));
        let is_positive = bytes.iter().chain(count.iter()).all(|&value| value >= 0);
        is_positive.then(|| Objects { bytes, count, metric: about.name.clone(), unit })
    }

    /// Σ bytes and objects of some groups of samples.
    fn sum(&self, samples: &Samples<'_, '_>, groups: impl Iterator<Item = usize>) -> [i64; 2] {
        let stacks = groups.filter_map(|group| samples.groups[group].stack);
        stacks.fold([0, 0], |[bytes, count], stack| [bytes + self.bytes[stack], count + self.count[stack]])
    }

    fn all(&self, samples: &Samples<'_, '_>) -> [i64; 2] {
        self.sum(samples, 0..samples.groups.len())
    }

    fn size(&self, [bytes, count]: [i64; 2]) -> String {
        let average = (bytes as f64 / count.max(1) as f64).round() as i64;
        unit::human_short(average, &self.unit, 1)
    }

    /// How many objects the samples of a finding stand for, and how large they are:
    /// `12,000 objects of 64B on average: many small ones`.
    pub fn detail(&self, samples: &Samples<'_, '_>, groups: &[usize]) -> Option<Sentence> {
        let (these, all) = (self.sum(samples, groups.iter().copied()), self.all(samples));
        let [bytes, count] = these;
        if count == 0 || bytes == 0 || all[1] == count {
            return (count > 0 && bytes > 0).then(|| Sentence::new(self.counted(these, "")));
        }
        let times = (bytes as f64 / count as f64) / (all[0] as f64 / all[1] as f64);
        let kind = match times {
            times if times <= SMALL => format!(": small, the average of all is {}", self.size(all)),
            times if times >= LARGE => format!(": large, the average of all is {}", self.size(all)),
            _ => String::new(),
        };
        Some(Sentence::new(self.counted(these, &kind)))
    }

    fn counted(&self, these: [i64; 2], kind: &str) -> String {
        let noun = plural(these[1].unsigned_abs(), "object of", "objects of");
        let average = if these[1] == 1 { "" } else { " on average" };
        format!("{} {noun} {}{average}{kind}", group_thousands(these[1].into()), self.size(these))
    }
}

/// A function that allocates a large part of the objects and a small part of the bytes: no finding about bytes names it. What to
/// say, the number of objects, and the command that shows it.
pub fn small_objects(samples: &Samples<'_, '_>, objects: &Objects) -> Option<(Sentence, i64, Evidence)> {
    let mut sites: HashMap<KeyId, [i64; 2]> = HashMap::new();
    for (number, group) in samples.groups.iter().enumerate() {
        let (Some(at), Some(stack)) = (samples.site(number), group.stack) else { continue };
        let [bytes, count] = sites.entry(samples.key(group.frames[at])).or_default();
        (*bytes, *count) = (*bytes + objects.bytes[stack], *count + objects.count[stack]);
    }
    let (&key, &these) = sites.iter().max_by_key(|(key, [_, count])| (*count, std::cmp::Reverse(**key)))?;
    let all = objects.all(samples);
    let [of_bytes, of_count] =
        [0, 1].map(|which: usize| 100.0 * these[which] as f64 / all[which].max(1) as f64);
    if these[1] < FEWEST || of_count < MANY || of_bytes > of_count * FEW_BYTES {
        return None;
    }
    let says = Sentence::of(samples.name(key)).text(format!(
        " has {} of the objects but {} of the bytes: {}",
        unit::share(these[1], all[1]),
        unit::share(these[0], all[0]),
        objects.counted(these, "")
    ));
    let mut evidence = samples.focus_site(key);
    evidence.words.extend(["-m".to_string(), objects.metric.clone()]);
    Some((says, these[1], evidence))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::Cost;
    use crate::profile::from_notation;
    use crate::tree::{By, Subject};

    #[test]
    fn many_small_objects_and_few_large_ones() {
        // Bytes, then objects.
        let mut profile = from_notation("main;names 3200 100\nmain;image;malloc 90000 3\nmain;rest 6800 17");
        let names = [("alloc_space", "bytes"), ("alloc_objects", "count")];
        for (metric, (name, unit)) in profile.meta.metrics.iter_mut().zip(names) {
            (metric.name, metric.unit) = (name.to_string(), unit.to_string());
        }
        let subject = Subject::new(&profile, &By::Function, &[0]);
        let samples = Samples::new(&subject, &[], Cost::Allocated);
        let objects = Objects::of(&profile, 0, 1).unwrap();
        let of = |name: &str| {
            let is_below = |group: &usize| {
                samples.groups[*group].frames.iter().any(|&frame| profile.symbols.frame_name(frame) == name)
            };
            let groups: Vec<usize> = (0..samples.groups.len()).filter(is_below).collect();
            objects.detail(&samples, &groups).unwrap().to_string()
        };
        // 100,000 bytes ÷ 120 objects = 833 bytes.
        assert_eq!(of("names"), "100 objects of 32B on average: small, the average of all is 833B");
        assert_eq!(of("image"), "3 objects of 29.3KiB on average: large, the average of all is 833B");
        assert_eq!(of("rest"), "17 objects of 400B on average: small, the average of all is 833B");
        assert_eq!(of("main"), "120 objects of 833B on average");
        let (says, count, evidence) = small_objects(&samples, &objects).unwrap();
        assert_eq!(
            says.to_string(),
            "names has 83.3% of the objects but 3.2% of the bytes: 100 objects of 32B on average"
        );
        assert_eq!(count, 100);
        assert_eq!(evidence.words.join(" "), "focus --hide-frames @alloc -m alloc_objects");
    }
}
