//! The build script's own modules, compiled into a test: cargo has no other way to test a build script.

// A test uses a part of each module, and the rest belongs to the build script.
#![allow(dead_code)]

#[path = "../build/cache.rs"]
mod cache;
#[path = "../build/codegen/mod.rs"]
mod codegen;
#[path = "../build/digest.rs"]
mod digest;
#[path = "../build/error.rs"]
mod error;
#[path = "../build/files.rs"]
mod files;
#[path = "../build/link.rs"]
mod link;
#[path = "../build/mlx.rs"]
mod mlx;
#[path = "../build/nvidia.rs"]
mod nvidia;
#[path = "../build/pip.rs"]
mod pip;
#[path = "../build/target.rs"]
mod target;
#[path = "../build/units.rs"]
mod units;
#[path = "../build/wheel.rs"]
mod wheel;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use cache::{Cache, Places};
use digest::Key;
use error::BuildError;
use pip::Failure;
use target::{Cuda, Family, Target};
use wheel::Wheel;

fn target(os: &str, arch: &str, env: &str, cuda: Cuda) -> Target {
    let triple = format!("{arch}-unknown-{os}-{env}");
    Target {
        triple,
        os: os.to_owned(),
        arch: arch.to_owned(),
        env: env.to_owned(),
        cuda,
    }
}

/// An empty folder of this test's own.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("build-script-{name}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

mod wheels {
    use super::*;

    fn all() -> Vec<Wheel> {
        let linux = ["x86_64", "aarch64"].into_iter().flat_map(|arch| {
            [Cuda::None, Cuda::V12, Cuda::V13]
                .map(|cuda| target("linux", arch, "gnu", cuda).wheels(None).unwrap())
        });
        let macos = [14, 15, 26].map(|system| {
            target("macos", "aarch64", "", Cuda::None)
                .wheels(Some(system))
                .unwrap()
        });
        let libclang = [("linux", "x86_64"), ("linux", "aarch64"), ("macos", "aarch64")]
            .map(|(os, arch)| vec![wheel::libclang_for(os, arch).unwrap()]);
        linux.chain(macos).chain(libclang).flatten().collect()
    }

