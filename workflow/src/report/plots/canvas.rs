//! The elements of an SVG file.

use crate::report::escape::xml;

/// Text and axes.
pub(crate) const INK: &str = "#222222";
/// What is only to be compared with.
pub(crate) const PALE: &str = "#8a8a8a";
/// Lines of the grid.
const GRID: &str = "#e4e4e4";

/// Where a text stands beside its point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// The mark of a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Mark {
    Circle,
    Square,
}

/// A picture that grows element by element.
pub(crate) struct Canvas {
    width: f64,
    height: f64,
    body: String,
}

impl Canvas {
    /// A white picture; `title` is what it shows, for who cannot see it.
    pub fn new(width: f64, height: f64, title: &str) -> Canvas {
        let body = format!(
            "<title>{}</title>\n<rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n",
            xml(title)
        );
        Canvas { width, height, body }
    }

    pub fn grid_line(&mut self, from: (f64, f64), to: (f64, f64)) {
        self.line(from, to, GRID, 1.0, None);
    }

    pub fn line(&mut self, from: (f64, f64), to: (f64, f64), colour: &str, width: f64, dashes: Option<&str>) {
        let dashes = dashes.map_or(String::new(), |d| format!(" stroke-dasharray=\"{d}\""));
        self.body += &format!(
            "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"{colour}\" stroke-width=\"{width}\"{dashes}/>\n",
            from.0, from.1, to.0, to.1
        );
    }

    /// Lines from point to point.
    pub fn path(&mut self, points: &[(f64, f64)], colour: &str) {
        let points: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        self.body += &format!(
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>\n",
            points.join(" ")
        );
    }

    pub fn mark(&mut self, (x, y): (f64, f64), mark: Mark, colour: &str) {
        self.body += &match mark {
            Mark::Circle => format!(
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4.5\" fill=\"{colour}\" stroke=\"#ffffff\"/>\n"
            ),
            Mark::Square => format!(
                "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"8\" height=\"8\" fill=\"{colour}\" stroke=\"#ffffff\"/>\n",
                x - 4.0,
                y - 4.0
            ),
        };
    }

    /// An interval: a line with two short ones at its ends.
    pub fn interval(&mut self, x: f64, (low, high): (f64, f64), colour: &str) {
        self.line((x, low), (x, high), colour, 1.5, None);
        for end in [low, high] {
            self.line((x - 5.0, end), (x + 5.0, end), colour, 1.5, None);
        }
    }

    pub fn bar(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), colour: &str) {
        self.body += &format!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{colour}\" stroke=\"#ffffff\" stroke-width=\"0.8\"/>\n"
        );
    }

    pub fn text(&mut self, at: (f64, f64), anchor: Anchor, text: &str) {
        self.styled(at, anchor, text, "");
    }

    pub fn heading(&mut self, at: (f64, f64), text: &str) {
        self.styled(at, Anchor::Start, text, " font-size=\"16\" font-weight=\"bold\"");
    }

    /// A text from below to above, centred.
    pub fn upright(&mut self, (x, y): (f64, f64), text: &str) {
        self.styled((x, y), Anchor::Middle, text, &format!(" transform=\"rotate(-90 {x:.1} {y:.1})\""));
    }

    fn styled(&mut self, (x, y): (f64, f64), anchor: Anchor, text: &str, style: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        self.body += &format!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"{INK}\"{style}>{}</text>\n",
            xml(text)
        );
    }

    /// The file.
    pub fn finish(self) -> String {
        let Canvas { width, height, body } = self;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"13\" role=\"img\">\n{body}</svg>\n"
        )
    }
}
