//! What a search for new LUs found of a word, for reading.

use fnstore::model::Discovery;

use super::output::Output;

/// Ways in which a word was come by that are shown.
const SHOWN: usize = 4;

fn optional(of: Option<f32>) -> String {
    of.map_or(String::new(), |of| of.to_string())
}

/// Score, answers and the rest as fields of a row, with the first sentence.
pub(crate) fn scores(of: &Discovery) -> Vec<String> {
    vec![
        of.score.to_string(),
        optional(of.evokes),
        optional(of.slot),
        of.support.to_string(),
        optional(of.likeness),
        of.sources.join("; "),
        of.sentences.first().map_or(String::new(), |of| of.text.clone()),
    ]
}

/// Score, answers, sources and sentences of a proposal that a search found; else nothing.
pub(crate) fn columns(of: Option<&Discovery>) -> [String; 4] {
    let Some(of) = of else { return Default::default() };
    let texts: Vec<&str> = of.sentences.iter().map(|of| of.text.as_str()).collect();
    [of.score.to_string(), optional(of.evokes), of.sources.join("; "), texts.join("; ")]
}

/// What a verifier says of the sentences.
pub(crate) fn answers(of: &Discovery) -> String {
    let (asked, above) = of.answers();
    match of.evokes {
        Some(evokes) => format!("evokes {evokes:.2} ({above} of {asked} above .5)"),
        None => "not asked about".to_owned(),
    }
}

/// A word with its scores, on one line.
pub(crate) fn headline(of: &Discovery) -> String {
    let Discovery { score, name, support, .. } = of;
    format!("{score:.2}  {name}  {}  support {support:.2}", answers(of))
}

/// Writes sources and sentences.
pub(crate) fn lay_out(of: &Discovery, output: &mut Output) -> anyhow::Result<()> {
    let mut sources: Vec<&str> = of.sources.iter().take(SHOWN).map(String::as_str).collect();
    if of.sources.len() > SHOWN {
        sources.push("...");
    }
    output.line(&format!("      found as {}", sources.join(", ")))?;
    for of in &of.sentences {
        let place = if of.place.is_empty() { String::new() } else { format!("  ({})", of.place) };
        let evokes = of.evokes.map_or("   -".to_owned(), |evokes| format!("{evokes:.2}"));
        output.line(&format!("      {evokes}  {}{place}", of.text.trim()))?;
    }
    Ok(())
}
