//! Predicates of lexicons other than FrameNet's, and mappings between lexicons, as plain types.
//!
//! A *predicate* is a class of VerbNet or a roleset of PropBank: words, roles, and what stands in
//! its sentences. A *mapping* is a row of SemLink or of the Predicate Matrix: what a word is in
//! several lexicons. Both name things of other lexicons as their files do.

/// A class of VerbNet, or a roleset of PropBank.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize)]
pub struct Predicate {
    /// Its name: `leave-51.2`, `abandon.01`; unique in its resource.
    pub name: String,
    /// The class that it is a subclass of; empty where there is none.
    pub parent: String,
    /// What it means; empty for a class.
    pub definition: String,
    /// Its words.
    pub members: Vec<PredicateMember>,
    /// Its roles; a subclass has those of its parents, too, which are not repeated.
    pub roles: Vec<PredicateRole>,
    /// Its syntactic frames, or its examples, in order.
    pub frames: Vec<PredicateFrame>,
    /// What it is in other lexicons.
    pub links: Vec<PredicateLink>,
}

/// A word of a predicate.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize)]
pub struct PredicateMember {
    /// Its lemma, with spaces.
    pub lemma: String,
    /// Its part of speech by a letter: `v`, `n`, `a`, `r`; another where the file has another.
    pub pos: String,
    /// Sense keys of WordNet, without what follows the sense's number: `accept%2:31:01`.
    pub senses: Vec<String>,
    /// Frames of FrameNet.
    pub frames: Vec<String>,
    /// Senses of OntoNotes: `accept.01`.
    pub groupings: Vec<String>,
}

/// A role of a predicate.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize)]
pub struct PredicateRole {
    /// Its name: `Agent`; of PropBank the argument's number or letter, `0`.
    pub name: String,
    /// What it is: of VerbNet the restrictions on its fillers, `+animate or +organization`.
    pub description: String,
    /// PropBank's function tag, as in `PAG`; empty where there is none.
    pub function: String,
    /// What it is in other lexicons.
    pub links: Vec<PredicateLink>,
}

/// A syntactic frame of VerbNet with its examples, or an example of PropBank.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize)]
pub struct PredicateFrame {
    /// Its name: `NP V NP`, or what the example shows.
    pub name: String,
    /// What stands in it, in order: of VerbNet a phrase and its role or words, of PropBank an
    /// argument and its text.
    pub parts: Vec<PredicatePart>,
    /// Sentences.
    pub examples: Vec<String>,
}

/// A part of a predicate's sentence.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize)]
pub struct PredicatePart {
    /// What it is: `NP`, `ARG0`.
    pub name: String,
    /// Its role or its text.
    pub value: String,
}

/// What a predicate or role is in another lexicon.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize)]
pub struct PredicateLink {
    /// The other lexicon: `VerbNet`, `FrameNet`.
    pub resource: String,
    /// Its version, as the file gives it; may be empty.
    pub version: String,
    /// The class, roleset or frame there.
    pub predicate: String,
    /// The role there; empty where the predicate itself is meant.
    pub role: String,
}

/// What a word or one of its roles is in several lexicons; what a row leaves open is empty.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Mapping {
    /// The row's place in the resource, from 0.
    pub number: u32,
    /// The word's lemma, with spaces.
    pub lemma: String,
    /// Its part of speech by a letter.
    pub pos: String,
    /// A sense key of WordNet.
    pub sense: String,
    /// The number of a class of VerbNet: `51.2`.
    pub class: String,
    /// A role of VerbNet.
    pub class_role: String,
    /// A roleset of PropBank.
    pub roleset: String,
    /// An argument of PropBank: `0`.
    pub argument: String,
    /// A frame of FrameNet.
    pub frame: String,
    /// An LU's name.
    pub lexunit: String,
    /// An FE.
    pub element: String,
}

/// The number of a class's name: `51.2-1` of `leave-51.2-1`, and of the number itself.
#[must_use]
pub(crate) fn class_number(name: &str) -> Option<&str> {
    let starts = name.match_indices('-').map(|(at, _)| &name[at + 1..]);
    let is_number = |of: &&str| {
        of.starts_with(|letter: char| letter.is_ascii_digit())
            && of.bytes().all(|byte| byte.is_ascii_digit() || b".-".contains(&byte))
    };
    std::iter::once(name).chain(starts).find(is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_has_a_number_and_a_roleset_has_none() {
        for (name, number) in [
            ("leave-51.2", Some("51.2")),
            ("leave-51.2-1-1", Some("51.2-1-1")),
            ("51.2-1", Some("51.2-1")),
            ("co-star-9", Some("9")),
            ("abandon.01", None),
            ("co-star.01", None),
        ] {
            assert_eq!(class_number(name), number, "{name}");
        }
    }
}
