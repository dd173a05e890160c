//! What of a call is perturbed, and with what.

use mlx_rs::Dtype;
use mlx_sys::function::Role;

use super::candidate::Candidate;
use super::decision::Operand;
use crate::capture::{Call, ValueId};

/// The candidates for an operand of a call, the most telling first.
///
/// A decomposition fails where a matrix is singular, and never ends on a NaN. MLX notices the failure on its stream's
/// thread: it then gives the error to whatever is evaluated next, and after a few of them waits for ever. So matrices
/// there get only what leaves a regular one regular, and norms, some of which are made of singular values, only what is
/// finite.
pub(super) fn candidates(call: &Call, role: Role, dtype: Dtype) -> impl Iterator<Item = Candidate> {
    let name = call.function().name;
    let norm = name.starts_with("mlx_linalg_norm");
    let decomposes = !norm && name.starts_with("mlx_linalg_");
    let fits = move |candidate: &Candidate| match candidate {
        Candidate::Noise | Candidate::Shift | Candidate::Reversal => true,
        Candidate::Nan | Candidate::Infinity => !norm && !decomposes,
        _ => !decomposes,
    };
    Candidate::all(role, dtype).iter().copied().filter(fits)
}

/// Each value once, in the order of its first place. What is read in two roles is perturbed in the one that allows less.
pub(super) fn strictest(read: impl Iterator<Item = (ValueId, Role)>) -> Vec<(ValueId, Role)> {
    let mut roles: Vec<(ValueId, Role)> = Vec::new();
    for (value, role) in read {
        match roles.iter_mut().find(|(known, _)| *known == value) {
            Some((_, known)) if *known == Role::Value => *known = role,
            Some(_) => {}
            None => roles.push((value, role)),
        }
    }
    roles
}

/// A call's array operands with their roles and parameter names.
pub(super) fn operands(call: &Call) -> Vec<(Operand, ValueId, Role, &'static str)> {
    let mut found = Vec::new();
    for (index, (parameter, argument)) in call
        .function()
        .parameters
        .iter()
        .zip(call.arguments())
        .enumerate()
    {
        for (place, value) in argument.operands().iter().enumerate() {
            found.push((
                Operand {
                    argument: index,
                    place,
                },
                *value,
                parameter.role,
                parameter.name,
            ));
        }
    }
    let beside = call.arguments().len();
    let declared = found.len();
    for (place, value) in call.operands().skip(declared).enumerate() {
        found.push((
            Operand {
                argument: beside,
                place,
            },
            value,
            Role::Value,
            "captured",
        ));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Session;
    use mlx_rs::error::Exception;
    use mlx_rs::{linalg, with_device, Array, Device};

    /// The candidates for the first operand of the last call of `forward`.
    fn of(forward: impl Fn(&Array) -> Result<Array, Exception>) -> Vec<Candidate> {
        let x = Array::from_slice(&[1_f32, 2.0, 3.0, 5.0], &[2, 2]);
        let (trace, _) = Session::new().run(&x, || forward(&x)).unwrap();
        let call = trace.calls().last().unwrap();
        let (_, _, role, _) = operands(call)[0];
        candidates(call, role, Dtype::Float32).collect()
    }

    /// A mutant that reads nothing any more is tried with all of them: only what is left out here is never tried.
    #[test]
    fn a_matrix_that_is_decomposed_is_never_given_what_never_ends() {
        let all = of(|x| x.exp());
        assert!(
            all.contains(&Candidate::Nan)
                && all.contains(&Candidate::Infinity)
                && all.contains(&Candidate::Zero)
        );

        let norm = of(|x| linalg::norm(x, 2.0, linalg::NormOptions::default()));
        assert!(
            !norm.contains(&Candidate::Nan) && !norm.contains(&Candidate::Infinity),
            "{norm:?}"
        );
        assert!(norm.contains(&Candidate::Zero), "{norm:?}");

        let inverse = of(|x| with_device(Device::cpu(), || linalg::inv(x)));
        assert_eq!(inverse, [Candidate::Noise, Candidate::Shift, Candidate::Reversal]);
    }
}
