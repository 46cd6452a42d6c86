//! C++ and Rust names in readable form, whatever their size: deep ones on a stack of their own, long ones cut.

use std::fmt::{self, Write};
use std::thread;

use cpp_demangle::error::Error;
use cpp_demangle::{BorrowedSymbol, DemangleOptions, ParseOptions};

/// Longest mangled name that is taken apart; expression templates make names of hundreds of kilobytes.
const MANGLED_MAX: usize = 1 << 20;
/// Longest name that is shown whole. Its readable form can be exponentially longer than a mangled name.
const SHOWN_MAX: usize = 4 << 10;
/// Up to this length, names are tried on the caller's stack, nested as deep as the library allows by default.
pub(super) const LONG: usize = 1 << 10;
/// Nesting that is followed on a stack of its own, and that stack: 8 KiB a level are more than any build needs.
const NESTING_MAX: u32 = 16 << 10;
const STACK: usize = (NESTING_MAX as usize) << 13;

/// How much of a C++ name is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Name and template arguments.
    Short,
    /// The same with parameters.
    Parameters,
}

/// The readable form of a C++ name.
pub(super) fn cpp(name: &str, form: Form) -> Option<String> {
    if name.len() <= LONG {
        match cpp_nested(name, form, None) {
            Err(Nested) => {}
            Ok(shown) => return shown,
        }
    }
    on_big_stack(name, || cpp_nested(name, form, Some(NESTING_MAX)).ok().flatten())
}

/// The readable form of a Rust name.
pub(super) fn rust(name: &str) -> Option<String> {
    let demangle = || {
        let demangled = rustc_demangle::try_demangle(name).ok()?;
        Some(written(name, |out| write!(out, "{demangled:#}")))?
    };
    if name.len() <= LONG { demangle() } else { on_big_stack(name, demangle) }
}

/// A name of any length with its end cut off if it is too long to be shown. The number tells names apart that begin
/// alike.
pub(super) fn cut(mangled: &str, shown: &str) -> String {
    if shown.len() <= SHOWN_MAX {
        return shown.to_owned();
    }
    let end = (0..=SHOWN_MAX).rev().find(|at| shown.is_char_boundary(*at)).unwrap_or(0);
    let mut checksum = flate2::Crc::new();
    checksum.update(mangled.as_bytes());
    format!("{}... #{:08x}", &shown[..end], checksum.sum())
}

/// The name is nested deeper than was allowed.
struct Nested;

fn cpp_nested(name: &str, form: Form, nesting: Option<u32>) -> Result<Option<String>, Nested> {
    let (mut parse, mut options) = (ParseOptions::default(), DemangleOptions::new().no_return_type());
    if let Some(nesting) = nesting {
        (parse, options) = (parse.recursion_limit(nesting), options.recursion_limit(nesting));
    }
    if form == Form::Short {
        options = options.no_params();
    }
    let symbol = match BorrowedSymbol::new_with_options(name.as_bytes(), &parse) {
        Ok(symbol) => symbol,
        Err(Error::TooMuchRecursion) => return Err(Nested),
        Err(_) => return Ok(None),
    };
    match written(name, |out| symbol.structured_demangle(out, &options)) {
        // Writing has a limit of its own.
        None if nesting.is_none() => Err(Nested),
        // The library puts a comma before a pack of arguments that is empty.
        shown => Ok(shown.map(|name| name.replace(", >", ">"))),
    }
}

/// What `write` writes, cut where it gets too long; `None` if it fails before.
fn written(mangled: &str, write: impl FnOnce(&mut Limited) -> fmt::Result) -> Option<String> {
    let mut out = Limited(String::new());
    let result = write(&mut out);
    (result.is_ok() || out.0.len() > SHOWN_MAX).then(|| cut(mangled, &out.0))
}

/// Text that ends its writing once it is too long to be shown.
struct Limited(String);

impl Write for Limited {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = (SHOWN_MAX + 1).saturating_sub(self.0.len());
        let end = (0..=room.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        // One character may not fit; nothing may follow it.
        let end = if end == 0 { text.chars().next().map_or(0, char::len_utf8) } else { end };
        self.0.push_str(&text[..end]);
        if self.0.len() > SHOWN_MAX { Err(fmt::Error) } else { Ok(()) }
    }
}

fn on_big_stack(name: &str, work: impl FnOnce() -> Option<String> + Send) -> Option<String> {
    if name.len() > MANGLED_MAX {
        return None;
    }
    thread::scope(|scope| {
        let started = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        started.ok()?.join().ok().flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn short(name: &str) -> Option<String> {
        cpp(name, Form::Short)
    }

    #[test]
    fn deep_names_are_whole() {
        // N<N<…<int>…>>, 300 deep.
        let name = format!("_Z1fI{}i{}Evv", "1NI".repeat(300), "E".repeat(300));
        let shown = short(&name).unwrap();
        assert_eq!(shown, format!("f<{}int{}>", "N<".repeat(300), "> >".repeat(0) + &close(300)));
        assert_eq!(cpp("_Z1fi", Form::Parameters).as_deref(), Some("f(int)"));
    }

    /// As the library closes nested argument lists: `> >`.
    fn close(levels: usize) -> String {
        vec![">"; levels].join(" ") + " "
    }

    #[test]
    fn an_empty_pack_of_arguments_is_not_seen() {
        assert_eq!(short("_Z5asyncIiJEEvv").as_deref(), Some("async<int>"));
        assert_eq!(short("_Z5asyncIiJicEEvv").as_deref(), Some("async<int, int, char>"));
    }

    #[test]
    fn long_names_are_cut_and_told_apart() {
        let name = |end: &str| format!("_Z1fI{}{end}{}Evv", "1NI".repeat(3000), "E".repeat(3000));
        let (a, b) = (short(&name("i")).unwrap(), short(&name("l")).unwrap());
        assert!(a.starts_with("f<N<N<") && a.len() < SHOWN_MAX + 20, "{}", a.len());
        assert_eq!(a[..SHOWN_MAX], b[..SHOWN_MAX]);
        assert_ne!(a, b);
        let plain = "x".repeat(10 << 20);
        assert!(cut(&plain, &plain).starts_with("xxx") && cut(&plain, &plain).len() < SHOWN_MAX + 20);
        assert_eq!(cut("é", "é"), "é");
    }

    #[test]
    fn exponential_names_end_early() {
        // Each substitution doubles the text.
        let mut name = "_Z1fI1aIiiE".to_owned();
        for index in 0..34u32 {
            let digit = char::from_digit(index, 36).unwrap().to_ascii_uppercase();
            name += &format!("1aIS{digit}_S{digit}_E");
        }
        name += "Evv";
        assert!(short(&name).is_none_or(|shown| shown.len() < SHOWN_MAX + 20));
    }

    #[test]
    fn rust_names_of_any_depth_end() {
        for depth in [10, 400, 5000, 200_000] {
            let name = format!("_RI{}C1aE", "NvC1a1b".repeat(0) + &"INvC1a1b".repeat(depth));
            let _ = rust(&name);
            let slices = format!("_RINvC1a1f{}hE", "S".repeat(depth));
            assert!(rust(&slices).is_none_or(|shown| shown.len() < SHOWN_MAX + 20));
        }
    }
}
