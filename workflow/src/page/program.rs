//! The program for the browser: its files, joined into one.

/// The page around them.
pub(super) const FRAME: &str = include_str!("../../page/index.html");

/// How it looks.
pub(super) const STYLE: &str = include_str!("../../page/style.css");

/// The modules, each after those that it imports.
macro_rules! modules {
    ($($name:literal),+ $(,)?) => { &[$(($name, include_str!(concat!("../../page/", $name, ".js")))),+] };
}

const MODULES: &[(&str, &str)] = modules![
    "unpack",
    "number",
    "element",
    "tree",
    "series",
    "order",
    "ahead",
    "context_view",
    "groups",
    "grouped_view",
    "callers_view",
    "flat_view",
    "formula",
    "column",
    "spread",
    "profile_model",
    "student",
    "excess",
    "bounds",
    "sweep",
    "sweep_model",
    "level",
    "listing",
    "search",
    "link",
    "csv",
    "keys",
    "table",
    "explorer",
    "filter",
    "toolbar",
    "header",
    "chart",
    "curves",
    "overview",
    "distribution",
    "flame",
    "heat",
    "source",
    "detail",
    "app",
];

/// All modules in one, without what names them to each other: in one file their names are common.
pub(super) fn script() -> String {
    MODULES.iter().map(|(_, text)| joined(text)).collect()
}

fn joined(module: &str) -> String {
    let mut lines = Vec::new();
    for line in module.lines().filter(|line| !line.starts_with("import ")) {
        lines.push(line.strip_prefix("export ").unwrap_or(line));
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_come_after_those_that_they_import() {
        for (place, (name, text)) in MODULES.iter().enumerate() {
            for line in text.lines().filter(|line| line.starts_with("import ")) {
                let from =
                    line.split('"').nth(1).and_then(|path| path.strip_prefix("./")?.strip_suffix(".js"));
                let before = MODULES[..place].iter().any(|(other, _)| Some(*other) == from);
                assert!(before && line.ends_with(';') && !line.contains(" as "), "{name}: {line}");
            }
        }
    }

    #[test]
    fn names_are_those_of_one_module() {
        let script = script();
        let words = ["function ", "async function ", "class ", "const ", "let "];
        let name = |line: &str| -> Option<String> {
            let rest = words.iter().find_map(|word| line.strip_prefix(word))?;
            Some(rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()?.to_owned())
        };
        let mut names: Vec<String> = script.lines().filter_map(name).filter(|n| !n.is_empty()).collect();
        names.sort();
        let twice: Vec<_> = names.windows(2).filter(|pair| pair[0] == pair[1]).collect();
        assert!(twice.is_empty(), "{twice:?}");
    }

    #[test]
    fn nothing_ends_the_script_early() {
        assert!(!script().contains("</script") && !STYLE.contains("</style"));
    }
}
