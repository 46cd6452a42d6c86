//! The source file that `falloff view --source` shows.

use std::fs;
use std::io;
use std::path::Path;
use std::time::UNIX_EPOCH;

use falloff_postprocess::views::source_text::SourceText;
use falloff_postprocess::views::{Excerpt, QueryError, Source};

/// The source file of this name in the profile; a path is also tried as where it leads from here.
pub fn find<'a>(excerpt: &'a Excerpt<'a>, name: &str) -> Result<Source<'a>, QueryError> {
    Source::new(excerpt, name).or_else(|error| match fs::canonicalize(name) {
        Ok(path) => Source::new(excerpt, &path.to_string_lossy()).map_err(|_| error),
        Err(_) => Err(error),
    })
}

/// Its lines, from where the profile says that it is, or else from where the user said.
pub fn read(source: &Source, name: &str) -> SourceText {
    let file = source.file();
    let (path, text) = match text(file) {
        Ok(text) => (file, text),
        Err(error) => match text(name) {
            Ok(text) => (name, text),
            Err(_) => {
                let note = format!("warning: failed to read {file}: {error}; see --map-path");
                return SourceText { lines: None, notes: vec![note] };
            }
        },
    };
    let mut notes = Vec::new();
    if path != file {
        notes.push(format!("read from {path}"));
    }
    if is_newer(path, source) {
        notes.push(format!("warning: {path} was changed after the run began: lines may have moved"));
    }
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    if source.lines().last().is_some_and(|last| last.line as usize > lines.len()) {
        notes.push(format!("warning: {path} has {} lines: it is not what was compiled", lines.len()));
    }
    SourceText { lines: Some(lines), notes }
}

fn text(path: &str) -> io::Result<String> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is no file"));
    }
    fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

fn is_newer(path: &str, source: &Source) -> bool {
    let changed = fs::metadata(Path::new(path)).and_then(|m| m.modified()).ok();
    let changed_ns = changed.and_then(|time| time.duration_since(UNIX_EPOCH).ok()).map(|d| d.as_nanos());
    let began_ns = source.excerpt().database().locations().iter().map(|l| u128::from(l.start_ns)).min();
    changed_ns.zip(began_ns).is_some_and(|(changed, began)| changed > began)
}
