//! The description: metrics, regions, calls and the system.

use super::metrics::Metrics;
use super::system::System;
use super::xml::{element, escaped};
use crate::cct::{Scope, ScopeKind};
use crate::export::calls::Calls;
use crate::export::profile::Profile;

/// The text of `anchor.xml`.
pub(super) fn anchor(profile: &Profile, metrics: &Metrics, calls: &Calls, system: &System) -> String {
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<cube version=\"4.4\">\n");
    let provenance = profile.database().provenance();
    for (key, value) in [
        ("Creator", concat!("falloff ", env!("CARGO_PKG_VERSION"))),
        ("falloff.command", &provenance.command.join(" ")),
        ("falloff.run_id", &provenance.run_id),
    ] {
        text.push_str(&format!("<attr key=\"{key}\" value=\"{}\"/>\n", escaped(value)));
    }
    text.push_str(&metrics.xml());
    text.push_str("<program>\n");
    for (id, scope) in calls.tree.scopes().iter().enumerate() {
        text.push_str(&region(id, scope));
    }
    text.push_str(&call_tree(calls));
    text.push_str("</program>\n");
    text.push_str(&system.xml());
    text.push_str("</cube>\n");
    text
}

/// A region: what calls of one function, loop or pseudo frame stand for.
fn region(id: usize, scope: &Scope) -> String {
    let place = scope.file.as_deref().or(scope.module.as_deref()).unwrap_or_default();
    let line = scope.line.map_or(-1, i64::from);
    let mut text = format!("<region id=\"{id}\" mod=\"{}\" begin=\"{line}\" end=\"-1\">\n", escaped(place));
    let (role, description) = match scope.kind {
        ScopeKind::Loop => ("loop", ""),
        ScopeKind::Root | ScopeKind::Pseudo => ("artificial", ""),
        ScopeKind::Inlined => ("function", "inlined"),
        _ => ("function", ""),
    };
    for (name, value) in [
        ("name", &*scope.name),
        ("mangled_name", &scope.name),
        ("paradigm", "sampling"),
        ("role", role),
        ("url", ""),
        ("descr", description),
    ] {
        text.push_str(&element(name, value));
    }
    text.push_str("</region>\n");
    text
}

/// Calls within their callers; a call's number is its place from above, which is also how the values are ordered.
fn call_tree(calls: &Calls) -> String {
    let tree = &calls.tree;
    let mut text = String::new();
    let mut open: Vec<u32> = Vec::new();
    for call in 0..tree.len() as u32 {
        let region = tree.contexts()[call as usize].scope;
        text.push_str(&format!("<cnode id=\"{call}\" calleeId=\"{region}\">\n"));
        open.push(call);
        while open.last().is_some_and(|above| tree.end(*above) <= call + 1) {
            open.pop();
            text.push_str("</cnode>\n");
        }
    }
    text
}
