//! A list of words, and whether a text contains one of them: much cheaper than a regular expression, which takes a
//! millisecond to compile.

/// Words of at least two ASCII characters, in lower case. Case does not matter in texts.
#[derive(Debug)]
pub(super) struct Words {
    words: &'static [&'static str],
    /// Whether a word starts with these two characters, by the low five bits of each: `K` and `k` are alike.
    starts: [bool; 1 << 10],
}

impl Words {
    /// The words of `words`.
    pub(super) const fn new(words: &'static [&'static str]) -> Words {
        let mut starts = [false; 1 << 10];
        let mut index = 0;
        while index < words.len() {
            let word = words[index].as_bytes();
            starts[pair(word[0], word[1])] = true;
            index += 1;
        }
        Words { words, starts }
    }

    /// Whether `text` contains one of them.
    pub(super) fn any_in(&self, text: &str) -> bool {
        let bytes = text.as_bytes();
        let starts_here = |at: usize| {
            let is_at = |word: &&str| {
                bytes.get(at..at + word.len()).is_some_and(|part| part.eq_ignore_ascii_case(word.as_bytes()))
            };
            self.words.iter().any(is_at)
        };
        bytes.windows(2).enumerate().any(|(at, two)| self.starts[pair(two[0], two[1])] && starts_here(at))
    }
}

const fn pair(first: u8, second: u8) -> usize {
    ((first & 31) as usize) << 5 | (second & 31) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_anywhere_in_any_case() {
        static WORDS: Words = Words::new(&["park", "take_gil", "(idle)"]);
        for text in
            ["park", "runtime.gopark", "Unsafe_Park", "LockSupport.parkNanos", "take_gil", "(idle)", "éPARK"]
        {
            assert!(WORDS.any_in(text), "{text}");
        }
        for text in ["", "p", "par", "spar k", "main.work", "idle", "0ark"] {
            assert!(!WORDS.any_in(text), "{text}");
        }
    }
}
