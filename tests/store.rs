//! Traces on disk: what comes back is what was saved, and nothing else comes back at all.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use mlx_assay::capture::{OpKind, Origin, PayloadPolicy};
use mlx_assay::graph;
use mlx_assay::store::StoreError;
use mlx_assay::validate::{validate, Status};
use mlx_assay::vocabulary::{Decision, Reason, State};
use mlx_assay::{Session, Trace};
use mlx_rs::builder::Builder;
use mlx_rs::ops::indexing::IndexOp;
use mlx_rs::{nn, ops, transforms, Array, Dtype};
use serde_json::Value as Json;
use tempfile::TempDir;

fn floats(shape: &[i32]) -> Array {
    let count = shape.iter().product::<i32>();
    let numbers: Vec<f32> = (0..count).map(|it| (it as f32 * 0.37).sin() * 3.0).collect();
    Array::from_slice(&numbers, shape)
}

/// A small model: layers, an index, a view that is summed, a constant, a scalar argument.
fn model() -> Trace {
    let layers = nn::Sequential::new()
        .append(nn::LinearBuilder::new(4, 8).build().unwrap())
        .append(nn::Gelu::new())
        .append(nn::LinearBuilder::new(8, 2).build().unwrap());
    let (mut layers, x, constant) = (layers, floats(&[3, 4]), floats(&[2]));
    let session = Session::new().module(&layers);
    let forward = || {
        let y = mlx_rs::module::Module::forward(&mut layers, &x)?;
        let y = ops::add(y.transpose()?.sum_axis(1, true)?.transpose()?, &constant)?;
        y.eval()?;
        Ok::<_, mlx_rs::error::Exception>(y.index((.., 1)))
    };
    session.run(&x, forward).unwrap().0
}

fn saved(trace: &Trace, name: &str) -> (TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    trace.save(&path).unwrap();
    (folder, path)
}

const FORMS: [&str; 2] = ["trace", "trace.safetensors"];

/// What a reader sees of a trace.
fn shown(trace: &Trace) -> String {
    let values: Vec<_> = trace
        .values()
        .iter()
        .map(|value| {
            let bytes = value.payload().map(|array| graph::read(array).unwrap());
            let layout = value.payload().map(|array| graph::Layout::of(array).unwrap());
            (
                value.origin().clone(),
                value.shape().to_vec(),
                value.dtype(),
                bytes,
                layout,
                value.had_producer(),
            )
        })
        .collect();
    let calls: Vec<_> = trace
        .calls()
        .iter()
        .map(|call| {
            (
                call.function().name,
                call.arguments().to_vec(),
                call.results().to_vec(),
                call.scope(),
            )
        })
        .collect();
    let insides: Vec<String> = trace.transforms().iter().map(|it| shown(it.forward())).collect();
    format!(
        "{values:?}\n{calls:?}\n{:?}\n{:?}\n{:?}\n{:?}\n{:?}\n{:?}\n{:?}\n{:?}\n{insides:?}",
        trace.ops(),
        trace.modules(),
        trace.scopes(),
        trace.inputs(),
        trace.outputs(),
        trace.evaluations(),
        trace.unwrapped(),
        (
            trace.compile(),
            trace.payload_policy(),
            trace.is_halted(),
            trace.lacking()
        ),
    )
}

fn decisions(status: &Status) -> Vec<(String, Decision, Option<Reason>)> {
    let each = status.ops().iter();
    each.map(|op| (op.label().to_string(), op.decision(), op.reason()))
        .collect()
}

#[test]
fn what_comes_back_is_what_was_saved() {
    let trace = model();
    let status = validate(&trace);
    assert_eq!(status.state(), State::Passed, "{status}");
    for form in FORMS {
        let (_folder, path) = saved(&trace, form);
        let loaded = Trace::load(&path).unwrap();
        assert!(loaded.is_loaded() && !trace.is_loaded());
        assert_eq!(shown(&loaded), shown(&trace), "{form}");
        let again = validate(&loaded);
        assert_eq!(again.state(), State::Passed, "{again}");
        assert_eq!(decisions(&again), decisions(&status));
        let routes = |status: &Status, op: usize| status.ops()[op].routes();
        let linear = trace
            .ops()
            .iter()
            .position(|op| op.func_name() == "linear")
            .unwrap();
        assert!(routes(&status, linear).graph && routes(&status, linear).function);
        assert!(!routes(&again, linear).graph && routes(&again, linear).function);
        assert_eq!(
            trace
                .beside(&loaded)
                .unwrap()
                .iter()
                .filter(|row| row.difference.is_some())
                .count(),
            0
        );
        assert!(loaded.notes()[0].contains("MLX's graph did not survive"));
    }
}

