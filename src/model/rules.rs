//! Rules by number: what of this program decides the outputs of a recipe.
//!
//! A recipe's *settings* are JSON: models by their fingerprints, settings as data, and in `rules` a
//! number for each part of the program that its outputs go through. The hash of the settings is the
//! recipe's identity, and the ids of generated sets follow from it. So the wording of a rule, how
//! many rounds a run has, and where it runs are no part of it.

use serde_json::Value;

use super::named;

named! {
    /// Rules of a part of the program that decides outputs.
    pub enum Rules {
        /// What is read as a trigger, what is banned for it, which text is rewritten by which
        /// search, which outputs are aligned (`expand`).
        Rewriting => "rewriting",
        /// Which pair of output and span a round keeps (`expand/ranking.rs`).
        Choice => "choice",
        /// What a language model is told of bans and hints (`paraphrase`).
        Prompt => "prompt",
        /// How FEs of a seed are required and found (`expand/elements.rs`).
        Elements => "elements",
        /// Which other sets of a sentence stand in one that is made of it (`expand/companions.rs`).
        Carrying => "carrying",
        /// Which targets of a sentence a round changes at once (`expand/partners.rs`).
        Targets => "targets",
        /// What a lexicon asks outputs for, checks, and ends chains by (`expand/guide.rs`).
        Guide => "guide",
        /// What a rewriter's own substitutes ask for (`expand/in_context.rs`).
        InContext => "in-context",
        /// What is different where a lexicon has few LUs (`expand/guide.rs`).
        FewLus => "few-lus",
        /// Which other words a round bans (`expand/rewording.rs`).
        Rewording => "rewording",
        /// Which LUs without sentences get those of their sisters (`expand/sisters.rs`).
        FromSisters => "from-sisters",
        /// How an LU takes over a sister's sentence (`generate`).
        Takeover => "takeover",
        /// Whose sentence an LU takes (`generate/sisters.rs`).
        Sisters => "sisters",
        /// By what candidates are ranked (`generate/candidate_ranker.rs`).
        Ranking => "ranking",
        /// Which FEs are blanks (`generate/blanks.rs`).
        Blanks => "blanks",
        /// How blanks are written for an encoder-decoder (`generate/seq2seq.rs`).
        Sentinels => "sentinels",
        /// Which words can be the subject of a verb (`generate/agreement.rs`).
        Agreement => "agreement",
        /// Which frames a target is asked about, and how they are scored (`identify`).
        FrameFit => "frame-fit",
        /// What a verifier is asked about a set (`verify`, `expand/judges.rs`), and what its
        /// answers are worth in the choice among outputs (`filter/choice.rs`).
        Verification => "verification",
    }
}

impl Rules {
    /// The number of those that this program follows, raised by each change of the outputs.
    #[must_use]
    pub fn number(self) -> u32 {
        match self {
            // Outputs that lost letters which the vocabulary lacks were kept once. Then proposed
            // LUs had the part of speech of their seed's.
            Self::Rewriting => 3,
            Self::Choice
            | Self::Prompt
            | Self::Elements
            | Self::Carrying
            | Self::Targets
            | Self::Guide
            | Self::InContext
            | Self::FewLus
            | Self::Rewording
            | Self::FromSisters
            | Self::Takeover
            | Self::Sisters
            | Self::Ranking
            | Self::Blanks
            | Self::Sentinels
            | Self::Agreement
            | Self::FrameFit
            | Self::Verification => 1,
        }
    }
}

/// Number of the form of settings, raised when a part or a setting comes or goes: recipes of before
/// are then of earlier rules, as this program makes none like them.
const SETTINGS: u32 = 1;

/// Its name among the numbers.
const OF_SETTINGS: &str = "settings";

/// The member `rules` of settings: the number of their form, and that of each part.
#[cfg(feature = "neural")]
pub(crate) fn numbered(rules: impl IntoIterator<Item = Rules>) -> Value {
    let number = |rules: Rules| (rules.as_str().to_owned(), rules.number().into());
    let form = (OF_SETTINGS.to_owned(), SETTINGS.into());
    Value::Object(
        std::iter::once(form)
            .chain(rules.into_iter().map(number))
            .collect::<serde_json::Map<_, _>>(),
    )
}

/// The identity of a recipe: the first 16 bytes of the BLAKE3 hash of its settings.
#[cfg(feature = "neural")]
pub(crate) fn recipe_fingerprint(settings: &str) -> [u8; 16] {
    let mut fingerprint = [0; 16];
    fingerprint.copy_from_slice(&blake3::hash(settings.as_bytes()).as_bytes()[..16]);
    fingerprint
}

named! {
    /// Whose rules a stored recipe follows.
    pub enum RulesStanding {
        /// Those of this program.
        Current => "current",
        /// Those of an earlier or later program, which gives other outputs for the same settings.
        Earlier => "earlier",
        /// Those of another tool.
        Foreign => "foreign",
    }
}

impl RulesStanding {
    /// Reads it off the settings of a recipe.
    #[must_use]
    pub fn of(settings: &str) -> Self {
        let settings: Value = serde_json::from_str(settings).unwrap_or_default();
        let is_current = |(name, number): (&String, &Value)| {
            let now = match name.as_str() {
                OF_SETTINGS => Some(SETTINGS),
                name => Rules::parse(name).map(Rules::number),
            };
            now.is_some_and(|now| number.as_u64() == Some(now.into()))
        };
        match settings.get("rules") {
            Some(Value::Object(rules))
                if rules.contains_key(OF_SETTINGS) && rules.iter().all(is_current) =>
            {
                Self::Current
            }
            Some(_) => Self::Earlier,
            None => Self::Foreign,
        }
    }
}

#[cfg(all(test, feature = "neural"))]
mod tests {
    use super::*;

    #[test]
    fn rules_of_other_numbers_parts_and_words_are_earlier_ones() {
        let settings = |rules: &str| format!("{{\"method\":\"paraphrase\",\"rules\":{rules}}}");
        let now = numbered([Rules::Rewriting, Rules::Choice]).to_string();
        assert_eq!(RulesStanding::of(&settings(&now)), RulesStanding::Current);
        let without = now.replace("\"settings\":1,", "");
        assert_ne!(without, now);
        assert_eq!(RulesStanding::of(&settings(&without)), RulesStanding::Earlier);
        for rules in
            ["{}", "{\"rewriting\":0}", "{\"rewriting\":99}", "{\"gone\":1}", "\"v4\"", "4"]
        {
            assert_eq!(RulesStanding::of(&settings(rules)), RulesStanding::Earlier, "{rules}");
        }
        for foreign in ["by hand", "{\"tool\":\"x\"}", ""] {
            assert_eq!(RulesStanding::of(foreign), RulesStanding::Foreign, "{foreign}");
        }
    }

    #[test]
    fn an_identity_is_of_the_settings_alone() {
        let text = "{\"rules\":{\"choice\":1}}";
        assert_eq!(recipe_fingerprint(text), recipe_fingerprint(text));
        assert_ne!(recipe_fingerprint(text), recipe_fingerprint("{\"rules\":{\"choice\":2}}"));
    }
}
