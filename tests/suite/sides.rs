//! Scorecards made by hand, for what compares and judges them.

use mlx_assay::capability::RefusalCode;
use mlx_assay::scorecard::about::About;
use mlx_assay::scorecard::card::{Ground, Scorecard};
use mlx_assay::scorecard::cells::{CellBook, CellRecord, CellRow};
use mlx_assay::scorecard::changes::Version;
use mlx_assay::scorecard::diff::Side;
use mlx_assay::scorecard::environment::Environment;
use mlx_assay::scorecard::failure::FailureRow;
use mlx_assay::scorecard::gate::Gate;
use mlx_assay::scorecard::outcome::{Checked, Verdict};
use mlx_assay::scorecard::seal::seal;
use mlx_assay::scorecard::surface::{Standings, SurfaceRow};
use mlx_assay::vocabulary::{Device, State};

/// What a prepared scorecard is made of; a test changes it and then asks for the side.
#[derive(Clone)]
pub struct Prepared {
    pub ground: Ground,
    pub cells: Vec<CellRow>,
}

pub const DEVICES: [Device; 2] = [Device::LinuxCpu, Device::MacosMetal];

/// A scorecard that meets [`rules`]: two claims and a refusal, on two devices.
pub fn prepared() -> Prepared {
    let mut ground = Ground {
        claims: vec![
            ("forward.modules".into(), true, None),
            ("session.halt".into(), false, Some(RefusalCode::NestedCapture)),
            ("validation.both_routes".into(), true, None),
        ],
        expected_failures: vec![FailureRow {
            case: "ops::sum".into(),
            check: Checked::Value,
            cells: 1,
            because: "narrow accumulation".into(),
            issue: "upstream: sums of halves".into(),
            opened: "2026-11-01".into(),
            expires: "2027-06-01".into(),
        }],
        ..Ground::default()
    };
    for device in DEVICES {
        ground.environments.insert(
            device,
            Environment {
                mlx: "0.32.2".into(),
                mlx_c: "0.7.0".into(),
                mlx_rs: "0.33.0".into(),
            },
        );
    }
    let standings = |names: &[&str]| Standings {
        covered: names.iter().map(|name| (*name).to_owned()).collect(),
        excluded: vec!["qqmm".into()],
        ..Standings::default()
    };
    ground.surface = [
        ("mlx-c", "ops", ["add", "sum"]),
        ("mlx-rs", "ops", ["sum", "sum_axes"]),
    ]
    .map(|(of, module, names)| SurfaceRow {
        of: of.into(),
        module: module.into(),
        devices: DEVICES.map(|device| (device, standings(&names))).into(),
    })
    .into();
    let cells = vec![
        row("models::mlp", "", &["forward.modules"], "layer.linear", "float32"),
        row(
            "models::mlp_deep",
            "",
            &["forward.modules", "validation.both_routes"],
            "",
            "float32",
        ),
        row("ops::sum", "float32", &[], "sum", "float32"),
        row("ops::sum", "float16", &[], "sum", "float16"),
        refusing(row("refusals::halt", "", &["session.halt"], "", "")),
    ];
    Prepared { ground, cells }
}

/// What the prepared scorecard meets.
pub fn rules() -> Gate {
    Gate {
        supported: vec!["forward.modules".into(), "validation.both_routes".into()],
        ..Gate::default()
    }
}

fn row(case: &str, suffix: &str, covers: &[&str], function: &str, dtype: &str) -> CellRow {
    let said = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let record = CellRecord {
        record: Verdict::Pass,
        value: Some(Verdict::Pass),
        state: Some(State::Passed),
        ops: 2,
        mutant: Some("parent_dropped: killed, declared_parents_inconsistent".into()),
        refused: None,
        tolerances: vec!["reference 1e-7 1e-5".into()],
        signature: vec![],
    };
    CellRow {
        cell: match suffix {
            "" => case.to_owned(),
            suffix => format!("{case}::{suffix}"),
        },
        case: case.to_owned(),
        covers: covers.iter().map(|id| (*id).to_owned()).collect(),
        about: About {
            function: said(function),
            dtype: said(dtype),
            expects: vec!["dtype".into(), "reference".into()],
        },
        devices: DEVICES.map(|device| (device, record.clone())).into(),
    }
}

fn refusing(mut row: CellRow) -> CellRow {
    row.about.expects = vec!["refusal".into()];
    for record in row.devices.values_mut() {
        *record = CellRecord {
            value: None,
            state: None,
            ops: 0,
            mutant: None,
            refused: Some(RefusalCode::NestedCapture),
            tolerances: vec![],
            ..record.clone()
        };
    }
    row
}

impl Prepared {
    /// A cell's row.
    pub fn cell(&mut self, id: &str) -> &mut CellRow {
        self.cells
            .iter_mut()
            .find(|row| row.cell == id)
            .expect("it exists")
    }

    /// A cell's record on the CPU.
    pub fn record(&mut self, id: &str) -> &mut CellRecord {
        self.cell(id).devices.get_mut(&Device::LinuxCpu).expect("it ran")
    }

    /// As a scorecard.
    pub fn version(mut self) -> Version {
        self.cells.sort_by(|a, b| a.cell.cmp(&b.cell));
        let cells = CellBook { cells: self.cells };
        let card = seal(Scorecard::derived(&self.ground, &cells), &cells).expect("sealed");
        Version { card, cells }
    }

    /// As a side of a comparison.
    pub fn side(self, name: &str) -> Side {
        Side {
            name: name.to_owned(),
            version: self.version(),
            ..Side::default()
        }
    }
}
