//! Bar charts as SVG: groups of bars with a note above each, curves over them, two labelled axes, a
//! legend; and the lines and texts that other pictures draw with.
//!
//! Ground and ink follow the reader's colour scheme together, so a picture reads on light and dark
//! pages alike.

use std::fmt::Write as _;

/// Size of the picture.
const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 420.0;

/// Edges of the area between the axes.
const LEFT: f64 = 64.0;
const RIGHT: f64 = WIDTH - 20.0;
const TOP: f64 = 64.0;
const BOTTOM: f64 = HEIGHT - 64.0;

/// Share of a group's place that its bars fill.
const FILLED: f64 = 0.84;

/// Colours of the series, which colour-blind readers tell apart (Okabe and Ito 2008).
const COLOURS: [&str; 6] = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00"];

/// A grey of axes that both grounds leave visible.
pub const AXIS: &str = "#8b949e";

/// The same, for lines behind the bars.
const GRID: &str = "#8b949e66";

/// What every picture begins with: its colours, and its ground. They hold for the picture alone,
/// not for the page that it stands in.
pub const STYLE: &str = "<style>.fnstore .ground{fill:#ffffff}\
.fnstore text{font-family:sans-serif;font-size:12px;fill:#24292f}\
.fnstore .small{font-size:11px;fill:#57606a}.fnstore .name{font-size:16px;font-weight:bold}\
.fnstore .proposed{font-style:italic}\
@media(prefers-color-scheme:dark){.fnstore .ground{fill:#0d1117}\
.fnstore text{fill:#e6edf3}.fnstore .small{fill:#9198a1}}</style>\n\
<rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n";

/// One bar.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// Its height, 0 or more.
    pub value: f64,
    /// What stands above it; may be empty.
    pub note: String,
}

/// Bars that stand together, one for each series.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// What stands below them.
    pub label: String,
    /// The bars, in the order of the series.
    pub bars: Vec<Bar>,
}

/// A chart.
#[derive(Debug, Clone, PartialEq)]
pub struct BarChart {
    /// What stands above it.
    pub title: String,
    /// What goes to the right.
    pub x: String,
    /// What goes up.
    pub y: String,
    /// Names of the series; none when there is one only.
    pub series: Vec<String>,
    /// The bars from left to right.
    pub groups: Vec<Group>,
    /// Lines over the bars, one for each series: places between the left end, 0, and the right, 1,
    /// and heights. None where bars say it all.
    pub curves: Vec<Vec<(f64, f64)>>,
}

impl BarChart {
    /// The chart as an SVG document.
    pub fn svg(&self) -> String {
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"fnstore\" \
             viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
             role=\"img\">\n<title>{}</title>\n{STYLE}",
            escaped(&self.title)
        );
        text(&mut svg, (WIDTH / 2.0, 24.0), "middle", "class=\"name\"", &self.title);
        let bars = self.groups.iter().flat_map(|group| &group.bars);
        let heights = self.curves.iter().flatten().map(|(_, height)| *height);
        let highest = bars.map(|bar| bar.value).chain(heights).fold(0.0, f64::max);
        let step = tick_step(highest);
        let steps = (highest / step).ceil().max(1.0);
        self.axes(&mut svg, step, steps);
        self.bars(&mut svg, step * steps);
        self.draw_curves(&mut svg, step * steps);
        self.legend(&mut svg);
        svg.push_str("</svg>\n");
        svg
    }

    fn axes(&self, svg: &mut String, step: f64, steps: f64) {
        for tick in 0..=steps as usize {
            let y = BOTTOM - (BOTTOM - TOP) * tick as f64 / steps;
            line(svg, (LEFT, y), (RIGHT, y), GRID);
            text(svg, (LEFT - 8.0, y + 4.0), "end", "", &number(step * tick as f64));
        }
        line(svg, (LEFT, TOP), (LEFT, BOTTOM), AXIS);
        line(svg, (LEFT, BOTTOM), (RIGHT, BOTTOM), AXIS);
        text(svg, ((LEFT + RIGHT) / 2.0, HEIGHT - 20.0), "middle", "", &self.x);
        let (x, y) = (18.0, (TOP + BOTTOM) / 2.0);
        text(svg, (x, y), "middle", &format!("transform=\"rotate(-90 {x} {y})\""), &self.y);
    }

    fn bars(&self, svg: &mut String, top: f64) {
        let place = (RIGHT - LEFT) / self.groups.len().max(1) as f64;
        for (at, group) in self.groups.iter().enumerate() {
            let start = LEFT + place * at as f64;
            text(svg, (start + place / 2.0, BOTTOM + 18.0), "middle", "", &group.label);
            let width = place * FILLED / group.bars.len().max(1) as f64;
            for (series, bar) in group.bars.iter().enumerate() {
                let x = start + place * (1.0 - FILLED) / 2.0 + width * series as f64;
                let height = (BOTTOM - TOP) * bar.value / top;
                let y = BOTTOM - height;
                let colour = COLOURS[series % COLOURS.len()];
                let _ = writeln!(
                    svg,
                    "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{height:.1}\" \
                     fill=\"{colour}\"/>",
                    width * 0.94
                );
                let middle = (x + width * 0.47, y - 4.0);
                text(svg, middle, "middle", "class=\"small\"", &bar.note);
            }
        }
    }

    fn draw_curves(&self, svg: &mut String, top: f64) {
        for (series, points) in self.curves.iter().enumerate() {
            let place = |(x, y): &(f64, f64)| {
                let (x, y) = (LEFT + (RIGHT - LEFT) * x, BOTTOM - (BOTTOM - TOP) * y / top);
                format!("{x:.1},{y:.1}")
            };
            let points: Vec<String> = points.iter().map(place).collect();
            let _ = writeln!(
                svg,
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>",
                points.join(" "),
                COLOURS[series % COLOURS.len()]
            );
        }
    }

    fn legend(&self, svg: &mut String) {
        let letters = self.series.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        let place = 110.0_f64.max(26.0 + 6.5 * letters as f64);
        for (series, name) in self.series.iter().enumerate() {
            let x = LEFT + place * series as f64;
            let colour = COLOURS[series % COLOURS.len()];
            let _ = writeln!(
                svg,
                "<rect x=\"{x}\" y=\"36\" width=\"12\" height=\"12\" fill=\"{colour}\"/>"
            );
            text(svg, (x + 18.0, 46.0), "start", "", name);
        }
    }
}

