//! Programs that serve Go's profiles (`net/http/pprof`), and the page that lists them.

use std::time::Duration;

use ureq::http::Uri;

use super::FetchError;
use super::address::{Address, Target, join, server_of, with_parameter, without_user};
use super::client::{Answer, Client};
use super::options::Event;
use crate::report::{ServerInfo, ServerProfile};

/// What the page lists besides profiles that can be read.
const NO_PROFILES: [&str; 3] = ["cmdline", "symbol", "trace"];

/// The profiles that a program offers; `None` if it has no list of them.
pub(super) fn offers(
    client: &Client,
    address: &Address,
    tell: &(dyn Fn(Event) + Sync),
) -> Result<Option<ServerInfo>, FetchError> {
    let Target::GoServer { url: list } = address.target(None)? else { return Ok(None) };
    let answer = client.get(&list, None, tell)?;
    let names = if answer.is_success() { offered(&answer.body) } else { Vec::new() };
    if names.is_empty() {
        return Ok(None);
    }
    let list = without_user(&list);
    let named = |name: String| Ok(ServerProfile { address: join(&list, &name)?.to_string(), name });
    let profiles = names.into_iter().map(named).collect::<Result<_, FetchError>>()?;
    Ok(Some(ServerInfo::new(&address.shown(), "Go", profiles, Vec::new())))
}

/// Fetches the CPU profile from a program whose list of profiles is at `list`.
pub(super) fn fetch(
    client: &Client,
    list: &Uri,
    seconds: Option<u64>,
    tell: &(dyn Fn(Event) + Sync),
) -> Result<Vec<u8>, FetchError> {
    let answer = client.get(list, None, tell)?;
    let offered = if answer.is_success() { offered(&answer.body) } else { Vec::new() };
    if offered.is_empty() {
        if answer.is_forbidden() {
            return Err(answer.refusal());
        }
        let message = format!("no list of profiles at {list} (the server answers {})", answer.status);
        return Err(FetchError::new(message).hint(
            "name the whole address of a profile, such as http://host:6060/debug/pprof/heap; prof info ADDRESS lists what \
             a server offers",
        ));
    }
    if !offered.iter().any(|name| name == "profile") {
        let message = format!("{} has no CPU profile", server_of(list));
        return Err(FetchError::new(message).hint(format!("it offers {}", offered.join(", "))));
    }
    let others: Vec<&str> = offered.iter().map(String::as_str).filter(|name| *name != "profile").collect();
    let mut url = join(list, "profile")?;
    if let Some(seconds) = seconds {
        url = with_parameter(&url, "seconds", &seconds.to_string())?;
    }
    let also = if others.is_empty() {
        String::new()
    } else {
        format!("; the server also offers {}", others.join(", "))
    };
    tell(Event::Note(format!("recording {url}{also}")));
    let recording = Duration::from_secs(seconds.unwrap_or(30));
    client.get(&url, Some(recording), tell)?.profile()
}

/// The error for a profile that a program does not serve, with those that it does.
pub(super) fn not_offered(
    client: &Client,
    url: &Uri,
    answer: &Answer,
    tell: &(dyn Fn(Event) + Sync),
) -> FetchError {
    let listed = join(url, "").ok().and_then(|list| client.get(&list, None, tell).ok());
    let offered = listed.filter(Answer::is_success).map(|answer| offered(&answer.body)).unwrap_or_default();
    if offered.is_empty() {
        return answer.refusal();
    }
    FetchError::new(format!("404: this server has no {}", url.path()))
        .hint(format!("it offers {}", offered.join(", ")))
}

/// The names of the profiles that the page links to: `<a href='heap?debug=1'>`, or `<a href="heap">`.
fn offered(page: &[u8]) -> Vec<String> {
    let page = String::from_utf8_lossy(page);
    let mut names: Vec<String> = Vec::new();
    for link in page.split("href=").skip(1) {
        let Some(quote) = link.chars().next().filter(|c| ['"', '\''].contains(c)) else { continue };
        let target = link[1..].split(quote).next().unwrap_or_default();
        let name = target.split(['?', '#']).next().unwrap_or_default();
        let is_name =
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c));
        if is_name && !NO_PROFILES.contains(&name) && !names.iter().any(|other| other == name) {
            names.push(name.to_string());
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_lists_profiles() {
        let page = b"<html><table><tr><td>3</td><td><a href='allocs?debug=1'>allocs</a></td></tr>\
            <tr><td>0</td><td><a href=\"heap\">heap</a></td></tr><a href='cmdline?debug=1'>cmdline</a>\
            <a href='profile?debug=1'>profile</a><a href='trace?debug=1'>trace</a><a href=\"goroutine?debug=2\">full</a>\
            <a href=\"goroutine?debug=1\">goroutine</a><a href=https://go.dev>Go</a><a href='https://go.dev/'>Go</a>";
        assert_eq!(offered(page), ["allocs", "heap", "profile", "goroutine"]);
        assert!(offered(b"Hello").is_empty());
    }
}
