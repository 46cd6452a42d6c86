//! Names of Fortran procedures.

/// Between module and procedure in names of the GNU compiler.
const MODULE_END: &str = "_MOD_";

/// The name as written in the source; `external` says that the source is known to be Fortran, so that a lower-case
/// name with an underscore at the end is an external procedure. `None` if it is no Fortran name.
pub(super) fn name(symbol: &str, external: bool) -> Option<String> {
    if let Some((module, procedure)) = module_parts(symbol) {
        return Some(format!("{module}::{procedure}"));
    }
    let plain = symbol.strip_suffix('_').filter(|_| external)?;
    let plain = plain.strip_suffix('_').filter(|p| p.contains('_')).unwrap_or(plain);
    let lower = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
    (!plain.is_empty() && plain.bytes().all(lower)).then(|| plain.to_owned())
}

/// Whether the name says that it is a module procedure.
pub(super) fn is_mangled(symbol: &str) -> bool {
    module_parts(symbol).is_some()
}

fn module_parts(symbol: &str) -> Option<(&str, &str)> {
    let (module, procedure) = symbol.strip_prefix("__")?.split_once(MODULE_END)?;
    (!module.is_empty() && !procedure.is_empty()).then_some((module, procedure))
}

#[cfg(test)]
mod tests {
    use super::name;

    #[test]
    fn procedures_are_named_as_written() {
        assert_eq!(name("__grid_MOD_relax", false).as_deref(), Some("grid::relax"));
        assert_eq!(name("__a_b_MOD___copy_a", false).as_deref(), Some("a_b::__copy_a"));
        assert_eq!(name("dgemm_", true).as_deref(), Some("dgemm"));
        assert_eq!(name("my_sub__", true).as_deref(), Some("my_sub"));
        assert_eq!(name("dgemm_", false), None);
        assert_eq!(name("Mixed_", true), None);
        assert_eq!(name("___MOD_", false), None);
    }
}
