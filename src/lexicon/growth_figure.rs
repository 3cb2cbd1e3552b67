//! The growth of triggers as SVG: a stacked bar for each round, and the new triggers below it.

use std::fmt::Write as _;

use super::growth::{NewTrigger, RoundGrowth};
use crate::text::chart::{AXIS, STYLE, escaped, line, text};
use crate::text::{counted, grouped};

/// Sizes in the units of the view box.
const COLUMN: f64 = 150.0;
const MARGIN: f64 = 24.0;
/// Upper and lower end of the bars.
const TOP: f64 = 92.0;
const BASE: f64 = 252.0;
const BAR: f64 = 92.0;
/// Height of a line of the list of triggers.
const LINE: f64 = 17.0;
/// Where the lists begin.
const LIST: f64 = BASE + 68.0;

/// Triggers that a list names; it says how many more there are.
const LISTED: usize = 14;

/// Letters of a trigger that fit a column with the count.
const LETTERS: usize = 18;

/// The parts of a bar from below, in colours that colour-blind readers tell apart (Okabe and Ito
/// 2008).
const PARTS: [(&str, &str); 4] = [
    ("annotated by people", "#0072b2"),
    ("generated in earlier rounds", "#56b4e9"),
    ("new in this round", "#e69f00"),
    ("new, of a proposed LU", "#cc79a7"),
];

/// The picture of the annotation sets that a query finds.
#[must_use]
pub fn growth_figure(query: &str, growth: &[RoundGrowth]) -> String {
    let columns = growth.len().max(4) as f64;
    let width = 2.0 * MARGIN + COLUMN * columns;
    let lines = growth.iter().map(|round| lines(&round.added)).max().unwrap_or(0);
    let height = LIST + LINE * lines as f64 + 12.0;
    let name = if query.is_empty() { "all annotation sets" } else { query };
    let title = format!("Growth of triggers, round by round: {name}");
    let mut svg = String::new();
    text(&mut svg, (MARGIN, 30.0), "start", "class=\"name\"", name);
    legend(&mut svg);
    let highest = growth.last().map_or(1, |round| round.total_triggers.max(1));
    let unit = (BASE - TOP) / highest as f64;
    for (at, round) in growth.iter().enumerate() {
        let left = MARGIN + COLUMN * at as f64;
        bar(&mut svg, left, unit, growth, at);
        let middle = left + BAR / 2.0;
        let heading =
            if round.round == 0 { "people".to_owned() } else { format!("round {}", round.round) };
        text(&mut svg, (middle, BASE + 18.0), "middle", "", &heading);
        let sentences = counted(round.sentences, "sentence");
        text(&mut svg, (middle, BASE + 34.0), "middle", "class=\"small\"", &sentences);
        list(&mut svg, left, &round.added);
    }
    line(&mut svg, (MARGIN - 8.0, BASE), (width - MARGIN, BASE), AXIS);
    let (title, about) = (escaped(&title), escaped(&description(growth)));
    // Ids are a page's, on which other figures may stand.
    let own = blake3::hash(format!("{title}\n{about}\n{svg}").as_bytes()).to_hex();
    let own = &own[..8];
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"fnstore\" \
         viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\" \
         aria-labelledby=\"title-{own} desc-{own}\">\n\
         <title id=\"title-{own}\">{title}</title>\n<desc id=\"desc-{own}\">{about}</desc>\n\
         {STYLE}{svg}</svg>\n"
    )
}

/// What a reader who does not see the picture is told.
fn description(growth: &[RoundGrowth]) -> String {
    let round = |round: &RoundGrowth| {
        let who =
            if round.round == 0 { "people".to_owned() } else { format!("round {}", round.round) };
        format!(
            "{who}: {}, {}, {} in all.",
            counted(round.sentences, "sentence"),
            counted(round.new_triggers, "new trigger"),
            counted(round.total_triggers, "trigger")
        )
    };
    growth.iter().map(round).collect::<Vec<_>>().join(" ")
}

fn legend(svg: &mut String) {
    let mut x = MARGIN;
    for (name, colour) in PARTS {
        let _ = writeln!(
            svg,
            "<rect x=\"{x}\" y=\"46\" width=\"11\" height=\"11\" fill=\"{colour}\"/>"
        );
        text(svg, (x + 16.0, 56.0), "start", "class=\"small\"", name);
        x += 32.0 + 5.9 * name.len() as f64;
    }
}

