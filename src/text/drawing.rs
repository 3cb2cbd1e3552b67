//! A sentence with its annotation drawn under it.
//!
//! Under the text stand rows of marks, and under each row the names of what is marked:
//!
//! ```text
//! He would n't have guessed at this .
//! --                ******* -------
//! Cognizer                  Content
//! [Evidence:INI]
//! ```
//!
//! `*` marks the target, `-` FEs, `^` the support verbs, copulas and governors of the layers by
//! part of speech, and `=` where a target lies inside an FE. FEs of rank 2 and 3 have rows of their
//! own, and so has whatever would lie over something else. On a terminal text, marks and names have
//! colours, too.
//!
//! A mark stands under its text on any terminal: places are counted in columns, of which wide
//! characters and emoji take two and combining characters none.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr;

use super::visible;
use crate::model::{AnnotationSet, Extent, LayerName, Span};

/// What is drawn under some stretch of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// The stretch.
    pub span: Span,
    /// The sign under each of its columns.
    pub sign: char,
    /// The name under the signs; empty for none.
    pub name: String,
    /// Its colour.
    pub paint: Paint,
}

/// A colour of the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paint {
    /// A target.
    Target,
    /// The FE of that number among the set's.
    Element(usize),
    /// A support verb or the like.
    Support,
}

/// Layers of words that go with a target: support verbs, copulas, controllers, governors.
const SUPPORT_LAYERS: [LayerName; 7] = [
    LayerName::Verb,
    LayerName::Noun,
    LayerName::Adj,
    LayerName::Adv,
    LayerName::Prep,
    LayerName::Scon,
    LayerName::Art,
];

impl Paint {
    /// Parameters of the terminal's colour sequence.
    fn code(self) -> &'static str {
        match self {
            Self::Target => "1;32",
            Self::Element(number) => ["36", "33", "35", "34", "31"][number % 5],
            Self::Support => "2",
        }
    }
}

/// The marks of an annotation set in rows, the uppermost first.
#[must_use]
pub fn rows_of_set(set: &AnnotationSet) -> Vec<Vec<Mark>> {
    let target =
        |span: &Span| Mark { span: *span, sign: '*', name: String::new(), paint: Paint::Target };
    let mut rows = vec![set.targets.iter().map(target).collect::<Vec<_>>()];
    let mut names: Vec<&str> = Vec::new();
    let mut ranks: Vec<u8> = set.fe_layers().map(|layer| layer.rank).collect();
    ranks.sort_unstable();
    ranks.dedup();
    for rank in ranks {
        let first = if rank <= 1 { 0 } else { rows.len() };
        for label in set.fe_layers().filter(|layer| layer.rank == rank).flat_map(|l| &l.labels) {
            let Some(span) = label.extent.span() else { continue };
            let number = names.iter().position(|name| *name == label.name).unwrap_or_else(|| {
                names.push(&label.name);
                names.len() - 1
            });
            let paint = Paint::Element(number);
            place(&mut rows, first, Mark { span, sign: '-', name: label.name.clone(), paint });
        }
    }
    for layer in set.layers.iter().filter(|layer| SUPPORT_LAYERS.contains(&layer.name)) {
        for label in &layer.labels {
            let Some(span) = label.extent.span() else { continue };
            let (name, paint) = (label.name.clone(), Paint::Support);
            place(&mut rows, 0, Mark { span, sign: '^', name, paint });
        }
    }
    rows
}

/// The null instantiations of a set, and labels without a place, as `[Evidence:INI]`.
#[must_use]
pub fn unexpressed(set: &AnnotationSet) -> Vec<String> {
    let labels = set.fe_layers().flat_map(|layer| layer.labels.iter().map(|l| (layer.rank, l)));
    let names = labels.filter_map(|(rank, label)| {
        let rank = if rank > 1 { format!("[{rank}]") } else { String::new() };
        match &label.extent {
            Extent::Overt(_) => None,
            Extent::Null(kind) => Some(format!("[{}{rank}:{}]", label.name, kind.as_str())),
            Extent::None => Some(format!("[{}{rank}]", label.name)),
        }
    });
    let lost = set.provenance.carried_elements().iter().filter(|element| element.score.is_none());
    names.chain(lost.map(|element| format!("[{}:not found]", element.name))).collect()
}

/// Puts a mark into the first row from `first` on in which it covers nothing but perhaps a target.
#[doc(hidden)]
pub fn place(rows: &mut Vec<Vec<Mark>>, first: usize, mark: Mark) {
    let covers = |other: &Mark| {
        let is_target_of_element = other.paint == Paint::Target && mark.sign == '-';
        other.span.overlaps(mark.span) && !is_target_of_element
    };
    let free = (first..rows.len()).find(|row| !rows[*row].iter().any(covers));
    match free {
        Some(row) => rows[row].push(mark),
        None => rows.push(vec![mark]),
    }
}

