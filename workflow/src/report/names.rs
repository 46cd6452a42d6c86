//! Names that fit.

/// Shortens a name in its middle to at most `width` characters: its beginning tells the name space or library,
/// its end, which gets more room, the function.
pub(crate) fn shorten(name: &str, width: usize) -> String {
    let count = name.chars().count();
    if count <= width {
        return name.to_owned();
    }
    let kept = width.saturating_sub(1);
    let (head, tail) = (kept / 3, kept - kept / 3);
    let mut short: String = name.chars().take(head).collect();
    short.push('…');
    short.extend(name.chars().skip(count - tail));
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_lose_their_middle() {
        assert_eq!(shorten("main", 10), "main");
        assert_eq!(shorten("std::vector<int>::push_back", 11), "std…sh_back");
        assert_eq!(shorten("äöüäöü", 4), "ä…öü");
        assert_eq!(shorten("abc", 1), "…");
    }
}
