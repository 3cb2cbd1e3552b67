//! Generated annotation sets written by hand, for tests of what a store and a query do with them.

use fnstore::database::{Database, JournalWrite, Write};
use fnstore::internals::WithStore as _;
use fnstore::model::{
    AnnotationSet, AnnotationSetId, CarriedElement, Carrying, Discovery, FeStatus, Flags,
    FoundSentence, FrameId, Generation, IdSpace, LexUnit, LuId, Method, OWN_RANGE, PROPOSED,
    Provenance, RecipeId, ReleaseId, Reverse, Sentence, SentenceId, Span, Verification,
};
use fnstore::store::JournalEntry;

/// The set that all of these grew from.
pub(crate) fn seed() -> AnnotationSetId {
    AnnotationSetId::new(IdSpace::Exemplar, 7012)
}

/// Two rounds of one chain: `verified`, then `vetted`, of a proposed LU.
pub(crate) fn sets(database: &Database, release: ReleaseId) -> Vec<(Sentence, AnnotationSet)> {
    let seed = database.store().annotation_set(release, seed()).unwrap().unwrap();
    let rounds = [("verified", LuId(1008), 0.75, 0.99), ("vetted", LuId(OWN_RANGE), 1.25, 0.5)];
    let mut chain = Vec::new();
    let mut sets = Vec::new();
    for (round, (trigger, lu, paraphrase, aligner)) in (1..).zip(rounds) {
        let id = AnnotationSetId::new(IdSpace::Generated, 100 + u64::from(round));
        let sentence = Sentence {
            id: SentenceId::new(IdSpace::Generated, u64::from(round)),
            xml_id: None,
            text: format!("He {trigger} the figures ."),
            occurrences: Vec::new(),
        };
        let flags = Flags { weak_alignment: aligner < 0.9, ..Flags::default() };
        let generation = Generation {
            seed: seed.id,
            source: seed.id,
            target_ordinal: 0,
            round,
            rank: 0,
            chain: chain.clone(),
            method: Method::Paraphrase,
            recipe: RecipeId(1),
            flags,
            paraphrase,
            aligner,
            filter: None,
            elements: Vec::new(),
            fit: None,
        };
        let end = 3 + u32::try_from(trigger.len()).unwrap();
        let set = AnnotationSet {
            id,
            xml_id: None,
            sentence: sentence.id,
            frame: seed.frame,
            lu,
            status: "GENERATED".to_owned(),
            created: String::new(),
            targets: vec![Span::new(3, end)],
            fe_status: FeStatus::Unknown,
            layers: Vec::new(),
            provenance: Provenance::Generated(Box::new(generation)),
        };
        chain.push(id);
        sets.push((sentence, set));
    }
    sets
}

/// The LU that the second round proposes.
pub(crate) fn proposed(database: &Database, release: ReleaseId) -> LexUnit {
    let model = database.store().lexunit(release, FrameId(102), LuId(1008)).unwrap().unwrap();
    LexUnit {
        id: LuId(OWN_RANGE),
        name: "vet.v".to_owned(),
        status: PROPOSED.to_owned(),
        definition: String::new(),
        ..model
    }
}

/// Answers of a verifier to the first of the sets.
pub(crate) fn verification() -> Verification {
    Verification {
        set: AnnotationSetId::new(IdSpace::Generated, 101),
        evokes: Some(0.75),
        same_meaning: Some(0.25),
        reverse: Some(Reverse { score: 1.5, tokens: 6, rewriter: [5; 16] }),
        verifier: [7; 16],
        asked: [9; 16],
    }
}

/// What a search found of a word.
pub(crate) fn discovery() -> Discovery {
    let text = "He vetted the figures .".to_owned();
    let (target, made_of) = (Span::new(3, 9), Some(seed()));
    let sentence =
        FoundSentence { text, target, evokes: Some(0.75), made_of, place: String::new() };
    Discovery {
        frame: FrameId(102),
        name: "vet.v".to_owned(),
        lu: LuId(OWN_RANGE),
        score: 0.5,
        evokes: Some(0.75),
        slot: None,
        support: 1.0,
        likeness: None,
        sources: vec!["synonym of examine.v".to_owned()],
        sentences: vec![sentence],
        refused: Vec::new(),
        candidates: 0,
        asked: 0,
        verifier: [7; 16],
        time: 1,
    }
}

/// Writes answers.
pub(crate) fn verify(database: &Database, release: ReleaseId, verifications: Vec<Verification>) {
    database.write(release, &Write { verifications, ..Write::default() }).unwrap();
}

/// Writes a set that was carried into the sentence of the first round.
pub(crate) fn carry(database: &Database, release: ReleaseId) -> AnnotationSet {
    let (sentence, beside) = sets(database, release).remove(0);
    let from = database.store().annotation_set(release, source()).unwrap().unwrap();
    let score = |name: &str, score| CarriedElement { name: name.to_owned(), score };
    let carrying = Carrying {
        generated: beside.id,
        source: from.id,
        aligner: 0.875,
        elements: vec![score("Checker", Some(1.0)), score("Matter", None)],
    };
    let set = AnnotationSet {
        id: carrying.natural_id(from.frame),
        xml_id: None,
        sentence: sentence.id,
        status: "CARRIED".to_owned(),
        targets: vec![Span::new(16, 23)],
        fe_status: FeStatus::Carried,
        layers: Vec::new(),
        provenance: Provenance::Carried(Box::new(carrying)),
        ..from
    };
    database.write(release, &Write { sets: vec![set.clone()], ..Write::default() }).unwrap();
    set
}

/// The set that [`carry`] carries.
pub(crate) fn source() -> AnnotationSetId {
    AnnotationSetId::new(IdSpace::Exemplar, 7002)
}

/// Writes the sets, the LU, a recipe and the journal; gives the revision.
pub(crate) fn write(database: &Database, release: ReleaseId) -> u64 {
    let recipe = database.store().recipe([7; 16], "{\"beam\":4}").unwrap();
    let (sentences, sets): (Vec<_>, Vec<_>) = sets(database, release).into_iter().unzip();
    let entry = JournalEntry {
        round: 2,
        end: Some("no candidate".to_owned()),
        chain: sets.iter().map(|set| set.id).collect(),
    };
    let journal = vec![JournalWrite { seed: seed(), target: 0, recipe, entry }];
    let lexunits = vec![proposed(database, release)];
    database
        .write(release, &Write { sentences, lexunits, sets, journal, ..Write::default() })
        .unwrap()
}
