//! A signature as an SVG: what detours take by their length, and how long messages take by their size.

use super::detours::Detours;
use super::messages::Pair;
use super::signature::Signature;
use super::text::time;
use crate::report::plots::axes::{Axis, Spacing, step};
use crate::report::plots::canvas::{Anchor, Canvas, INK, Mark};

const WIDTH: f64 = 820.0;
/// Height of a panel with its heading and what is written at its axes.
const PANEL: f64 = 360.0;
const LEFT: f64 = 84.0;
const RIGHT: f64 = 30.0;
const TOP: f64 = 66.0;
const BOTTOM: f64 = 62.0;
const BLUE: &str = "#0072B2";
/// Pairs of ranks in different colours, those of Okabe and Ito; more pairs are left out.
const COLOURS: [&str; 4] = [BLUE, "#D55E00", "#009E73", "#CC79A7"];

/// The picture: the rank that loses most to detours, and the first pairs of ranks.
pub fn figure(signature: &Signature) -> String {
    let pairs = signature.messages.iter().flat_map(|m| &m.pairs).take(COLOURS.len());
    let pairs: Vec<&Pair> = pairs.collect();
    let panels = if pairs.is_empty() { 1.0 } else { 2.0 };
    let mut canvas = Canvas::new(WIDTH, panels * PANEL, "Noise and messages of a machine");
    let noisiest =
        signature.ranks.iter().max_by(|a, b| a.detours.lost_percent.total_cmp(&b.detours.lost_percent));
    if let Some(rank) = noisiest {
        let below = format!(
            "rank {} on {}: {:.3} % of the time in {:.1} detours a second",
            rank.rank, rank.host.name, rank.detours.lost_percent, rank.detours.rate_hz
        );
        detours_panel(&mut canvas, &rank.detours, &below);
    }
    if !pairs.is_empty() {
        messages_panel(&mut canvas, &pairs, PANEL);
    }
    canvas.finish()
}

/// Bars over the classes of lengths.
fn detours_panel(canvas: &mut Canvas, detours: &Detours, below: &str) {
    headings(canvas, 0.0, "Time lost by length of detours", below);
    let shares: Vec<f64> =
        detours.by_length.iter().map(|bin| bin.total_ns * 1e-7 / detours.measured_seconds).collect();
    let most = shares.iter().copied().fold(0.0, f64::max);
    let tick = if most > 0.0 { step(most) } else { 1.0 };
    let ticks = (most / tick).ceil().max(1.0) as u32;
    let y = Axis {
        spacing: Spacing::Linear,
        values: (0.0, f64::from(ticks) * tick),
        places: (PANEL - BOTTOM, TOP),
    };
    for number in 0..=ticks {
        let value = f64::from(number) * tick;
        horizontal(canvas, y.place(value), &format!("{}", (value * 1e6).round() / 1e6));
    }
    let width = (WIDTH - LEFT - RIGHT) / shares.len().max(1) as f64;
    for (index, (bin, share)) in detours.by_length.iter().zip(&shares).enumerate() {
        let x = LEFT + index as f64 * width;
        let top = y.place(*share);
        canvas.bar((x + 0.1 * width, top), (0.8 * width, y.places.0 - top), BLUE);
        canvas.text(
            (x + width / 2.0, y.places.0 + 20.0),
            Anchor::Middle,
            &format!("≥ {}", time(bin.from_ns)),
        );
    }
    base(canvas, y.places.0, "length of a detour", "share of the time, %", TOP);
}

