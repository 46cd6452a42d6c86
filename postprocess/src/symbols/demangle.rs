//! Names as people write them: C++, Rust, Fortran, D and OCaml, without what the compiler added.

use super::render::{self, Form};
use super::{dlang, fortran, ocaml};

/// Language of the source, as far as names depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    Fortran,
    Other,
    Unknown,
}

impl Language {
    pub fn of(language: Option<gimli::DwLang>) -> Language {
        use gimli::constants as dw;
        match language {
            None => Language::Unknown,
            Some(
                dw::DW_LANG_Fortran77
                | dw::DW_LANG_Fortran90
                | dw::DW_LANG_Fortran95
                | dw::DW_LANG_Fortran03
                | dw::DW_LANG_Fortran08
                | dw::DW_LANG_Fortran18,
            ) => Language::Fortran,
            Some(_) => Language::Other,
        }
    }
}

/// The shown name of a symbol, without return type and parameters.
pub(super) fn short(name: &str, language: Language) -> String {
    let (base, kept) = split_clone_suffix(name, language);
    let shown = readable(base)
        .or_else(|| fortran::name(base, language == Language::Fortran))
        .or_else(|| dlang::name(base))
        .or_else(|| ocaml::name(base));
    shown.unwrap_or_else(|| render::cut(name, base)) + kept
}

/// The same with parameters, to tell overloads apart; `None` if it is no C++ name, or a long one.
pub(super) fn with_parameters(name: &str) -> Option<String> {
    let (base, kept) = split_clone_suffix(name, Language::Other);
    let is_short = is_cpp(base) && base.len() <= render::LONG;
    let shown = is_short.then(|| render::cpp(base, Form::Parameters)).flatten()?;
    Some(shown + kept)
}

/// Whether a name is mangled, so that it says more than a plain one.
pub(super) fn is_mangled(name: &str) -> bool {
    is_cpp(name) || name.starts_with("_R") || fortran::is_mangled(name) || dlang::is_mangled(name)
}

/// Whether it is a C++ name that [`with_parameters`] can show.
pub(super) fn is_cpp(name: &str) -> bool {
    name.starts_with("_Z") && !is_legacy_rust(name)
}

fn is_legacy_rust(name: &str) -> bool {
    let hash = name.strip_suffix('E').and_then(|n| n.len().checked_sub(19).and_then(|at| n.get(at..)));
    hash.and_then(|h| h.strip_prefix("17h")).is_some_and(|h| h.bytes().all(|b| b.is_ascii_hexdigit()))
}

fn readable(name: &str) -> Option<String> {
    if name.starts_with("_R") || is_legacy_rust(name) {
        render::rust(name)
    } else if is_cpp(name) {
        render::cpp(name, Form::Short)
    } else {
        None
    }
}

/// Suffixes of copies and parts of a function, which are shown as the function.
const CLONE_SUFFIXES: [&str; 19] = [
    // The GNU compiler: parts, specialised and vectorised copies, copies for a processor, coroutines.
    "part",
    "isra",
    "constprop",
    "cold",
    "lto_priv",
    "lto_clone",
    "localalias",
    "simdclone",
    "actor",
    "destroy",
    "clone", // LLVM: copies, parts, coroutines.
    "llvm",
    "warm",
    "hot",
    "unlikely",
    "resume",
    "cleanup",
    "specialized",
    "__part",
];
/// Suffix of the body of an OpenMP region, which is shown.
const REGION: &str = "._omp_fn.";

/// The name without clone suffixes, and the region suffix that is kept.
///
/// A plain number at the end tells apart functions of one name that are local to others (contained procedures);
/// it is dropped where the source may be Fortran.
fn split_clone_suffix(name: &str, language: Language) -> (&str, &str) {
    let (head, region) = match name.find(REGION) {
        Some(at) => {
            let digits = name[at + REGION.len()..].bytes().take_while(u8::is_ascii_digit).count();
            (&name[..at], &name[at..at + REGION.len() + digits])
        }
        None => (name, ""),
    };
    let mut base = head;
    while let Some((before, last)) = base.rsplit_once('.').filter(|(before, _)| !before.is_empty()) {
        let number = !last.is_empty() && last.bytes().all(|b| b.is_ascii_digit());
        base = if CLONE_SUFFIXES.contains(&last) {
            before
        } else if number {
            match before.rsplit_once('.').filter(|(b, word)| !b.is_empty() && CLONE_SUFFIXES.contains(word)) {
                Some((before, _)) => before,
                // In Go, dots and numbers are parts of names.
                None if language == Language::Fortran => before,
                None if language == Language::Unknown && !before.contains('.') => before,
                None => break,
            }
        } else {
            break;
        };
    }
    (base, region)
}