/// Distance between ticks: 1, 2 or 5 times a power of ten, some five of them up to the highest bar.
fn tick_step(highest: f64) -> f64 {
    let rough = if highest > 0.0 { highest / 5.0 } else { 0.2 };
    let power = 10.0_f64.powf(rough.log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|factor| factor * power >= rough * 0.999);
    factor.unwrap_or(10.0) * power
}

/// A number of a tick, without zeros that say nothing.
fn number(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A line from one point to another.
pub fn line(svg: &mut String, (x1, y1): (f64, f64), (x2, y2): (f64, f64), colour: &str) {
    let _ = writeln!(
        svg,
        "<line x1=\"{x1}\" y1=\"{y1:.1}\" x2=\"{x2}\" y2=\"{y2:.1}\" stroke=\"{colour}\"/>"
    );
}

/// A text, escaped; `style` holds further attributes. An empty text draws nothing.
pub fn text(svg: &mut String, (x, y): (f64, f64), anchor: &str, style: &str, content: &str) {
    if content.is_empty() {
        return;
    }
    let content = escaped(content);
    let _ = writeln!(
        svg,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" {style}>{content}</text>"
    );
}

/// A text without what XML or HTML would read.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            letter => safe.push(letter),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(values: &[f64]) -> BarChart {
        let bar = |value: &f64| Bar { value: *value, note: "0.5".to_owned() };
        BarChart {
            title: "a < b & c".to_owned(),
            x: "words".to_owned(),
            y: "share".to_owned(),
            series: vec!["one".to_owned(), "two".to_owned()],
            groups: vec![Group { label: "1".to_owned(), bars: values.iter().map(bar).collect() }],
            curves: Vec::new(),
        }
    }

    #[test]
    fn ticks_are_round_numbers_up_to_the_highest_bar() {
        for (highest, step) in [(100.0, 20.0), (61.0, 20.0), (48.0, 10.0), (0.9, 0.2), (7.0, 2.0)] {
            assert!((tick_step(highest) - step).abs() < 1e-9, "{highest}: {}", tick_step(highest));
        }
        assert_eq!(
            (number(20.0), number(0.2), number(0.0)),
            ("20".into(), "0.2".into(), "0".into())
        );
        assert!(tick_step(0.0) > 0.0);
    }

    #[test]
    fn the_highest_bar_stays_below_the_top_and_texts_are_escaped() {
        let svg = chart(&[61.0, 0.0]).svg();
        assert!(svg.contains("a &lt; b &amp; c"));
        assert!(svg.contains(">80</text>") && !svg.contains(">100</text>"));
        let heights: Vec<f64> = svg
            .lines()
            .filter(|line| line.starts_with("<rect x=") && !line.contains("width=\"12\""))
            .filter_map(|line| line.split("height=\"").nth(1)?.split('"').next()?.parse().ok())
            .collect();
        assert_eq!(heights, [((BOTTOM - TOP) * 61.0 / 80.0 * 10.0).round() / 10.0, 0.0]);
    }

    #[test]
    fn a_curve_goes_from_end_to_end_and_counts_for_the_height() {
        let curves = vec![vec![(0.0, 100.0), (0.5, 50.0), (1.0, 0.0)]];
        let svg = BarChart { curves, ..chart(&[10.0]) }.svg();
        let middle = ((LEFT + RIGHT) / 2.0, (TOP + BOTTOM) / 2.0);
        let points =
            format!("{LEFT:.1},{TOP:.1} {:.1},{:.1} {RIGHT:.1},{BOTTOM:.1}", middle.0, middle.1);
        assert!(svg.contains(&format!("points=\"{points}\"")), "{svg}");
        assert!(svg.contains(">100</text>"));
    }

    #[test]
    fn a_chart_without_bars_has_axes_all_the_same() {
        let svg = BarChart { groups: Vec::new(), ..chart(&[]) }.svg();
        assert!(svg.contains(">words</text>") && svg.ends_with("</svg>\n"));
    }
}
