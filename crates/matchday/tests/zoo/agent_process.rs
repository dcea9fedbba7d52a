//! An agent of the zoo: a Python script as a process of its own that ends with the test.

use matchday_testkit::eventually::eventually_async;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

pub(crate) struct AgentProcess {
    pub(crate) name: String,
    child: Child,
    told: Arc<Mutex<Vec<Value>>>,
    complaints: Arc<Mutex<String>>,
}

impl AgentProcess {
    /// Starts `script`, such as `players/standard`. The first argument is the manager's address, or what a manager of
    /// the zoo wants to know.
    pub(crate) fn start(script: &str, argument: &str) -> Self {
        let zoo = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/zoo");
        let name = script.rsplit('/').next().unwrap_or(script).to_owned();
        let mut child = Command::new("python3")
            .arg(zoo.join(format!("{script}.py")))
            .args([argument, &name])
            .env("PYTHONPATH", zoo.join("lib"))
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let told = Arc::<Mutex<Vec<_>>>::default();
        let complaints = Arc::<Mutex<String>>::default();
        let out = child.stdout.take().unwrap();
        let mut err = child.stderr.take().unwrap();
        let facts = Arc::clone(&told);
        thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                facts
                    .lock()
                    .unwrap()
                    .push(serde_json::from_str(&line).unwrap_or(Value::String(line)));
            }
        });
        let kept = Arc::clone(&complaints);
        thread::spawn(move || {
            let mut text = String::new();
            let _ = err.read_to_string(&mut text);
            kept.lock().unwrap().push_str(&text);
        });
        Self {
            name,
            child,
            told,
            complaints,
        }
    }

    /// All that it has told under this name.
    pub(crate) fn told(&self, name: &str) -> Vec<Value> {
        self.told
            .lock()
            .unwrap()
            .iter()
            .filter_map(|fact| fact.get(name).cloned())
            .collect()
    }

    /// Waits until it has told something under this name.
    pub(crate) async fn until(&self, name: &str) -> Value {
        self.until_times(name, 1).await.remove(0)
    }

    /// Waits until it has told something under this name so often.
    pub(crate) async fn until_times(&self, name: &str, times: usize) -> Vec<Value> {
        eventually_async(name, async || {
            let facts = self.told(name);
            if facts.len() >= times {
                return Ok(facts);
            }
            let told = self.told.lock().unwrap().clone();
            Err(format!(
                "{} told {told:?} {}",
                self.name,
                self.complaints.lock().unwrap()
            ))
        })
        .await
    }

    /// Waits until it has left of its own accord.
    pub(crate) async fn until_gone(&mut self) {
        eventually_async("it has left", async || self.child.try_wait().unwrap()).await;
    }
}

impl Drop for AgentProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if thread::panicking() {
            let told = self.told.lock().unwrap();
            eprintln!(
                "{} told last: {:?}",
                self.name,
                &told[told.len().saturating_sub(8)..]
            );
        }
    }
}