    #[test]
    fn every_pin_is_a_sha256_of_its_own() {
        let mut hashes: Vec<_> = all().iter().map(|wheel| wheel.sha256).collect();
        for hash in &hashes {
            assert_eq!(hash.len(), 64, "{hash}");
            assert!(hash.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f')), "{hash}");
        }
        let count = hashes.len();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), count, "two wheels share a pin");
    }

    #[test]
    fn the_first_wheel_carries_the_mlx_that_mlx_c_was_written_for() {
        for arch in ["x86_64", "aarch64"] {
            for (cuda, name, others) in [
                (Cuda::None, "mlx-cpu", 0),
                (Cuda::V12, "mlx-cuda-12", 6),
                (Cuda::V13, "mlx-cuda-13", 7),
            ] {
                let wheels = target("linux", arch, "gnu", cuda).wheels(None).unwrap();
                assert_eq!(
                    (wheels[0].distribution, wheels[0].version),
                    (name, wheel::MLX_VERSION)
                );
                assert_eq!(wheels.len(), 1 + others);
                assert!(
                    wheels.iter().all(|wheel| wheel.platform.ends_with(arch)),
                    "{wheels:?}"
                );
            }
        }
    }

    #[test]
    fn a_mac_gets_the_newest_kernels_that_its_system_can_load() {
        let platform = |system| {
            let wheels = target("macos", "aarch64", "", Cuda::None).wheels(system).unwrap();
            wheels[0].platform
        };
        assert_eq!(platform(None), "macosx_14_0_arm64");
        assert_eq!(platform(Some(14)), "macosx_14_0_arm64");
        assert_eq!(platform(Some(15)), "macosx_15_0_arm64");
        assert_eq!(platform(Some(26)), "macosx_26_0_arm64");
        assert_eq!(platform(Some(27)), "macosx_26_0_arm64");
        assert_eq!(target::macos_major("15.3.1\n"), Some(15));
        assert_eq!(target::macos_major(""), None);
    }

    #[test]
    fn other_targets_are_offered_mlx_root() {
        for (os, arch, env) in [
            ("windows", "x86_64", "msvc"),
            ("linux", "x86_64", "musl"),
            ("linux", "riscv64", "gnu"),
            ("macos", "x86_64", ""),
        ] {
            let error = target(os, arch, env, Cuda::None).wheels(None).unwrap_err();
            assert!(matches!(error, BuildError::UnsupportedTarget { .. }), "{error}");
            assert!(error.to_string().contains(os), "{error}");
            assert!(error.remedy().contains("MLX_ROOT"), "{}", error.remedy());
        }
        let error = target("macos", "aarch64", "", Cuda::V12)
            .wheels(None)
            .unwrap_err();
        assert!(matches!(error, BuildError::NoCuda { .. }), "{error}");
    }

    #[test]
    fn a_program_loads_one_mlx() {
        assert_eq!(Cuda::from_features(false, false).unwrap(), Cuda::None);
        assert_eq!(Cuda::from_features(true, false).unwrap(), Cuda::V12);
        assert_eq!(Cuda::from_features(false, true).unwrap(), Cuda::V13);
        assert!(matches!(
            Cuda::from_features(true, true),
            Err(BuildError::TwoCudaVersions)
        ));
    }

    #[test]
    fn an_old_glibc_is_named_before_the_linker_stumbles() {
        for fine in ["glibc 2.35\n", "glibc 2.41", "glibc 3.0", "", "musl"] {
            target::check_glibc(fine).unwrap();
        }
        let error = target::check_glibc("glibc 2.31\n").unwrap_err();
        assert_eq!(
            error.to_string(),
            "prebuilt MLX needs glibc 2.35 or newer, and this system has 2.31"
        );
    }

    #[test]
    fn another_content_than_the_pinned_is_refused_with_both_hashes() {
        let file = folder("hash").join("mlx.whl");
        fs::write(&file, "not a wheel").unwrap();
        let error = pip::check(&wheel::MLX_CPU_LINUX_X86_64, &file).unwrap_err();
        let found = digest::of_file(&file).unwrap();
        let message = error.to_string();
        assert!(
            message.contains("mlx-cpu 0.32.2 for manylinux_2_35_x86_64"),
            "{message}"
        );
        assert!(message.contains(wheel::MLX_CPU_LINUX_X86_64.sha256), "{message}");
        assert!(message.contains(&found), "{message}");
    }

    #[test]
    fn an_entry_is_named_by_all_that_it_holds() {
        let cuda = target("linux", "x86_64", "gnu", Cuda::V12).wheels(None).unwrap();
        let name = pip::entry_name(&cuda);
        assert!(name.starts_with("mlx-cuda-12-0.32.2-"), "{name}");
        assert_ne!(name, pip::entry_name(&cuda[..cuda.len() - 1]));
    }
}

mod versions {
    use super::*;

    const HEADER: &str = "#pragma once\n\n#define MLX_VERSION_MAJOR 0\n#define MLX_VERSION_MINOR 32\n\
                          #define MLX_VERSION_PATCH 2\n#define MLX_VERSION_NUMERIC \\\n  (100000 * MLX_VERSION_MAJOR)\n";

    #[test]
    fn are_read_from_the_three_definitions() {
        assert_eq!(mlx::version_in(HEADER).as_deref(), Some("0.32.2"));
    }

    #[test]
    fn are_not_guessed() {
        assert_eq!(mlx::version_in(""), None);
        assert_eq!(mlx::version_in(&HEADER.replace("PATCH 2", "PATCH")), None);
        assert_eq!(mlx::version_in(&HEADER.replace("PATCH 2", "PATCH two")), None);
        assert_eq!(
            mlx::version_in(&HEADER.replace("#define MLX_VERSION_MINOR", "// MLX_VERSION_MINOR")),
            None
        );
    }
}

mod pip_failures {
    use super::*;

    #[test]
    fn are_told_apart_by_what_pip_says() {
        let nothing =
            "ERROR: Could not find a version that satisfies the requirement mlx-cpu==0.32.2 (from versions: \
                       none)\nERROR: No matching distribution found for mlx-cpu==0.32.2\n";
        let offline = format!(
            "WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError(...)': /simple/\n{nothing}"
        );
        for (said, failure) in [
            ("/usr/bin/python3: No module named pip\n", Failure::NoPip),
            (nothing, Failure::NotFound),
            (offline.as_str(), Failure::Unreachable),
            (
                "ERROR: Could not install packages due to an OSError: no space left\n",
                Failure::Other,
            ),
            ("", Failure::NotPython),
            ("python3: command not found\n", Failure::NotPython),
        ] {
            assert_eq!(Failure::of(said), failure, "{said}");
        }
    }

