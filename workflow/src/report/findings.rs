//! Diagnoses in words: where, how much, how sure, what to look at next.

use std::path::PathBuf;

use falloff_postprocess::views::RowKind;

use super::numbers::listed;
use super::table::percent;
use crate::causes::{Confidence, Diagnosis, Law, Rule};
use crate::results::SweepState;
use crate::scoring::{Score, ScoredRow};

/// One diagnosis, told.
pub(super) struct Finding<'a> {
    /// What is told.
    pub diagnosis: &'a Diagnosis,
    /// The row of the calling context view that it is about.
    pub row: &'a ScoredRow,
    /// The row of the flat view of the same function.
    pub flat: Option<&'a ScoredRow>,
    /// How sure it is.
    pub confidence: Confidence,
    /// Where and what, as a sentence without its end.
    pub what: String,
    /// Why it is so sure and no surer.
    pub why: String,
    /// What to look at next: a command or an advice.
    pub next: String,
    /// Source file and line of the evidence.
    pub source: Option<(String, u32)>,
}

/// All that was found, by what it costs.
pub(super) fn findings<'a>(sweep: &SweepState, score: &'a Score) -> Vec<Finding<'a>> {
    let Some(analysis) = &score.analysis else { return Vec::new() };
    let teller = Teller { sweep, score };
    analysis.diagnoses.iter().map(|diagnosis| teller.tell(diagnosis)).collect()
}

/// What sentences are made of.
struct Teller<'s, 'a> {
    sweep: &'s SweepState,
    score: &'a Score,
}