/// Median times with what lies between 5 % and 95 %, both by ratios.
fn messages_panel(canvas: &mut Canvas, pairs: &[&Pair], top: f64) {
    headings(canvas, top, "One-way time of messages", "medians; bars from 5 % to 95 % of the messages");
    let sizes = pairs.iter().flat_map(|pair| &pair.sizes);
    let (low, high) = sizes.clone().fold((f64::INFINITY, 1.0f64), |(low, high), times| {
        (low.min(times.one_way_ns.at(0.05)), high.max(times.one_way_ns.at(0.95)))
    });
    let (first, last) = (low.max(1.0).log10().floor() as i32, high.log10().ceil() as i32);
    let power = |exponent: i32| 10f64.powi(exponent);
    let y = Axis {
        spacing: Spacing::Ratios,
        values: (power(first), power(last)),
        places: (top + PANEL - BOTTOM, top + TOP),
    };
    for exponent in first..=last {
        horizontal(canvas, y.place(power(exponent)), &time(power(exponent)));
    }
    let largest = sizes.map(|times| times.bytes).max().unwrap_or(1) as f64;
    let x = Axis {
        spacing: Spacing::Ratios,
        values: (1.0, largest.max(2.0)),
        places: (LEFT + 20.0, WIDTH - RIGHT - 20.0),
    };
    for exponent in (0..64).step_by(4).take_while(|exponent| 2f64.powi(*exponent) <= largest) {
        let at = x.place(2f64.powi(exponent));
        canvas.line((at, y.places.0), (at, y.places.0 + 5.0), INK, 1.0, None);
        canvas.text((at, y.places.0 + 20.0), Anchor::Middle, &(1u64 << exponent).to_string());
    }
    for (pair, colour) in pairs.iter().zip(COLOURS) {
        let place = |bytes: u64, ns: f64| (x.place(bytes.max(1) as f64), y.place(ns));
        // Empty messages have no place on an axis of ratios.
        let times: Vec<_> = pair.sizes.iter().filter(|times| times.bytes > 0).collect();
        let line: Vec<_> = times.iter().map(|t| place(t.bytes, t.one_way_ns.median())).collect();
        canvas.path(&line, colour);
        for (times, at) in times.iter().zip(&line) {
            let end = |share| place(times.bytes, times.one_way_ns.at(share)).1;
            canvas.interval(at.0, (end(0.05), end(0.95)), colour);
            canvas.mark(*at, Mark::Circle, colour);
        }
    }
    for (index, (pair, colour)) in pairs.iter().zip(COLOURS).enumerate() {
        let at = (LEFT + 24.0, top + TOP + 16.0 + 22.0 * index as f64);
        canvas.mark(at, Mark::Circle, colour);
        let text = format!("ranks {} and {}", pair.ranks[0], pair.ranks[1]);
        canvas.text((at.0 + 14.0, at.1 + 4.5), Anchor::Start, &text);
    }
    base(canvas, y.places.0, "bytes", "one-way time", top + TOP);
}

fn headings(canvas: &mut Canvas, top: f64, heading: &str, below: &str) {
    canvas.heading((LEFT, top + 26.0), heading);
    canvas.text((LEFT, top + 48.0), Anchor::Start, below);
}

fn horizontal(canvas: &mut Canvas, y: f64, label: &str) {
    canvas.grid_line((LEFT, y), (WIDTH - RIGHT, y));
    canvas.text((LEFT - 8.0, y + 4.5), Anchor::End, label);
}

fn base(canvas: &mut Canvas, y: f64, below: &str, beside: &str, top: f64) {
    canvas.line((LEFT, y), (WIDTH - RIGHT, y), INK, 1.0, None);
    canvas.text(((LEFT + WIDTH - RIGHT) / 2.0, y + 44.0), Anchor::Middle, below);
    canvas.upright((20.0, (top + y) / 2.0), beside);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::signature::tests::planted;

    #[test]
    fn bars_and_points_are_those_of_the_signature() {
        let alone = figure(&planted(1, 3.0));
        assert_eq!(alone.matches("<rect").count(), 1 + 2, "a background and a bar for each class\n{alone}");
        assert!(!alone.contains("circle"));
        let both = figure(&planted(2, 3.0));
        // Six sizes that are not empty, and the legend.
        assert_eq!(both.matches("<circle").count(), 7, "{both}");
        assert!(!both.contains("NaN") && !both.contains("inf"), "{both}");
    }

    #[test]
    fn a_machine_without_noise_has_an_empty_picture() {
        let mut quiet = planted(1, 0.0);
        quiet.ranks[0].detours.by_length.clear();
        let svg = figure(&quiet);
        assert!(svg.ends_with("</svg>\n") && !svg.contains("NaN"), "{svg}");
    }
}
