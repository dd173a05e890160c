//! The arrays in what a forward takes and gives, each by its path.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use mlx_rs::nn::{AlibiInput, LstmInput, MultiHeadAttentionInput, RnnInput, RopeInput, TransformerInput};
use mlx_rs::Array;

/// What a forward may take: shows each array in it, with its path.
///
/// A path names the way to an array: fields and keys by name, places by number, joined with dots; empty for an array
/// that stands alone. Numbers and texts have no arrays and are shown nothing of.
pub trait CaptureInputs {
    /// Calls `found` with the path and the array, for each array in order.
    fn visit_inputs(&self, path: &str, found: &mut dyn FnMut(String, &Array));
}

/// What a forward may give: as [`CaptureInputs`].
pub trait CaptureOutputs {
    /// Calls `found` with the path and the array, for each array in order.
    fn visit_outputs(&self, path: &str, found: &mut dyn FnMut(String, &Array));
}

/// `path` and one more step.
pub(crate) fn join(path: &str, step: impl std::fmt::Display) -> String {
    if path.is_empty() {
        step.to_string()
    } else {
        format!("{path}.{step}")
    }
}

/// Implements both traits for the structures that mean the same in both directions.
macro_rules! both {
    ($trait:ident, $visit:ident) => {
        impl $trait for Array {
            fn $visit(&self, path: &str, found: &mut dyn FnMut(String, &Array)) {
                found(path.to_string(), self);
            }
        }

        impl<T: $trait + ?Sized> $trait for &T {
            fn $visit(&self, path: &str, found: &mut dyn FnMut(String, &Array)) {
                (**self).$visit(path, found);
            }
        }

        impl<T: $trait + ?Sized> $trait for &mut T {
            fn $visit(&self, path: &str, found: &mut dyn FnMut(String, &Array)) {
                (**self).$visit(path, found);
            }
        }

        impl<T: $trait + ?Sized> $trait for Box<T> {
            fn $visit(&self, path: &str, found: &mut dyn FnMut(String, &Array)) {
                (**self).$visit(path, found);
            }
        }

        impl<T: $trait> $trait for Option<T> {
            fn $visit(&self, path: &str, found: &mut dyn FnMut(String, &Array)) {
                if let Some(inner) = self {
                    inner.$visit(path, found);
                }
            }
        }

        impl<T: $trait> $trait for [T] {
            fn $visit(&self, path: &str, found: &mut dyn FnMut(String, &Array)) {
                for (index, item) in self.iter().enumerate() {
                    item.$visit(&join(path, index), found);
                }
            }
        }

        impl<T: $trait> $trait for Vec<T> {
            fn $visit(&self, path: &str, found: &mut dyn FnMut(String, &Array)) {
                self.as_slice().$visit(path, found);
            }
        }

        impl<T: $trait, const N: usize> $trait for [T; N] {
            fn $visit(&self, path: &str, found: &mut dyn FnMut(String, &Array)) {
                self.as_slice().$visit(path, found);
            }
        }

        impl<T: $trait> $trait for BTreeMap<String, T> {
            fn $visit(&self, path: &str, found: &mut dyn FnMut(String, &Array)) {
                for (key, item) in self {
                    item.$visit(&join(path, key), found);
                }
            }
        }

        // In the order of the keys: a hash map's own order differs from run to run.
        impl<T: $trait, S> $trait for HashMap<String, T, S> {
            fn $visit(&self, path: &str, found: &mut dyn FnMut(String, &Array)) {
                let mut items: Vec<_> = self.iter().collect();
                items.sort_by_key(|(key, _)| *key);
                for (key, item) in items {
                    item.$visit(&join(path, key), found);
                }
            }
        }

        impl<T: $trait, S> $trait for HashMap<Rc<str>, T, S> {
            fn $visit(&self, path: &str, found: &mut dyn FnMut(String, &Array)) {
                let mut items: Vec<_> = self.iter().collect();
                items.sort_by_key(|(key, _)| *key);
                for (key, item) in items {
                    item.$visit(&join(path, key), found);
                }
            }
        }

        both!(@tuple $trait, $visit, A 0);
        both!(@tuple $trait, $visit, A 0, B 1);
        both!(@tuple $trait, $visit, A 0, B 1, C 2);
        both!(@tuple $trait, $visit, A 0, B 1, C 2, D 3);
        both!(@tuple $trait, $visit, A 0, B 1, C 2, D 3, E 4);
        both!(@tuple $trait, $visit, A 0, B 1, C 2, D 3, E 4, F 5);
        both!(@nothing $trait, $visit, (), bool, i8, i16, i32, i64, u8, u16, u32, u64, usize, f32, f64, str, String);
    };
    (@tuple $trait:ident, $visit:ident, $($name:ident $index:tt),+) => {
        impl<$($name: $trait),+> $trait for ($($name,)+) {
            fn $visit(&self, path: &str, found: &mut dyn FnMut(String, &Array)) {
                $(self.$index.$visit(&join(path, $index), found);)+
            }
        }
    };
    (@nothing $trait:ident, $visit:ident, $($name:ty),+) => {
        $(impl $trait for $name {
            fn $visit(&self, _path: &str, _found: &mut dyn FnMut(String, &Array)) {}
        })+
    };
}

both!(CaptureInputs, visit_inputs);
both!(CaptureOutputs, visit_outputs);

/// mlx-rs's input structures, by their fields.
macro_rules! fields {
    ($($name:ident { $($field:ident),+ })+) => {
        $(impl CaptureInputs for $name<'_> {
            fn visit_inputs(&self, path: &str, found: &mut dyn FnMut(String, &Array)) {
                $(self.$field.visit_inputs(&join(path, stringify!($field)), found);)+
            }
        })+
    };
}

fields! {
    TransformerInput { source, target, source_mask, target_mask, memory_mask }
    MultiHeadAttentionInput { queries, keys, values, mask }
    RnnInput { x, hidden }
    LstmInput { x, hidden, cell }
    RopeInput { x }
    AlibiInput { attention_scores, mask }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_array_has_its_path() {
        let (a, b, c) = (Array::from_int(1), Array::from_int(2), Array::from_int(3));
        let inputs = (
            &a,
            vec![b.clone(), c.clone()],
            HashMap::from([("mask".to_string(), Some(&c))]),
            0.5_f32,
        );
        let mut paths = Vec::new();
        inputs.visit_inputs("", &mut |path, _| paths.push(path));
        assert_eq!(paths, ["0", "1.0", "1.1", "2.mask"]);
        let mut paths = Vec::new();
        a.visit_outputs("", &mut |path, _| paths.push(path));
        assert_eq!(paths, [""]);
    }
}
