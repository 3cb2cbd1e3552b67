//! How the words of blanks come back, and how they are read.

use crate::endpoint;
use crate::model::named;

named! {
    /// How the words of blanks come back.
    pub enum Answer {
        /// A language model goes on with the sentence.
        Sentence => "sentence",
        /// Spans parted by bars, from a language model that was trained for it.
        Bars => "bars",
        /// Spans parted by commas, as in the paper.
        Commas => "commas",
        /// A JSON object with the list `spans`.
        Json => "json",
    }
}

impl Answer {
    /// Whether a language model gives it, else an endpoint.
    #[must_use]
    pub fn is_of_language_model(self) -> bool {
        matches!(self, Self::Sentence | Self::Bars)
    }

    /// As [`spans`](Self::spans), of a server's answer, which may have been cut off: then the spans
    /// must stand whole before the cut.
    pub(super) fn spans_of(
        self,
        answer: &endpoint::Answer,
        blanks: usize,
    ) -> std::result::Result<Vec<String>, &'static str> {
        // An object that is closed is whole.
        let whole = if self == Self::Json { answer.text.as_str() } else { answer.whole_lines() };
        self.spans(whole, blanks).map_err(|code| if answer.ended { code } else { "F-long" })
    }

    /// The spans of an answer, one for each blank; else the code of what is wrong with it.
    pub(super) fn spans(
        self,
        answer: &str,
        blanks: usize,
    ) -> std::result::Result<Vec<String>, &'static str> {
        // Explanations may follow, though nobody asked for them.
        let has_words = |line: &&str| line.chars().any(char::is_alphanumeric);
        let line = answer.lines().find(has_words).unwrap_or_default();
        let parted = |mark| line.split(mark).map(str::to_owned).collect();
        let spans: Vec<String> = match self {
            Self::Json => in_json(answer).ok_or("F-json")?,
            Self::Bars => parted('|'),
            // One blank takes all, commas too.
            _ if blanks == 1 => vec![line.to_owned()],
            _ => parted(','),
        };
        checked(spans, blanks)
    }
}

/// The spans of an answer without line breaks, one for each blank; else the code of what is wrong.
pub(super) fn checked(
    spans: Vec<String>,
    blanks: usize,
) -> std::result::Result<Vec<String>, &'static str> {
    let spans: Vec<String> = spans.iter().map(|span| crate::text::one_spaced(span)).collect();
    if spans.len() != blanks {
        return Err("F-count");
    }
    let is_empty = |span: &String| !span.chars().any(char::is_alphanumeric);
    let is_mark = |span: &String| {
        span.contains("<mask>") || span.contains("__") || span.contains("<extra_id")
    };
    if spans.iter().any(|span| is_empty(span) || is_mark(span)) {
        return Err("F-empty");
    }
    if spans.iter().any(|span| span.len() > 400) {
        return Err("F-long");
    }
    Ok(spans)
}

/// The list in an answer, which may stand between other words or in a fence. The first object with
/// one counts: weak models write more behind it.
fn in_json(answer: &str) -> Option<Vec<String>> {
    #[derive(serde::Deserialize)]
    struct Spans {
        spans: Vec<String>,
    }
    let spans = |(start, _)| {
        let mut values = serde_json::Deserializer::from_str(&answer[start..]).into_iter::<Spans>();
        values.next()?.ok().map(|found| found.spans)
    };
    answer.match_indices('{').find_map(spans)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_has_a_span_for_each_blank_or_a_code() {
        let json = |answer: &str, blanks| Answer::Json.spans(answer, blanks);
        let two = Ok(vec!["boys, and girls".to_owned(), "for it".to_owned()]);
        assert_eq!(json(r#"{"spans": ["boys, and girls", " for\n it"]}"#, 2), two);
        assert_eq!(
            json("Sure!\n```json\n{\"spans\": [\"boys, and girls\", \"for it\"]}\n```", 2),
            two
        );
        let more = "{it}: {\"spans\": [\"boys, and girls\", \"for it\"]}\njson = {\"spans\": []}";
        assert_eq!(json(more, 2), two, "the first object with a list counts");
        for (answer, code) in [
            (r#"{"spans": ["boys"]}"#, "F-count"),
            (r#"{"spans": ["boys", "for it", "now"]}"#, "F-count"),
            (r#"{"spans": ["boys", " . "]}"#, "F-empty"),
            (r#"{"spans": ["boys", "<mask>"]}"#, "F-empty"),
            (r#"{"spans": "boys, for it"}"#, "F-json"),
            (r#"{"spans": ["boys", "for it""#, "F-json"),
            ("boys, for it", "F-json"),
            ("}{", "F-json"),
            ("", "F-json"),
        ] {
            assert_eq!(json(answer, 2), Err(code), "{answer}");
        }
        let long = format!(r#"{{"spans": ["{}"]}}"#, "a".repeat(500));
        assert_eq!(json(&long, 1), Err("F-long"));
        let commas = |answer: &str, blanks| Answer::Commas.spans(answer, blanks);
        assert_eq!(commas(" boys, for it", 2).unwrap(), ["boys", "for it"]);
        assert_eq!(commas("boys, for it", 1).unwrap(), ["boys, for it"]);
        assert_eq!(commas("boys, girls, for it", 2), Err("F-count"));
        assert_eq!(commas("\nboys, for it\nReason: it fits, so.", 2).unwrap(), ["boys", "for it"]);
        let bars = |answer: &str, blanks| Answer::Bars.spans(answer, blanks);
        assert_eq!(bars(" boys, girls | for  it", 2).unwrap(), ["boys, girls", "for it"]);
        assert_eq!(bars("boys", 2), Err("F-count"));
        assert_eq!(bars("boys | ", 2), Err("F-empty"));
        assert_eq!(bars("boys | ____", 2), Err("F-empty"));
    }

    #[test]
    fn of_an_answer_that_was_cut_off_only_what_is_whole_counts() {
        let spans = |form: Answer, text: &str, ended| {
            form.spans_of(&endpoint::Answer { text: text.to_owned(), ended }, 2)
        };
        let two = Ok(vec!["boys".to_owned(), "for it".to_owned()]);
        assert_eq!(spans(Answer::Commas, "boys, for it", true), two);
        assert_eq!(spans(Answer::Commas, "boys, for it", false), Err("F-long"));
        assert_eq!(spans(Answer::Commas, "boys, for it\nReason: it", false), two);
        let json = r#"{"spans": ["boys", "for it"]}"#;
        assert_eq!(spans(Answer::Json, &format!("{json} It is"), false), two);
        assert_eq!(spans(Answer::Json, &json[..20], false), Err("F-long"));
        assert_eq!(spans(Answer::Json, &json[..20], true), Err("F-json"));
    }
}