    #[test]
    fn are_reported_by_the_last_error() {
        let said = "WARNING: slow\nERROR: first\nERROR: second\n\nnotice: a new pip exists\n";
        assert_eq!(pip::last_error(said).as_deref(), Some("second"));
        assert_eq!(
            pip::last_error("something else\n\n").as_deref(),
            Some("something else")
        );
        assert_eq!(pip::last_error("\n"), None);
    }
}

mod caches {
    use super::*;

    #[test]
    fn lie_where_the_system_keeps_a_users_caches() {
        let places = |xdg: Option<&str>, home: Option<&str>| Places {
            explicit: None,
            xdg: xdg.map(PathBuf::from),
            home: home.map(PathBuf::from),
        };
        let both = places(Some("/xdg"), Some("/home/a"));
        assert_eq!(both.per_user("linux"), Some(PathBuf::from("/xdg/mlx-sys")));
        assert_eq!(
            both.per_user("macos"),
            Some(PathBuf::from("/home/a/Library/Caches/mlx-sys"))
        );
        // The XDG specification: a relative path counts as unset.
        let relative = places(Some("xdg"), Some("/home/a"));
        assert_eq!(
            relative.per_user("linux"),
            Some(PathBuf::from("/home/a/.cache/mlx-sys"))
        );
        assert_eq!(places(None, None).per_user("linux"), None);
    }

    #[test]
    fn fill_an_entry_once() {
        let cache = Cache::at(&folder("once"));
        let fill = |folder: &Path| {
            fs::write(folder.join("file"), "content").unwrap();
            Ok(())
        };
        let entry = cache.entry("thing", fill).unwrap();
        assert_eq!(fs::read_to_string(entry.join("file")).unwrap(), "content");
        let again = cache.entry("thing", |_| panic!("it is there")).unwrap();
        assert_eq!(again, entry);
        assert_eq!(entry, cache.path("thing"));
    }

    #[test]
    fn hold_no_half_of_an_entry() {
        let root = folder("half");
        let cache = Cache::at(&root);
        let failed = cache.entry("thing", |folder| {
            fs::write(folder.join("file"), "half").unwrap();
            Err(BuildError::TwoCudaVersions)
        });
        assert!(failed.is_err());
        assert!(!cache.path("thing").exists());
        assert_eq!(folders_in(&root), Vec::<PathBuf>::new());
    }

    #[test]
    fn clear_away_what_a_killed_build_left() {
        let root = folder("killed");
        fs::create_dir_all(root.join(".building-thing-1/objects")).unwrap();
        fs::create_dir_all(root.join(".building-other-1")).unwrap();
        Cache::at(&root).entry("thing", |_| Ok(())).unwrap();
        assert_eq!(
            folders_in(&root),
            [root.join(".building-other-1"), root.join("thing")]
        );
    }

    #[test]
    fn are_filled_by_one_of_two_builds_at_once() {
        let root = folder("two");
        let fills = std::sync::atomic::AtomicUsize::new(0);
        let build = || {
            Cache::at(&root).entry("thing", |folder| {
                fills.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                std::thread::sleep(Duration::from_millis(100));
                fs::write(folder.join("file"), "content").unwrap();
                Ok(())
            })
        };
        std::thread::scope(|scope| {
            let builds = [scope.spawn(build), scope.spawn(build)];
            for entry in builds.map(|build| build.join().unwrap().unwrap()) {
                assert!(entry.join("file").is_file());
            }
        });
        assert_eq!(fills.into_inner(), 1);
    }

    #[test]
    fn give_cargo_no_reason_to_run_the_script_again() {
        let before = SystemTime::now() - Duration::from_secs(3600);
        let entry = Cache::at(&folder("times")).entry("thing", |folder| {
            fs::create_dir(folder.join("lib")).unwrap();
            fs::write(folder.join("lib/file"), "content").unwrap();
            Ok(())
        });
        let modified = fs::metadata(entry.unwrap().join("lib/file"))
            .unwrap()
            .modified()
            .unwrap();
        assert!(modified < before);
    }

    fn folders_in(root: &Path) -> Vec<PathBuf> {
        files::within(root)
            .unwrap()
            .into_iter()
            .filter(|path| path.is_dir())
            .collect()
    }
}

