//! Speed-up and efficiency over the processor counts, with the ideal beside them.

use super::axes::{Caption, Figure};
use super::canvas::{Mark, PALE};

const BLUE: &str = "#0072B2";
const ORANGE: &str = "#D55E00";
const DASHES: &str = "6 5";

/// A value at a processor count with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    pub scale: u32,
    pub value: f64,
    pub interval: (f64, f64),
}

/// Speed-up against processor count, both by ratios, so that the ideal is a straight line.
pub(super) fn speedup(caption: Caption, y_label: &str, points: &[Point]) -> String {
    let scales: Vec<u32> = points.iter().map(|p| p.scale).collect();
    let ideal = |scale: &u32| f64::from(*scale);
    let values = points.iter().flat_map(|p| [p.interval.0, p.interval.1]).chain(scales.iter().map(ideal));
    let (low, high) = values.fold((f64::INFINITY, 1.0f64), |(low, high), v| (low.min(v), high.max(v)));
    let mut figure =
        Figure::of_ratios("Speed-up", caption, y_label, &scales, (low.max(1.0 / 64.0) * 0.9, high * 1.1));
    let line: Vec<(f64, f64)> = scales.iter().map(|s| figure.place(*s, ideal(s))).collect();
    for pair in line.windows(2) {
        figure.canvas.line(pair[0], pair[1], PALE, 1.5, Some(DASHES));
    }
    ideal_legend(&mut figure, "ideal");
    series(&mut figure, "measured, with 95 % interval", points, Mark::Circle, BLUE);
    figure.canvas.finish()
}

/// Efficiencies against processor count, in percent.
pub(super) fn efficiency(caption: Caption, work: &[Point], wall: &[Point]) -> String {
    let scales: Vec<u32> = work.iter().map(|p| p.scale).collect();
    let values = work.iter().chain(wall).flat_map(|p| [p.interval.0, p.interval.1]);
    let (low, high) = values.fold((0.0f64, 100.0f64), |(low, high), v| (low.min(v), high.max(v)));
    // A wild interval shall not flatten all else.
    let (low, high) = (low.max(-50.0), high.min(200.0));
    let mut figure = Figure::of_percents("Efficiency", caption, "efficiency, %", &scales, (low, high));
    if let (Some(first), Some(last)) = (scales.first(), scales.last()) {
        let (from, to) = (figure.place(*first, 100.0), figure.place(*last, 100.0));
        figure.canvas.line(from, to, PALE, 1.5, Some(DASHES));
    }
    ideal_legend(&mut figure, "ideal");
    series(&mut figure, "of the work (1 - excess)", work, Mark::Circle, BLUE);
    series(&mut figure, "of the wall time (speed-up / n)", wall, Mark::Square, ORANGE);
    figure.legend("bars are 95 % intervals");
    figure.canvas.finish()
}

fn ideal_legend(figure: &mut Figure, text: &str) {
    let (x, y) = figure.legend(text);
    figure.canvas.line((x - 8.0, y), (x + 16.0, y), PALE, 1.5, Some(DASHES));
}

fn series(figure: &mut Figure, name: &str, points: &[Point], mark: Mark, colour: &str) {
    let places: Vec<(f64, f64)> = points.iter().map(|p| figure.place(p.scale, p.value)).collect();
    figure.canvas.path(&places, colour);
    for (point, place) in points.iter().zip(&places) {
        let end = |value| figure.place(point.scale, value).1;
        let ends = (end(point.interval.0), end(point.interval.1));
        if point.interval.1 > point.interval.0 {
            figure.canvas.interval(place.0, ends, colour);
        }
        figure.canvas.mark(*place, mark, colour);
    }
    let (x, y) = figure.legend(name);
    figure.canvas.line((x - 8.0, y), (x + 16.0, y), colour, 2.0, None);
    figure.canvas.mark((x + 4.0, y), mark, colour);
}