#[test]
fn a_loaded_trace_can_be_saved_again_bit_for_bit() {
    let (_folder, path) = saved(&model(), FORMS[1]);
    let (_other, again) = saved(&Trace::load(&path).unwrap(), FORMS[1]);
    assert_eq!(fs::read(path).unwrap(), fs::read(again).unwrap());
}

#[test]
fn every_element_type_and_shape_comes_back() {
    let types = [
        Dtype::Bool,
        Dtype::Uint8,
        Dtype::Uint16,
        Dtype::Uint32,
        Dtype::Uint64,
        Dtype::Int8,
        Dtype::Int16,
        Dtype::Int32,
        Dtype::Int64,
        Dtype::Float16,
        Dtype::Bfloat16,
        Dtype::Float32,
        Dtype::Float64,
        Dtype::Complex64,
    ];
    let mut inputs = Vec::new();
    for dtype in types {
        for shape in [&[][..], &[0, 3], &[2, 3], &[1, 1]] {
            inputs.push(floats(shape).as_dtype(dtype).unwrap());
        }
    }
    let odd = [f32::NAN, f32::NEG_INFINITY, -0.0, f32::MIN_POSITIVE / 2.0];
    inputs.push(Array::from_slice(&odd, &[4]));
    inputs.push(Array::from_complex(mlx_rs::complex64::new(1.5, -2.5)));
    let forward = || {
        inputs
            .iter()
            .map(|it| ops::stack(&[it, it], 0))
            .collect::<Result<Vec<_>, _>>()
    };
    let trace = Session::new().run(&inputs, forward).unwrap().0;
    for form in FORMS {
        let (_folder, path) = saved(&trace, form);
        let loaded = Trace::load(&path).unwrap();
        assert_eq!(shown(&loaded), shown(&trace), "{form}");
        let found: BTreeSet<String> = loaded
            .values()
            .iter()
            .map(|it| format!("{:?}", it.dtype()))
            .collect();
        assert_eq!(found.len(), 14);
    }
}

/// The same values in another layout sum to other bits: a replay shows whether the layout came back.
#[test]
fn an_operand_lies_as_it_lay() {
    let numbers: Vec<f32> = (0..4000).map(|it| (it as f32).sin() * 1e3).collect();
    let x = Array::from_slice(&numbers, &[40, 100]);
    let forward = || x.transpose()?.sum(false);
    let trace = Session::new().run(&x, forward).unwrap().0;
    trace.evaluate().unwrap();
    let bits = |array: &Array| {
        graph::evaluate([array]).unwrap();
        graph::read(array).unwrap()
    };
    let transposed = trace.value(trace.calls()[0].results()[0]).payload().unwrap();
    let rows = graph::from_bytes(&bits(transposed), transposed.shape(), Dtype::Float32).unwrap();
    let sum = |array: &Array| bits(&array.sum(false).unwrap());
    assert_ne!(sum(&rows), sum(transposed), "else the test shows nothing");
    let (_folder, path) = saved(&trace, FORMS[0]);
    let loaded = Trace::load(&path).unwrap();
    let status = validate(&loaded);
    assert_eq!(status.state(), State::Passed, "{status}");
    let back = loaded.value(loaded.calls()[0].results()[0]).payload().unwrap();
    assert_eq!(sum(back), sum(transposed));
    // A broadcast array takes no more room than what it repeats.
    let wide = Session::new()
        .run(&x, || ops::broadcast_to(x.index((0, 0)), &[4000, 4000]))
        .unwrap()
        .0;
    let (_folder, path) = saved(&wide, FORMS[1]);
    assert!(fs::metadata(&path).unwrap().len() < 64_000);
    assert_eq!(shown_shapes(&Trace::load(&path).unwrap()), shown_shapes(&wide));
}