mod keys {
    use super::*;

    #[test]
    fn keep_parts_apart() {
        let key = |parts: &[(&str, &str)]| {
            parts
                .iter()
                .fold(Key::default(), |key, (name, value)| key.part(name, value))
                .finish()
        };
        assert_eq!(key(&[("a", "bc")]), key(&[("a", "bc")]));
        assert_eq!(key(&[("a", "bc")]).len(), 16);
        let different = [
            key(&[("a", "bc")]),
            key(&[("ab", "c")]),
            key(&[("a", "b"), ("c", "")]),
            key(&[("a", "b")]),
        ];
        for (index, one) in different.iter().enumerate() {
            assert!(
                different[index + 1..].iter().all(|other| other != one),
                "{different:?}"
            );
        }
    }

    #[test]
    fn of_trees_depend_on_names_and_contents_and_not_on_the_place() {
        let root = folder("trees");
        let write = |path: &str, content: &str| {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        };
        let key = |tree: &str| {
            let headers = |file: &Path| file.extension().is_some_and(|extension| extension == "h");
            Key::default()
                .tree("tree", &root.join(tree), headers)
                .unwrap()
                .finish()
        };
        write("one/sub/a.h", "a");
        write("one/notes.txt", "not a header");
        write("two/sub/a.h", "a");
        assert_eq!(key("one"), key("two"));
        write("two/sub/a.h", "b");
        assert_ne!(key("one"), key("two"));
        write("two/sub/a.h", "a");
        fs::rename(root.join("two/sub/a.h"), root.join("two/a.h")).unwrap();
        assert_ne!(key("one"), key("two"));
    }
}

mod compiling {
    use super::*;

    #[test]
    fn deals_files_out_evenly_and_loses_none() {
        let sized = [90, 40, 30, 20, 10, 5].map(|size| (size, PathBuf::from(format!("{size}.cpp"))));
        let heaps = units::balance(sized.to_vec(), 2);
        let names = |index: usize| {
            heaps[index]
                .iter()
                .map(|path| path.display().to_string())
                .collect::<Vec<_>>()
        };
        assert_eq!(names(0), ["90.cpp", "10.cpp"]);
        assert_eq!(names(1), ["40.cpp", "30.cpp", "20.cpp", "5.cpp"]);
        assert_eq!(units::balance(sized[..1].to_vec(), 4).len(), 1);
    }

    #[test]
    fn names_libraries_by_system() {
        assert_eq!(Family::Elf.shared_library("mlx"), "libmlx.so");
        assert_eq!(Family::Apple.shared_library("mlx"), "libmlx.dylib");
    }

    #[test]
    fn a_library_is_named_by_its_final_path_and_knows_where_mlx_is() {
        let words = |family| {
            let home = Path::new("/a b/c,d/libmlxc");
            let options = link::options(home, Path::new("/mlx/lib"), family);
            options
                .into_iter()
                .map(|option| option.into_string().unwrap())
                .collect::<Vec<_>>()
        };
        let linux = words(Family::Elf).join(" ");
        assert!(linux.starts_with("-shared "), "{linux}");
        assert!(
            linux.contains("-Xlinker -soname -Xlinker /a b/c,d/libmlxc"),
            "{linux}"
        );
        assert!(linux.contains("-Xlinker -rpath -Xlinker /mlx/lib"), "{linux}");
        let macos = words(Family::Apple).join(" ");
        assert!(macos.starts_with("-dynamiclib "), "{macos}");
        assert!(
            macos.contains("-Xlinker -install_name -Xlinker /a b/c,d/libmlxc"),
            "{macos}"
        );
        assert!(macos.contains("-Xlinker -rpath -Xlinker /mlx/lib"), "{macos}");
    }
}

mod messages {
    use super::*;

    #[test]
    fn say_what_was_found_and_what_was_expected() {
        let error = BuildError::WrongMlxVersion {
            root: PathBuf::from("/opt/mlx"),
            found: "0.31.2".to_owned(),
            expected: wheel::MLX_VERSION,
        };
        assert_eq!(
            error.to_string(),
            "MLX in `/opt/mlx` is version 0.31.2, and mlx-c was written for 0.32.2"
        );
        assert_eq!(
            error.remedy(),
            "set MLX_ROOT to an MLX of that version, or unset it to use the prebuilt one"
        );
    }