/// Draws rows of marks under a text, in lines of at most `width` columns unless a name is longer.
///
/// White space around the text is left out, line breaks and tabs inside it are drawn as spaces, and
/// control characters as `visible` shows them.
#[must_use]
pub fn draw(text: &str, rows: &[Vec<Mark>], width: usize, color: bool) -> Vec<String> {
    // Every character keeps its bytes, so spans stay valid.
    let text = text.replace(['\n', '\r', '\t'], " ");
    let (text, rows) = with_visible_controls(&text, rows);
    let mut lines = Vec::new();
    for (start, end) in breaks(&text, width) {
        lines.push(painted_text(&text, start, end, &rows, color));
        for (number, row) in rows.iter().enumerate() {
            let shown: Vec<Placed<'_>> =
                row.iter().filter_map(|mark| Placed::new(mark, &text, start, end)).collect();
            if shown.is_empty() && (number > 0 || row.is_empty()) {
                continue;
            }
            lines.extend(sign_line(&shown, color));
            lines.extend(name_lines(&shown, width, color));
        }
    }
    lines
}

/// The text with its control characters visible, and the marks at their new places.
fn with_visible_controls<'a>(
    text: &'a str,
    rows: &'a [Vec<Mark>],
) -> (Cow<'a, str>, Cow<'a, [Vec<Mark>]>) {
    let shown = visible(text);
    if matches!(shown, Cow::Borrowed(_)) {
        return (shown, rows.into());
    }
    let moved = |byte: u32| {
        let before = text.get(..byte as usize).map(|before| visible(before).len());
        before.and_then(|length| u32::try_from(length).ok()).unwrap_or(byte)
    };
    let moved = |mark: &Mark| {
        let span = Span::new(moved(mark.span.start), moved(mark.span.end));
        Mark { span, ..mark.clone() }
    };
    let rows: Vec<Vec<Mark>> = rows.iter().map(|row| row.iter().map(moved).collect()).collect();
    (shown, rows.into())
}

/// A mark inside one line.
struct Placed<'m> {
    mark: &'m Mark,
    /// First column and the one past the last.
    columns: (usize, usize),
    /// Whether it began in an earlier line.
    goes_on: bool,
}

impl<'m> Placed<'m> {
    /// The part of a mark that lies in the line of these bytes.
    fn new(mark: &'m Mark, text: &str, start: usize, end: usize) -> Option<Self> {
        let (from, to) = (mark.span.start as usize, mark.span.end as usize);
        let (first, last) = (from.max(start), to.min(end));
        if first >= last {
            return None;
        }
        let column = |byte: usize| text.get(start..byte).map(UnicodeWidthStr::width);
        let (first, last) = (column(first)?, column(last)?);
        // A lone combining character has no column of its own.
        Some(Self { mark, columns: (first, last.max(first + 1)), goes_on: from < start })
    }

    fn name(&self) -> String {
        let dots = if self.goes_on && !self.mark.name.is_empty() { "..." } else { "" };
        format!("{dots}{}", visible(&self.mark.name))
    }
}

/// The lines of a text as ranges of bytes: broken at spaces, without the space around them.
fn breaks(text: &str, width: usize) -> Vec<(usize, usize)> {
    let mut lines = Vec::new();
    let mut start = text.len() - text.trim_start().len();
    let end = start + text.trim().len();
    while start < end && text[start..end].width() > width {
        let mut columns = 0;
        let mut fits = start;
        let mut space = None;
        let mut first = 1;
        for (at, letter) in text[start..end].grapheme_indices(true) {
            if letter == " " && at > 0 {
                space = Some(start + at);
            }
            if at == 0 {
                first = letter.len();
            }
            columns += letter.width();
            if columns > width {
                break;
            }
            fits = start + at + letter.len();
        }
        // A word longer than the line is cut; a line holds at least one letter, with its marks.
        let cut = space.unwrap_or(fits).max(start + first);
        lines.push((start, start + text[start..cut].trim_end().len()));
        start = cut + (text[cut..end].len() - text[cut..end].trim_start().len());
    }
    if start < end {
        lines.push((start, end));
    }
    lines
}

