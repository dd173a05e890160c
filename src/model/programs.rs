//! Named Rust models: what YAML cannot say.
//!
//! Control flow on values, evaluation in the middle of a forward, arrays that a closure brings along. Each is a
//! module of one array in and one out, and an entry of the table of layers.

use mlx_rs::error::Exception;
use mlx_rs::module::{Module, ModuleParamMut, ModuleParamRef, ModuleParameters};
use mlx_rs::nested::NestedHashMap;
use mlx_rs::{ops, Array};

/// Implements `ModuleParameters` for a program without parameters.
macro_rules! without_parameters {
    ($name:ty) => {
        impl ModuleParameters for $name {
            fn num_parameters(&self) -> usize {
                0
            }

            fn parameters(&self) -> ModuleParamRef<'_> {
                NestedHashMap::new()
            }

            fn parameters_mut(&mut self) -> ModuleParamMut<'_> {
                NestedHashMap::new()
            }

            fn trainable_parameters(&self) -> ModuleParamRef<'_> {
                NestedHashMap::new()
            }

            fn freeze_parameters(&mut self, _recursive: bool) {}

            fn unfreeze_parameters(&mut self, _recursive: bool) {}

            fn all_frozen(&self) -> Option<bool> {
                None
            }

            fn any_frozen(&self) -> Option<bool> {
                None
            }
        }
    };
}
pub(super) use without_parameters;

/// Implements `Module` for a program without parameters, by its function.
macro_rules! program {
    ($(#[$about:meta])* $name:ident => $forward:expr) => {
        $(#[$about])*
        #[derive(Debug)]
        pub struct $name {
            /// An array that is no parameter: to a capture, one from outside.
            outer: Array,
        }

        impl $name {
            /// The program; its outer array is 3.
            pub fn new() -> Self {
                Self { outer: Array::from_f32(3.0) }
            }
        }

        impl Module<&Array> for $name {
            type Output = Array;
            type Error = Exception;

            fn forward(&mut self, x: &Array) -> Result<Array, Exception> {
                let run: fn(&Array, &Array) -> Result<Array, Exception> = $forward;
                run(x, &self.outer)
            }

            fn training_mode(&mut self, _mode: bool) {}
        }

        without_parameters!($name);
    };
}

program! {
    /// Multiplies by an array from outside.
    OuterConstant => |x, outer| ops::multiply(x, outer)
}

program! {
    /// Multiplies by an array made from a number inside the forward.
    InnerLiteral => |x, _| ops::multiply(x, Array::from_f32(3.0))
}

program! {
    /// Evaluates in the middle, by `eval`, and goes on.
    EvaluateMidway => |x, _| {
        let doubled = ops::add(x, x)?;
        doubled.eval()?;
        ops::exp(&doubled)
    }
}

program! {
    /// Branches on a value, which evaluates it.
    BranchOnItem => |x, _| {
        let total = ops::sum(x, None)?;
        let y = if total.item_exact::<f32>() > 0.0 { ops::exp(x)? } else { ops::negative(x)? };
        ops::multiply(&y, &total)
    }
}

program! {
    /// Reads data, and prints, in the middle.
    ReadMidway => |x, _| {
        let y = ops::exp(x)?;
        let _read = y.as_slice::<f32>().first().copied();
        let z = ops::add(&y, x)?;
        let _printed = format!("{z}");
        ops::negative(&z)
    }
}

program! {
    /// Hides an operation's result from the graph by evaluating it before it is used.
    NormEvaluated => |x, _| {
        let norm = mlx_rs::linalg::norm_l2(x, mlx_rs::linalg::NormOptions::default())?;
        norm.eval()?;
        ops::divide(x, &norm)
    }
}

program! {
    /// Reads one number in the middle, by `item`, and goes on with the array that it was read from.
    ReadItem => |x, _| {
        let total = ops::sum(x, None)?;
        let _read = total.item_exact::<f32>();
        ops::multiply(x, &total)
    }
}

program! {
    /// Meets an error on the way, and goes on without what failed.
    RecoverFromError => |x, outer| {
        let y = ops::exp(x)?;
        let seven = ops::zeros::<f32>(&[7])?;
        let failed = ops::add(&y, &seven).is_err();
        if failed { ops::multiply(&y, outer) } else { Ok(seven) }
    }
}

program! {
    /// Panics on the way, catches the panic, and goes on with what it had.
    RecoverFromPanic => |x, outer| {
        let y = ops::exp(x)?;
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let seven = ops::zeros::<f32>(&[7]).unwrap_or_else(|_| y.clone());
            // An operator that cannot fail otherwise.
            &y + &seven
        }));
        match caught {
            Err(_) => ops::multiply(&y, outer),
            Ok(sum) => Ok(sum),
        }
    }
}

program! {
    /// Prints an array in the middle.
    PrintMidway => |x, _| {
        let y = ops::exp(x)?;
        let _printed = format!("{y:?}");
        ops::negative(&y)
    }
}

program! {
    /// Reads a slice in the middle.
    ReadSlice => |x, _| {
        let y = ops::exp(x)?;
        let _read = y.as_slice::<f32>().first().copied();
        ops::negative(&y)
    }
}

program! {
    /// Saves an array in the middle, in NumPy's format.
    SaveNumpy => |x, _| {
        let y = ops::exp(x)?;
        y.save_numpy(scratch("npy")).map_err(|error| Exception::custom(error.to_string()))?;
        ops::negative(&y)
    }
}

program! {
    /// Saves an array in the middle, as safetensors.
    SaveSafetensors => |x, _| {
        let y = ops::exp(x)?;
        Array::save_safetensors([("y", &y)], None, scratch("safetensors"))
            .map_err(|error| Exception::custom(error.to_string()))?;
        ops::negative(&y)
    }
}

program! {
    /// Reads an array from a file inside the forward.
    LoadNumpy => |x, _| {
        let file = scratch("load.npy");
        let told = |error: mlx_rs::error::IoError| Exception::custom(error.to_string());
        Array::from_f32(3.0).save_numpy(&file).map_err(told)?;
        ops::multiply(x, Array::load_numpy(&file).map_err(told)?)
    }
}

/// A file of this thread's own, written over by the next run.
fn scratch(kind: &str) -> std::path::PathBuf {
    let thread = format!("{:?}", std::thread::current().id());
    let digits: String = thread.chars().filter(char::is_ascii_digit).collect();
    std::env::temp_dir().join(format!("mlx-assay-{}-{digits}.{kind}", std::process::id()))
}
