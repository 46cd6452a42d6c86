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
    "span",
    "timeline_data",
    "timeline_words",
    "timeline_marks",
    "timeline_colours",
    "timeline_drawing",
    "timeline",
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
        // A name, or several in brackets.
        let names_of = |line: &str| -> Vec<String> {
            let Some(rest) = words.iter().find_map(|word| line.strip_prefix(word)) else { return Vec::new() };
            let end =
                if rest.starts_with('[') { rest.find(']') } else { rest.find(|c: char| !is_of_name(c)) };
            let names = rest[..end.unwrap_or(rest.len())].split(|c: char| !is_of_name(c));
            names.filter(|name| !name.is_empty()).map(str::to_owned).collect()
        };
        let mut names: Vec<String> = script.lines().flat_map(names_of).collect();
        names.sort();
        let twice: Vec<_> = names.windows(2).filter(|pair| pair[0] == pair[1]).collect();
        assert!(twice.is_empty(), "{twice:?}");
    }

    fn is_of_name(c: char) -> bool {
        c.is_alphanumeric() || c == '_'
    }

    #[test]
    fn nothing_ends_the_script_early() {
        assert!(!script().contains("</script") && !STYLE.contains("</style"));
    }
}
