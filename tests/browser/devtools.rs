//! Chromium without a window, spoken to in its own protocol: JSON over a socket.

use serde_json::{json, Value};
use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tungstenite::stream::MaybeTlsStream;
use tungstenite::{Message, WebSocket};

/// A browser with one page open; ended when dropped.
pub struct Browser {
    process: Child,
    // Chromium's own folder; removed with the browser.
    _profile: tempfile::TempDir,
    socket: WebSocket<MaybeTlsStream<TcpStream>>,
    session: String,
    last: u64,
    /// What the page asked for, each by its address.
    pub requests: Vec<String>,
    /// What went wrong on the page, as the console says it.
    pub errors: Vec<String>,
}

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(30);

impl Browser {
    /// Starts it.
    pub fn start() -> Self {
        let profile = tempfile::tempdir().expect("a folder for the browser");
        let program = ["chromium", "chromium-browser", "google-chrome"]
            .into_iter()
            .find(|name| Command::new(name).arg("--version").output().is_ok())
            .expect("Chromium: apt-get install chromium");
        let mut process = Command::new(program)
            .args([
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--no-first-run",
            ])
            .args(["--disable-background-networking", "--remote-debugging-port=0"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the browser starts");
        let told = BufReader::new(process.stderr.take().expect("piped"));
        let address = told
            .lines()
            .map_while(Result::ok)
            .find_map(|line| line.strip_prefix("DevTools listening on ").map(str::to_owned))
            .expect("the browser tells its address");
        let (mut socket, _) = tungstenite::connect(address).expect("the browser answers");
        if let MaybeTlsStream::Plain(stream) = socket.get_mut() {
            stream
                .set_read_timeout(Some(PATIENCE))
                .expect("a limit for reading");
        }
        let mut browser = Self {
            process,
            _profile: profile,
            socket,
            session: String::new(),
            last: 0,
            requests: Vec::new(),
            errors: Vec::new(),
        };
        let target = browser.send("Target.createTarget", json!({"url": "about:blank"}));
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        let attached = browser.send("Target.attachToTarget", attach);
        browser.session = attached["sessionId"].as_str().expect("a session").to_owned();
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.send(&format!("{domain}.enable"), json!({}));
        }
        browser
    }

    /// Sends a command and waits for its answer.
    pub fn send(&mut self, method: &str, parameters: Value) -> Value {
        self.last += 1;
        let mut message = json!({"id": self.last, "method": method, "params": parameters});
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        self.socket
            .send(Message::text(message.to_string()))
            .expect("the browser listens");
        loop {
            let answer = self.receive();
            if answer["id"] == json!(self.last) {
                assert!(answer.get("error").is_none(), "{method}: {answer}");
                return answer["result"].clone();
            }
        }
    }

    fn receive(&mut self) -> Value {
        let message = self.socket.read().expect("the browser answers in time");
        let value: Value = serde_json::from_str(message.to_text().expect("text")).expect("JSON");
        let text = |at: &str| value.pointer(at).map(Value::to_string).unwrap_or_default();
        match value["method"].as_str() {
            Some("Network.requestWillBeSent") => {
                let address = value.pointer("/params/request/url").and_then(Value::as_str);
                self.requests.extend(address.map(str::to_owned));
            }
            Some("Runtime.exceptionThrown") => self.errors.push(text("/params/exceptionDetails")),
            Some("Log.entryAdded") => self.errors.push(text("/params/entry")),
            Some("Runtime.consoleAPICalled") if value["params"]["type"] == "error" => {
                self.errors.push(text("/params/args"));
            }
            _ => {}
        }
        value
    }

    /// Opens a page and waits until it is there, scripts and all.
    pub fn open(&mut self, address: &str) {
        // A page that only differs in its anchor would not be loaded anew.
        self.send("Page.navigate", json!({"url": "about:blank"}));
        self.send("Page.navigate", json!({"url": address}));
        self.wait(&format!(
            "document.readyState === 'complete' && location.href === {}",
            json!(address)
        ));
    }

    /// What an expression comes to on the page; a promise is waited for.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let parameters = json!({"expression": expression, "awaitPromise": true, "returnByValue": true});
        let answer = self.send("Runtime.evaluate", parameters);
        assert!(answer.get("exceptionDetails").is_none(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    /// Waits until an expression holds.
    pub fn wait(&mut self, expression: &str) {
        let start = Instant::now();
        while self.evaluate(expression) != json!(true) {
            assert!(start.elapsed() < PATIENCE, "never: {expression}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Light or dark, and how wide.
    pub fn look(&mut self, scheme: &str, width: u32) {
        let features = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.send("Emulation.setEmulatedMedia", features);
        let metrics = json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600});
        self.send("Emulation.setDeviceMetricsOverride", metrics);
    }

    /// Types into whatever has the focus.
    pub fn type_in(&mut self, text: &str) {
        self.send("Input.insertText", json!({"text": text}));
    }

    /// Presses a key.
    pub fn press(&mut self, key: &str, code: u32) {
        for kind in ["rawKeyDown", "keyUp"] {
            let event = json!({"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code});
            self.send("Input.dispatchKeyEvent", event);
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
