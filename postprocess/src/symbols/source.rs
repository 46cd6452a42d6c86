//! Source paths: one copy of each, with the user's replacements.

use std::sync::Arc;

use rustc_hash::FxHashMap;

/// Paths of one module.
pub(super) struct SourcePaths<'a> {
    maps: &'a [(String, String)],
    known: FxHashMap<String, Arc<str>>,
}

impl<'a> SourcePaths<'a> {
    /// `maps` replaces beginnings of paths; the first that fits is taken.
    pub fn new(maps: &'a [(String, String)]) -> SourcePaths<'a> {
        SourcePaths { maps, known: FxHashMap::default() }
    }

    pub fn path(&mut self, raw: &str) -> Arc<str> {
        if let Some(known) = self.known.get(raw) {
            return known.clone();
        }
        let path: Arc<str> = replaced(self.maps, &tidy(raw)).into();
        self.known.insert(raw.to_owned(), path.clone());
        path
    }
}

fn replaced(maps: &[(String, String)], path: &str) -> String {
    // Whole steps only: `/build/x` is no beginning of `/build/xy/a.c`.
    let ends = |old: &str, rest: &str| rest.is_empty() || rest.starts_with('/') || old.ends_with('/');
    let rest = |old: &str| path.strip_prefix(old).filter(|rest| !old.is_empty() && ends(old, rest));
    let hit = maps.iter().find_map(|(old, new)| rest(old).map(|rest| format!("{new}{rest}")));
    hit.unwrap_or_else(|| path.to_owned())
}

/// Without `.` steps and doubled slashes; `..` stays, since what is before it may be a link.
fn tidy(path: &str) -> String {
    let steps: Vec<&str> = path.split('/').filter(|step| !step.is_empty() && *step != ".").collect();
    let root = if path.starts_with('/') { "/" } else { "" };
    format!("{root}{}", steps.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_tidied_and_replaced() {
        let maps = [("/build/x".to_owned(), "/home/me".to_owned())];
        let mut paths = SourcePaths::new(&maps);
        assert_eq!(&*paths.path("/build/x/./a.c"), "/home/me/a.c");
        assert_eq!(&*paths.path("/build//y/../a.c"), "/build/y/../a.c");
        assert_eq!(&*paths.path("a.c"), "a.c");
        assert_eq!(&*paths.path("/build/xy/a.c"), "/build/xy/a.c");
    }
}
