//! Diagnoses in the making.

use std::collections::BTreeMap;

use super::super::amounts::Amounts;
use super::super::diagnosis::{Diagnosis, Evidence, Ground, Rule};
use super::case::Case;
use super::{meetings, messages, operations, threads, unused, work};

/// Smallest loss, as a fraction of the run, that is a diagnosis.
const WORTH_NAMING: f64 = 0.001;

/// Parts of the excess that look alike at one place, put together.
#[derive(Default)]
pub(super) struct Drafts {
    drafts: BTreeMap<(Rule, u32), Draft>,
}

/// One of them.
#[derive(Clone)]
pub(super) struct Draft {
    pub amounts: Amounts,
    pub ground: Ground,
    pub waits_in: Option<u32>,
    pub participants: Vec<u32>,
    pub evidence: Evidence,
}

impl Draft {
    /// Of an amount whose pattern is measured, about all participants.
    pub fn measured(amounts: &Amounts) -> Draft {
        Draft {
            amounts: amounts.clone(),
            ground: Ground::Measured,
            waits_in: None,
            participants: Vec::new(),
            evidence: Evidence::default(),
        }
    }
}

impl Drafts {
    /// Adds one; of several at one place the first tells the reasons.
    pub fn add(&mut self, rule: Rule, place: u32, draft: Draft) {
        match self.drafts.entry((rule, place)) {
            std::collections::btree_map::Entry::Vacant(entry) => {
                entry.insert(draft);
            }
            std::collections::btree_map::Entry::Occupied(mut entry) => {
                let known = entry.get_mut();
                known.amounts.add_part(&draft.amounts, 1.0);
                known.ground = known.ground.min(draft.ground);
            }
        }
    }

    /// Whether something is said of the work at a place.
    pub fn has_place(&self, place: u32) -> bool {
        self.drafts.keys().any(|(_, known)| *known == place)
    }
}

/// All that the rules find, by what it costs.
pub(in super::super) fn diagnoses(case: &Case) -> Vec<Diagnosis> {
    let mut drafts = Drafts::default();
    meetings::look(case, &mut drafts);
    threads::look(case, &mut drafts);
    messages::look(case, &mut drafts);
    work::look(case, &mut drafts);
    operations::look(case, &mut drafts);
    unused::look(case, &mut drafts);
    let diagnosis = |((rule, place), draft): ((Rule, u32), Draft)| Diagnosis {
        rule,
        place,
        waits_in: draft.waits_in,
        loss: draft.amounts.loss(case.comparison),
        ground: draft.ground,
        participants: case.numbers(draft.participants),
        ranked: case.ranked,
        evidence: draft.evidence,
    };
    let mut found: Vec<Diagnosis> = drafts.drafts.into_iter().map(diagnosis).collect();
    found.retain(|d| d.loss.excess >= WORTH_NAMING || d.evidence.unused.is_some());
    let unused = |d: &Diagnosis| d.evidence.unused.unwrap_or(0.0);
    found.sort_by(|a, b| {
        b.loss
            .excess
            .total_cmp(&a.loss.excess)
            .then(unused(b).total_cmp(&unused(a)))
            .then(a.place.cmp(&b.place))
    });
    found
}
