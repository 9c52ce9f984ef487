//! Fetching the addresses among the inputs, each once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::options::{Event, NetworkOptions};
use super::{FetchError, Origin, is_url};
use crate::report::ServerInfo;

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

    /// The same without what was fetched, to record again.
    #[must_use]
    pub fn anew(&self) -> Self {
        Network { options: self.options.clone(), fetched: Arc::default() }
    }

    /// Fetches the addresses among several lists of inputs that were not fetched yet, at the same time if they are on
    /// different servers. If a list has an address several times, it is fetched as often, one round after the other, so that
    /// the sides of a comparison are recorded in turns. Fails with the first address that cannot be fetched.
    pub fn fetch(
        &self,
        lists: &[&[String]],
        tell: &(dyn Fn(Event) + Sync),
    ) -> Result<(), (String, FetchError)> {
        let wanted = wanted(lists);
        let mut fetcher = None;
        let rounds = wanted.iter().map(|(_, times)| *times).max().unwrap_or(0);
        for round in 0..rounds {
            let missing: Vec<String> = {
                let answers = self.answers();
                let is_missing = |address: &str, times: usize| {
                    times > round && answers.get(address).map_or(0, Vec::len) <= round
                };
                let missing = wanted.iter().filter(|(address, times)| is_missing(address, *times));
                missing.map(|(address, _)| (*address).to_string()).collect()
            };
            let Some(first) = missing.first() else { continue };
            let fetcher = match &mut fetcher {
                Some(fetcher) => fetcher,
                none => {
                    let made = Fetcher::new(&self.options).map_err(|error| (first.clone(), error))?;
                    none.insert(made)
                }
            };
            for (address, answer) in fetcher.fetch_all(missing, tell)? {
                self.answers().entry(address).or_default().push(answer.into());
            }
        }
        Ok(())
    }

    /// What the server at an address offers; `None` if the address names a profile. Nothing is recorded.
    pub fn offers(
        &self,
        address: &str,
        tell: &(dyn Fn(Event) + Sync),
    ) -> Result<Option<ServerInfo>, FetchError> {
        Fetcher::new(&self.options)?.offers(address, tell)
    }

    /// What is at an address; `None` if the server has nothing there. It is not saved.
    pub(crate) fn download(
        &self,
        address: &str,
        tell: &(dyn Fn(Event) + Sync),
    ) -> Result<Option<Vec<u8>>, FetchError> {
        Fetcher::new(&self.options)?.download(address, tell)
    }

    /// What an address answered when it was fetched for the time with this number.
    pub(crate) fn origin(&self, address: &str, time: usize) -> Option<Origin> {
        self.answers().get(address)?.get(time).cloned().map(Origin::Fetched)
    }

    fn answers(&self) -> MutexGuard<'_, Answers> {
        self.fetched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The addresses in several lists of inputs, in their order, each with how often it is wanted: as often as the list that
/// has it most often.
fn wanted<'l>(lists: &[&'l [String]]) -> Vec<(&'l str, usize)> {
    let mut wanted: Vec<(&str, usize)> = Vec::new();
    for list in lists {
        let mut times: HashMap<&str, usize> = HashMap::new();
        for address in list.iter().filter(|name| is_url(name)) {
            let times = times.entry(address).or_default();
            *times += 1;
            match wanted.iter_mut().find(|(other, _)| other == address) {
                Some((_, most)) => *most = (*most).max(*times),
                None => wanted.push((address, *times)),
            }
        }
    }
    wanted
}

#[cfg(feature = "http")]
use super::fetch::Fetcher;

/// Without the feature `http`, nothing can be fetched.
#[cfg(not(feature = "http"))]
enum Fetcher {}

#[cfg(not(feature = "http"))]
impl Fetcher {
    fn new(_options: &NetworkOptions) -> Result<Self, FetchError> {
        Err(FetchError::new("this build of prof cannot fetch profiles (it lacks the feature http)")
            .hint("save the profile with another program, and name the file"))
    }

    fn fetch_all(&self, _addresses: Vec<String>, _tell: &(dyn Fn(Event) + Sync)) -> super::error::Fetched {
        match *self {}
    }

    fn download(
        &self,
        _address: &str,
        _tell: &(dyn Fn(Event) + Sync),
    ) -> Result<Option<Vec<u8>>, FetchError> {
        match *self {}
    }

    fn offers(
        &self,
        _address: &str,
        _tell: &(dyn Fn(Event) + Sync),
    ) -> Result<Option<ServerInfo>, FetchError> {
        match *self {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_wanted_as_often_as_one_list_has_it() {
        let list = |words: &str| words.split(' ').map(str::to_string).collect::<Vec<_>>();
        let (old, new) = (list("http://a f http://b http://a -"), list("http://b http://c f f"));
        assert_eq!(wanted(&[&old, &new]), [("http://a", 2), ("http://b", 1), ("http://c", 1)]);
        assert!(wanted(&[&list("f f - folder/")]).is_empty());
    }
}
