//! The coverage as the scorecard keeps it: names by module and standing.

use super::count::{Coverage, Row, Standing};
use crate::scorecard::surface::Surface;
use std::collections::BTreeMap;

/// The coverage by module; sorted.
pub fn surface(coverage: &Coverage) -> Vec<Surface> {
    let mut surface = part("mlx-c", &coverage.mlx_c);
    surface.extend(part("mlx-rs", &coverage.mlx_rs));
    surface
}

fn part(of: &'static str, rows: &[Row]) -> Vec<Surface> {
    let mut modules: BTreeMap<&str, Surface> = BTreeMap::new();
    for row in rows {
        let standings = &mut modules
            .entry(&row.module)
            .or_insert_with(|| Surface {
                of,
                module: row.module.clone(),
                standings: Default::default(),
            })
            .standings;
        let list = match row.standing {
            Standing::Covered => &mut standings.covered,
            Standing::Partial => &mut standings.partial,
            Standing::Missing => &mut standings.missing,
            Standing::Excluded => &mut standings.excluded,
        };
        // What stands under its own module needs not repeat it.
        let prefix = format!("{}::", row.module);
        let name = row.name.strip_prefix("mlx_").unwrap_or(&row.name);
        list.push(name.strip_prefix(&prefix).unwrap_or(name).to_owned());
    }
    modules.into_values().collect()
}