impl<'a> Teller<'_, 'a> {
    fn tell(&self, diagnosis: &'a Diagnosis) -> Finding<'a> {
        let row = self.row(diagnosis.place);
        let same = |r: &&ScoredRow| (r.kind, &r.name, &r.module) == (row.kind, &row.name, &row.module);
        let confidence = diagnosis.confidence(self.score.repetitions);
        Finding {
            diagnosis,
            row,
            flat: self.score.flat.rows.iter().find(same),
            confidence,
            what: self.what(diagnosis, row),
            why: self.why(diagnosis),
            next: self.next(diagnosis, row),
            source: self.source(diagnosis, row),
        }
    }

    fn row(&self, place: u32) -> &'a ScoredRow {
        &self.score.context.rows[place as usize]
    }

    /// The function that a row is called from.
    fn caller(&self, row: &ScoredRow) -> Option<&'a ScoredRow> {
        std::iter::successors(row.parent, |above| self.row(*above).parent)
            .map(|above| self.row(above))
            .find(|above| above.kind.is_frame())
    }

    /// Where an operation is called, or which line of own work costs most.
    fn source(&self, diagnosis: &Diagnosis, row: &ScoredRow) -> Option<(String, u32)> {
        if is_work(diagnosis.rule) {
            let line = self.costliest_line(row).unwrap_or(row);
            return Some((line.file.as_deref()?.to_owned(), line.line?));
        }
        Some((self.caller(row)?.file.as_deref()?.to_owned(), row.call_line?))
    }

    fn costliest_line(&self, row: &ScoredRow) -> Option<&'a ScoredRow> {
        let rows = &self.score.context.rows;
        let below = rows[row.id as usize + 1..].iter().take_while(|r| r.depth > row.depth);
        let own = below.filter(|r| r.kind == RowKind::Line && self.function_of(r) == Some(row.id));
        own.max_by(|a, b| a.inclusive.work_at.total_cmp(&b.inclusive.work_at))
    }

    fn function_of(&self, row: &ScoredRow) -> Option<u32> {
        self.caller(row).map(|caller| caller.id)
    }

    /// "MPI_Barrier in step"; functions that a library does not name are called by it.
    fn operation(&self, row: &ScoredRow) -> String {
        let nameless =
            |row: &ScoredRow| row.module.as_deref().filter(|module| is_offset(&row.name, module)).is_some();
        if !nameless(row) {
            let caller = self.caller(row).map(|caller| caller.name.to_string());
            return caller.map_or_else(|| row.name.to_string(), |caller| format!("{} in {caller}", row.name));
        }
        let library = row.module.as_deref().unwrap_or_default();
        let callers = std::iter::successors(self.caller(row), |above| self.caller(above));
        let outside = callers.into_iter().find(|above| above.module.as_deref() != Some(library));
        outside.map_or_else(|| library.to_owned(), |caller| format!("{library} in {}", caller.name))
    }

    fn what(&self, diagnosis: &Diagnosis, row: &ScoredRow) -> String {
        let (at, base) = (self.score.at, self.score.base);
        let who = Who::of(diagnosis);
        let evidence = &diagnosis.evidence;
        let name = &row.name;
        let ratio = evidence.work_ratio.map(factor);
        let growth = factor(f64::from(at) / f64::from(base));
        // Waiting is no work.
        let (does, work) = if self.score.metric == "cpu" { ("does", "work") } else { ("takes", "time") };
        let idle = evidence.unused.map(|unused| {
            format!("{} % of the {} could be used by the others", percent(unused), self.score.metric)
        });
        let waited = diagnosis.waits_in.map(|place| self.operation(self.row(place)));
        match diagnosis.rule {
            Rule::SerialSection => match (waited, idle) {
                (Some(waited), _) => format!("only {who} runs {name}; the others wait in {waited}"),
                (None, Some(idle)) => format!("only {who} runs {name}: {idle}"),
                (None, None) => format!("only {who} runs {name}"),
            },
            Rule::LoadImbalance => match (waited, idle) {
                (Some(waited), _) => {
                    format!(
                        "{who} {} more of {name} than the others, who wait in {waited}",
                        who.verb("does", "do")
                    )
                }
                (None, Some(idle)) => {
                    format!("{who} {} more of {name} than the others: {idle}", who.verb("does", "do"))
                }
                (None, None) => format!("{who} {} more of {name}", who.verb("does", "do")),
            },
            Rule::ReplicatedWork => format!(
                "{name} {does} the same {work} again on every processor (total {work} {} for {growth} processors)",
                ratio.unwrap_or_default()
            ),
            Rule::WorkGrowth => match (&ratio, evidence.instructions) {
                (None, _) => format!("{name} has no samples of its own at {base}"),
                (Some(ratio), Some(more)) => {
                    format!(
                        "the total {work} of {name} is {ratio}, its instructions x{more:.2} of what was expected"
                    )
                }
                (Some(ratio), None) => format!(
                    "the total {work} of {name} is {ratio} for {growth} processors: more work, or slower work"
                ),
            },
            Rule::MemoryBandwidth => match (&ratio, evidence.per_cycle) {
                (Some(ratio), Some(per_cycle)) => format!(
                    "{name} takes {ratio} the time for the instructions that were expected, x{per_cycle:.2} of them \
                     per cycle: memory bandwidth or caches"
                ),
                (ratio, _) => format!(
                    "{name} takes {} the time, as most work does, evenly: memory bandwidth, caches or clock frequency",
                    ratio.as_deref().unwrap_or("more of")
                ),
            },
            Rule::RandomImbalance if diagnosis.confidence((2, 2)) == Confidence::Guess => {
                format!("all spend as long in {}: late by turns, or many small calls", self.operation(row))
            }
            Rule::RandomImbalance => format!("{who} wait for each other by turns in {}", self.operation(row)),
            Rule::CollectiveCost => format!(
                "{} itself takes longer: there is work or data in it{}",
                self.operation(row),
                law(evidence.law)
            ),
            Rule::ManySmallCollectives => format!(
                "{} calls of {} take everybody as long and do little: latency{}",
                evidence.sites.unwrap_or(0),
                self.operation(row),
                law(evidence.law)
            ),
            Rule::CollectiveWaiting => format!(
                "{who} {} last to {}, for no work that the samples show",
                who.verb("comes", "come"),
                self.operation(row)
            ),
            Rule::LatePartner => {
                format!("those with less work wait in {}; {who} has most", self.operation(row))
            }
            Rule::SerialMessages => format!("the others wait for {who} in {}", self.operation(row)),
            Rule::MessageCost => {
                format!("{} takes time on all: latency, bandwidth or order of messages", self.operation(row))
            }
            Rule::ThreadWaiting => format!("threads wait for each other in {}", self.operation(row)),
            Rule::Lock => format!("threads wait for a lock: {}", self.operation(row)),
            Rule::Io | Rule::OneSided | Rule::Sleep | Rule::Runtime if diagnosis.participants.is_empty() => {
                self.operation(row)
            }
            Rule::Io | Rule::OneSided | Rule::Sleep | Rule::Runtime => {
                format!("{}, on {who} alone", self.operation(row))
            }
            Rule::Preemption if self.sweep.oversubscribed.contains(&at) => {
                format!("at {at} there were more processes than processors")
            }
            Rule::Preemption => "threads were ready to run, but others had the processors".into(),
        }
    }

    fn why(&self, diagnosis: &Diagnosis) -> String {
        let evidence = &diagnosis.evidence;
        let (base, at) = self.score.repetitions;
        let mut parts = Vec::new();
        if let Some((low, high)) = evidence.wait_bounds {
            parts.push(format!(
                "of this at least {} and at most {} % is waiting",
                percent(low),
                percent(high)
            ));
        }
        if let (Some((last, of)), false) = (evidence.last_in, diagnosis.participants.is_empty()) {
            parts.push(format!("the same come last in {last} of {of} runs"));
        }
        if let Some(correlation) = evidence.correlation {
            parts.push(format!("rank correlation of work and waiting {correlation:.2}"));
        }
        match diagnosis.confidence(self.score.repetitions) {
            Confidence::Sure => {}
            _ if evidence.unused.is_none() && !diagnosis.loss.is_told_from_zero() => {
                parts.push("not told from zero".into());
            }
            Confidence::Guess => parts.push("samples allow other reasons".into()),
            Confidence::Likely => {}
        }
        parts.push(match (base.min(at), diagnosis.q_value) {
            (0 | 1, _) => "n=1".into(),
            _ if evidence.unused.is_some() => format!("{base}+{at} runs"),
            (_, q) if q < 0.0005 => format!("{base}+{at} runs, q<0.001"),
            (_, q) => format!("{base}+{at} runs, q={q:.3}"),
        });
        parts.join("; ")
    }

    fn next(&self, diagnosis: &Diagnosis, row: &ScoredRow) -> String {
        let view = |options: &str| format!("falloff view {} {options}", self.run().display());
        let focus = |row: &ScoredRow| {
            let pattern = format!("^{}$", regex::escape(&row.name));
            format!("--focus {}", quoted(&pattern))
        };
        let each = if diagnosis.ranked { "--by rank" } else { "--by thread" };
        match diagnosis.rule {
            Rule::SerialSection | Rule::LoadImbalance | Rule::LatePartner | Rule::SerialMessages => {
                view(&format!("{each} {}", focus(row)))
            }
            Rule::WorkGrowth
                if diagnosis.evidence.work_ratio.is_some() && diagnosis.evidence.instructions.is_none() =>
            {
                format!("{}; counting instructions tells more work from slower work", view(&focus(row)))
            }
            Rule::MemoryBandwidth if diagnosis.evidence.per_cycle.is_none() => {
                "sweep with `-e cpu,instructions,cycles`, and with fewer ranks on each node".into()
            }
            Rule::MemoryBandwidth => "sweep with fewer ranks on each node".into(),
            Rule::Preemption => "use fewer processes or threads, or more processors".into(),
            Rule::ReplicatedWork | Rule::WorkGrowth => view(&focus(row)),
            _ => view(&format!("--view callers {}", focus(row))),
        }
    }

    /// A good run at the compared scale.
    fn run(&self) -> PathBuf {
        let key = self.sweep.good.iter().find(|key| key.processors() == self.score.at);
        key.map_or_else(|| self.sweep.dir.clone(), |key| self.sweep.dir.join(key.directory()))
    }
}

