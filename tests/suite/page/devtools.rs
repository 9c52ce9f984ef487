//! One headless Chromium for all tests of this program, driven over the DevTools protocol. Starting a browser takes
//! longer than most tests; each test has a tab with storage of its own.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::needs;

const FLAGS: [&str; 12] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    // Several tabs work at the same time, all as if they were in front.
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--remote-debugging-pipe",
];

/// The longest time that a test waits for the browser.
const PATIENCE: Duration = Duration::from_mins(5);

/// The browser reads messages from descriptor 3 and writes them to 4, each with a zero byte after it.
const START: &str = r#"exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null 2>&1"#;

static SHARED: Mutex<Option<Arc<Browser>>> = Mutex::new(None);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Each test that fails panics; what others share stays as it is.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends the browser, if a test started it.
pub(crate) fn close() {
    let Some(browser) = lock(&SHARED).take() else { return };
    browser.call(None, "Browser.close", &json!({}));
    let _ = lock(&browser.process).wait();
}

struct Browser {
    process: Mutex<Child>,
    input: Mutex<ChildStdin>,
    /// Where answers go, by the numbers of their calls, and events, by their sessions.
    answers: Mutex<HashMap<u64, Sender<Value>>>,
    sessions: Mutex<HashMap<String, Sender<Value>>>,
    calls: AtomicU64,
    _folder: TempDir,
}

impl Browser {
    fn shared() -> Arc<Browser> {
        lock(&SHARED).get_or_insert_with(Browser::start).clone()
    }

    fn start() -> Arc<Browser> {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", START]).arg(needs::browser()).args(FLAGS);
        command.arg(format!("--user-data-dir={}", folder.path().display()));
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let output = process.stdout.take().unwrap();
        let browser = Arc::new(Browser {
            input: Mutex::new(process.stdin.take().unwrap()),
            process: Mutex::new(process),
            answers: Mutex::default(),
            sessions: Mutex::default(),
            calls: AtomicU64::new(1),
            _folder: folder,
        });
        let listener = browser.clone();
        std::thread::spawn(move || listener.listen(output));
        browser
    }

    /// Passes messages on to those who wait for them.
    fn listen(&self, output: ChildStdout) {
        let mut output = BufReader::new(output);
        let mut message = Vec::new();
        while output.read_until(0, &mut message).is_ok_and(|length| length > 0) {
            message.pop();
            let value: Value = serde_json::from_slice(&message).unwrap();
            message.clear();
            // Nobody waits for the rest.
            if let Some(call) = value["id"].as_u64() {
                let _ = lock(&self.answers).remove(&call).map(|waiting| waiting.send(value));
            } else if let Some(session) = value["sessionId"].as_str() {
                let _ = lock(&self.sessions).get(session).map(|waiting| waiting.send(value.clone()));
            }
        }
        // Those who still wait are told by the end of their channels.
        lock(&self.answers).clear();
        lock(&self.sessions).clear();
    }

    fn call(&self, session: Option<&str>, method: &str, parameters: &Value) -> Value {
        let id = self.calls.fetch_add(1, Ordering::Relaxed);
        let (sender, answer) = channel();
        lock(&self.answers).insert(id, sender);
        let mut message = json!({ "id": id, "method": method, "params": parameters });
        if let Some(session) = session {
            message["sessionId"] = json!(session);
        }
        let mut bytes = serde_json::to_vec(&message).unwrap();
        bytes.push(0);
        lock(&self.input).write_all(&bytes).unwrap();
        let mut answer = answer.recv_timeout(PATIENCE).unwrap_or_else(|error| panic!("{method}: {error}"));
        assert_eq!(answer["error"], Value::Null, "{method}");
        answer["result"].take()
    }
}

/// A tab of the browser, with storage of its own. It is closed when it is dropped.
pub(super) struct Tab {
    browser: Arc<Browser>,
    context: String,
    session: String,
    events: Receiver<Value>,
}

impl Tab {
    pub(super) fn open((width, height): (u32, u32)) -> Tab {
        let browser = Browser::shared();
        let text = |value: &Value| value.as_str().unwrap().to_string();
        let context =
            text(&browser.call(None, "Target.createBrowserContext", &json!({}))["browserContextId"]);
        let target = json!({ "url": "about:blank", "browserContextId": context, "newWindow": true, "width": width, "height": height });
        let target = text(&browser.call(None, "Target.createTarget", &target)["targetId"]);
        let attached = json!({ "targetId": target, "flatten": true });
        let session = text(&browser.call(None, "Target.attachToTarget", &attached)["sessionId"]);
        let (sender, events) = channel();
        lock(&browser.sessions).insert(session.clone(), sender);
        let tab = Tab { browser, context, session, events };
        tab.call("Page.enable", &json!({}));
        tab.call("Runtime.enable", &json!({}));
        tab.call("Emulation.setFocusEmulationEnabled", &json!({ "enabled": true }));
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        tab.call("Emulation.setDeviceMetricsOverride", &size);
        tab
    }

    pub(super) fn call(&self, method: &str, parameters: &Value) -> Value {
        self.browser.call(Some(&self.session), method, parameters)
    }

    /// Runs a script before those of the page.
    pub(super) fn prepare(&self, script: &str) {
        self.call("Page.addScriptToEvaluateOnNewDocument", &json!({ "source": script }));
    }

    /// Loads a page. Its clock does not wait: what the page does after some time, it does at once.
    pub(super) fn visit(&self, address: &str) {
        let clock = json!({ "policy": "pauseIfNetworkFetchesPending", "budget": 60_000, "maxVirtualTimeTaskStarvationCount": 9999 });
        self.call("Page.navigate", &json!({ "url": address }));
        self.call("Emulation.setVirtualTimePolicy", &clock);
    }

    /// Waits for an event and returns its parameters.
    pub(super) fn wait_for(&self, event: &str) -> Value {
        loop {
            let mut message = match self.events.recv_timeout(PATIENCE) {
                Ok(message) => message,
                Err(RecvTimeoutError::Timeout) => panic!("no {event} after {PATIENCE:?}"),
                Err(RecvTimeoutError::Disconnected) => panic!("the browser has exited"),
            };
            assert_ne!(message["method"], "Inspector.targetCrashed");
            if message["method"] == event {
                return message["params"].take();
            }
        }
    }

    /// The value of an expression.
    pub(super) fn value(&self, expression: &str) -> Value {
        self.call("Runtime.evaluate", &json!({ "expression": expression, "returnByValue": true }))["result"]
            ["value"]
            .take()
    }
}

impl Drop for Tab {
    fn drop(&mut self) {
        lock(&self.browser.sessions).remove(&self.session);
        if !std::thread::panicking() {
            let context = json!({ "browserContextId": self.context });
            self.browser.call(None, "Target.disposeBrowserContext", &context);
        }
    }
}
