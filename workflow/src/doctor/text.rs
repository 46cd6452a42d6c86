//! The examination for people.

use super::checks::{Check, Topic, Verdict, checks};
use super::examination::Examination;
use crate::report::Paint;

/// Columns before the text of a line: its verdict and blanks.
const INDENT: usize = 10;

/// The whole report, in lines of `width` characters where words allow it.
pub fn text(examination: &Examination, paint: Paint, width: usize) -> String {
    let all = checks(examination);
    let mut out = String::new();
    for (topic, title) in [
        (Topic::Time, "TIME"),
        (Topic::Events, "EVENTS"),
        (Topic::Machine, "MACHINE"),
        (Topic::Surroundings, "SURROUNDINGS"),
    ] {
        out += &format!("{}\n", paint.bold(title));
        for check in all.iter().filter(|check| check.topic == topic) {
            out += &lines(check, paint, width);
        }
        out.push('\n');
    }
    out += &match examination.works() {
        true => paint.green("falloff works here: `falloff run -- PROGRAM` measures time"),
        false => paint.red("falloff does not work here"),
    };
    out.push('\n');
    out
}

fn lines(check: &Check, paint: Paint, width: usize) -> String {
    let (word, colour): (&str, fn(Paint, &str) -> String) = match check.verdict {
        Verdict::Ok => ("ok", Paint::green),
        Verdict::Limited => ("limited", Paint::yellow),
        Verdict::Missing => ("missing", Paint::red),
        Verdict::Fact => ("", Paint::dim),
    };
    let mut text = wrapped(&format!("{}: {}", check.name, check.finding), width);
    if let Some(remedy) = &check.remedy {
        text.extend(wrapped(&format!("to enable: {remedy}"), width).into_iter().map(|l| paint.dim(&l)));
    }
    let mut out = String::new();
    for (number, line) in text.into_iter().enumerate() {
        let margin = if number == 0 { word } else { "" };
        let blanks = " ".repeat(INDENT - 2 - margin.len());
        out += &format!(
            "  {}{blanks}{line}\n",
            if margin.is_empty() { String::new() } else { colour(paint, margin) }
        );
    }
    out
}

fn wrapped(text: &str, width: usize) -> Vec<String> {
    let room = width.saturating_sub(INDENT);
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last().map_or(0, |l| l.chars().count());
        match lines.last_mut() {
            Some(last) if line == 0 || line + 1 + word.chars().count() <= room => {
                if line > 0 {
                    last.push(' ');
                }
                last.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}
