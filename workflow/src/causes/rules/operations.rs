//! Operations whose cost is its own reason.

use super::super::cause::Cause;
use super::super::diagnosis::Rule;
use super::case::{Case, alone};
use super::drafts::{Draft, Drafts};

/// What each cause looks like.
const RULES: [(Cause, Rule); 6] = [
    (Cause::OneSided, Rule::OneSided),
    (Cause::Lock, Rule::Lock),
    (Cause::Io, Rule::Io),
    (Cause::Sleep, Rule::Sleep),
    (Cause::Runtime, Rule::Runtime),
    (Cause::Preemption, Rule::Preemption),
];

/// Looks at every operation, and at the time without a processor.
pub(super) fn look(case: &Case, drafts: &mut Drafts) {
    for (cause, rule) in RULES {
        for (place, cell) in case.losses(cause) {
            let participants = alone(&case.at.operations.at(place)).into_iter().collect();
            drafts.add(rule, place, Draft { participants, ..Draft::measured(cell) });
        }
    }
}