/// Whether the place of such a diagnosis is the program's own work.
fn is_work(rule: Rule) -> bool {
    matches!(
        rule,
        Rule::SerialSection
            | Rule::LoadImbalance
            | Rule::ReplicatedWork
            | Rule::WorkGrowth
            | Rule::MemoryBandwidth
    )
}

/// Whether a name is an address in a module.
fn is_offset(name: &str, module: &str) -> bool {
    name.strip_prefix(module).is_some_and(|rest| rest.starts_with("+0x"))
}

/// As one word of a shell's command line.
fn quoted(text: &str) -> String {
    match text.contains('\'') {
        false => format!("'{text}'"),
        true => shlex::try_quote(text).map_or_else(|_| text.to_owned(), Into::into),
    }
}

/// `x4`, `x1.25`.
fn factor(ratio: f64) -> String {
    let text = format!("{ratio:.2}");
    format!("x{}", text.strip_suffix(".00").unwrap_or(&text))
}

fn law(law: Option<Law>) -> &'static str {
    match law {
        Some(Law::Logarithm) => ", growing as log2 of the processor count",
        Some(Law::Linear) => ", growing as the processor count",
        None => "",
    }
}

/// Participants in a sentence.
struct Who<'a> {
    diagnosis: &'a Diagnosis,
}

impl Who<'_> {
    fn of(diagnosis: &Diagnosis) -> Who<'_> {
        Who { diagnosis }
    }

    fn verb(&self, one: &'static str, several: &'static str) -> &'static str {
        if self.diagnosis.participants.len() == 1 { one } else { several }
    }
}

impl std::fmt::Display for Who<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = if self.diagnosis.ranked { "rank" } else { "thread" };
        match &self.diagnosis.participants[..] {
            [] => write!(f, "{kind}s"),
            [one] => write!(f, "{kind} {one}"),
            several => write!(f, "{kind}s {}", listed(several)),
        }
    }
}