fn shown_shapes(trace: &Trace) -> Vec<Vec<i32>> {
    trace
        .values()
        .iter()
        .map(|value| value.shape().to_vec())
        .collect()
}

#[test]
fn what_cannot_survive_is_said() {
    let x = floats(&[3]);
    let forward = || {
        let gradient = transforms::grad(|x: &Array| ops::square(x)?.sum(false))(&x)?;
        ops::add(&gradient, &x)
    };
    let trace = Session::new().run(&x, forward).unwrap().0;
    assert_eq!(validate(&trace).state(), State::Passed);
    let (_folder, path) = saved(&trace, FORMS[0]);
    let loaded = Trace::load(&path).unwrap();
    assert_eq!(shown(&loaded), shown(&trace));
    let status = validate(&loaded);
    assert_eq!(status.state(), State::Unverified);
    assert!(status.message().contains("no_replayable_function"), "{status}");
    let decided = decisions(&status);
    assert_eq!(decided[1].1, Decision::Unproven, "{decided:?}");
    assert_eq!(decided.last().unwrap().1, Decision::Verified, "{decided:?}");
    // The closure's own forward is there, and replays.
    assert_eq!(status.insides()[0].forward().state(), State::Passed);
    assert!(loaded.transforms()[0].primitives().is_empty());
}

/// mlx-rs keeps parameters in hash maps: from run to run gradients come in another order.
#[test]
fn two_runs_of_one_training_step_do_not_part() {
    let step = || {
        let mut model = nn::LinearBuilder::new(3, 2).build().unwrap();
        model.weight.value = floats(&[2, 3]);
        model.bias.value = Some(floats(&[2]));
        let x = floats(&[4, 3]);
        let session = Session::new().module(&model);
        let forward = || {
            let loss = |model: &mut nn::Linear, x: &Array| {
                mlx_rs::module::Module::forward(model, x)?.square()?.sum(false)
            };
            let (loss, gradients) = nn::value_and_grad(loss)(&mut model, &x)?;
            Ok::<_, mlx_rs::error::Exception>((loss, gradients["weight"].clone(), gradients["bias"].clone()))
        };
        session.run(&x, forward).unwrap().0
    };
    let first = step();
    let orders: BTreeSet<Vec<Vec<i32>>> = (0..20)
        .map(|_| {
            let again = step();
            assert_eq!(first.parting(&again, 0.0).unwrap(), None);
            let call = &again.calls()[0];
            call.results()
                .iter()
                .map(|it| again.value(*it).shape().to_vec())
                .collect()
        })
        .collect();
    assert_eq!(orders.len(), 2, "else the test shows nothing");
}

#[test]
fn a_trace_without_payloads_comes_back_without() {
    let x = floats(&[3]);
    let session = Session::new().payloads(PayloadPolicy::None);
    let trace = session.run(&x, || ops::exp(&x)).unwrap().0;
    let (_folder, path) = saved(&trace, FORMS[0]);
    let loaded = Trace::load(&path).unwrap();
    assert_eq!(shown(&loaded), shown(&trace));
    assert_eq!(validate(&loaded).state(), State::Unavailable);
}

