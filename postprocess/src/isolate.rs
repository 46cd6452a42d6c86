//! Running code of parsers that may panic on damaged input.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    static ISOLATED: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work` and gives a panic's text as the error, without the message that a panic prints.
pub(crate) fn isolate<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |info| {
            if !ISOLATED.get() {
                before(info);
            }
        }));
    });
    let outer = ISOLATED.replace(true);
    // A panic leaves nothing half done behind: the closure's results are thrown away.
    let result = catch_unwind(AssertUnwindSafe(work));
    ISOLATED.set(outer);
    result.map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("unknown fault").to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error() {
        assert_eq!(isolate(|| 1), Ok(1));
        let values = [1];
        let index = values.len();
        assert!(isolate(|| values[index]).unwrap_err().contains("out of bounds"));
    }
}
