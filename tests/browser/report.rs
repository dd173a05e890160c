//! A report to look at, made by the program itself from a few cases, one of them hostile.

use std::path::{Path, PathBuf};
use std::process::Command;

/// What a hostile case is called and says.
pub const HOSTILE: &str = "<script>alert(1)</script>";

/// A folder with a report; removed when dropped.
pub struct Report {
    root: tempfile::TempDir,
}

impl Report {
    /// Runs a few cases, gives one of them a hostile name, and writes the pages.
    pub fn new() -> Self {
        let root = tempfile::tempdir().expect("a folder for the report");
        let from = Path::new(env!("CARGO_MANIFEST_DIR"));
        for file in [
            "cases/tutorial/sequential.yaml",
            "cases/models/gru_shared.yaml",
            "cases/ops/reduce/sum.yaml",
            "cases/refusals/unwrapped.yaml",
        ] {
            let to = root.path().join(file);
            std::fs::create_dir_all(to.parent().expect("a folder")).expect("made");
            std::fs::copy(from.join(file), to).expect("copied");
        }
        let note = format!(
            "# {HOSTILE}\nnote: \"{HOSTILE} <img src=x onerror=alert(2)>\"\ninputs: {{x: {{shape: [3]}}}}\nmodel: gelu\nexpect: {{}}\n"
        );
        std::fs::write(root.path().join("cases/hostile.yaml"), note).expect("written");
        let report = Self { root };
        report.assay("run");
        report.assay("accept");
        // A file cannot have this name, but outcomes come from other machines too.
        let outcomes = report.path("target/assay/outcomes.jsonl");
        let text = std::fs::read_to_string(&outcomes).expect("written by the run");
        let hostile = text
            .replace("\"cell\":\"hostile\"", &format!("\"cell\":\"{HOSTILE}\""))
            .replace("layers.0", &format!("layers.0{HOSTILE}"));
        assert_ne!(hostile, text);
        std::fs::write(outcomes, hostile).expect("written");
        report.assay("report");
        report
    }

    fn assay(&self, command: &str) {
        let output = Command::new(env!("CARGO_BIN_EXE_assay"))
            .arg("--root")
            .arg(self.root.path())
            .arg(command)
            .env_remove("CI")
            .output()
            .expect("the program starts");
        // The few cases do not prove every claim, which is a regression and no matter here.
        let ended = matches!(output.status.code(), Some(0 | 1));
        assert!(ended, "{}", String::from_utf8_lossy(&output.stderr));
    }

    /// Where a file of it lies.
    pub fn path(&self, file: &str) -> PathBuf {
        self.root.path().join(file)
    }

    /// The address of a page.
    pub fn address(&self, page: &str) -> String {
        format!("file://{}", self.path("reports").join(page).display())
    }
}
