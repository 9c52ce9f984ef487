//! Fetches several addresses, those of one server one after the other.

use std::thread;

use super::address::{Address, Target, is_go_profile};
use super::client::Client;
use super::options::{Event, NetworkOptions};
use super::{FetchError, go, parca, pyroscope, save};

/// What each address answered, or the first address that could not be fetched.
pub(super) type Answers = Result<Vec<(String, Vec<u8>)>, (String, FetchError)>;

/// Fetches addresses, different servers at the same time. A server is not asked for two recordings at once, since Go's
/// refuses the second one.
pub(super) fn fetch_all(
    addresses: Vec<String>,
    options: &NetworkOptions,
    tell: &(dyn Fn(Event) + Sync),
) -> Answers {
    if addresses.is_empty() {
        return Ok(Vec::new());
    }
    let client = Client::new(options).map_err(|error| (addresses[0].clone(), error))?;
    let mut servers: Vec<(String, Vec<Address>)> = Vec::new();
    for name in addresses {
        let address = Address::parse(&name).map_err(|error| (name.clone(), error))?;
        let server = address.server();
        match servers.iter_mut().find(|(other, _)| *other == server) {
            Some((_, addresses)) => addresses.push(address),
            None => servers.push((server, vec![address])),
        }
    }
    let one_server = |addresses: Vec<Address>| -> Answers {
        let fetch_one = |address: Address| {
            let name = address.name.clone();
            let answer = fetch(&client, &address, options, tell).map_err(|error| (name.clone(), error))?;
            Ok((name, answer))
        };
        addresses.into_iter().map(fetch_one).collect()
    };
    let answers: Vec<_> = thread::scope(|scope| {
        let one_server = &one_server;
        let threads: Vec<_> =
            servers.into_iter().map(|(_, addresses)| scope.spawn(move || one_server(addresses))).collect();
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

/// Fetches one address, and saves what it answers.
fn fetch(
    client: &Client,
    address: &Address,
    options: &NetworkOptions,
    tell: &(dyn Fn(Event) + Sync),
) -> Result<Vec<u8>, FetchError> {
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
        tell(Event::Note(format!("saved as {}", saved.display())));
    }
    Ok(bytes)
}
