//! Fetches several addresses, those of one server one after the other.

use std::thread;

use super::address::{Address, Target, is_go_profile};
use super::client::Client;
use super::error::Fetched;
use super::options::{Event, NetworkOptions};
use super::{FetchError, go, parca, pyroscope, save};
use crate::report::ServerInfo;

/// Fetches addresses with the same options.
pub(super) struct Fetcher<'a> {
    options: &'a NetworkOptions,
    client: Client,
}

impl<'a> Fetcher<'a> {
    /// Fails if certificates or the file with passwords cannot be read.
    pub(super) fn new(options: &'a NetworkOptions) -> Result<Self, FetchError> {
        Ok(Fetcher { options, client: Client::new(options)? })
    }

    /// Fetches addresses, different servers at the same time. A server is not asked for two recordings at once, since Go's
    /// refuses the second one.
    pub(super) fn fetch_all(&self, addresses: Vec<String>, tell: &(dyn Fn(Event) + Sync)) -> Fetched {
        let mut servers: Vec<(String, Vec<Address>)> = Vec::new();
        for name in addresses {
            let address = Address::parse(&name).map_err(|error| (name.clone(), error))?;
            let server = address.server();
            match servers.iter_mut().find(|(other, _)| *other == server) {
                Some((_, addresses)) => addresses.push(address),
                None => servers.push((server, vec![address])),
            }
        }
        let one_server = |addresses: Vec<Address>| -> Fetched {
            let fetch_one = |address: Address| {
                let name = address.name.clone();
                let answer = self.fetch(&address, tell).map_err(|error| (name.clone(), error))?;
                Ok((name, answer))
            };
            addresses.into_iter().map(fetch_one).collect()
        };
        let answers: Vec<_> = thread::scope(|scope| {
            let one_server = &one_server;
            let threads: Vec<_> = servers
                .into_iter()
                .map(|(_, addresses)| scope.spawn(move || one_server(addresses)))
                .collect();
            let join = |thread: thread::ScopedJoinHandle<'_, _>| match thread.join() {
                Ok(answers) => answers,
                Err(panic) => std::panic::resume_unwind(panic),
            };
            threads.into_iter().map(join).collect()
        });
        let mut all = Vec::new();
        for answers in answers {
            all.extend(answers?);
        }
        Ok(all)
    }

    /// What is at an address; `None` if the server has nothing there.
    pub(super) fn download(
        &self,
        name: &str,
        tell: &(dyn Fn(Event) + Sync),
    ) -> Result<Option<Vec<u8>>, FetchError> {
        let answer = self.client.get(Address::parse(name)?.uri(), None, tell)?;
        if answer.status == 404 { Ok(None) } else { answer.debug_information().map(Some) }
    }

    /// What the server at an address offers; `None` if the address names a profile.
    pub(super) fn offers(
        &self,
        name: &str,
        tell: &(dyn Fn(Event) + Sync),
    ) -> Result<Option<ServerInfo>, FetchError> {
        let address = Address::parse(name)?;
        if !address.is_server() {
            return Ok(None);
        }
        let go = go::offers(&self.client, &address, tell)?;
        if address.is_go_list() && go.is_some() {
            return Ok(go);
        }
        // Databases also serve Go's profiles, but those of their own program.
        for ask in [pyroscope::offers, parca::offers] {
            match ask(&self.client, &address, tell) {
                Ok(None) => {}
                Err(_) if go.is_some() => {}
                found => return found,
            }
        }
        if go.is_none() {
            let message = format!("no profiles are served at {}", address.server());
            return Err(FetchError::new(message).hint(
                "prof looks for Go's /debug/pprof/, Pyroscope and Parca; name the whole address of a profile",
            ));
        }
        Ok(go)
    }

    /// Fetches one address, and saves what it answers.
    fn fetch(&self, address: &Address, tell: &(dyn Fn(Event) + Sync)) -> Result<Vec<u8>, FetchError> {
        let Fetcher { options, client } = self;
        let target = address.target(options.seconds)?;
        let bytes = match &target {
            Target::Plain { url, recording } => {
                let answer = client.get(url, *recording, tell)?;
                if answer.status == 404 && is_go_profile(url) {
                    return Err(go::not_offered(client, url, &answer, tell));
                }
                answer.profile()?
            }
            Target::GoServer { url } => go::fetch(client, url, options.seconds, tell)?,
            Target::Pyroscope(query) => pyroscope::fetch(client, query, tell)?,
            Target::Parca(query) => parca::fetch(client, query, tell)?,
        };
        if let Some(folder) = &options.save_in {
            let saved = save::save(folder, &address.host(), &target.kind(), &bytes).map_err(|error| {
                let message = format!("cannot save what was fetched in {}: {error}", folder.display());
                FetchError::new(message).hint("--no-save does not save it")
            })?;
            tell(Event::Saved(saved));
        }
        Ok(bytes)
    }
}