    #[test]
    fn name_what_to_install_when_python_or_pip_is_missing() {
        let what = || wheel::MLX_CPU_LINUX_X86_64.describe();
        let python = "python3".to_owned();
        let missing = BuildError::PipMissing { python, what: what() };
        assert_eq!(
            missing.to_string(),
            "`python3` has no pip, which is needed to fetch mlx-cpu 0.32.2 for manylinux_2_35_x86_64"
        );
        for part in ["python3-pip", "PYTHON", "MLX_ROOT"] {
            assert!(missing.remedy().contains(part), "{}", missing.remedy());
        }
        let offline = BuildError::Unreachable {
            what: what(),
            detail: "nothing".to_owned(),
        };
        assert!(
            offline.remedy().contains("PIP_FIND_LINKS"),
            "{}",
            offline.remedy()
        );
    }
}

mod generated {
    use super::*;
    use codegen::CodegenError;

    /// A C function for the bindings: its parameters, and what it returns.
    fn declared(name: &str, parameters: &str) -> String {
        format!("extern \"C\" {{ pub fn {name}({parameters}) -> ::std::os::raw::c_int; }}\n")
    }

    /// mlx-c's bindings as they were generated for this very build, with more declarations.
    fn generate(name: &str, more: &str, roles: Option<&str>) -> Result<String, CodegenError> {
        let folder = folder(name);
        let bindings = folder.join("bindings.rs");
        let text = fs::read_to_string(Path::new(env!("OUT_DIR")).join("bindings.rs")).unwrap();
        fs::write(&bindings, text + more).unwrap();
        let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("roles.toml");
        let roles_file = folder.join("roles.toml");
        let text = fs::read_to_string(own).unwrap();
        fs::write(&roles_file, text + roles.unwrap_or_default()).unwrap();
        codegen::generate(&bindings, &roles_file, &folder)?;
        Ok(fs::read_to_string(folder.join("observed.rs")).unwrap())
    }

    #[test]
    fn the_wrappers_are_the_same_for_the_same_bindings() {
        let again = generate("same", "", None).unwrap();
        let built = fs::read_to_string(Path::new(env!("OUT_DIR")).join("observed.rs")).unwrap();
        assert!(again == built);
    }

    #[test]
    fn a_new_operation_is_noticed_by_the_number() {
        let more = declared("mlx_new", "res: *mut mlx_array, a: mlx_array, s: mlx_stream");
        let error = generate("number", &more, None).unwrap_err();
        assert!(
            matches!(error, CodegenError::OperationCount { found: 335 }),
            "{error}"
        );
    }

    #[test]
    fn what_yields_arrays_and_is_no_operation_must_be_named() {
        for (folder, parameters) in [
            ("array", "out: *mut mlx_array, a: mlx_array"),
            ("vector", "a: mlx_array, res: *mut mlx_vector_array"),
            ("map", "res: *mut mlx_map_string_to_array, s: mlx_stream"),
        ] {
            let error = generate(folder, &declared("mlx_new", parameters), None).unwrap_err();
            assert!(matches!(error, CodegenError::Classify(_)), "{error}");
            assert!(error.to_string().contains("mlx_new yields arrays"), "{error}");
        }
    }

    #[test]
    fn an_operation_with_an_argument_of_a_new_type_fails() {
        let parameters = "res: *mut mlx_array, a: mlx_array, how: mlx_new_kind, s: mlx_stream";
        let error = generate("type", &declared("mlx_new", parameters), None).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("parameter how of the operation mlx_new"), "{text}");
        let parameters =
            "res: *mut mlx_array, a: mlx_array, axes: *const ::std::os::raw::c_int, s: mlx_stream";
        let error = generate("length", &declared("mlx_new", parameters), None).unwrap_err();
        assert!(error.to_string().contains("axes_num"), "{error}");
    }

    #[test]
    fn a_role_that_matches_nothing_or_is_none_fails() {
        for (folder, line, message) in [
            ("vanished", "mlx_gone.a = \"index\"", "mlx_gone.a matches no"),
            (
                "not-an-operand",
                "mlx_take_axis.axis = \"index\"",
                "matches no array operand",
            ),
            ("no-role", "mlx_add.a = \"divider\"", "the roles are"),
        ] {
            let error = generate(folder, "", Some(&format!("\n[functions]\n{line}\n"))).unwrap_err();
            assert!(error.to_string().contains(message), "{error}");
        }
    }
}
