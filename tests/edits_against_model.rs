//! Random edits, commits, drops and reopenings against a model in memory: after every commit keys,
//! names, index and queries say what the model says.

use std::collections::BTreeMap;
use std::path::Path;

use fnstore::database::Database;
use fnstore::edit::{Removal, Transaction};
use fnstore::internals::WithStore as _;
use fnstore::model::{
    AnnotationSet, AnnotationSetId, FrameId, Judgement, LexUnit, LuId, ReleaseId, SentenceId, Span,
};
use proptest::prelude::*;

use crate::{edits, mini};

const CHECKING: FrameId = FrameId(102);
const WORDS: [&str; 4] = ["perused", "Vetted", "combed", "perused"];
const NAMES: [&str; 4] = ["peruse.v", "vet.v", "comb.v", "Comb.v"];

/// What a person does next; numbers choose among what there is.
#[derive(Debug, Clone)]
enum Step {
    AddLu(usize),
    RenameLu(usize, usize),
    RemoveLu(usize, bool),
    AddSentence(usize),
    RemoveSentence(usize, bool),
    AddSet(usize, usize),
    MoveSet(usize, usize),
    Retarget(usize, bool),
    RemoveSet(usize),
    Judge(usize, u8),
    Commit,
    Drop,
    Reopen,
    /// Takes back the last commit that was not taken back.
    Undo,
}

fn step() -> impl Strategy<Value = Step> {
    let number = 0..64_usize;
    prop_oneof![
        3 => number.clone().prop_map(Step::AddLu),
        1 => (number.clone(), number.clone()).prop_map(|(lu, name)| Step::RenameLu(lu, name)),
        1 => (number.clone(), any::<bool>()).prop_map(|(lu, cascade)| Step::RemoveLu(lu, cascade)),
        4 => number.clone().prop_map(Step::AddSentence),
        1 => (number.clone(), any::<bool>()).prop_map(|(it, cascade)| Step::RemoveSentence(it, cascade)),
        6 => (number.clone(), number.clone()).prop_map(|(sentence, lu)| Step::AddSet(sentence, lu)),
        2 => (number.clone(), number.clone()).prop_map(|(set, lu)| Step::MoveSet(set, lu)),
        2 => (number.clone(), any::<bool>()).prop_map(|(set, none)| Step::Retarget(set, none)),
        1 => number.clone().prop_map(Step::RemoveSet),
        2 => (number, 0..=100_u8).prop_map(|(set, score)| Step::Judge(set, score)),
        3 => Just(Step::Commit),
        1 => Just(Step::Drop),
        1 => Just(Step::Reopen),
        2 => Just(Step::Undo),
    ]
}

/// What the release is to hold beside mini-framenet.
#[derive(Debug, Clone, Default, PartialEq)]
struct Model {
    lexunits: BTreeMap<LuId, &'static str>,
    /// The word that each sentence is about.
    sentences: BTreeMap<SentenceId, &'static str>,
    /// Sentence, LU, and whether the word is the target.
    sets: BTreeMap<AnnotationSetId, (SentenceId, LuId, bool)>,
    judgements: BTreeMap<AnnotationSetId, u8>,
}

fn pick<K: Copy, V>(map: &BTreeMap<K, V>, number: usize) -> Option<K> {
    map.keys().nth(number % map.len().max(1)).copied()
}

/// They `word` it: where the word stands.
fn target(word: &str) -> Span {
    Span::new(5, 5 + u32::try_from(word.len()).unwrap())
}

impl Model {
    fn remove_set(&mut self, set: AnnotationSetId) {
        self.sets.remove(&set);
        self.judgements.remove(&set);
    }

