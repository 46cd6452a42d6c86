//! How rows are called in text.

use super::RowKind;
use super::view::{Row, ViewKind};

/// Name and place of a row, the name in at most `width` characters.
pub(super) fn label(kind: ViewKind, row: &Row, width: usize) -> String {
    let name = cut(&row.name, width);
    let file = row.file.as_deref().map(|f| f.rsplit('/').next().unwrap_or(f));
    let caller = kind == ViewKind::Callers && row.depth > 1;
    let line = if caller { row.call_line.or(row.line) } else { row.line };
    let inlined = if row.kind == RowKind::Inlined { " (inlined)" } else { "" };
    match (row.kind, file, line) {
        (RowKind::Function | RowKind::Inlined, Some(file), Some(line)) => {
            format!("{name}{inlined} at {file}:{line}")
        }
        (RowKind::Function | RowKind::Inlined, Some(file), None) => format!("{name}{inlined} at {file}"),
        (RowKind::Function | RowKind::Inlined, None, _) => match row.module.as_deref() {
            Some(module) if row.name.starts_with(module) => name,
            // `[jit]` and `[vdso]` have their brackets.
            Some(module) if module.starts_with('[') => format!("{name}{inlined} {module}"),
            Some(module) => format!("{name}{inlined} [{module}]"),
            None => name,
        },
        _ => name,
    }
}

/// At most `width` characters, the last of them a sign that there were more; control characters become blanks.
pub(crate) fn cut(text: &str, width: usize) -> String {
    let mut characters = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let mut kept: String = characters.by_ref().take(width).collect();
    if characters.next().is_some() {
        kept.pop();
        kept.push('…');
    }
    kept
}
