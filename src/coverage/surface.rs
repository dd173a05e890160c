//! mlx-rs's public items and the functions of mlx-c that it calls, as the build read them.

include!(concat!(env!("OUT_DIR"), "/surface.rs"));

/// One public item of mlx-rs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// Its path within mlx-rs: `ops::sum_axes`, `Array::sum`, `Array as Add`.
    pub path: &'static str,
    /// `function`, `method`, `layer`, `loss`, `optimizer` or `operator`.
    pub kind: &'static str,
}

impl Item {
    /// The module that it is counted under.
    pub fn module(&self) -> &'static str {
        match (self.kind, self.path.rsplit_once("::")) {
            ("operator", _) => "operators",
            (_, Some((module, _))) => module,
            (_, None) => "mlx_rs",
        }
    }

    /// Its name without the module.
    pub fn name(&self) -> &'static str {
        self.path.rsplit([':', ' ']).next().unwrap_or(self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The build falls back to nothing where the source cannot be found, which must not pass unseen here.
    #[test]
    fn the_build_found_mlx_rs() {
        assert!(ITEMS.len() > 400, "{} items", ITEMS.len());
        for path in [
            "ops::sum_axes",
            "Array::sum",
            "Array as Add",
            "nn::Linear",
            "losses::CrossEntropy",
            "optimizers::Sgd",
        ] {
            assert!(ITEMS.iter().any(|item| item.path == path), "{path}");
        }
        let operations = CALLED.iter().filter(|name| {
            mlx_sys::function::Function::by_name(name)
                .is_some_and(|it| it.class == mlx_sys::function::Class::Operation)
        });
        assert_eq!(operations.count(), 292);
    }
}