/// The text of a line, each marked stretch in the colour of its uppermost mark, targets first.
fn painted_text(text: &str, start: usize, end: usize, rows: &[Vec<Mark>], color: bool) -> String {
    if !color {
        return text[start..end].to_owned();
    }
    let paint = |at: usize| {
        let here = |mark: &&Mark| (mark.span.start as usize..mark.span.end as usize).contains(&at);
        let marks = || rows.iter().flatten().filter(here);
        let target = marks().find(|mark| mark.paint == Paint::Target);
        target.or_else(|| marks().next()).map(|mark| mark.paint)
    };
    let letters = text[start..end].char_indices();
    paint_line(letters.map(|(at, letter)| (letter, paint(start + at))))
}

/// The signs of a row; where a target and something else lie, `=`.
fn sign_line(shown: &[Placed<'_>], color: bool) -> Option<String> {
    let length = shown.iter().map(|placed| placed.columns.1).max()?;
    let mut cells = vec![(' ', None); length];
    for placed in shown {
        let (first, last) = placed.columns;
        for cell in &mut cells[first..last] {
            let is_target = placed.mark.paint == Paint::Target;
            *cell = match *cell {
                (_, Some(Paint::Target)) => ('=', Some(Paint::Target)),
                (_, Some(_)) if is_target => ('=', Some(Paint::Target)),
                _ => (placed.mark.sign, Some(placed.mark.paint)),
            };
        }
    }
    Some(line_of(cells, color))
}

/// The names of a row, each under the start of its mark: one line, or more where names are too long
/// to stand side by side.
fn name_lines(shown: &[Placed<'_>], width: usize, color: bool) -> Vec<String> {
    let mut named: Vec<&Placed<'_>> =
        shown.iter().filter(|placed| !placed.mark.name.is_empty()).collect();
    named.sort_by_key(|placed| placed.columns.0);
    let mut lines: Vec<Vec<(char, Option<Paint>)>> = Vec::new();
    for placed in named {
        let name = placed.name();
        let length = name.chars().count();
        // A name that would run over the edge moves to the left of its mark's start.
        let start = placed.columns.0.min(width.saturating_sub(length));
        // One column stays free between two names.
        let is_free = |line: &&mut Vec<(char, Option<Paint>)>| {
            line.len() + usize::from(!line.is_empty()) <= start
        };
        let cells = name.chars().map(|letter| (letter, Some(placed.mark.paint)));
        match lines.iter_mut().find(is_free) {
            Some(line) => {
                line.resize(start, (' ', None));
                line.extend(cells);
            }
            None => lines.push(vec![(' ', None); start].into_iter().chain(cells).collect()),
        }
    }
    lines.into_iter().map(|cells| line_of(cells, color)).collect()
}

fn line_of(cells: Vec<(char, Option<Paint>)>, color: bool) -> String {
    if color {
        return paint_line(cells.into_iter());
    }
    cells.into_iter().map(|(letter, _)| letter).collect()
}

fn paint_line(cells: impl Iterator<Item = (char, Option<Paint>)>) -> String {
    let mut line = String::new();
    let mut current = None;
    for (letter, paint) in cells.chain([('\0', None)]) {
        if paint != current {
            if current.is_some() {
                line.push_str("\x1b[0m");
            }
            if let Some(paint) = paint {
                line.push_str(&format!("\x1b[{}m", paint.code()));
            }
            current = paint;
        }
        if letter != '\0' {
            line.push(letter);
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(start: u32, end: u32, sign: char, name: &str) -> Mark {
        let paint = match sign {
            '*' => Paint::Target,
            '^' => Paint::Support,
            _ => Paint::Element(0),
        };
        Mark { span: Span::new(start, end), sign, name: name.to_owned(), paint }
    }

    fn rows(marks: &[Mark]) -> Vec<Vec<Mark>> {
        let mut rows = vec![Vec::new()];
        marks.iter().for_each(|mark| place(&mut rows, 0, mark.clone()));
        rows
    }

    #[test]
    fn names_stand_under_their_marks_and_give_way_to_each_other() {
        let marks = [
            mark(0, 2, '-', "Cognizer"),
            mark(3, 6, '-', "Degree"),
            mark(7, 10, '*', ""),
            mark(11, 15, '-', "Content"),
        ];
        assert_eq!(
            draw("He did see that", &rows(&marks), 60, false),
            ["He did see that", "-- --- *** ----", "Cognizer   Content", "   Degree",]
        );
    }

    #[test]
    fn a_target_inside_an_element_shows_as_both() {
        let marks = [mark(2, 6, '*', ""), mark(0, 8, '-', "Path")];
        assert_eq!(draw("abcdefgh", &rows(&marks), 60, false), ["abcdefgh", "--====--", "Path"]);
    }

    #[test]
    fn what_would_lie_over_something_else_has_a_row_of_its_own() {
        let marks = [mark(0, 4, '-', "A"), mark(2, 6, '-', "B"), mark(4, 8, '^', "Supp")];
        assert_eq!(
            draw("abcdefgh", &rows(&marks), 60, false),
            ["abcdefgh", "----^^^^", "A   Supp", "  ----", "  B"]
        );
    }

    #[test]
    fn marks_count_columns_and_not_characters() {
        // A bicycle (two columns), an e with a combining accent (one), two wide characters.
        let text = "\u{1f6b2} Zoe\u{301} \u{4e2d}\u{6587} x";
        let at = |part: &str| {
            let start = text.find(part).unwrap();
            (u32::try_from(start).unwrap(), u32::try_from(start + part.len()).unwrap())
        };
        let (zoe, wide, last) = (at("Zoe\u{301}"), at("\u{4e2d}\u{6587}"), at("x"));
        let marks = [
            mark(zoe.0, zoe.1, '-', "A"),
            mark(wide.0, wide.1, '*', ""),
            mark(last.0, last.1, '-', "B"),
        ];
        assert_eq!(draw(text, &rows(&marks), 60, false)[1..], ["   --- **** -", "   A        B"]);
    }

    #[test]
    fn an_emoji_of_several_characters_takes_two_columns() {
        // A family: three emoji joined into one.
        let text = "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467} go";
        let start = u32::try_from(text.find("go").unwrap()).unwrap();
        let drawn = draw(text, &rows(&[mark(start, start + 2, '*', "")]), 60, false);
        assert_eq!(drawn[1], "   **");
    }

    #[test]
    fn a_long_text_is_wrapped_with_its_marks() {
        let text = "one two three four five";
        let marks = [mark(4, 18, '-', "Middle"), mark(19, 23, '*', "")];
        assert_eq!(
            draw(text, &rows(&marks), 10, false),
            [
                "one two",
                "    ---",
                "    Middle",
                "three four",
                "----------",
                "...Middle",
                "five",
                "****"
            ]
        );
        let long = draw("incomprehensible", &rows(&[mark(0, 16, '*', "")]), 10, false);
        assert_eq!(long, ["incomprehe", "**********", "nsible", "******"]);
    }

    #[test]
    fn space_around_the_text_is_left_out_and_breaks_inside_are_spaces() {
        let drawn = draw("  a\nb ", &rows(&[mark(4, 5, '*', "")]), 60, false);
        assert_eq!(drawn, ["a b", "  *"]);
        assert_eq!(draw("   ", &rows(&[]), 60, false), [""; 0]);
    }

    #[test]
    fn marks_stand_under_their_text_beside_control_characters() {
        let marks = [mark(1, 3, '-', "N\u{1b}"), mark(8, 10, '*', "")];
        assert_eq!(
            draw("\u{1b}ab\u{202e}\u{7f} cd", &rows(&marks), 60, false),
            ["<U+001B>ab<U+202E><U+007F> cd", "        --                 **", "        N<U+001B>"]
        );
    }

    #[test]
    fn colours_follow_text_marks_and_names() {
        let marks = [mark(0, 2, '-', "Who"), mark(3, 5, '*', "")];
        assert_eq!(
            draw("He is", &rows(&marks), 60, true),
            [
                "\u{1b}[36mHe\u{1b}[0m \u{1b}[1;32mis\u{1b}[0m",
                "\u{1b}[36m--\u{1b}[0m \u{1b}[1;32m**\u{1b}[0m",
                "\u{1b}[36mWho\u{1b}[0m",
            ]
        );
    }

    #[test]
    fn a_line_breaks_between_letters_and_not_inside_them() {
        let family = "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}";
        let thumb = "\u{1f44d}\u{1f3fd}";
        for letter in [family, thumb, "e\u{301}"] {
            let text = letter.repeat(9);
            for width in 1..9 {
                for (from, to) in breaks(&text, width) {
                    assert_eq!((to - from) % letter.len(), 0, "{width}: {:?}", &text[from..to]);
                }
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn wrapping_keeps_every_word_and_the_width(
            text in "[a-c\u{e9}\u{4e2d}\u{1f6b2} ]{0,40}", width in 2_usize..20,
        ) {
            let lines: Vec<&str> =
                breaks(&text, width).into_iter().map(|(from, to)| &text[from..to]).collect();
            let letters = |text: &str| text.replace(' ', "");
            proptest::prop_assert_eq!(letters(&lines.concat()), letters(&text));
            for line in lines {
                proptest::prop_assert!(line.width() <= width, "{line}");
                proptest::prop_assert!(!line.is_empty() && line.trim() == line, "{line:?}");
            }
        }
    }
}
