//! Detours as other tools write them: a line each, its start and its length.

use falloff_messages::Detours;

/// Reads lines of `START LENGTH`, nanoseconds, apart by blanks or a tab, as netgauge writes them (`selfish`) and LogGOPSim reads them.
/// Lines that are empty or begin with `#` say nothing. Starts count from the first.
///
/// Nothing tells how long was looked after the last of them: they come again when another would be due in the mean.
///
/// ```
/// let detours = falloff_workflow::replay::detours("# ns\n1000\t50\n2000\t50\n3000\t50\n").unwrap();
/// assert_eq!((detours.period(), detours.share()), (3000, 0.05));
/// assert!(falloff_workflow::replay::detours("1000 50\n2000 x\n").unwrap_err().contains("line 2"));
/// ```
///
/// # Errors
/// Which line is wrong and how, in words; or there are not two detours.
pub fn detours(text: &str) -> Result<Detours, String> {
    let mut all: Vec<(u64, u64)> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if !line.is_empty() && !line.starts_with('#') {
            all.push(detour(line).map_err(|reason| format!("line {number}: {reason}"))?);
        }
    }
    let first = all.iter().map(|(start, _)| *start).min().unwrap_or(0);
    all.iter_mut().for_each(|(start, _)| *start -= first);
    let last = all.iter().map(|(start, _)| *start).max().unwrap_or(0);
    if last == 0 {
        return Err("it has no two detours, so that nothing tells when they come again".to_owned());
    }
    let count = all.len() as u128;
    let due = u128::from(last) * count / (count - 1);
    let end = all.iter().map(|(start, length)| start.saturating_add(*length)).max().unwrap_or(0);
    let period = u64::try_from(due).unwrap_or(u64::MAX).max(end);
    Detours::new(period, &all).map_err(|error| error.to_string())
}

fn detour(line: &str) -> Result<(u64, u64), String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [start, length] = words[..] else {
        return Err(format!("it has {} columns where START<TAB>LENGTH would be two", words.len()));
    };
    let (start, length) = (nanoseconds(start)?, nanoseconds(length)?);
    if start.checked_add(length).is_none() {
        return Err(format!("a detour of {length} ns at {start} ns never ends"));
    }
    Ok((start, length))
}

/// A whole number of nanoseconds, or the nearest to one with a decimal point.
fn nanoseconds(word: &str) -> Result<u64, String> {
    if let Ok(whole) = word.parse() {
        return Ok(whole);
    }
    // All that doubles can tell apart.
    let limit = 2f64.powi(53);
    match word.parse::<f64>() {
        Ok(value) if (0.0..limit).contains(&value) => Ok(value.round() as u64),
        Ok(_) => Err(format!("`{word}` is not a time from 0 to {limit} ns")),
        Err(_) => Err(format!("`{word}` is no number of nanoseconds")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Something like a line of a trace, good or bad.
    fn any_line() -> impl Strategy<Value = String> {
        prop_oneof![
            4 => (0..1_000_000_u64, 0..1_000_u64).prop_map(|(start, length)| format!("{start}\t{length}")),
            1 => (any::<u64>(), any::<u64>()).prop_map(|(start, length)| format!("{start} {length}")),
            1 => "[-+0-9eE. \t#xna]{0,12}",
            1 => any::<String>(),
        ]
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused_with_its_line(lines in prop::collection::vec(any_line(), 0..8)) {
            let text = lines.join("\n");
            match detours(&text) {
                Ok(detours) => prop_assert!(detours.period() > 0 && (0.0..1.0).contains(&detours.share())),
                Err(reason) => prop_assert!(
                    reason.starts_with("line ") || reason.contains("detours"), "{}", reason
                ),
            }
        }

        #[test]
        fn what_is_written_is_read(gaps in prop::collection::vec((1..10_000_u64, 1..10_000_u64), 2..50), begin in 0..1_u64 << 60) {
            let mut at = begin;
            let (mut text, mut total) = (String::new(), 0);
            for (length, gap) in &gaps {
                text.push_str(&format!("{at}\t{length}\n"));
                (at, total) = (at + length + gap, total + length);
            }
            let detours = detours(&text).unwrap();
            prop_assert!((detours.share() * detours.period() as f64 / total as f64 - 1.0).abs() < 1e-9);
            // A second of work is lengthened by the share.
            let wanted = 1e9 / (1.0 - detours.share());
            prop_assert!((detours.end(0, 1_000_000_000) as f64 - wanted).abs() <= 2.0 * detours.period() as f64);
        }
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let refused = |text: &str| detours(text).unwrap_err();
        assert_eq!(refused("1 2\n\n3\n"), "line 3: it has 1 columns where START<TAB>LENGTH would be two");
        assert_eq!(refused("1 2\n# x\n3 a\n"), "line 3: `a` is no number of nanoseconds");
        assert_eq!(refused("1 -2\n"), "line 1: `-2` is not a time from 0 to 9007199254740992 ns");
        assert!(refused("1 2\n").contains("no two detours"));
        assert!(refused("0 10\n5 10\n10 10\n15 10\n").contains("they fill all of their period"));
    }
}
