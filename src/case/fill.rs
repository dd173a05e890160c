//! Deterministic elements from a seed: the same on every platform, in plain Rust.
//!
//! The random stream is SplitMix64 (Steele, Lea and Flood, 2014: "Fast splittable pseudorandom number generators").
//! Nothing goes through the platform's mathematics library, whose last bits differ between systems: `normal` is
//! the sum of twelve uniform draws less six (mean 0, variance 1, no value beyond 6), not a Box-Muller transform.

use super::data::Data;
use crate::vocabulary::{DType, Kind};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde::Deserialize;
use std::fmt;

/// What an array is filled with.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Fill {
    /// Approximately normal, mean 0, variance 1; integers from -4 to 4 (from 0 if unsigned), or coin flips, for
    /// the types that have no fractions.
    #[default]
    Normal,
    /// Uniform from `low` up to, not including, `high`.
    Uniform {
        /// The least value.
        low: f64,
        /// The bound above.
        high: f64,
    },
    /// Integers from `low` up to, not including, `high`.
    Integers {
        /// The least value.
        low: i64,
        /// The bound above.
        high: i64,
    },
    /// The type's special values in turn: zeros of both signs, ones, extremes, infinities, NaN.
    Special,
    /// 0, 1, 2, ..., from 0 again where an integer type ends (for bool: false, true, false, ...).
    Arange,
    /// One number everywhere.
    Constant(f64),
}

impl Fill {
    /// Whether every element that the fill makes is one of `dtype`. Bools take any fill: by chance, or by whether a
    /// number is 0.
    pub fn fits(self, dtype: DType) -> bool {
        let Some((least, most)) = dtype.integer_range() else {
            return true;
        };
        let inside = |value: f64| (least as f64..=most as f64).contains(&value);
        match self {
            Fill::Normal | Fill::Special | Fill::Arange => true,
            Fill::Uniform { low, high } => inside(low) && inside(high.ceil() - 1.0),
            Fill::Integers { low, high } => least <= low && high - 1 <= most,
            Fill::Constant(value) => value.fract() == 0.0 && inside(value),
        }
    }
}

/// As a case writes it.
impl fmt::Display for Fill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fill::Normal => f.write_str("normal"),
            Fill::Uniform { low, high } => write!(f, "{{uniform: [{low}, {high}]}}"),
            Fill::Integers { low, high } => write!(f, "{{integers: [{low}, {high}]}}"),
            Fill::Special => f.write_str("special"),
            Fill::Arange => f.write_str("arange"),
            Fill::Constant(value) => write!(f, "{{constant: {value}}}"),
        }
    }
}

/// `elements` elements of type `dtype`, which the fill [fits](Fill::fits).
pub fn fill(fill: Fill, dtype: DType, elements: usize, seed: u64) -> Data {
    let mut stream = Stream(seed);
    // Where the special values begin goes by the seed, so that two operands do not hold the same ones.
    let first = match fill {
        Fill::Special => (seed % 12) as usize,
        _ => 0,
    };
    let places = first..first + elements;
    match dtype.kind() {
        Kind::Bool => Data::Bool(
            places
                .map(|place| bool_element(fill, place, &mut stream))
                .collect(),
        ),
        Kind::Int => {
            // Integer kinds are exactly those that have a range.
            let range = dtype.integer_range().unwrap_or((0, 0));
            Data::Int(
                places
                    .map(|place| int_element(fill, range, place, &mut stream))
                    .collect(),
            )
        }
        Kind::Float => Data::Float(
            places
                .map(|place| float_element(fill, dtype, place, &mut stream))
                .collect(),
        ),
        Kind::Complex => {
            let mut part = |place| float_element(fill, dtype, place, &mut stream);
            // The imaginary part is one place ahead, so that fills by place do not give equal parts.
            Data::Complex(places.map(|place| [part(place), part(place + 1)]).collect())
        }
    }
}

