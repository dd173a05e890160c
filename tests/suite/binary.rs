//! The binary, and what it said.

use std::path::Path;
use std::process::{Command, Output};

pub fn assay(root: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
    command.arg("--root").arg(root).args(arguments).env_remove("CI");
    command.output().expect("the binary starts")
}

pub fn said(output: &Output) -> String {
    let text = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    String::from_utf8(text).expect("UTF-8")
}
