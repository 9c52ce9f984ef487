//! Reads two sides at once.

use crate::load::paths::InputPath;
use crate::load::{Error, Request};
use crate::parallel;

/// Reads two sides, at once if that is faster; `read` gets the inputs of a side, which are listed once. Without the first side, the
/// second is not needed.
pub(super) fn read_both<T: Send>(
    one: &Request,
    other: &Request,
    read: impl Fn(&Request, &[InputPath]) -> Result<T, Error> + Sync,
) -> Result<(T, Result<T, Error>), Error> {
    let paths = one.paths()?;
    let other_paths = match other.paths() {
        Ok(paths) => paths,
        Err(error) => return Ok((read(one, &paths)?, Err(error))),
    };
    if parallel::processors() > 1 && are_of_similar_size(&paths, &other_paths) {
        let other = Request { observer: one.observer.clone(), ..other.clone() };
        let (one, other) = parallel::both(|| read(one, &paths), || read(&other, &other_paths));
        return Ok((one?, other));
    }
    Ok((read(one, &paths)?, read(other, &other_paths)))
}

/// Whether two processors that read one side each take about as long. Otherwise it is better to use both for one side
/// after the other.
fn are_of_similar_size(old: &[InputPath], new: &[InputPath]) -> bool {
    let size = |paths: &[InputPath]| paths.iter().map(|path| path.origin.size()).fold(0, u64::saturating_add);
    let (old, new) = (size(old), size(new));
    old.min(new) >= old.max(new) / SIMILAR
}

/// Sides are of similar size if none has more than so many times the bytes of the other.
const SIMILAR: u64 = 2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_side_must_be_readable() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            Request::new([path.display().to_string()])
        };
        let broken = file("broken.folded", "main;work\n");
        let small = file("small.folded", "main;work 3\n");
        let large = file("large.folded", &"main;work 3\n".repeat(9));
        let total = |request: &Request, paths: &[InputPath]| {
            assert_eq!(paths.len(), 1);
            Ok(request.load()?.profile.meta.metrics[0].total)
        };
        for (one, other, expected) in
            [(&small, &small, [3, 3]), (&small, &large, [3, 27]), (&large, &small, [27, 3])]
        {
            let (one, other) = read_both(one, other, total).unwrap();
            assert_eq!([one, other.unwrap()], expected);
        }
        let (one, other) = read_both(&small, &broken, total).unwrap();
        assert!(one == 3 && other.is_err());
        assert!(read_both(&broken, &small, total).is_err());
    }
}
