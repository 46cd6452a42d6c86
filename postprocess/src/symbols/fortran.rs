//! Names of Fortran procedures.

/// Between module and procedure in names of the GNU compiler.
const MODULE_END: &str = "_MOD_";
/// The same in names of the Intel compiler.
const INTEL_MODULE_END: &str = "_mp_";

/// The name as written in the source; `external` says that the source is known to be Fortran, so that a lower-case
/// name with an underscore at the end is an external procedure. `None` if it is no Fortran name.
pub(super) fn name(symbol: &str, external: bool) -> Option<String> {
    if let Some((module, procedure)) = module_parts(symbol) {
        return Some(format!("{module}::{procedure}"));
    }
    if let Some(parts) = flang_parts(symbol) {
        return Some(parts.join("::"));
    }
    let plain = symbol.strip_suffix('_').filter(|_| external)?;
    let plain = plain.strip_suffix('_').filter(|p| p.contains('_')).unwrap_or(plain);
    is_lower(plain).then(|| plain.to_owned())
}

/// Whether the name says that it is a module procedure.
pub(super) fn is_mangled(symbol: &str) -> bool {
    module_parts(symbol).is_some() || flang_parts(symbol).is_some()
}

/// Module and procedure in names of the GNU and Intel compilers.
fn module_parts(symbol: &str) -> Option<(&str, &str)> {
    let gnu = || symbol.strip_prefix("__")?.split_once(MODULE_END);
    let intel = || symbol.strip_suffix('_').filter(|s| is_lower(s))?.split_once(INTEL_MODULE_END);
    let (module, procedure) = gnu().or_else(intel)?;
    (!module.is_empty() && !procedure.is_empty()).then_some((module, procedure))
}

/// Module, host and procedure in names of LLVM's compiler: `_QMgridFsweepPinner`. Names themselves are lower case.
fn flang_parts(symbol: &str) -> Option<Vec<&str>> {
    let rest = symbol.strip_prefix("_Q")?;
    let rest = rest.strip_suffix('_').unwrap_or(rest);
    if rest == "Qmain" {
        return Some(vec!["main"]);
    }
    let mut parts = Vec::new();
    let mut left = rest;
    while !left.is_empty() {
        let after_kind = left.strip_prefix(['M', 'S', 'F', 'P'])?;
        let body = after_kind.split(|c: char| c.is_ascii_uppercase()).next().unwrap_or_default();
        // The main program is a host without a name.
        if (body.is_empty() && !left.starts_with('F')) || !(body.is_empty() || is_lower(body)) {
            return None;
        }
        if !body.is_empty() {
            parts.push(body);
        }
        left = &after_kind[body.len()..];
    }
    (!parts.is_empty()).then_some(parts)
}

fn is_lower(name: &str) -> bool {
    let lower = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
    !name.is_empty() && name.bytes().all(lower)
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
        assert_eq!(name("grid_mp_relax_", false).as_deref(), Some("grid::relax"));
        assert_eq!(name("_QMgridPrelax", false).as_deref(), Some("grid::relax"));
        assert_eq!(name("_QMgridFsweepPinner", false).as_deref(), Some("grid::sweep::inner"));
        assert_eq!(name("_QFPinner", false).as_deref(), Some("inner"));
        assert_eq!(name("_QPouter_", false).as_deref(), Some("outer"));
        assert_eq!(name("_QQmain", false).as_deref(), Some("main"));
        assert_eq!(name("_Quit", false), None);
        assert_eq!(name("_QMé", false), None);
    }
}
