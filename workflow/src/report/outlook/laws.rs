//! The whole run's laws, notes on the data, and the next run, as lines of text.

use super::text::{OutlookOptions, name};
use crate::outlook::{EFFICIENCY, Fact, MARGINAL, Note, Outlook, Whole};
use crate::report::bounding::state;
use crate::report::table::{percent, seconds};
use crate::report::text::section;
use crate::scoring::Scaling;

/// Notes that are printed one by one.
const NOTES: usize = 6;
/// Characters of a part's name in a note.
const NAME: usize = 40;
/// Change of the serial share from the first count to the last, as a fraction, from which it is one.
const CHANGE: f64 = 0.1;

/// What each law says, or why it says nothing.
pub(super) fn law_lines(outlook: &Outlook) -> Vec<String> {
    let whole = &outlook.whole;
    let laws = &whole.laws;
    let said =
        |found: Result<String, &String>| found.unwrap_or_else(|reason| format!("does not apply: {reason}"));
    let missed = |miss: f64| format!("misses a speed-up by {} % at most", percent(miss));
    let mut lines = vec![
        (
            "Amdahl",
            said(laws.amdahl.as_ref().map(|held| {
                let share = percent(held.law.serial);
                format!("serial share {share} %: {}; {}", limit(held.law.limit()), missed(held.miss))
            })),
        ),
        (
            "Gustafson",
            said(laws.gustafson.as_ref().map(|held| {
                let p = whole.series.times.largest_p();
                let speedup = held.law.speedup(p);
                let share = percent(held.law.serial);
                format!("serial share {share} %: {speedup:.1} times the work at {p}; {}", missed(held.miss))
            })),
        ),
        ("Karp-Flatt", said(laws.karp_flatt.as_ref().map(|shares| karp_flatt(shares)))),
        (
            "USL",
            said(laws.scalability.as_ref().map(|held| {
                let law = held.law;
                let (contention, coherence) = (percent(law.contention), 100.0 * law.coherence);
                let best = match law.peak() {
                    peak if peak.is_finite() => {
                        format!("fastest at {peak:.0} processors, {:.1} times one", law.limit())
                    }
                    _ => limit(law.limit()),
                };
                format!(
                    "contention {contention} %, coherence {coherence:.3} %: {best}; {}",
                    missed(held.miss)
                )
            })),
        ),
    ];
    for (processors, needed) in &laws.isoefficiency {
        lines.push((
            "isoefficiency",
            said(needed.as_ref().map(|needed| {
                let kept = 100.0 * EFFICIENCY;
                let work = match needed.times_the_work {
                    times if times <= 1.0 => "this problem is large enough".into(),
                    times => {
                        format!("needs {times:.1} times the work, if the overhead does not grow with it")
                    }
                };
                format!("{kept:.0} % efficiency at {processors} {work}")
            })),
        ));
    }
    lines.push(("time", turning(outlook)));
    lines.push(("pays", advice(whole)));
    lines.into_iter().map(|(title, text)| format!("  {title:<13}  {text}")).collect()
}

fn limit(limit: f64) -> String {
    if limit.is_finite() {
        format!("never more than {limit:.1} times as fast as one")
    } else {
        "no limit is seen".into()
    }
}

/// The serial shares, and what their change means.
fn karp_flatt(shares: &[(f64, f64)]) -> String {
    let listed: Vec<String> = shares.iter().map(|(p, e)| format!("{} % at {p}", percent(*e))).collect();
    let meaning = match (shares.first(), shares.last()) {
        (Some((p, _)), Some((q, _))) if p == q => "one count tells no change",
        (Some((_, first)), Some((_, last))) if last - first > CHANGE * first.abs() => {
            "it rises: an overhead grows with the processors"
        }
        (Some((_, first)), Some((_, last))) if first - last > CHANGE * first.abs() => {
            "it falls: what is lost is no serial part"
        }
        _ => "it stays: a serial part",
    };
    format!("serial share {}; {meaning}", listed.join(", "))
}

/// Where the whole run's time stops falling, also between the counts.
fn turning(outlook: &Outlook) -> String {
    let whole = &outlook.whole;
    let fitted = whole.turning.map_or(String::new(), |turning| {
        let p = turning.p;
        format!("; least at {:.0} processors ({:.0} to {:.0}) by a + b/p + c·g(p)", p.value, p.low, p.high)
    });
    let work = if outlook.scaling == Scaling::Weak { ", for the same work" } else { "" };
    format!("{}{work}{fitted}", state(&whole.inflexion))
}

fn advice(whole: &Whole) -> String {
    let advice = &whole.advice;
    let efficient = advice
        .largest_efficient
        .map_or(String::new(), |p| format!("; {:.0} % efficient up to {p}", 100.0 * EFFICIENCY));
    format!(
        "{} is the largest count that still pays: each step up to it brings {:.0} % of what it adds{efficient}",
        advice.largest_paying,
        100.0 * MARGINAL
    )
}

/// Data that do not fit together: of the whole run and of the parts that may be listed.
pub(super) fn note_lines(outlook: &Outlook, options: &OutlookOptions) -> Vec<String> {
    let of_listed = |note: &&Note| note.part.is_none_or(|part| part < options.limit);
    let notes: Vec<&Note> = outlook.notes.iter().filter(of_listed).collect();
    if notes.is_empty() {
        return Vec::new();
    }
    let mut body: Vec<String> =
        notes.iter().take(NOTES).map(|note| format!("  {}", told(note, outlook))).collect();
    if outlook.notes.len() > body.len() {
        body.push(format!("  and {} more, in --format json", outlook.notes.len() - body.len()));
    }
    section("NOTES ON THE DATA", body, options.paint)
}

fn told(note: &Note, outlook: &Outlook) -> String {
    let about = note.part.map_or("whole run".into(), |part| name(&outlook.parts[part], NAME));
    match &note.fact {
        Fact::StrayRun { run, seconds: is, typical } => {
            format!(
                "{about}: {} s in {run}, {} s in the others of its count",
                seconds(*is),
                seconds(*typical)
            )
        }
        Fact::StrayCount { processors, seconds: is, expected } => format!(
            "{about}: {} s at {processors}, where the law of the other counts says {} s",
            seconds(*is),
            seconds(*expected)
        ),
        Fact::Split { last, first } => {
            format!("{about}: another law seems to begin between {last} and {first}; model each side alone")
        }
    }
}

/// The run that would tell most for its cost.
pub(super) fn next_run_line(outlook: &Outlook) -> Vec<String> {
    let text = match (&outlook.whole.next_run, &outlook.whole.forecast.model) {
        (Some(next), _) => format!(
            "a run at {} costs {} processor-seconds and should narrow the band at {} from {} to {} % of the time",
            next.run.scale.p,
            seconds(next.run.cost),
            next.target,
            percent(next.width_now),
            percent(next.run.width)
        ),
        (None, Ok(_)) => "no count not yet run would narrow the prediction".into(),
        (None, Err(reason)) => format!("any other count: for a model {reason}"),
    };
    vec![String::new(), format!("NEXT RUN WORTH ITS COST: {text}")]
}