/// The same array with slightly different elements, still of the type, of the same size, and in the same range.
///
/// A second capture with nudged inputs tells a constant from a value that depends on the input. Integers and bools
/// may be indices, so they only change places.
pub fn nudged(data: &Data, dtype: DType) -> Data {
    let nudge = |value: f64| round_to(dtype, value * (1.0 + 1.0 / 64.0) + 1.0 / 128.0);
    match data {
        Data::Bool(elements) => Data::Bool(rotated(elements)),
        Data::Int(elements) => Data::Int(rotated(elements)),
        Data::Float(elements) => Data::Float(elements.iter().map(|it| nudge(*it)).collect()),
        Data::Complex(elements) => {
            Data::Complex(elements.iter().map(|[re, im]| [nudge(*re), nudge(*im)]).collect())
        }
    }
}

fn rotated<T: Clone>(elements: &[T]) -> Vec<T> {
    let mut elements = elements.to_vec();
    if !elements.is_empty() {
        elements.rotate_left(1);
    }
    elements
}

/// The nearest value that the floating-point type can hold; other types give the value back.
pub fn round_to(dtype: DType, value: f64) -> f64 {
    match dtype {
        DType::Float32 | DType::Complex64 => value as f32 as f64,
        DType::Float16 => round_to_bits(value, 11, -14, 65504.0),
        DType::Bfloat16 => round_to_bits(value, 8, -126, 3.389_531_389_251_535_5e38),
        _ => value,
    }
}

/// Rounds to `precision` significant bits with least normal exponent `least`, ties to even; beyond `most` (plus half
/// a unit) lies infinity, as in IEEE 754.
fn round_to_bits(value: f64, precision: i32, least: i32, most: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    // The exponent of an f64 as its bits have it; a subnormal f64 lies far below every unit used here.
    let exponent = ((value.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    let unit = power_of_two(exponent.max(least) - (precision - 1));
    let rounded = (value / unit).round_ties_even() * unit;
    if rounded.abs() > most {
        f64::INFINITY.copysign(value)
    } else {
        rounded.abs().copysign(value)
    }
}

/// 2 to the power of a normal exponent, exactly.
fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

fn bool_element(fill: Fill, place: usize, stream: &mut Stream) -> bool {
    match fill {
        Fill::Normal | Fill::Uniform { .. } | Fill::Integers { .. } => stream.next() >> 63 == 1,
        Fill::Special | Fill::Arange => place % 2 == 1,
        Fill::Constant(value) => value != 0.0,
    }
}

fn int_element(fill: Fill, (least, most): (i64, i64), place: usize, stream: &mut Stream) -> i64 {
    match fill {
        Fill::Normal => stream.integer(least.max(-4), 5),
        Fill::Uniform { low, high } => stream.between(low, high).floor() as i64,
        Fill::Integers { low, high } => stream.integer(low, high),
        Fill::Special => {
            let values = [0, 1, most, least, most - 1, least.saturating_add(1), 2];
            values[place % values.len()]
        }
        // Begins again where the type ends.
        Fill::Arange => (place as i64) % most.saturating_add(1),
        Fill::Constant(value) => value as i64,
    }
}

fn float_element(fill: Fill, dtype: DType, place: usize, stream: &mut Stream) -> f64 {
    let value = match fill {
        Fill::Normal => stream.normal(),
        Fill::Uniform { low, high } => {
            let value = round_to(dtype, stream.between(low, high));
            // Rounding may step onto the bound above, which is not included.
            return if value >= high {
                round_to(dtype, low)
            } else {
                value
            };
        }
        Fill::Integers { low, high } => stream.integer(low, high) as f64,
        Fill::Special => special(dtype, place),
        Fill::Arange => place as f64,
        Fill::Constant(value) => value,
    };
    round_to(dtype, value)
}

/// The special values of a floating-point type, in turn.
fn special(dtype: DType, place: usize) -> f64 {
    let (most, least_normal, least) = match dtype {
        DType::Float16 => (65504.0, power_of_two(-14), power_of_two(-24)),
        DType::Bfloat16 => (3.389_531_389_251_535_5e38, power_of_two(-126), power_of_two(-133)),
        DType::Float64 => (f64::MAX, f64::MIN_POSITIVE, f64::from_bits(1)),
        _ => (
            f32::MAX as f64,
            f32::MIN_POSITIVE as f64,
            f32::from_bits(1) as f64,
        ),
    };
    let values = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        most,
        -most,
        least_normal,
        least,
        -least,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ];
    values[place % values.len()]
}

/// SplitMix64.
struct Stream(u64);

impl Stream {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From 0 up to, not including, 1, in steps of 2^-53.
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 * power_of_two(-53)
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + self.unit() * (high - low)
    }

    /// From `low` up to, not including, `high`; `low` where that is empty. The modulo's bias is below 2^-32 for
    /// every range a case would use.
    fn integer(&mut self, low: i64, high: i64) -> i64 {
        let width = high.wrapping_sub(low) as u64;
        if high <= low {
            return low;
        }
        low.wrapping_add((self.next() % width) as i64)
    }

    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }
}

