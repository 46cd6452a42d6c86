//! Lists of numbers as people write them.

/// Ranges that are written out.
const MOST: usize = 4;

/// `0-3, 8`; of many ranges the first few.
pub(crate) fn listed(numbers: &[u32]) -> String {
    let ranges: Vec<String> = numbers
        .chunk_by(|a, b| a + 1 == *b)
        .map(|range| match range {
            [first, .., last] => format!("{first}-{last}"),
            [one] => one.to_string(),
            [] => String::new(),
        })
        .collect();
    match ranges.len() {
        count if count > MOST => format!("{} and {} more", ranges[..MOST].join(", "), count - MOST),
        _ => ranges.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_ranges() {
        assert_eq!(listed(&[0, 1, 2, 7, 9, 10]), "0-2, 7, 9-10");
        assert_eq!(listed(&[1, 3, 5, 7, 9, 11]), "1, 3, 5, 7 and 2 more");
        assert_eq!(listed(&[]), "");
    }
}