    /// Does a step to the model and to the transaction, which must agree on what is refused.
    fn edit(&mut self, edits: &mut Transaction<'_>, step: &Step) {
        match *step {
            Step::AddLu(name) => {
                let name = NAMES[name % NAMES.len()];
                let lu = edits.add_lexunit(LexUnit::named(CHECKING, LuId(0), name)).unwrap();
                assert!(self.lexunits.insert(lu, name).is_none());
            }
            Step::RenameLu(lu, name) => {
                let Some(lu) = pick(&self.lexunits, lu) else { return };
                let name = NAMES[name % NAMES.len()];
                let there = edits.lexunit(CHECKING, lu).unwrap().unwrap();
                edits.set_lexunit(LexUnit { name: name.to_owned(), ..there }).unwrap();
                self.lexunits.insert(lu, name);
            }
            Step::RemoveLu(lu, cascade) => {
                let Some(lu) = pick(&self.lexunits, lu) else { return };
                let sets = self.sets.iter().filter(|(_, set)| set.1 == lu).map(|(id, _)| *id);
                let sets: Vec<AnnotationSetId> = sets.collect();
                let removed = edits.remove_lexunit(CHECKING, lu, removal(cascade));
                assert_eq!(removed.is_ok(), cascade || sets.is_empty());
                if removed.is_ok() {
                    sets.into_iter().for_each(|set| self.remove_set(set));
                    self.lexunits.remove(&lu);
                }
            }
            Step::AddSentence(word) => {
                let word = WORDS[word % WORDS.len()];
                let text = format!("They {word} it .");
                let id = edits.add_sentence(edits::new_sentence(&text)).unwrap();
                assert!(self.sentences.insert(id, word).is_none());
            }
            Step::RemoveSentence(sentence, cascade) => {
                let Some(id) = pick(&self.sentences, sentence) else { return };
                let sets = self.sets.iter().filter(|(_, set)| set.0 == id).map(|(id, _)| *id);
                let sets: Vec<AnnotationSetId> = sets.collect();
                let removed = edits.remove_sentence(id, removal(cascade));
                assert_eq!(removed.is_ok(), cascade || sets.is_empty());
                if removed.is_ok() {
                    sets.into_iter().for_each(|set| self.remove_set(set));
                    self.sentences.remove(&id);
                }
            }
            Step::AddSet(sentence, lu) => {
                let Some(sentence) = pick(&self.sentences, sentence) else { return };
                let Some(lu) = pick(&self.lexunits, lu) else { return };
                let span = target(self.sentences[&sentence]);
                let new = edits::new_set(sentence, (span.start, span.end), &[("Checker", 0, 4)]);
                let id = edits.add_annotation_set(AnnotationSet { lu, ..new }).unwrap();
                assert!(self.sets.insert(id, (sentence, lu, true)).is_none());
            }
            Step::MoveSet(set, lu) => {
                let Some(id) = pick(&self.sets, set) else { return };
                let Some(lu) = pick(&self.lexunits, lu) else { return };
                let set = edits.annotation_set(id).unwrap().unwrap();
                edits.set_annotation_set(AnnotationSet { lu, ..set }).unwrap();
                self.sets.get_mut(&id).unwrap().1 = lu;
            }
            Step::Retarget(set, has_target) => {
                let Some(id) = pick(&self.sets, set) else { return };
                let mut set = edits.annotation_set(id).unwrap().unwrap();
                let word = self.sentences[&set.sentence];
                if !has_target {
                    set.targets.clear();
                    edits.set_annotation_set(set).unwrap_err();
                    return;
                }
                set.targets = vec![target(word)];
                edits.set_annotation_set(set).unwrap();
            }
            Step::RemoveSet(set) => {
                let Some(id) = pick(&self.sets, set) else { return };
                edits.remove_annotation_set(id, Removal::Alone).unwrap();
                self.remove_set(id);
            }
            Step::Judge(set, score) => {
                let Some(id) = pick(&self.sets, set) else { return };
                let (reviewer, note) = ("kim".to_owned(), String::new());
                edits
                    .set_judgement(
                        id,
                        Judgement {
                            reviewer,
                            question: String::new(),
                            score,
                            time: 0,
                            note,
                            shown: None,
                        },
                    )
                    .unwrap();
                self.judgements.insert(id, score);
            }
            Step::Commit | Step::Drop | Step::Reopen | Step::Undo => {}
        }
    }

    /// The sets that a query of the store must find.
    fn sets_where(&self, holds: impl Fn(&(SentenceId, LuId, bool)) -> bool) -> Vec<String> {
        let mut ids: Vec<_> =
            self.sets.iter().filter(|(_, set)| holds(set)).map(|(id, _)| id.to_string()).collect();
        ids.sort();
        ids
    }

