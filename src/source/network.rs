//! Fetching the addresses among the inputs, each once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::options::{Event, NetworkOptions};
use super::{FetchError, Origin, is_url};

/// Fetches addresses. Clones share what was fetched, so that nothing is fetched twice.
#[derive(Clone, Debug, Default)]
pub struct Network {
    options: Arc<NetworkOptions>,
    /// What each address answered: once, or several times if it was given several times.
    fetched: Arc<Mutex<Answers>>,
}

type Answers = HashMap<String, Vec<Arc<[u8]>>>;

impl Network {
    /// Fetches with these options.
    pub fn new(options: NetworkOptions) -> Self {
        Network { options: Arc::new(options), fetched: Arc::default() }
    }

    /// Fetches the addresses among several lists of inputs that were not fetched yet, at the same time if they are on
    /// different servers. If a list has an address several times, it is fetched as often, one round after the other, so that
    /// the sides of a comparison are recorded in turns. Fails with the first address that cannot be fetched.
    pub fn fetch(
        &self,
        lists: &[&[String]],
        tell: &(dyn Fn(Event) + Sync),
    ) -> Result<(), (String, FetchError)> {
        let mut round = 0;
        loop {
            let missing = self.missing(lists, round);
            if missing.is_empty() && lists.iter().all(|list| list.len() <= round) {
                return Ok(());
            }
            for (address, answer) in fetch_all(missing, &self.options, tell)? {
                self.answers().entry(address).or_default().push(answer.into());
            }
            round += 1;
        }
    }

    /// The addresses that a list has more than `round` times, but that were not fetched so often.
    fn missing(&self, lists: &[&[String]], round: usize) -> Vec<String> {
        let answers = self.answers();
        let mut missing: Vec<String> = Vec::new();
        for list in lists {
            let is_missing = |name: &&String| {
                let times = list.iter().filter(|other| other == name).count();
                let fetched = answers.get(*name).map_or(0, Vec::len);
                is_url(name) && times > round && fetched <= round
            };
            for name in list.iter().filter(is_missing) {
                if !missing.contains(name) {
                    missing.push(name.clone());
                }
            }
        }
        missing
    }

    /// What an address answered when it was fetched for the time with this number.
    pub(crate) fn origin(&self, address: &str, time: usize) -> Option<Origin> {
        self.answers().get(address)?.get(time).cloned().map(Origin::Fetched)
    }

    fn answers(&self) -> MutexGuard<'_, Answers> {
        self.fetched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(feature = "http")]
use super::fetch::fetch_all;

/// Without the feature `http`, nothing can be fetched.
#[cfg(not(feature = "http"))]
fn fetch_all(
    addresses: Vec<String>,
    _options: &NetworkOptions,
    _tell: &(dyn Fn(Event) + Sync),
) -> Result<Vec<(String, Vec<u8>)>, (String, FetchError)> {
    match addresses.into_iter().next() {
        None => Ok(Vec::new()),
        Some(address) => {
            let error =
                FetchError::new("this build of prof cannot fetch profiles (it lacks the feature http)");
            Err((address, error.hint("save the profile with another program, and name the file")))
        }
    }
}