/// The bar of a round: its height is the number of distinct triggers so far.
fn bar(svg: &mut String, left: f64, unit: f64, growth: &[RoundGrowth], at: usize) {
    let round = &growth[at];
    let by_people = growth.iter().find(|first| first.round == 0);
    let by_people = by_people.map_or(0, |first| first.new_triggers);
    let (mut new, mut proposed) = (0, 0);
    for trigger in round.added.iter().filter(|_| round.round > 0) {
        *(if trigger.is_proposed { &mut proposed } else { &mut new }) += 1;
    }
    let earlier = round.total_triggers - by_people - new - proposed;
    let mut y = BASE;
    for ((_, colour), count) in PARTS.iter().zip([by_people, earlier, new, proposed]) {
        let height = unit * count as f64;
        y -= height;
        if count > 0 {
            let _ = writeln!(
                svg,
                "<rect x=\"{left}\" y=\"{y:.1}\" width=\"{BAR}\" height=\"{height:.1}\" \
                 fill=\"{colour}\"/>"
            );
        }
    }
    let total = counted(round.total_triggers, "trigger");
    text(svg, (left + BAR / 2.0, y - 6.0), "middle", "", &total);
}

/// The new triggers of a round, each with the number of its annotation sets.
fn list(svg: &mut String, left: f64, triggers: &[NewTrigger]) {
    let mut y = LIST;
    for trigger in triggers.iter().take(LISTED) {
        let class = if trigger.is_proposed { "class=\"proposed\"" } else { "" };
        let entry = format!("{} {}", shortened(&trigger.text), grouped(trigger.sets));
        text(svg, (left, y), "start", class, &entry);
        y += LINE;
    }
    if triggers.len() > LISTED {
        let more = format!("and {} more", grouped((triggers.len() - LISTED) as u64));
        text(svg, (left, y), "start", "class=\"small\"", &more);
    }
}

fn lines(triggers: &[NewTrigger]) -> usize {
    triggers.len().min(LISTED) + usize::from(triggers.len() > LISTED)
}

/// A trigger as far as it fits a column.
fn shortened(trigger: &str) -> String {
    if trigger.chars().count() <= LETTERS {
        return trigger.to_owned();
    }
    trigger.chars().take(LETTERS - 1).chain(['\u{2026}']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(number: u16, triggers: &[(&str, bool)], total: u64) -> RoundGrowth {
        let new_trigger = |(text, is_proposed): &(&str, bool)| NewTrigger {
            text: (*text).to_owned(),
            sets: 1,
            is_proposed: *is_proposed,
        };
        RoundGrowth {
            round: number,
            sets: 4,
            sentences: 4,
            triggers: 2,
            pairs: 2,
            new_triggers: triggers.len() as u64,
            new_proposed: triggers.iter().filter(|(_, is_proposed)| *is_proposed).count() as u64,
            added: triggers.iter().map(new_trigger).collect(),
            new_pairs: triggers.len() as u64,
            total_sentences: 8,
            total_triggers: total,
            total_pairs: total,
            lemma_pairs: 0,
            new_lemma_pairs: 0,
            total_lemma_pairs: 0,
            generated_pairs: 0,
            generated_lemma_pairs: 0,
        }
    }

    #[test]
    fn the_tallest_bar_ends_at_the_top_and_each_part_has_its_height() {
        let growth = [round(0, &[("a", false), ("b", false)], 2), round(1, &[("c", true)], 3)];
        let picture = growth_figure("frame=A & B", &growth);
        assert!(picture.contains("frame=A &amp; B</title>"), "{picture}");
        let parts: Vec<&str> =
            picture.lines().filter(|line| line.contains("width=\"92\"")).collect();
        assert_eq!(parts.len(), 3, "{picture}");
        assert!(parts[0].contains("height=\"106.7\"") && parts[0].contains(PARTS[0].1));
        assert!(parts[2].contains("y=\"92.0\"") && parts[2].contains(PARTS[3].1));
        assert!(picture.contains("class=\"proposed\">c 1</text>"), "{picture}");
    }

    #[test]
    fn a_long_list_is_cut_and_says_how_much_is_left() {
        let names: Vec<String> = (0..20).map(|at| format!("word{at}")).collect();
        let triggers: Vec<(&str, bool)> = names.iter().map(|name| (&**name, false)).collect();
        let picture = growth_figure("", &[round(0, &triggers, 20)]);
        assert!(picture.contains("and 6 more") && picture.contains("all annotation sets"));
        assert!(!picture.contains("word14"));
        assert_eq!(shortened("an incredibly long trigger").chars().count(), LETTERS);
    }

    #[test]
    fn nothing_found_draws_an_empty_picture() {
        let picture = growth_figure("frame=A", &[]);
        assert!(picture.starts_with("<svg ") && picture.ends_with("</svg>\n"), "{picture}");
    }
}