    fn assert_is_in(&self, database: &Database, release: ReleaseId) {
        let answers = |query: &str| {
            let answers = mini::answers(database, query);
            let mut ids: Vec<String> =
                answers.iter().map(|it| it.rsplit_once(' ').unwrap().1.to_owned()).collect();
            ids.sort();
            ids
        };
        let store = database.store();
        assert_eq!(answers("origin=user"), self.sets_where(|_| true));
        for word in ["perused", "vetted", "combed"] {
            let is_of = |it: SentenceId| self.sentences[&it].eq_ignore_ascii_case(word);
            let found = answers(&format!("trigger={word}"));
            assert_eq!(found, self.sets_where(|set| set.2 && is_of(set.0)), "{word}");
            let found = answers(&format!("text=\"they {word} it .\""));
            assert_eq!(found, self.sets_where(|set| is_of(set.0)), "{word}");
        }
        for name in NAMES {
            let mut ids: Vec<_> =
                self.lexunits.iter().filter(|(_, of)| **of == name).map(|(id, _)| *id).collect();
            ids.sort_unstable();
            let named = store.lexunits_by_name(release, name, false).unwrap();
            assert_eq!(named, ids.iter().map(|id| (CHECKING, *id)).collect::<Vec<_>>(), "{name}");
            let folded = self.lexunits.values().filter(|of| of.eq_ignore_ascii_case(name)).count();
            assert_eq!(store.lexunits_by_name(release, name, true).unwrap().len(), folded);
            let pattern = format!("origin=user lu~\"(?i)^{}$\"", name.replace('.', "[.]"));
            let is_of = |lu: &LuId| self.lexunits[lu].eq_ignore_ascii_case(name);
            assert_eq!(answers(&pattern), self.sets_where(|set| is_of(&set.1)), "{name}");
        }
        for (sentence, word) in &self.sentences {
            let there = store.sentence(release, *sentence).unwrap().unwrap();
            assert_eq!(there.text, format!("They {word} it ."));
        }
        let user = store.sentences(release).unwrap().map(Result::unwrap);
        assert_eq!(user.filter(|it| it.xml_id.is_none()).count(), self.sentences.len());
        let judged: BTreeMap<AnnotationSetId, u8> = store
            .all_judgements(release)
            .unwrap()
            .map(|row| row.map(|(set, judgement)| (set, judgement.score)).unwrap())
            .collect();
        assert_eq!(judged, self.judgements);
        let high = self.judgements.values().filter(|score| **score >= 50).count();
        assert_eq!(answers("judgement>=50").len(), high);
        edits::nothing_dangles(database, release);
    }
}

fn removal(cascade: bool) -> Removal {
    if cascade { Removal::Cascade } else { Removal::Alone }
}

/// A store of mini-framenet, imported once.
fn store(into: &Path) {
    static IMPORTED: std::sync::OnceLock<tempfile::TempDir> = std::sync::OnceLock::new();
    let imported = IMPORTED.get_or_init(|| mini::imported().0);
    mini::copy(imported.path(), into);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn after_every_commit_the_store_is_the_model(steps in prop::collection::vec(step(), 10..90)) {
        let dir = tempfile::tempdir().unwrap();
        store(dir.path());
        let mut database = Database::open_writer(dir.path()).unwrap();
        let release = database.releases().unwrap()[0].id;
        let mut committed = Model::default();
        // Each commit with what stood before it.
        let mut before: Vec<(u64, Model)> = Vec::new();
        let mut rest = steps.as_slice();
        while !rest.is_empty() {
            let is_end = |step: &Step| {
                matches!(step, Step::Commit | Step::Drop | Step::Reopen | Step::Undo)
            };
            let end = rest.iter().position(is_end).map_or(rest.len(), |at| at + 1);
            let (now, later) = rest.split_at(end);
            rest = later;
            let mut edits = database.transaction(release).unwrap();
            edits.allow_another(true);
            let mut model = committed.clone();
            now.iter().for_each(|step| model.edit(&mut edits, step));
            match now.last() {
                Some(last @ (Step::Commit | Step::Reopen)) => {
                    let was_at = database.store().revision().unwrap();
                    let revision = edits.commit().unwrap();
                    if revision > was_at {
                        before.push((revision, committed));
                    }
                    committed = model;
                    if matches!(last, Step::Reopen) {
                        drop(database);
                        database = Database::open_writer(dir.path()).unwrap();
                    }
                }
                Some(Step::Undo) => {
                    drop(edits);
                    if let Some((revision, was)) = before.pop() {
                        database.undo(&[revision], "").unwrap();
                        committed = was;
                    }
                }
                _ => drop(edits),
            }
            committed.assert_is_in(&database, release);
        }
        committed.assert_is_in(&Database::open(dir.path()).unwrap(), release);
        database.close().unwrap();
        std::fs::remove_dir_all(dir.path().join("index")).unwrap();
        let rebuilt = Database::open_writer(dir.path()).unwrap();
        committed.assert_is_in(&rebuilt, release);
    }
}
