//! Excess by cause, stacked over the processor counts.

use super::axes::{Caption, Figure};
use super::canvas::{INK, Mark};

/// Okabe and Ito's, the grey last for everything else.
const COLOURS: [&str; 7] = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442"];
const REST: &str = "#999999";
const BAR: f64 = 46.0;

/// The excess at one processor count, in percent of the work there.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stack {
    pub scale: u32,
    /// By cause, in the order of the causes.
    pub parts: Vec<f64>,
    pub total: f64,
    pub half_width: f64,
}

/// Losses go up from zero and gains down; the point is their sum. `causes` are the names of the parts; the smallest beyond the
/// number of colours are one.
pub(super) fn excess(caption: Caption, causes: &[&str], stacks: &[Stack]) -> String {
    let (named, order) = largest(causes.len(), stacks);
    let scales: Vec<u32> = stacks.iter().map(|s| s.scale).collect();
    let signed = |stack: &Stack, sign: f64| stack.parts.iter().filter(|p| **p * sign > 0.0).sum::<f64>();
    let (low, high) = stacks.iter().fold((0.0f64, 1.0f64), |(low, high), stack| {
        let ends = (stack.total - stack.half_width, stack.total + stack.half_width);
        (low.min(signed(stack, -1.0)).min(ends.0), high.max(signed(stack, 1.0)).max(ends.1))
    });
    let label = "excess work, % of the work at that count";
    let mut figure = Figure::of_percents("Excess work by cause", caption, label, &scales, (low, high));
    for stack in stacks {
        let (mut up, mut down) = (0.0, 0.0);
        let rest: f64 = order[named..].iter().map(|cause| stack.parts[*cause]).sum();
        let parts = order[..named].iter().zip(COLOURS).map(|(cause, colour)| (stack.parts[*cause], colour));
        for (part, colour) in parts.chain([(rest, REST)]).filter(|(part, _)| *part != 0.0) {
            let from = if part > 0.0 { &mut up } else { &mut down };
            let (start, end) = (figure.place(stack.scale, *from), figure.place(stack.scale, *from + part));
            *from += part;
            let (top, height) = (start.1.min(end.1), (start.1 - end.1).abs());
            figure.canvas.bar((start.0 - BAR / 2.0, top), (BAR, height), colour);
        }
    }
    let ends = scales.first().zip(scales.last());
    if let Some((first, last)) = ends {
        let (from, to) = (figure.place(*first, 0.0), figure.place(*last, 0.0));
        figure.canvas.line((from.0 - BAR, from.1), (to.0 + BAR, to.1), INK, 1.0, None);
    }
    for stack in stacks {
        let place = |value| figure.place(stack.scale, value);
        let (point, ends) = (
            place(stack.total),
            (place(stack.total - stack.half_width).1, place(stack.total + stack.half_width).1),
        );
        if stack.half_width > 0.0 {
            figure.canvas.interval(point.0, ends, INK);
        }
        figure.canvas.mark(point, Mark::Circle, INK);
    }
    // From above to below as in the stacks.
    for (cause, colour) in order[..named].iter().zip(COLOURS).rev() {
        let (x, y) = figure.legend(causes[*cause]);
        figure.canvas.bar((x - 6.0, y - 7.0), (20.0, 14.0), colour);
    }
    if order[named..].iter().any(|cause| stacks.iter().any(|s| s.parts[*cause] != 0.0)) {
        let (x, y) = figure.legend("everything else");
        figure.canvas.bar((x - 6.0, y - 7.0), (20.0, 14.0), REST);
    }
    let (x, y) = figure.legend("together, with 95 % interval");
    figure.canvas.mark((x + 4.0, y), Mark::Circle, INK);
    figure.canvas.finish()
}

/// The causes from the one with the largest part anywhere, and how many of them get a colour of their own.
fn largest(causes: usize, stacks: &[Stack]) -> (usize, Vec<usize>) {
    let size = |cause: usize| stacks.iter().map(|s| s.parts[cause].abs()).fold(0.0, f64::max);
    let mut order: Vec<usize> = (0..causes).collect();
    order.sort_by(|a, b| size(*b).total_cmp(&size(*a)));
    /// Parts, in percent, that one could not see.
    const TINY: f64 = 0.1;
    let seen = order.iter().filter(|cause| size(**cause) >= TINY).count();
    (seen.min(COLOURS.len()), order)
}
