//! What to look at, in the text report.

use super::findings::{Finding, findings};
use super::table::with_width;
use super::text::{TextOptions, section};
use crate::results::SweepState;
use crate::scoring::Score;

/// Findings that are told.
const MOST: usize = 6;
/// Smallest cost, as a fraction of the run, that is told.
const WORTH_TELLING: f64 = 0.005;
/// Frames of the call path that are told.
const FRAMES: usize = 4;
/// Frames that all call paths begin with.
const STARTS: [&str; 4] = ["_start", "__libc_start_main", "__libc_start_main_impl", "__libc_start_call_main"];
/// Columns before the text.
const INDENT: usize = 17;

/// The findings that cost most, each with how sure it is and what to do next.
pub(super) fn finding_lines(sweep: &SweepState, score: &Score, options: &TextOptions) -> Vec<String> {
    let all = findings(sweep, score);
    let worth =
        |f: &&Finding| f.diagnosis.loss.excess >= WORTH_TELLING || f.diagnosis.evidence.unused.is_some();
    let mut body: Vec<String> =
        all.iter().filter(worth).take(MOST).flat_map(|finding| lines(score, finding, options)).collect();
    if body.is_empty() {
        body.push("  nothing that costs 0.5 % of the run".into());
    }
    section("WHAT TO LOOK AT (by what it costs, % of the run)", body, options.paint)
}

fn lines(score: &Score, finding: &Finding, options: &TextOptions) -> Vec<String> {
    let loss = &finding.diagnosis.loss;
    let title = finding.diagnosis.rule.title();
    let width = options.width.saturating_sub(INDENT).max(40);
    let what = wrapped(&format!("{title} ({}): {}", finding.confidence.word(), finding.what), width);
    let mut path = score.context.path(finding.row.id);
    path.retain(|name| !STARTS.contains(name));
    let path = path[path.len().saturating_sub(FRAMES)..].join(" > ");
    let place = match &finding.source {
        Some((file, line)) => {
            format!("{}:{line} in {path}; {}", file.rsplit('/').next().unwrap_or(file), finding.why)
        }
        None if path.is_empty() => finding.why.clone(),
        None => format!("in {path}; {}", finding.why),
    };
    let mut lines = Vec::new();
    for (number, line) in what.into_iter().enumerate() {
        lines.push(if number == 0 {
            let bold = options.paint.bold(&line[..title.len()]);
            format!("  {}  {bold}{}", with_width(loss.excess, loss.half_width), &line[title.len()..])
        } else {
            format!("{:INDENT$}{line}", "")
        });
    }
    let more = wrapped(&place, width).into_iter().chain(wrapped(&format!("next: {}", finding.next), width));
    lines.extend(more.map(|line| options.paint.dim(&format!("{:INDENT$}{line}", ""))));
    lines
}

/// Breaks a text at blanks into lines of at most `width` characters; longer words stay whole.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.len() - 1;
        let length = lines[last].chars().count();
        if length > 0 && length + 1 + word.chars().count() > width {
            lines.push(word.to_owned());
        } else {
            lines[last].push_str(if length > 0 { " " } else { "" });
            lines[last].push_str(word);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_at_blanks() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("averylongword a", 5), ["averylongword", "a"]);
    }
}