/// Every leaf and every container of a JSON value, changed once; each with the way to it.
fn altered(value: &Json) -> Vec<(String, Json)> {
    let mut found = Vec::new();
    let mut put = |way: &str, changed: Json| found.push((way.to_string(), changed));
    match value {
        Json::Null => put("", Json::from(0)),
        Json::Bool(it) => put("", Json::from(!it)),
        Json::Number(it) => match it.as_i64() {
            Some(number) => put("", Json::from(number + 1)),
            None => put("", Json::from(it.as_f64().unwrap() * 1.5 + 1.0)),
        },
        Json::String(it) => {
            put("", Json::from(format!("{it}x")));
            put("", Json::Null);
        }
        Json::Array(items) => {
            put("", Json::from([items.clone(), vec![Json::Null]].concat()));
            if let [rest @ .., _] = &items[..] {
                put("", Json::from(rest.to_vec()));
            }
            for (place, item) in items.iter().enumerate() {
                for (way, changed) in altered(item) {
                    let mut items = items.clone();
                    items[place] = changed;
                    put(&format!("[{place}]{way}"), Json::from(items));
                }
            }
        }
        Json::Object(fields) => {
            let mut more = fields.clone();
            more.insert("more".to_string(), Json::Null);
            put("", Json::from(more));
            for (name, field) in fields {
                let mut less = fields.clone();
                less.remove(name);
                put("", Json::from(less));
                for (way, changed) in altered(field) {
                    let mut fields = fields.clone();
                    fields.insert(name.clone(), changed);
                    put(&format!(".{name}{way}"), Json::from(fields));
                }
            }
        }
    }
    found
}

#[test]
fn every_field_altered_once_is_refused() {
    let x = floats(&[2, 2]);
    let forward = || {
        let y = ops::exp(&x)?;
        y.eval()?;
        let gradient = transforms::grad(|x: &Array| ops::square(x)?.sum(false))(&y)?;
        ops::clip(&gradient, (-1.0, 1.0))
    };
    let trace = Session::new().run(&x, forward).unwrap().0;
    let (_folder, path) = saved(&trace, FORMS[0]);
    let file = path.join("trace.json");
    let text = fs::read_to_string(&file).unwrap();
    let original: Json = serde_json::from_str(&text).unwrap();
    let edits = altered(&original);
    assert!(edits.len() > 300, "{}", edits.len());
    for (way, edited) in edits {
        fs::write(&file, edited.to_string()).unwrap();
        let error = match Trace::load(&path) {
            Ok(_) => panic!("{way} was altered, and nobody noticed"),
            Err(error) => error,
        };
        // The part that was edited is named, or its seal's.
        let part = way.trim_start_matches(".trace").trim_start_matches(".seals");
        let part: String = part
            .trim_start_matches('.')
            .split(['.', '['])
            .next()
            .unwrap_or("")
            .to_string();
        let named = error.to_string();
        assert!(named.contains(&part), "{way}: {named}");
        assert!(
            matches!(
                error,
                StoreError::Field { .. } | StoreError::Foreign { .. } | StoreError::Version { .. }
            ),
            "{error:?}"
        );
    }
    // Spelled otherwise, it is the same.
    fs::write(&file, original.to_string()).unwrap();
    assert!(Trace::load(&path).is_ok());
    // Payloads: each byte of them, and of the header.
    let file = path.join("payloads.safetensors");
    let bytes = fs::read(&file).unwrap();
    let spaces: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at] == b' ').collect();
    for place in (0..bytes.len()).filter(|place| !spaces.contains(place)) {
        let mut edited = bytes.clone();
        edited[place] ^= 1;
        fs::write(&file, edited).unwrap();
        assert!(Trace::load(&path).is_err(), "byte {place}");
    }
}

/// Somebody who seals an edit anew gets a trace, or an error; nothing stumbles over it.
#[test]
fn whatever_is_sealed_can_be_read() {
    let (_folder, path) = saved(&model(), FORMS[0]);
    let file = path.join("trace.json");
    let original: Json = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    let (mut read, mut refused) = (0, 0);
    for (way, edited) in altered(&original["trace"]) {
        let mut whole = original.clone();
        whole["trace"] = edited;
        seal(&mut whole);
        fs::write(&file, whole.to_string()).unwrap();
        match Trace::load(&path) {
            Err(error) => {
                refused += 1;
                assert!(matches!(error, StoreError::Field { .. }), "{way}: {error}");
            }
            Ok(trace) => {
                read += 1;
                let ops = trace.ops();
                assert!(!ops.is_empty() && !trace.modules().is_empty(), "{way}");
                assert_eq!(trace.beside(&trace).unwrap().len(), ops.len(), "{way}");
                let told = (
                    trace.notes(),
                    trace.warnings(),
                    trace.output_ops(),
                    trace.first_non_finite().unwrap(),
                );
                assert!(!told.0.is_empty(), "{way}");
            }
        }
    }
    assert!(read > 50 && refused > 300, "{read} read, {refused} refused");
}

