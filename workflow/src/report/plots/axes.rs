//! The frame of a figure: heading, processor counts from left to right, a quantity upwards, a legend at the right.

use std::collections::BTreeMap;

use super::canvas::{Anchor, Canvas, INK};

const WIDTH: f64 = 820.0;
const HEIGHT: f64 = 460.0;
const LEFT: f64 = 72.0;
const RIGHT: f64 = 290.0;
const TOP: f64 = 72.0;
const BOTTOM: f64 = 60.0;
/// Between two lines of a legend.
const LEGEND_STEP: f64 = 24.0;
/// Ticks that an axis has about.
const TICKS: f64 = 6.0;

/// How values lie on an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Spacing {
    /// Equal differences are equally far.
    Linear,
    /// Equal ratios are equally far.
    Ratios,
}

/// A quantity from one end of a line to the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Axis {
    pub spacing: Spacing,
    /// Values at the ends.
    pub values: (f64, f64),
    /// Places of the ends in the picture.
    pub places: (f64, f64),
}

impl Axis {
    /// Where a value is in the picture.
    pub fn place(&self, value: f64) -> f64 {
        let of = |v: f64| match self.spacing {
            Spacing::Linear => v,
            Spacing::Ratios => v.max(f64::MIN_POSITIVE).log2(),
        };
        let (low, high) = (of(self.values.0), of(self.values.1));
        let share = if high > low { (of(value) - low) / (high - low) } else { 0.5 };
        self.places.0 + share * (self.places.1 - self.places.0)
    }
}

/// What a figure says of the sweep.
#[derive(Clone, Copy, Debug)]
pub(super) struct Caption<'a> {
    /// The line below the heading.
    pub below: &'a str,
    /// Processes and threads by processor count, which then stand in place of the counts.
    pub pairs: &'a BTreeMap<u32, String>,
}

/// A figure with its axes drawn.
pub(super) struct Figure {
    pub canvas: Canvas,
    x: Axis,
    y: Axis,
    legend: f64,
}

impl Figure {
    /// Over these processor counts, with equal ratios on both axes, and a tick for every count on both.
    pub fn of_ratios(
        heading: &str,
        caption: Caption,
        y_label: &str,
        scales: &[u32],
        values: (f64, f64),
    ) -> Figure {
        let mut figure = Figure::new(heading, caption.below, scales, Spacing::Ratios, values);
        let mut tick = 2f64.powf(values.0.log2().floor());
        while tick <= values.1 * 1.001 {
            if tick >= values.0 * 0.999 {
                figure.y_tick(tick, &format!("{tick}"));
            }
            tick *= 2.0;
        }
        figure.labels(y_label, scales, caption.pairs);
        figure
    }

    /// Over these processor counts, with values in percent upwards.
    pub fn of_percents(
        heading: &str,
        caption: Caption,
        y_label: &str,
        scales: &[u32],
        values: (f64, f64),
    ) -> Figure {
        let step = step(values.1 - values.0);
        let values = ((values.0 / step).floor() * step, (values.1 / step).ceil() * step);
        let mut figure = Figure::new(heading, caption.below, scales, Spacing::Linear, values);
        let ticks = ((values.1 - values.0) / step).round() as u32;
        for tick in 0..=ticks {
            let value = values.0 + f64::from(tick) * step;
            figure.y_tick(value, &format!("{}", (value * 1e6).round() / 1e6 + 0.0));
        }
        figure.labels(y_label, scales, caption.pairs);
        figure
    }

    fn new(heading: &str, below: &str, scales: &[u32], spacing: Spacing, values: (f64, f64)) -> Figure {
        let mut canvas = Canvas::new(WIDTH, HEIGHT, &format!("{heading}: {below}"));
        canvas.heading((LEFT, 28.0), heading);
        canvas.text((LEFT, 50.0), Anchor::Start, below);
        let ends = |of: &[u32]| {
            (f64::from(of.first().copied().unwrap_or(1)), f64::from(of.last().copied().unwrap_or(1)))
        };
        // Room for bars and marks at both ends.
        const INSET: f64 = 44.0;
        let x = Axis {
            spacing: Spacing::Ratios,
            values: ends(scales),
            places: (LEFT + INSET, WIDTH - RIGHT - INSET),
        };
        let y = Axis { spacing, values, places: (HEIGHT - BOTTOM, TOP) };
        Figure { canvas, x, y, legend: TOP + 8.0 }
    }

    fn y_tick(&mut self, value: f64, label: &str) {
        let y = self.y.place(value);
        self.canvas.grid_line((LEFT, y), (WIDTH - RIGHT, y));
        self.canvas.text((LEFT - 8.0, y + 4.5), Anchor::End, label);
    }

    fn labels(&mut self, y_label: &str, scales: &[u32], pairs: &BTreeMap<u32, String>) {
        let base = self.y.places.0;
        for scale in scales {
            let x = self.x.place(f64::from(*scale));
            self.canvas.line((x, base), (x, base + 5.0), INK, 1.0, None);
            let name = pairs.get(scale).cloned().unwrap_or_else(|| scale.to_string());
            self.canvas.text((x, base + 20.0), Anchor::Middle, &name);
        }
        self.canvas.line((LEFT, base), (WIDTH - RIGHT, base), INK, 1.0, None);
        let middle = (LEFT + WIDTH - RIGHT) / 2.0;
        let counted = if pairs.is_empty() { "processors" } else { "processes x threads" };
        self.canvas.text((middle, base + 42.0), Anchor::Middle, counted);
        self.canvas.upright((22.0, (TOP + base) / 2.0), y_label);
    }

    /// Where a value at a processor count is in the picture.
    pub fn place(&self, processors: u32, value: f64) -> (f64, f64) {
        (self.x.place(f64::from(processors)), self.y.place(value))
    }

    /// A line of the legend: where its sign stands, and the text beside it.
    pub fn legend(&mut self, text: &str) -> (f64, f64) {
        let at = (WIDTH - RIGHT + 30.0, self.legend);
        self.canvas.text((at.0 + 24.0, at.1 + 4.5), Anchor::Start, text);
        self.legend += LEGEND_STEP;
        at
    }
}

/// A step between ticks that is 1, 2 or 5 times a power of ten.
pub(crate) fn step(range: f64) -> f64 {
    let rough = (range / TICKS).max(1e-3);
    let power = 10f64.powf(rough.log10().floor());
    let times = [1.0, 2.0, 5.0].into_iter().find(|times| times * power >= rough * 0.999);
    times.unwrap_or(10.0) * power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_lie_where_they_belong() {
        let axis = Axis { spacing: Spacing::Ratios, values: (1.0, 16.0), places: (0.0, 400.0) };
        assert_eq!([1.0, 4.0, 16.0].map(|v| axis.place(v)), [0.0, 200.0, 400.0]);
        let axis = Axis { spacing: Spacing::Linear, values: (-10.0, 90.0), places: (100.0, 0.0) };
        assert_eq!([-10.0, 0.0, 90.0].map(|v| axis.place(v)), [100.0, 90.0, 0.0]);
        assert_eq!([100.0, 12.0, 0.3, 70.0].map(step), [20.0, 2.0, 0.05, 20.0]);
        // One count alone is in the middle.
        let axis = Axis { spacing: Spacing::Ratios, values: (4.0, 4.0), places: (0.0, 10.0) };
        assert_eq!(axis.place(4.0), 5.0);
    }
}
