//! Names of OCaml: `camlModule__name_123`, where the number tells apart functions of one name.

/// `Module.name`; `None` if it is no OCaml name.
pub(super) fn name(symbol: &str) -> Option<String> {
    let rest =
        symbol.strip_prefix("caml").filter(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))?;
    if !rest.contains("__") && !rest.contains('.') {
        return None;
    }
    let stem = match rest.rsplit_once('_') {
        Some((stem, number)) if !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) => stem,
        _ => rest,
    };
    // Module names never end in an underscore, and operators are written as numbers.
    Some(unescaped(&stem.replace("__", ".")))
}

/// `$2b` is `+`.
fn unescaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut parts = text.split('$');
    shown.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let code = part.get(..2).and_then(|code| u8::from_str_radix(code, 16).ok());
        match code.filter(u8::is_ascii_graphic) {
            Some(code) => {
                shown.push(char::from(code));
                shown.push_str(&part[2..]);
            }
            None => {
                shown.push('$');
                shown.push_str(part);
            }
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::name;

    #[test]
    fn functions_are_named_as_written() {
        assert_eq!(name("camlStdlib__List__map_507").as_deref(), Some("Stdlib.List.map"));
        assert_eq!(name("camlMain__entry").as_deref(), Some("Main.entry"));
        assert_eq!(name("camlMain__fun_1234").as_deref(), Some("Main.fun"));
        assert_eq!(name("camlVec__$2b$2e_88").as_deref(), Some("Vec.+."));
        assert_eq!(name("camlStdlib__List.iter_12").as_deref(), Some("Stdlib.List.iter"));
        assert_eq!(name("caml_alloc_small"), None);
        assert_eq!(name("camlpdf"), None);
        assert_eq!(name("camlOdd__$é_1").as_deref(), Some("Odd.$é"));
    }
}