#[test]
fn a_part_of_a_file_is_refused_and_so_is_what_is_something_else() {
    let (_folder, path) = saved(&model(), FORMS[1]);
    let bytes = fs::read(&path).unwrap();
    for length in (0..bytes.len()).step_by(97) {
        fs::write(&path, &bytes[..length]).unwrap();
        assert!(
            matches!(Trace::load(&path), Err(StoreError::Foreign { .. })),
            "{length}"
        );
    }
    let (folder, path) = saved(&model(), FORMS[0]);
    let file = path.join("trace.json");
    let text = fs::read(&file).unwrap();
    for length in (0..text.len() - 1).step_by(97) {
        fs::write(&file, &text[..length]).unwrap();
        assert!(
            matches!(Trace::load(&path), Err(StoreError::Foreign { .. })),
            "{length}"
        );
    }
    fs::write(&file, "{}").unwrap();
    assert!(Trace::load(&path).unwrap_err().to_string().contains("`format`"));
    let weights = folder.path().join("weights.safetensors");
    Array::save_safetensors([("w", &floats(&[2]))], None, &weights).unwrap();
    let error = Trace::load(&weights).unwrap_err().to_string();
    assert!(error.contains("holds no saved trace"), "{error}");
    fs::remove_file(path.join("payloads.safetensors")).unwrap();
    assert!(matches!(Trace::load(&path), Err(StoreError::Files { .. })));
    assert!(matches!(
        Trace::load(folder.path().join("nothing")),
        Err(StoreError::Files { .. })
    ));
}

#[test]
fn files_of_two_traces_do_not_make_one() {
    let x = floats(&[2]);
    let of = |by: f32| {
        Session::new()
            .run(&x, || ops::multiply(&x, Array::from_f32(by)))
            .unwrap()
            .0
    };
    let (_one, one) = saved(&of(2.0), FORMS[0]);
    let (_other, other) = saved(&of(3.0), FORMS[0]);
    fs::copy(
        other.join("payloads.safetensors"),
        one.join("payloads.safetensors"),
    )
    .unwrap();
    let error = Trace::load(&one).unwrap_err().to_string();
    assert!(error.contains("payload values["), "{error}");
}

/// A structure whose seals are right and whose numbers point to nothing.
#[test]
fn what_points_to_nothing_is_refused_by_name() {
    let (_folder, path) = saved(&model(), FORMS[0]);
    let file = path.join("trace.json");
    let original: Json = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    let far = Json::from(4_000_000);
    for (way, field) in [
        ("/trace/calls/0/results/0", "trace.calls[0].results"),
        ("/trace/calls/0/arguments/0/array", "trace.calls[0].arguments[0]"),
        ("/trace/inputs/0", "trace.inputs"),
        ("/trace/outputs/0/value", "trace.outputs[0].value"),
        ("/trace/scopes/0/parent", "trace.scopes[0].parent"),
        ("/trace/parameters/0/1", "trace.parameters[0]"),
        ("/trace/values/0/payload/strides/0", "values[0].payload"),
        ("/trace/values/0/shape/0", "payload values[0]"),
        ("/trace/evaluations/0/after", "trace.evaluations[0].after"),
    ] {
        let mut edited = original.clone();
        *edited.pointer_mut(way).unwrap() = far.clone();
        seal(&mut edited);
        fs::write(&file, edited.to_string()).unwrap();
        let error = Trace::load(&path).unwrap_err().to_string();
        assert!(error.contains(field), "{way}: {error}");
    }
    let mut edited = original.clone();
    *edited.pointer_mut("/trace/calls/0/function").unwrap() = Json::from("mlx_nothing");
    seal(&mut edited);
    fs::write(&file, edited.to_string()).unwrap();
    let error = Trace::load(&path).unwrap_err().to_string();
    assert!(
        error.contains("calls[0].function") && error.contains("mlx_nothing"),
        "{error}"
    );
    let mut edited = original.clone();
    edited["version"] = Json::from(2);
    fs::write(&file, edited.to_string()).unwrap();
    assert!(matches!(
        Trace::load(&path),
        Err(StoreError::Version {
            found: 2,
            read: 1,
            ..
        })
    ));
}

