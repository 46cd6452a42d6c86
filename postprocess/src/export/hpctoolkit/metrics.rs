//! The part of `meta.db` about metrics.

use std::io;

use super::cells::{Scope, Slot};
use super::contents::Column;
use super::section::Section;
use super::statistics::Statistic;

/// Bytes of the section's header.
const HEADER: u64 = 32;
/// Bytes of the description of a metric, of one of its scopes, of a statistic, and of a scope.
const METRIC: u8 = 32;
const INSTANCE: u8 = 16;
const STATISTIC: u8 = 24;
const SCOPE: u8 = 16;

/// hpcviewer reads the numbers of values as signed.
const LARGEST_ID: usize = i16::MAX as usize;

/// Fails if there are more metrics than can be numbered.
pub(super) fn check(metrics: usize) -> io::Result<()> {
    let largest = LARGEST_ID / (Scope::ALL.len() * Statistic::ALL.len());
    if metrics <= largest {
        return Ok(());
    }
    let reason =
        format!("{metrics} metrics are too many: viewers know at most {largest}; choose one with --metric");
    Err(io::Error::new(io::ErrorKind::InvalidInput, reason))
}

/// The section; strings come at least `text` bytes behind the beginning.
pub(super) fn section(metrics: &[Column], from: u64, text: u64) -> Section {
    let (scopes, statistics) = (Scope::ALL.len() as u64, Statistic::ALL.len() as u64);
    let count = metrics.len() as u64;
    let mut section = Section::from(from);
    let scope_array = section.base() + HEADER;
    let metric_array = scope_array + scopes * u64::from(SCOPE);
    let instances = metric_array + count * u64::from(METRIC);
    let instances_of_one = scopes * u64::from(INSTANCE);
    let summaries = instances + count * instances_of_one;
    let summaries_of_one = scopes * statistics * u64::from(STATISTIC);
    let scope_address = |scope: Scope| scope_array + scope as u64 * u64::from(SCOPE);
    let mut strings = Section::from(summaries + count * summaries_of_one);
    strings.pad_to((section.base() + text).saturating_sub(strings.base()));

    section.u64(metric_array);
    section.u32(metrics.len() as u32);
    [METRIC, INSTANCE, STATISTIC].into_iter().for_each(|size| section.u8(size));
    section.align(8);
    section.u64(scope_array);
    section.u16(Scope::ALL.len() as u16);
    section.u8(SCOPE);
    section.align(8);
    for scope in Scope::ALL {
        let (kind, bit) = scope.propagation();
        section.u64(strings.text(scope.name()));
        section.u8(kind);
        section.u8(bit);
        section.align(8);
    }
    for (metric, place) in metrics.iter().zip(0..) {
        section.u64(strings.text(&metric.name));
        section.u64(instances + place * instances_of_one);
        section.u64(summaries + place * summaries_of_one);
        section.u16(Scope::ALL.len() as u16);
        section.u16((Scope::ALL.len() * Statistic::ALL.len()) as u16);
        section.align(8);
    }
    for metric in 0..metrics.len() {
        for scope in Scope::ALL {
            section.u64(scope_address(scope));
            section.u16(Slot::new(metric, scope, metrics.len()).id());
            section.align(8);
        }
    }
    let formulas = Statistic::ALL.map(|statistic| strings.text(statistic.formula()));
    for metric in 0..metrics.len() {
        for scope in Scope::ALL {
            for (statistic, formula) in Statistic::ALL.into_iter().zip(formulas) {
                section.u64(scope_address(scope));
                section.u64(formula);
                section.u8(statistic.combine().0);
                section.u8(0);
                section.u16(statistic.id(Slot::new(metric, scope, metrics.len())));
                section.align(8);
            }
        }
    }
    section.append(&strings);
    section
}
