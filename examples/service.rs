//! A service that answers which functions of an uploaded profile cost the most.
//!
//! Uploads are untrusted: each may take 8 MB on the wire and 64 MB of memory in all, whatever it claims to hold.
//!
//! ```text
//! cargo run --release --no-default-features --example service &
//! curl --data-binary @cpu.pb.gz http://127.0.0.1:8765/
//! ```

use std::io::{self, BufRead, BufReader, Cursor, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use prof::format::{Source, load};
use prof::output::json;
use prof::profile::{Budget, LoadOptions};
use prof::view::{Scope, TopOptions, top};

/// The largest upload, in bytes.
const LARGEST_UPLOAD: usize = 8 << 20;
/// The memory that loading an upload may take, in bytes.
const MEMORY: u64 = 64 << 20;
/// The number of functions in an answer.
const FUNCTIONS: usize = 10;

fn main() -> io::Result<()> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:8765".to_string());
    let listener = TcpListener::bind(address)?;
    println!("listening on http://{}/", listener.local_addr()?);
    for stream in listener.incoming() {
        // A client that goes away, or sends nothing, must not end the service.
        if let Err(error) = stream.and_then(|mut stream| answer(&mut stream)) {
            eprintln!("{error}");
        }
    }
    Ok(())
}

/// Reads one request and answers it.
fn answer(stream: &mut TcpStream) -> io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    let (status, body) = match read_upload(&mut BufReader::new(&*stream))? {
        Some(upload) => match heaviest_functions(upload, MEMORY) {
            Ok(report) => ("200 OK", report),
            Err(error) => ("422 Unprocessable Content", error_report(&error.to_string())),
        },
        None => ("413 Content Too Large", error_report("an upload has a length, and at most 8 MB")),
    };
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    )?;
    stream.write_all(&body)
}

/// The body of a request; `None` if it is too large or does not say how long it is.
fn read_upload(request: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut length = None;
    // Headers are as untrusted as the rest.
    let mut header = request.by_ref().take(16 << 10);
    loop {
        let mut line = String::new();
        header.read_line(&mut line)?;
        let line = line.trim().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse::<usize>().ok();
        }
        if line.is_empty() {
            break;
        }
    }
    let Some(length) = length.filter(|&length| length <= LARGEST_UPLOAD) else { return Ok(None) };
    let mut upload = vec![0; length];
    request.read_exact(&mut upload)?;
    Ok(Some(upload))
}

/// The JSON document of `prof top -n 10`. Loading may take `memory` bytes.
fn heaviest_functions(upload: Vec<u8>, memory: u64) -> Result<Vec<u8>, Box<dyn std::error::Error>> {
    let options = LoadOptions { budget: Budget::of(memory), ..LoadOptions::LEAST };
    let mut source = Source::open_within(Box::new(Cursor::new(upload)), options.budget.clone())?;
    let profile = load(&mut source, options, None)?;
    let metric = profile.meta.default_metric;
    let report =
        top(&profile, &TopOptions { limit: Some(FUNCTIONS), ..TopOptions::new(Scope::metric(metric)) });
    let mut document = Vec::new();
    json(&report.into(), &mut document)?;
    Ok(document)
}

fn error_report(message: &str) -> Vec<u8> {
    format!("{}\n", serde_json::json!({ "error": message })).into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_upload_is_answered_with_its_heaviest_functions() {
        let request = b"POST / HTTP/1.1\r\nContent-Length: 24\r\n\r\nmain;parse 3\nmain;read 9\n";
        let upload = read_upload(&mut &request[..]).unwrap().unwrap();
        let report: serde_json::Value =
            serde_json::from_slice(&heaviest_functions(upload, MEMORY).unwrap()).unwrap();
        assert_eq!((&report["rows"][0]["name"], &report["rows"][0]["self"]), (&"read".into(), &9.into()));
    }

    #[test]
    fn a_compressed_upload_is_inflated() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/pprof/go-cpu.pb.gz");
        let report = heaviest_functions(std::fs::read(path).unwrap(), MEMORY).unwrap();
        let report: serde_json::Value = serde_json::from_slice(&report).unwrap();
        assert_eq!(report["rows"].as_array().unwrap().len(), FUNCTIONS);
    }

    #[test]
    fn what_is_too_large_or_no_profile_is_refused() {
        for length in ["", "Content-Length: 9000000\r\n", "Content-Length: many\r\n"] {
            let request = format!("POST / HTTP/1.1\r\n{length}\r\n");
            assert!(read_upload(&mut request.as_bytes()).unwrap().is_none(), "{length}");
        }
        // Each of a million frames takes more memory than it has bytes in the file.
        let deep = "f;".repeat(1 << 20) + "f 1";
        for upload in [b"no profile".to_vec(), deep.into_bytes()] {
            assert!(heaviest_functions(upload, 1 << 20).is_err());
        }
    }
}