/// Seals a structure anew, by what the format says of seals.
fn seal(structure: &mut Json) {
    use sha2::{Digest, Sha256};
    let digest = |text: String| -> String {
        Sha256::digest(text.as_bytes())
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect()
    };
    let short = |value: &Json| Json::from(digest(value.to_string())[..16].to_string());
    let fields = structure["trace"].as_object().unwrap().clone();
    for (name, value) in &fields {
        structure["seals"][name] = match value {
            Json::Array(items) => items.iter().map(short).collect(),
            other => short(other),
        };
    }
    structure["digest"] = Json::from(digest(structure["seals"].to_string()));
}

#[test]
fn nothing_is_replaced_and_nothing_is_written_beside_the_target() {
    let trace = model();
    let folder = tempfile::tempdir().unwrap();
    let inside = |name: &str| folder.path().join(name);
    let names = |folder: &Path| -> BTreeSet<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect()
    };
    fs::create_dir(inside("full")).unwrap();
    fs::write(inside("full/mine.txt"), "mine").unwrap();
    fs::create_dir(inside("empty")).unwrap();
    fs::write(inside("mine.safetensors"), "mine").unwrap();
    std::os::unix::fs::symlink(inside("full"), inside("link")).unwrap();
    std::os::unix::fs::symlink(inside("nowhere"), inside("dangling.safetensors")).unwrap();
    let before = names(folder.path());
    for name in [
        "full",
        "empty",
        "mine.safetensors",
        "link",
        "dangling.safetensors",
        "full/../empty",
    ] {
        let error = trace.save(inside(name)).unwrap_err();
        assert!(matches!(error, StoreError::Exists { .. }), "{name}: {error}");
    }
    assert!(matches!(
        trace.save(inside("full/..")),
        Err(StoreError::NoName { .. })
    ));
    assert!(matches!(
        trace.save(inside("absent/trace")),
        Err(StoreError::Files { .. })
    ));
    assert!(matches!(
        trace.save(inside("absent/trace.safetensors")),
        Err(StoreError::Files { .. })
    ));
    assert!(matches!(
        trace.save(inside("mine.safetensors/trace")),
        Err(StoreError::Files { .. })
    ));
    assert_eq!(names(folder.path()), before, "nothing is left behind");
    assert_eq!(names(&inside("full")), BTreeSet::from(["mine.txt".to_string()]));
    assert_eq!(fs::read_to_string(inside("mine.safetensors")).unwrap(), "mine");
    trace.save(inside("trace")).unwrap();
    trace.save(inside("one.safetensors")).unwrap();
    let wanted = ["payloads.safetensors", "trace.json"].map(str::to_string);
    assert_eq!(names(&inside("trace")), BTreeSet::from(wanted));
    let added: Vec<String> = names(folder.path()).difference(&before).cloned().collect();
    assert_eq!(added, ["one.safetensors", "trace"]);
}

/// Paths within a trace are names, and lead nowhere.
#[test]
fn no_name_in_a_trace_is_a_path() {
    let x = floats(&[2]);
    let inputs = std::collections::BTreeMap::from([("../../outside".to_string(), x.clone())]);
    let trace = Session::new()
        .declare_module("../../outside", "Outside")
        .run(&inputs, || {
            mlx_assay::capture::function_scope("../../outside", || ops::exp(&x))
        })
        .unwrap()
        .0;
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("a/b")).unwrap();
    trace.save(folder.path().join("a/b/trace")).unwrap();
    assert!(!folder.path().join("outside").exists() && !folder.path().join("a/outside").exists());
    let loaded = Trace::load(folder.path().join("a/b/trace")).unwrap();
    assert!(loaded
        .values()
        .iter()
        .any(|it| matches!(it.origin(), Origin::Input { path } if path == "../../outside")));
    assert_eq!(loaded.ops()[0].kind(), OpKind::Input);
}