/// Where the stream of the input `name` begins: it depends on the case's seed and the name alone, so that another
/// input beside it changes nothing. FNV-1a over the name, mixed with the seed.
pub fn seed_for(case_seed: u64, name: &str) -> u64 {
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    Stream(case_seed ^ hash).next()
}

const WORDS: &[&str] = &[
    "normal", "uniform", "integers", "special", "arange", "zeros", "ones", "constant",
];

impl<'de> Deserialize<'de> for Fill {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FillVisitor)
    }
}

struct FillVisitor;

impl<'de> Visitor<'de> for FillVisitor {
    type Value = Fill;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a fill, as in `normal`, `{uniform: [-1, 1]}` or `{integers: [0, 10]}`")
    }

    fn visit_str<E: de::Error>(self, word: &str) -> Result<Fill, E> {
        match word {
            "normal" => Ok(Fill::Normal),
            "uniform" => Ok(Fill::Uniform { low: -1.0, high: 1.0 }),
            "special" => Ok(Fill::Special),
            "arange" => Ok(Fill::Arange),
            "zeros" => Ok(Fill::Constant(0.0)),
            "ones" => Ok(Fill::Constant(1.0)),
            "integers" => Err(E::custom(
                "integers need their range, as in `{integers: [0, 10]}`",
            )),
            "constant" => Err(E::custom("a constant needs its number, as in `{constant: 0.5}`")),
            other => Err(E::unknown_variant(other, WORDS)),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Fill, A::Error> {
        let Some(word) = access.next_key::<String>()? else {
            return Err(de::Error::custom("a fill is missing, as in `{uniform: [-1, 1]}`"));
        };
        let fill = match word.as_str() {
            "uniform" => {
                let [low, high] = access.next_value::<[f64; 2]>()?;
                ordered(low, high)?;
                Fill::Uniform { low, high }
            }
            "integers" => {
                let [low, high] = access.next_value::<[i64; 2]>()?;
                ordered(low, high)?;
                Fill::Integers { low, high }
            }
            "constant" => Fill::Constant(access.next_value()?),
            other => {
                return Err(de::Error::unknown_field(
                    other,
                    &["uniform", "integers", "constant"],
                ))
            }
        };
        match access.next_key::<String>()? {
            None => Ok(fill),
            Some(second) => Err(de::Error::custom(format!(
                "a fill is one word, but `{second}` follows `{word}`"
            ))),
        }
    }
}

fn ordered<T: PartialOrd + fmt::Display, E: de::Error>(low: T, high: T) -> Result<(), E> {
    if low < high {
        return Ok(());
    }
    Err(E::custom(format!(
        "nothing lies from {low} up to {high}; the second number is not included"
    )))
}

impl JsonSchema for Fill {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Fill".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let range = |item: &str| schemars::json_schema!({"type": "array", "items": {"type": item}, "minItems": 2, "maxItems": 2});
        schemars::json_schema!({
            "description": "what to fill with; a range does not include its second number",
            "anyOf": [
                {"enum": ["normal", "uniform", "special", "arange", "zeros", "ones"]},
                {
                    "type": "object", "minProperties": 1, "maxProperties": 1, "additionalProperties": false,
                    "properties": {
                        "uniform": range("number"),
                        "integers": range("integer"),
                        "constant": {"type": "number"}
                    }
                }
            ]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn floats(data: Data) -> Vec<f64> {
        match data {
            Data::Float(elements) => elements,
            other => panic!("floats wanted, found {other:?}"),
        }
    }

    #[test]
    fn the_stream_is_the_published_one() {
        // The first two outputs of SplitMix64 from seed 1234567, as its authors' reference gives them.
        let mut stream = Stream(1_234_567);
        assert_eq!(
            [stream.next(), stream.next()],
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]
        );
    }

    #[test]
    fn normal_has_mean_0_and_variance_1() {
        let elements = floats(fill(Fill::Normal, DType::Float64, 40_000, 7));
        let mean = elements.iter().sum::<f64>() / 40_000.0;
        let variance = elements.iter().map(|it| (it - mean).powi(2)).sum::<f64>() / 40_000.0;
        assert!(
            mean.abs() < 0.02 && (variance - 1.0).abs() < 0.03,
            "{mean} {variance}"
        );
    }

    #[test]
    fn half_types_round_to_nearest_even() {
        assert_eq!(round_to(DType::Float16, 2049.0), 2048.0);
        assert_eq!(round_to(DType::Float16, 65520.0), f64::INFINITY);
        assert_eq!(round_to(DType::Float16, 3.0e-8), power_of_two(-25) * 2.0);
        assert_eq!(round_to(DType::Bfloat16, 257.0), 256.0);
        assert!(round_to(DType::Float16, -1.0e-12).is_sign_negative());
    }

    #[test]
    fn a_fill_fits_where_each_of_its_elements_does() {
        let fits = |fill: Fill, dtype: DType| fill.fits(dtype);
        assert!(fits(Fill::Integers { low: 0, high: 256 }, DType::Uint8));
        assert!(!fits(Fill::Integers { low: 0, high: 257 }, DType::Uint8));
        assert!(!fits(Fill::Uniform { low: -1.0, high: 1.0 }, DType::Uint8));
        assert!(!fits(Fill::Constant(0.5), DType::Int32) && fits(Fill::Constant(0.5), DType::Float16));
        let Data::Int(turned) = fill(Fill::Arange, DType::Int8, 200, 0) else {
            unreachable!()
        };
        assert_eq!((turned[127], turned[128]), (127, 0));
    }

    proptest! {
        #[test]
        fn fills_keep_their_range(low in -100i64..100, width in 1i64..100, seed: u64) {
            let high = low + width;
            let Data::Int(ints) = fill(Fill::Integers { low, high }, DType::Int32, 64, seed) else { unreachable!() };
            prop_assert!(ints.iter().all(|it| (low..high).contains(it)));
            let (from, to) = (low as f64, high as f64);
            for dtype in [DType::Float64, DType::Float32, DType::Float16, DType::Bfloat16] {
                let drawn = floats(fill(Fill::Uniform { low: from, high: to }, dtype, 64, seed));
                prop_assert!(drawn.iter().all(|it| from <= *it && *it < to));
                prop_assert!(drawn.iter().all(|it| round_to(dtype, *it) == *it));
            }
        }

        #[test]
        fn fills_repeat_and_begin_alike(seed: u64) {
            let long = floats(fill(Fill::Normal, DType::Float32, 9, seed));
            let short = floats(fill(Fill::Normal, DType::Float32, 5, seed));
            prop_assert_eq!(&long[..5], &short[..]);
        }

        #[test]
        fn float32_rounds_as_the_hardware_does(bits: u32) {
            let value = f32::from_bits(bits);
            prop_assume!(value.is_finite());
            // The wide rounding, told float32's figures, agrees with the cast on values between two floats.
            let between = f64::from(value) * (1.0 + 1.0e-9);
            prop_assume!((between as f32).is_finite());
            prop_assert_eq!(round_to_bits(between, 24, -126, f64::from(f32::MAX)), f64::from(between as f32));
        }

        #[test]
        fn nudged_differs(seed: u64) {
            let data = fill(Fill::Normal, DType::Float32, 8, seed);
            prop_assert_ne!(nudged(&data, DType::Float32), data);
        }
    }
}
