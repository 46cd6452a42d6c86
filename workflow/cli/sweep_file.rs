//! `falloff sweep --file FILE`: options of a sweep from a TOML file. What the file says becomes words of the command line, so
//! that both always mean the same.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use toml::{Table, Value};

use crate::failure::Failure;

/// The option that names the file.
const OPTION: &str = "--file";
/// The key of the program and its arguments, which come last.
const PROGRAM: &str = "program";

/// The command line with the file's options in place of `--file FILE`; as it is if there is no such option.
///
/// ```toml
/// n = [1, 2, 4]
/// weak = true
/// program = ["./app", "{n}"]
/// ```
/// stands for `-n 1,2,4 --weak -- ./app {n}`.
pub fn expanded(words: Vec<OsString>) -> Result<Vec<OsString>, Failure> {
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let is_sweep = words.get(1).is_some_and(|word| word == "sweep");
    let joined = |word: &OsString| word.to_str()?.strip_prefix(OPTION)?.strip_prefix('=').map(OsString::from);
    let is_option = |word: &OsString| word == OPTION || joined(word).is_some();
    let Some(at) = words[..end].iter().position(is_option).filter(|_| is_sweep) else {
        return Ok(words);
    };
    let (path, next) = match joined(&words[at]) {
        Some(path) => (Some(path), at + 1),
        None => (words[..end].get(at + 1).cloned(), at + 2),
    };
    let Some(path) = path else {
        return Err(Failure::usage(
            "failed to read `--file`: no file follows it",
            "give `--file sweep.toml`",
        ));
    };
    let (options, program) = read(Path::new(&path))?;
    let mut line: Vec<OsString> = words[..at].to_vec();
    line.extend(options);
    line.extend(words[next..].iter().cloned());
    if end == words.len() && !program.is_empty() {
        line.push("--".into());
        line.extend(program);
    }
    Ok(line)
}

/// Options, and program with arguments.
fn read(path: &Path) -> Result<(Vec<OsString>, Vec<OsString>), Failure> {
    let wrong = |reason: String| {
        Failure::usage(
            format!("failed to read the sweep file `{}`: {reason}", path.display()),
            "write long names of options, for example `n = [1, 2, 4]`, and `program = [\"./app\"]`; see docs/sweep.md",
        )
    };
    let text = fs::read_to_string(path).map_err(|e| wrong(e.to_string()))?;
    let table: Table =
        text.parse().map_err(|e: toml::de::Error| wrong(e.to_string().trim_end().to_owned()))?;
    let (mut options, mut program) = (Vec::new(), Vec::new());
    for (key, value) in &table {
        let words = match value {
            Value::Array(items) => items.iter().map(word).collect::<Option<Vec<String>>>(),
            other => word(other).map(|word| vec![word]),
        };
        let words =
            words.ok_or_else(|| wrong(format!("`{key}` is no text, number, truth value or list of them")))?;
        match (key.as_str(), value) {
            (PROGRAM, Value::Array(_)) => program = words.into_iter().map(Into::into).collect(),
            (PROGRAM, _) => {
                return Err(wrong("`program` is no list of the program and its arguments".into()));
            }
            ("n", _) => options.extend(["-n".into(), words.join(",").into()]),
            (_, Value::Boolean(true)) => options.push(format!("--{key}").into()),
            (_, Value::Boolean(false)) => {}
            _ => options.extend(words.into_iter().map(|word| OsString::from(format!("--{key}={word}")))),
        }
    }
    Ok((options, program))
}

fn word(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Integer(number) => Some(number.to_string()),
        Value::Float(number) => Some(number.to_string()),
        Value::Boolean(truth) => Some(truth.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str, words: &[&str]) -> Result<String, Failure> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sweep.toml");
        fs::write(&path, text).unwrap();
        let words = words.iter().map(|w| w.replace("FILE", &path.to_string_lossy()).into()).collect();
        let line = expanded(words)?;
        Ok(line.iter().map(|w| w.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" "))
    }

    const FILE: &str = "n = [1, 2]\nweak = true\nhelpers = false\nrepeat = 5\narg = ['a=n*2', 'b=3']\nprogram = ['./app', '{a}']\n";

    #[test]
    fn a_file_is_a_command_line() {
        let found = line(FILE, &["falloff", "sweep", "--file", "FILE", "-o", "dir"]).unwrap();
        assert_eq!(found, "falloff sweep --arg=a=n*2 --arg=b=3 -n 1,2 --repeat=5 --weak -o dir -- ./app {a}");
        let found =
            line("n = 4", &["falloff", "sweep", "--file", "FILE", "--", "./other", "--file"]).unwrap();
        assert_eq!(found, "falloff sweep -n 4 -- ./other --file");
    }

    #[test]
    fn other_commands_are_left_alone() {
        for words in [
            &["falloff", "run", "--file", "x"][..],
            &["falloff", "sweep", "--", "./app", "--file"],
            &["falloff"],
        ] {
            assert_eq!(line("", words).unwrap(), words.join(" "));
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["n = ", "[table]\nx = 1", "program = 'app'"] {
            assert!(line(text, &["falloff", "sweep", "--file", "FILE"]).is_err(), "{text}");
        }
        assert!(line("", &["falloff", "sweep", "--file"]).is_err());
    }
}
