//! Code objects in Python's `marshal` format.
//!
//! The module `profile` names the code that it was told to run by the code itself: `("profile", 0, <code>)`. Of all that such an object
//! holds, only its name is needed; but whatever comes before the next function has to be read, because objects in it can be referred to.

use crate::format::pstats::marshal::{Broken, MarshalReader, MarshalText, Object};

/// What is still to be read of code objects within one another.
enum Step {
    /// As many objects.
    Objects(usize),
    /// The object with this number in a code object. Before Python 3.11 number 4 is a tuple, of free variables.
    OfCode(usize),
    /// The number of the first line. One object comes after it, and one more since Python 3.11.
    Line,
}

/// Objects of a code object before the number of its first line.
const OBJECTS: usize = 8;

impl<'a> MarshalReader<'a> {
    /// Reads a code object, and returns its name.
    pub(super) fn code(&mut self, mark: Option<u32>) -> Result<MarshalText<'a>, Broken> {
        let start = self.at;
        if let Some((name, end)) = self.codes.get(&start) {
            self.at = *end;
            return Ok(*name);
        }
        let (mut steps, mut named) = (Vec::new(), None);
        self.begin_code(&mut steps)?;
        // Whether the code objects that are being read are of Python 3.11 or later: those within one another are of one version.
        let mut is_new = false;
        while let Some(step) = steps.pop() {
            match step {
                Step::Objects(count) => {
                    if count > 1 {
                        steps.push(Step::Objects(count - 1));
                    }
                    self.skip(&mut steps)?;
                }
                Step::OfCode(number) => {
                    let is_outermost = steps.is_empty();
                    let next = if number + 1 < OBJECTS { Step::OfCode(number + 1) } else { Step::Line };
                    steps.push(next);
                    if number == 4 {
                        is_new = !matches!(self.kind_ahead(), Some(b'(' | b')'));
                    }
                    let place_of_name = if is_new { 6 } else { 7 };
                    if is_outermost && number == place_of_name {
                        named = Some(self.name_of_code(mark)?);
                    } else {
                        self.skip(&mut steps)?;
                    }
                }
                Step::Line => {
                    self.take(4)?;
                    steps.push(Step::Objects(1 + usize::from(is_new)));
                }
            }
        }
        let name = named.ok_or_else(|| self.broken("code without a name"))?;
        self.codes.insert(start, (name, self.at));
        Ok(name)
    }

    /// Moves past the numbers that a code object begins with: 4 in Python 2, 5 in Python 3 and 6 from 3.8 to 3.10. Then comes a
    /// string with the instructions.
    fn begin_code(&mut self, steps: &mut Vec<Step>) -> Result<(), Broken> {
        let rest = &self.bytes[self.at..];
        let holds_text = |at: usize| {
            let Some(&[kind, a, b, c, d]) = rest.get(at..at + 5) else { return false };
            let length = u32::from_le_bytes([a, b, c, d]) as usize;
            kind & 0x7F == b's' && length <= rest.len() - at
        };
        let numbers = [4, 5, 6].into_iter().find(|numbers| holds_text(4 * numbers));
        let numbers = numbers.ok_or_else(|| self.broken("code of an unknown version of Python"))?;
        self.take(4 * numbers)?;
        steps.push(Step::OfCode(0));
        Ok(())
    }

    /// The type of the next object, or of what it refers to.
    fn kind_ahead(&self) -> Option<u8> {
        let at = match self.reference_ahead() {
            Some(mark) => *self.marked.get(mark)?,
            None => self.at,
        };
        Some(self.bytes.get(at)? & 0x7F)
    }

    fn name_of_code(&mut self, mark: Option<u32>) -> Result<MarshalText<'a>, Broken> {
        let is_text =
            matches!(self.kind_ahead(), Some(b's' | b'u' | b'a' | b'A' | b'z' | b'Z' | b't' | b'R'));
        match is_text.then(|| self.next()).transpose()? {
            Some(Object::Text(text)) => Ok(MarshalText { bytes: text.bytes, mark }),
            _ => Err(self.broken("the name of code is not a string")),
        }
    }

    /// Moves past the next object; what it holds is added to `steps`.
    fn skip(&mut self, steps: &mut Vec<Step>) -> Result<(), Broken> {
        let kind = self.begin()?;
        match kind & 0x7F {
            b'r' | b'R' => drop(self.take(4)?),
            b'c' => self.begin_code(steps)?,
            b'x' => {
                for _ in 0..2 {
                    let length = self.byte()?;
                    self.take(length.into())?;
                }
            }
            b'y' => drop(self.take(16)?),
            b'<' | b'>' => {
                let count = self.count()?;
                skip_objects(count, steps);
            }
            // A slice.
            b':' => skip_objects(3, steps),
            b'l' => {
                let digits = i32::from_le_bytes(self.array()?);
                self.take(2 * digits.unsigned_abs() as usize)?;
            }
            _ => match self.object(kind, None)? {
                Object::Sequence(_, count) => skip_objects(count, steps),
                Object::Dict(_) => return Err(self.broken("unexpected object type")),
                _ => {}
            },
        }
        Ok(())
    }
}

fn skip_objects(count: usize, steps: &mut Vec<Step>) {
    // A count that the file cannot hold ends with an error at the end of the file.
    if count > 0 {
        steps.push(Step::Objects(count));
    }
}

#[cfg(test)]
mod tests {
    use crate::format::Source;
    use crate::format::pstats::read;
    use crate::profile::LoadOptions;

    /// What the module `profile` of a version wrote, with the calls and nanoseconds that `pstats` of that version reports.
    macro_rules! written_by {
        ($version:literal, $calls:literal, $nanoseconds:literal) => {{
            let bytes: &[u8] =
                include_bytes!(concat!("../../../tests/hostile/seeds/pstats/profile-", $version, ".pstats"));
            ($version, bytes, [$nanoseconds, $calls])
        }};
    }

    #[test]
    fn code_stands_for_its_name() {
        for (version, bytes, totals) in [
            written_by!("2.7", 30, 309_000),
            written_by!("3.7", 28, 259_620),
            written_by!("3.8", 28, 247_116),
            written_by!("3.11", 28, 217_433),
            written_by!("3.13", 26, 490_758),
        ] {
            let profile = read(&mut Source::from_bytes(bytes.to_vec()), LoadOptions::ALL).unwrap();
            let found: Vec<u64> = profile.meta.metrics.iter().map(|metric| metric.total as u64).collect();
            assert_eq!(found, totals, "{version}");
            let symbols = &profile.symbols;
            let mut named = symbols.functions.iter().map(|function| symbols.strings.get(function.name));
            assert!(named.any(|name| name == "<module>"), "{version}");
        }
    }

    #[test]
    fn truncated_code_is_an_error() {
        let bytes = include_bytes!("../../../tests/hostile/seeds/pstats/profile-3.13.pstats");
        for length in 1..bytes.len() - 1 {
            assert!(
                read(&mut Source::from_bytes(bytes[..length].to_vec()), LoadOptions::ALL).is_err(),
                "{length}"
            );
        }
    }
}
