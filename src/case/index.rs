//! Indices as a case writes them: `1`, `-1`, `"1:3"`, `"::2"`, `...`, `new_axis`, or a list of such, one an axis.

use super::value::Value;

/// One part of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Index {
    /// One place, from the end if negative; the axis goes away.
    At(i32),
    /// A range, as in `start:stop:step`; each may be left out.
    Range {
        /// The first place.
        start: Option<i32>,
        /// The first place that is out.
        stop: Option<i32>,
        /// The distance between places.
        step: i32,
    },
    /// `...`: all axes that the rest does not speak of.
    Ellipsis,
    /// `new_axis`: an axis of one.
    NewAxis,
}

/// The parts of an index; `None` where the value is none.
pub fn parse(value: &Value) -> Option<Vec<Index>> {
    match value {
        Value::List(items) => items.iter().map(part).collect(),
        one => Some(vec![part(one)?]),
    }
}

fn part(value: &Value) -> Option<Index> {
    match value {
        Value::Int(place) => i32::try_from(*place).ok().map(Index::At),
        Value::Text(text) if text == "..." => Some(Index::Ellipsis),
        Value::Text(text) if text == "new_axis" => Some(Index::NewAxis),
        Value::Text(text) => range(text),
        _ => None,
    }
}

fn range(text: &str) -> Option<Index> {
    let parts: Vec<&str> = text.split(':').map(str::trim).collect();
    let number = |text: &str| match text {
        "" => Some(None),
        text => text.parse::<i32>().ok().map(Some),
    };
    let (start, stop, step) = match parts[..] {
        [start, stop] => (start, stop, ""),
        [start, stop, step] => (start, stop, step),
        _ => return None,
    };
    let step = number(step)?.unwrap_or(1);
    (step != 0).then_some(Index::Range {
        start: number(start)?,
        stop: number(stop)?,
        step,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_what_is_meant() {
        let text = |text: &str| parse(&Value::Text(text.to_owned()));
        let range = |start, stop, step| Some(vec![Index::Range { start, stop, step }]);
        assert_eq!(text("1:3"), range(Some(1), Some(3), 1));
        assert_eq!(text("::-2"), range(None, None, -2));
        assert_eq!(text(":"), range(None, None, 1));
        assert_eq!(text("..."), Some(vec![Index::Ellipsis]));
        for wrong in ["1", "a:b", "::0", "1:2:3:4", ""] {
            assert_eq!(text(wrong), None, "{wrong}");
        }
        let list = Value::List(vec![Value::Text("...".to_owned()), Value::Int(-1)]);
        assert_eq!(parse(&list), Some(vec![Index::Ellipsis, Index::At(-1)]));
    }
}
