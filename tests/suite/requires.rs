//! Where a cell can run.

use crate::names::cells;
use mlx_assay::harness::requires::Here;
use mlx_assay::vocabulary::{Device, Os};

#[test]
fn what_a_cell_needs_is_held_against_what_is_here() {
    let here = Here {
        device: Device::LinuxCpu,
        os: Os::Linux,
        mlx: "0.32.2".to_owned(),
    };
    let lacks = |requires: &str| {
        let text =
            format!("inputs: {{x: {{shape: [2]}}}}\nmodel: gelu\nrequires: {requires}\nexpect: {{}}\n");
        here.lacks(&cells(&text)[0])
    };
    for (requires, wanted) in [
        ("{}", None),
        ("{device: cpu, os: linux, mlx: \">= 0.32\"}", None),
        ("[cpu, linux]", None),
        ("[metal]", Some("it needs the device metal")),
        ("{device: metal}", Some("it needs the device metal")),
        ("{os: macos}", Some("it needs the system macos")),
        (
            "{mlx: \">= 0.33\"}",
            Some("it needs MLX >=0.33, and this is 0.32.2"),
        ),
        ("{mlx: \"< 0.33\"}", None),
    ] {
        assert_eq!(lacks(requires).as_deref(), wanted, "{requires}");
    }
}
