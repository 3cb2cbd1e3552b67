//! The tags of FrameNet's layer PENN as the Penn Treebank writes them.
//!
//! The layer is the work of a program. Most documents have the tags of TreeTagger (Schmid 1994),
//! which tells `be` (`VB`) and `have` (`VH`) from other verbs (`VV`) and has its own names for some
//! tags. Many tags stand in small letters; a few documents have the Treebank's own `NNP` and `PRP`.

/// The 45 tags of the Penn Treebank (Marcus, Santorini and Marcinkiewicz 1993, table 2), sorted.
const PENN: [&str; 45] = [
    "#", "$", "''", "(", ")", ",", ".", ":", "CC", "CD", "DT", "EX", "FW", "IN", "JJ", "JJR",
    "JJS", "LS", "MD", "NN", "NNP", "NNPS", "NNS", "PDT", "POS", "PRP", "PRP$", "RB", "RBR", "RBS",
    "RP", "SYM", "TO", "UH", "VB", "VBD", "VBG", "VBN", "VBP", "VBZ", "WDT", "WP", "WP$", "WRB",
    "``",
];

/// The Penn Treebank's tag for one of FrameNet's layer PENN; none for a name that is neither's.
///
/// ```
/// use fnstore::tag::penn_tag;
///
/// assert_eq!(penn_tag("VVZ"), Some("VBZ"));
/// assert_eq!(penn_tag("nn"), Some("NN"));
/// assert_eq!(penn_tag("NP"), Some("NNP"));
/// assert_eq!(penn_tag("AJ0"), None);
/// ```
#[must_use]
pub fn penn_tag(name: &str) -> Option<&'static str> {
    let name = name.to_ascii_uppercase();
    let penn = match name.as_str() {
        "NP" => "NNP",
        "NPS" => "NNPS",
        "PP" => "PRP",
        "PP$" | "PRPS" => "PRP$",
        "SENT" => ".",
        other => match other.strip_prefix("VV").or_else(|| other.strip_prefix("VH")) {
            Some(form) => return known(&format!("VB{form}")),
            None => other,
        },
    };
    known(penn)
}

fn known(tag: &str) -> Option<&'static str> {
    PENN.binary_search(&tag).ok().map(|at| PENN[at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tags_are_sorted_and_stand_for_themselves() {
        assert!(PENN.is_sorted());
        for tag in PENN {
            assert_eq!(penn_tag(tag), Some(tag));
            assert_eq!(penn_tag(&tag.to_lowercase()), Some(tag));
        }
    }

    #[test]
    fn tree_taggers_names_become_the_treebanks() {
        let names = ["VV", "VVP", "VHD", "VBG", "NPS", "pp$", "prps", "sent", "wp$", "``"];
        let tags = ["VB", "VBP", "VBD", "VBG", "NNPS", "PRP$", "PRP$", ".", "WP$", "``"];
        assert_eq!(names.map(penn_tag), tags.map(Some));
    }

    #[test]
    fn names_of_other_tag_sets_have_none() {
        for name in ["", "VVX", "VH0", "NN1", "PUN", "VERB"] {
            assert_eq!(penn_tag(name), None, "{name}");
        }
    }
}
