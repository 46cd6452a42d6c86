//! Names of D: the qualified name of a mangled one, template arguments left out.
//!
//! The grammar is that of the language's specification, "Name Mangling". Types are only stepped over.

use std::cell::Cell;

/// Types and names inside one another that are followed.
const NESTING_MAX: usize = 200;
/// Types and names that are looked at. What looks like a function's type is looked at again if it is none, so that a name
/// that is made for it doubles the work with each level.
const STEPS_MAX: u32 = 1 << 16;

/// `module.Type.function` of `_D6module4Type8functionMFiZv`; `None` if it is no D name.
pub(super) fn name(symbol: &str) -> Option<String> {
    if symbol == "_Dmain" {
        return Some("D main".into());
    }
    let steps = Cell::new(0);
    let mut reader = Reader { text: symbol.as_bytes(), at: 2, nesting: 0, steps: &steps };
    if !is_mangled(symbol) {
        return None;
    }
    let parts = reader.qualified()?;
    Some(parts.join("."))
}

/// Whether it looks like a D name.
pub(super) fn is_mangled(symbol: &str) -> bool {
    let rest = symbol.strip_prefix("_D").map(str::as_bytes).unwrap_or_default();
    matches!(rest, [b'0'..=b'9', ..] | [b'_', b'_', b'T' | b'U', ..])
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    nesting: usize,
    /// Steps of all that read this name.
    steps: &'a Cell<u32>,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    fn eat(&mut self, what: &[u8]) -> bool {
        let here = self.text.get(self.at..).is_some_and(|rest| rest.starts_with(what));
        if here {
            self.at += what.len();
        }
        here
    }

    /// Runs `read` one level deeper.
    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        if self.nesting == NESTING_MAX || self.steps.get() == STEPS_MAX {
            return None;
        }
        self.steps.set(self.steps.get() + 1);
        self.nesting += 1;
        let result = read(self);
        self.nesting -= 1;
        result
    }

    fn number(&mut self) -> Option<usize> {
        let start = self.at;
        while self.peek().is_some_and(|b| b.is_ascii_digit()) {
            self.at += 1;
        }
        std::str::from_utf8(&self.text[start..self.at]).ok()?.parse().ok()
    }

    /// Where a back reference points to: letters are digits to the base 26, the last one lower case.
    fn reference(&mut self) -> Option<usize> {
        let here = self.at;
        if !self.eat(b"Q") {
            return None;
        }
        let mut distance = 0usize;
        loop {
            let byte = self.next()?;
            let (digit, last) = match byte {
                b'A'..=b'Z' => (byte - b'A', false),
                b'a'..=b'z' => (byte - b'a', true),
                _ => return None,
            };
            distance = distance.checked_mul(26)?.checked_add(usize::from(digit))?;
            if last {
                return (distance > 0).then(|| here.checked_sub(distance))?;
            }
        }
    }

    fn qualified(&mut self) -> Option<Vec<String>> {
        let mut parts = vec![self.symbol()?];
        loop {
            let before = self.at;
            // A function's type stands between its name and that of what is inside it.
            let _ = self.eat(b"M");
            let function = self.modifiers_and_function();
            match function.and_then(|()| self.symbol_ahead().then(|| self.symbol())).flatten() {
                Some(part) => parts.push(part),
                None => {
                    self.at = before;
                    match self.symbol_ahead().then(|| self.symbol()).flatten() {
                        Some(part) => parts.push(part),
                        None => {
                            self.at = before;
                            return Some(parts);
                        }
                    }
                }
            }
        }
    }

    /// Whether a name follows: a back reference to a type is none.
    fn symbol_ahead(&self) -> bool {
        match self.peek() {
            Some(b'0'..=b'9') => true,
            Some(b'_') => {
                self.text[self.at..].starts_with(b"__T") || self.text[self.at..].starts_with(b"__U")
            }
            Some(b'Q') => {
                let mut copy =
                    Reader { text: self.text, at: self.at, nesting: self.nesting, steps: self.steps };
                copy.reference().is_some_and(|to| self.text[to].is_ascii_digit())
            }
            _ => false,
        }
    }

    fn symbol(&mut self) -> Option<String> {
        self.nested(|r| match r.peek()? {
            b'Q' => {
                let to = r.reference()?;
                let mut there = Reader { text: r.text, at: to, nesting: r.nesting, steps: r.steps };
                there.text.get(to)?.is_ascii_digit().then(|| there.symbol())?
            }
            b'_' => r.template(),
            b'0' => {
                r.at += 1;
                Some("__anonymous".into())
            }
            _ => {
                let length = r.number()?;
                let end = r.at.checked_add(length).filter(|end| *end <= r.text.len())?;
                let inside = &r.text[r.at..end];
                if inside.starts_with(b"__T") || inside.starts_with(b"__U") {
                    // In names of older compilers the length of the whole instance comes first.
                    let mut there =
                        Reader { text: &r.text[..end], at: r.at, nesting: r.nesting, steps: r.steps };
                    let shown = there.template_name();
                    r.at = end;
                    return shown;
                }
                r.at = end;
                Some(String::from_utf8_lossy(inside).into_owned())
            }
        })
    }

    fn template_name(&mut self) -> Option<String> {
        if !self.eat(b"__T") && !self.eat(b"__U") {
            return None;
        }
        Some(self.symbol()? + "!()")
    }

    fn template(&mut self) -> Option<String> {
        let name = self.template_name()?;
        while !self.eat(b"Z") {
            self.argument()?;
        }
        Some(name)
    }

    fn argument(&mut self) -> Option<()> {
        let _ = self.eat(b"H");
        match self.next()? {
            b'T' => self.type_(),
            b'V' => {
                self.type_()?;
                self.value()
            }
            b'S' => {
                let _ = self.eat(b"_D");
                self.qualified().map(|_| ())
            }
            b'X' => {
                let length = self.number()?;
                self.at = self.at.checked_add(length)?;
                Some(())
            }
            _ => None,
        }
    }

    fn value(&mut self) -> Option<()> {
        self.nested(|r| match r.peek()? {
            b'n' => {
                r.at += 1;
                Some(())
            }
            b'0'..=b'9' => r.number().map(|_| ()),
            b'i' | b'N' => {
                r.at += 1;
                r.number().map(|_| ())
            }
            b'a' | b'w' | b'd' => {
                r.at += 1;
                let digits = r.number()?.checked_mul(2)?;
                r.eat(b"_").then_some(())?;
                r.at = r.at.checked_add(digits)?;
                Some(())
            }
            b'A' | b'S' => {
                r.at += 1;
                (0..r.number()?).try_for_each(|_| r.value())
            }
            b'f' => {
                r.at += 1;
                r.eat(b"_D").then_some(())?;
                r.qualified().map(|_| ())
            }
            _ => None,
        })
    }

    fn modifiers_and_function(&mut self) -> Option<()> {
        while matches!(self.peek(), Some(b'x' | b'y' | b'O')) || self.eat(b"Ng") {
            self.at += usize::from(matches!(self.peek(), Some(b'x' | b'y' | b'O')));
        }
        self.function()
    }

    /// A function's type without what it returns.
    fn function(&mut self) -> Option<()> {
        if !matches!(self.next()?, b'F' | b'U' | b'W' | b'V' | b'R' | b'Y') {
            return None;
        }
        while self.peek() == Some(b'N')
            && matches!(self.text.get(self.at + 1), Some(b'a'..=b'f' | b'i'..=b'm'))
        {
            self.at += 2;
        }
        loop {
            match self.peek()? {
                b'X' | b'Y' | b'Z' => {
                    self.at += 1;
                    return Some(());
                }
                b'M' | b'I' | b'J' | b'K' | b'L' => self.at += 1,
                b'N' if self.text.get(self.at + 1) == Some(&b'k') => self.at += 2,
                _ => self.type_()?,
            }
        }
    }

    fn type_(&mut self) -> Option<()> {
        self.nested(|r| match r.peek()? {
            b'Q' => r.reference().map(|_| ()),
            b'x' | b'y' | b'O' | b'A' | b'P' => {
                r.at += 1;
                r.type_()
            }
            b'N' => {
                r.at += 2;
                match r.text.get(r.at - 1)? {
                    b'g' | b'h' => r.type_(),
                    b'n' => Some(()),
                    _ => None,
                }
            }
            b'G' => {
                r.at += 1;
                r.number()?;
                r.type_()
            }
            b'H' => {
                r.at += 1;
                r.type_()?;
                r.type_()
            }
            b'F' | b'U' | b'W' | b'V' | b'R' | b'Y' => {
                r.function()?;
                r.type_()
            }
            b'D' => {
                r.at += 1;
                if r.peek() == Some(b'Q') {
                    return r.reference().map(|_| ());
                }
                r.modifiers_and_function()?;
                r.type_()
            }
            b'C' | b'S' | b'E' | b'T' | b'I' => {
                r.at += 1;
                r.qualified().map(|_| ())
            }
            b'B' => {
                r.at += 1;
                (0..r.number()?).try_for_each(|_| r.type_())
            }
            b'z' => {
                r.at += 2;
                Some(())
            }
            b'a'..=b'w' => {
                r.at += 1;
                Some(())
            }
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::name;

    #[test]
    fn qualified_names_are_shown() {
        for (mangled, shown) in [
            ("_Dmain", "D main"),
            ("_D8demangle4testFaZv", "demangle.test"),
            ("_D8demangle4testFHaaZv", "demangle.test"),
            ("_D8demangle4testFDFNaNfZaZv", "demangle.test"),
            ("_D8demangle9__T4testZv", "demangle.test!()"),
            ("_D3std5stdio__T7writelnTAyaZQoFNfQlZv", "std.stdio.writeln!()"),
            ("_D3std5stdio16__T7writelnTAyaZ7writelnFNfAyaZv", "std.stdio.writeln!().writeln"),
            ("_D4core6thread6Thread5startMFNbNiZQBa", "core.thread.Thread.start"),
            ("_D3app4mainFZ5innerMFiZv", "app.main.inner"),
            ("_D3std9algorithm9iteration__T3mapVAyaa3_612b31ZQoFZv", "std.algorithm.iteration.map!()"),
        ] {
            assert_eq!(name(mangled).as_deref(), Some(shown), "{mangled}");
        }
        for other in ["_Design", "main", "_D", "_D9x", "_D99999999999999999999999a"] {
            assert_eq!(name(other), None, "{other}");
        }
    }

    #[test]
    fn work_is_bounded() {
        // Each type may be one of a function that holds the rest, or not.
        assert_eq!(name(&format!("_D1a{}", "FS1a".repeat(60))).as_deref(), Some("a"));
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "_D[0-9A-Za-z_]{0,80}") {
            let _ = name(&text);
        }
    }
}
