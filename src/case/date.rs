//! A calendar date, as `opened:` and `expires:` write it.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{de, Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// A day, spelled `2026-11-29`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date {
    year: u16,
    month: u8,
    day: u8,
}

/// Text that is not a date.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a date; write year, month and day as in 2026-11-29")]
pub struct DateError(String);

impl FromStr for Date {
    type Err = DateError;

    fn from_str(text: &str) -> Result<Self, DateError> {
        let wrong = || DateError(text.to_owned());
        let mut parts = text.split('-');
        let mut part = |digits: usize| {
            let part = parts
                .next()
                .filter(|part| part.len() == digits && part.bytes().all(|b| b.is_ascii_digit()));
            part.and_then(|part| part.parse::<u16>().ok()).ok_or_else(wrong)
        };
        let (year, month, day) = (part(4)?, part(2)?, part(2)?);
        let leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
        let days = match month {
            2 if leap => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        if parts.next().is_some() || !(1..=12).contains(&month) || !(1..=days).contains(&day) {
            return Err(wrong());
        }
        Ok(Self {
            year,
            month: month as u8,
            day: day as u8,
        })
    }
}

impl Date {
    /// The day that it is, in UTC.
    pub fn today() -> Self {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        Self::of_days(since.map_or(0, |since| since.as_secs() / 86_400))
    }

    /// The day so many days after 1970-01-01 (Howard Hinnant's `civil_from_days`).
    fn of_days(days: u64) -> Self {
        let days = days + 719_468;
        let (era, day_of_era) = (days / 146_097, days % 146_097);
        let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        // Months count from March, so that a leap day is a year's last.
        let march_month = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * march_month + 2) / 5 + 1;
        let month = if march_month < 10 {
            march_month + 3
        } else {
            march_month - 9
        };
        let year = 400 * era + year_of_era + u64::from(month <= 2);
        Self {
            year: year as u16,
            month: month as u8,
            day: day as u8,
        }
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

impl<'de> Deserialize<'de> for Date {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(de::Error::custom)
    }
}

impl Serialize for Date {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl JsonSchema for Date {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Date".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({"type": "string", "format": "date"})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_count_from_1970() {
        let day = |days| Date::of_days(days).to_string();
        let days = [day(0), day(59), day(11_016), day(20_786)];
        assert_eq!(days, ["1970-01-01", "1970-03-01", "2000-02-29", "2026-11-29"]);
        assert!(Date::today().to_string().as_str() >= "2026-01-01");
    }

    #[test]
    fn a_date_is_a_day_that_exists() {
        let read = |text: &str| text.parse::<Date>().map(|date| date.to_string());
        assert_eq!(read("2028-02-29"), Ok("2028-02-29".to_owned()));
        for wrong in [
            "2027-02-29",
            "2026-13-01",
            "2026-1-1",
            "2026-01-01-01",
            "tomorrow",
            "",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