/// A function's shown name without what a compiler adds to copies and parts of it, and whether it is the body of an OpenMP
/// region of the function: regions are numbered in their order, which may change from build to build.
pub(crate) fn base_name(name: &str) -> (&str, bool) {
    let (base, region) = split_clone_suffix(name, Language::Other);
    (base, !region.is_empty())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(name: &str) -> String {
        short(name, Language::Unknown)
    }

    #[test]
    fn names_are_shown_as_written() {
        assert_eq!(shown("main"), "main");
        assert_eq!(shown("_ZN9LAMMPS_NS6Verlet3runEi"), "LAMMPS_NS::Verlet::run");
        assert_eq!(shown("_Z3addIiET_S0_S0_"), "add<int>");
        assert_eq!(shown("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE"), "core::fmt::Write::write_fmt");
        assert_eq!(shown("_RNvC3foo3bar"), "foo::bar");
        assert_eq!(shown("__solver_mod_MOD_relax"), "solver_mod::relax");
        assert_eq!(short("daxpy_", Language::Fortran), "daxpy");
        assert_eq!(shown("daxpy_"), "daxpy_");
    }

    #[test]
    fn clone_suffixes_are_dropped_and_regions_kept() {
        assert_eq!(shown("spin.constprop.0.isra.0"), "spin");
        assert_eq!(shown("work.cold"), "work");
        assert_eq!(shown("inner_part.0"), "inner_part");
        assert_eq!(short("nested.0", Language::Other), "nested.0");
        assert_eq!(shown("main._omp_fn.1"), "main._omp_fn.1");
        assert_eq!(shown("main._omp_fn.12.constprop.0"), "main._omp_fn.12");
        assert_eq!(shown("_Z3runv._omp_fn.0"), "run._omp_fn.0");
        assert_eq!(shown("_Z3runv.part.0"), "run");
        assert_eq!(shown("_Z3runv.cold.12"), "run");
        assert_eq!(shown("work.simdclone.3"), "work");
        assert_eq!(shown("_ZN3foo3bar17h0123456789abcdefE.llvm.1234567890"), "foo::bar");
        assert_eq!(shown(".hidden"), ".hidden");
    }

    #[test]
    fn parameters_can_be_shown() {
        assert_eq!(with_parameters("_Z4openPKci").as_deref(), Some("open(char const*, int)"));
        assert_eq!(with_parameters("open"), None);
    }

    #[test]
    fn names_of_other_languages_are_shown() {
        assert_eq!(shown("_D3app4workFiZv"), "app.work");
        assert_eq!(shown("camlStdlib__List__map_507"), "Stdlib.List.map");
        assert_eq!(shown("main.work.func1.2"), "main.work.func1.2");
        assert_eq!(shown("main.(*Till).Add"), "main.(*Till).Add");
    }

    #[test]
    fn names_without_end_are_cut() {
        let deep = format!("_Z3f{}v", "N1aIi".repeat(2000));
        assert!(shown(&deep).starts_with("_Z3fN1aIi"));
        let long = format!("_Z{}{}v", 20_000, "x".repeat(20_000));
        assert!(shown(&long).starts_with("xxx") && shown(&long).len() < 5000);
        let endless = "y".repeat(10 << 20);
        assert!(shown(&endless).len() < 5000);
    }

    proptest! {
        #[test]
        fn nothing_panics(name in "(_Z|_R|_ZN|__)?[A-Za-z0-9_.$]{0,60}") {
            let _ = (shown(&name), short(&name, Language::Fortran), with_parameters(&name));
        }
    }
}
