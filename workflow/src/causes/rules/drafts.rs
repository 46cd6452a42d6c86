//! Diagnoses in the making.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use super::super::amounts::Amounts;
use super::super::diagnosis::{Diagnosis, Evidence, Ground, Rule};
use super::case::{Case, WORTH_A_WORD};
use super::{meetings, messages, operations, threads, unused, work};
use crate::scoring::q_values;

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
            Entry::Vacant(entry) => {
                entry.insert(draft);
            }
            Entry::Occupied(mut entry) => {
                let known = entry.get_mut();
                known.amounts.add_part(&draft.amounts, 1.0);
                known.ground = known.ground.min(draft.ground);
            }
        }
    }

    /// Places of which more is said than that their own work grows, which may be the work of one participant or of all.
    pub fn places_beyond_growth(&self) -> BTreeSet<u32> {
        let grows = |rule: Rule| matches!(rule, Rule::WorkGrowth | Rule::MemoryBandwidth);
        self.drafts.keys().filter(|(rule, _)| !grows(*rule)).map(|(_, place)| *place).collect()
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
        q_value: 1.0,
        ground: draft.ground,
        participants: case.numbers(draft.participants),
        ranked: case.ranked,
        evidence: draft.evidence,
    };
    let mut found: Vec<Diagnosis> = drafts.drafts.into_iter().map(diagnosis).collect();
    let p_values: Vec<f64> = found.iter().map(|d| d.loss.p_value()).collect();
    found.iter_mut().zip(q_values(&p_values)).for_each(|(diagnosis, q)| diagnosis.q_value = q);
    found.retain(|d| d.loss.excess >= WORTH_A_WORD || d.evidence.unused.is_some());
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
