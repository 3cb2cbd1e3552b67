//! What the store's lexicon says of new triggers: their LU, and whether anyone has seen them.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::Result;
use super::blindness::HeldOut;
use super::known_units::KnownUnits;
use super::unit::Unit;
use super::valence::{Expressed, Valences};
use crate::database::Database;
use crate::model::{
    FrameId, LexUnit, Lexeme, LuId, Origin, PROPOSED, Pos, ReleaseId, hashed_number,
};
use crate::store::StoreError;
use crate::text::{Morphology, fold};

/// Words, triggers and LUs that are kept in memory between commits: several times what FrameNet 1.5
/// has, some 30 MB.
const KEPT: usize = 200_000;

/// The lexicon of one release, read when first asked for.
pub(super) struct TriggerLexicon<'a> {
    database: &'a Database,
    release: ReleaseId,
    /// How words of the release are inflected.
    morphology: Morphology,
    known: KnownUnits,
    frames: HashMap<FrameId, FrameLexicon>,
    attested: HashMap<String, bool>,
    /// Triggers that were asked about: they are no longer new.
    triggers: HashSet<String>,
    /// Most words, triggers and LUs that are kept after a commit.
    most_kept: usize,
    /// Annotation that says nothing of FEs and words.
    held_out: Rc<HeldOut>,
}

struct FrameLexicon {
    /// LUs by lemma as running text in lower case; the release's own before proposed ones.
    lexunits: HashMap<(String, Pos), LuId>,
    /// Those that no expansion proposed.
    own: HashSet<(String, Pos)>,
    /// The same as people spell them.
    units: Vec<Unit>,
    /// What their sets express, generated ones aside.
    valences: Valences,
    /// Triggers of the frame's sets in lower case.
    triggers: HashSet<String>,
}

/// The LU of a new trigger.
pub(super) struct TriggerUnit {
    pub(super) lu: LuId,
    /// Whether an expansion proposed it, this one or an earlier one.
    pub(super) is_proposed: bool,
    /// The LU itself, when it is proposed here for the first time.
    pub(super) proposed: Option<LexUnit>,
    pub(super) lemma: String,
    pub(super) pos: Pos,
}

impl<'a> TriggerLexicon<'a> {
    pub(super) fn new(database: &'a Database, release: ReleaseId) -> Result<Self> {
        Ok(Self {
            database,
            release,
            morphology: database.morphology(release)?,
            known: KnownUnits::read(database.store(), release)?,
            frames: HashMap::new(),
            attested: HashMap::new(),
            triggers: HashSet::new(),
            most_kept: KEPT,
            held_out: Rc::default(),
        })
    }

    /// The same lexicon, which takes no FEs and no words from sets that are held out.
    pub(super) fn blind_to(self, held_out: &Rc<HeldOut>) -> Self {
        Self { held_out: Rc::clone(held_out), ..self }
    }

    /// How words of the release are inflected.
    pub(super) fn morphology(&self) -> &Morphology {
        &self.morphology
    }

    /// Drops what was read and what outputs added, if that is much: the store has it. Only to be
    /// called when all outputs are committed there.
    pub(super) fn forget_committed(&mut self) {
        let of_frames = self.frames.values().map(|of| of.lexunits.len() + of.triggers.len());
        if of_frames.sum::<usize>() + self.attested.len() + self.triggers.len() > self.most_kept {
            self.frames = HashMap::new();
            self.attested = HashMap::new();
            self.triggers = HashSet::new();
        }
    }

    fn frame(&mut self, frame: FrameId) -> Result<&mut FrameLexicon> {
        if !self.frames.contains_key(&frame) {
            let lexicon = self.read_frame(frame)?;
            self.frames.insert(frame, lexicon);
        }
        Ok(self.frames.get_mut(&frame).expect("it was put there just now"))
    }

    fn read_frame(&self, frame: FrameId) -> Result<FrameLexicon> {
        let store = self.database.store();
        let (mut lexunits, mut own, mut units) = (HashMap::new(), HashSet::new(), Vec::new());
        let mut of_number = HashMap::new();
        // By number, so the release's own come before those of the store's range.
        for lu in store.lexunits_of(self.release, frame)? {
            let lu = lu?;
            let unit = Unit::of(&lu);
            let key = unit.key();
            if lu.status != PROPOSED {
                of_number.insert(lu.id, unit.clone());
                if own.insert(key.clone()) {
                    units.push(unit);
                    // Also in the place of one that was proposed before someone added it.
                    lexunits.insert(key, lu.id);
                }
            } else {
                lexunits.entry(key).or_insert(lu.id);
            }
        }
        let mut triggers = HashSet::new();
        let mut valences = store
            .frame(self.release, frame)?
            .map_or_else(Valences::default, |frame| Valences::new(&frame));
        for set in store.annotation_sets_of_frame(self.release, frame)? {
            let set = set?;
            let unit = of_number.get(&set.lu);
            if let Some(unit) = unit.filter(|_| !self.held_out.holds(self.release, set.id)) {
                valences.take(unit, &set);
            }
            if set.provenance.origin() == Origin::Carried {
                continue;
            }
            if let Some(sentence) = store.sentence(self.release, set.sentence)? {
                triggers.insert(fold(&set.trigger(&sentence.text)));
            }
        }
        Ok(FrameLexicon { lexunits, own, units, valences, triggers })
    }

    /// Lemma and part of speech of a trigger in a frame. Those of an LU of the frame if it may be a
    /// form of one, as `found` is of `found.v`; else what [`lemma`](Self::lemma) says.
    pub(super) fn read(
        &mut self,
        frame: FrameId,
        trigger: &str,
        pos: Pos,
    ) -> Result<(String, Pos)> {
        let morphology = self.morphology.clone();
        let own = &self.frame(frame)?.own;
        let is_own = |lemma: &str, p: Pos| p == pos && own.contains(&(fold(lemma), pos));
        let unit = (own_lemma(&morphology.lemmatize(trigger, pos, &is_own).0), pos);
        Ok(if own.contains(&unit) { unit } else { self.lemma(trigger, pos) })
    }

    /// The lemma of a trigger, and its part of speech: the seed's, or another when the lexicon
    /// knows it only there.
    fn lemma(&self, trigger: &str, pos: Pos) -> (String, Pos) {
        let in_lexicon = |lemma: &str, pos: Pos| self.known.has(&(fold(lemma), pos));
        let (lemma, pos) = self.morphology.lemmatize(trigger, pos, &in_lexicon);
        (own_lemma(&lemma), pos)
    }

    /// How many frames have an LU of that lemma and part of speech.
    pub(super) fn frames_with(&self, unit: &(String, Pos)) -> u32 {
        self.known.frames_with(unit)
    }

    /// The LUs of a frame that no expansion proposed, in the order of their numbers.
    pub(super) fn units_of(&mut self, frame: FrameId) -> Result<&[Unit]> {
        Ok(&self.frame(frame)?.units)
    }

    /// How well the annotated sentences of an LU of a frame agree with what a seed expresses, from
    /// 0 to 1; see [`Valences::agreement`].
    pub(super) fn agreement(
        &mut self,
        frame: FrameId,
        seed: Option<&Expressed>,
        unit: &(String, Pos),
    ) -> Result<f64> {
        Ok(self.frame(frame)?.valences.agreement(seed, unit))
    }

    /// Whether a trigger may be a form of an LU that the frame has.
    pub(super) fn is_own(&mut self, frame: FrameId, trigger: &str, pos: Pos) -> Result<bool> {
        let unit = self.read(frame, trigger, pos)?;
        Ok(self.frame(frame)?.own.contains(&unit))
    }

    /// The LU of a trigger in a frame: an LU of the frame, or a proposed one, of the lemma and part
    /// of speech that it is [`read`](Self::read) as.
    pub(super) fn unit_of(
        &mut self,
        frame: FrameId,
        trigger: &str,
        pos: Pos,
    ) -> Result<TriggerUnit> {
        let (lemma, pos) = self.read(frame, trigger, pos)?;
        let key = (lemma.clone(), pos);
        let release = self.release;
        let store = self.database.store();
        let lexicon = self.frame(frame)?;
        let is_proposed = !lexicon.own.contains(&key);
        if let Some(&lu) = lexicon.lexunits.get(&key) {
            return Ok(TriggerUnit { lu, is_proposed, proposed: None, lemma, pos });
        }
        let name = name_of(&lemma, pos);
        let lu = free_number(frame, &name, |lu| {
            let there = store.lexunit(release, frame, lu)?;
            Ok::<_, StoreError>(
                there.is_some_and(|there| there.name != name)
                    || lexicon.lexunits.values().any(|taken| *taken == lu),
            )
        })?;
        lexicon.lexunits.insert(key, lu);
        let proposed = Some(proposed_unit(frame, lu, &name, &lemma, pos));
        Ok(TriggerUnit { lu, is_proposed, proposed, lemma, pos })
    }

    /// Where it stands.
    pub(super) fn database(&self) -> &'a Database {
        self.database
    }

    /// The name of the LU that a trigger is or would be, in the store's words where it has it:
    /// `run_through.v` may be how a release spells it.
    pub(super) fn unit_name(&mut self, frame: FrameId, trigger: &str, pos: Pos) -> Result<String> {
        let key = self.read(frame, trigger, pos)?;
        let stored = match self.frame(frame)?.lexunits.get(&key).copied() {
            Some(lu) => self.database.store().lexunit(self.release, frame, lu)?,
            None => None,
        };
        Ok(stored.map_or_else(|| name_of(&key.0, key.1), |lu| lu.name))
    }

    /// Whether no set of the frame had the trigger so far; from now on one has.
    pub(super) fn is_new_pair(&mut self, frame: FrameId, trigger: &str) -> Result<bool> {
        Ok(self.frame(frame)?.triggers.insert(fold(trigger)))
    }

    /// Whether no set of the store had the trigger so far; from now on one has.
    pub(super) fn is_new_trigger(&mut self, trigger: &str) -> Result<bool> {
        let trigger = fold(trigger);
        Ok(self.triggers.insert(trigger.clone()) && !self.database.has_trigger(&trigger)?)
    }

    /// Whether a trigger has words, and each stands in the lexicon or in a human sentence.
    pub(super) fn knows_words(&mut self, trigger: &str) -> Result<bool> {
        if !trigger.chars().any(char::is_alphanumeric) {
            return Ok(false);
        }
        for word in fold(trigger).split_whitespace() {
            if !self.is_attested(word)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn is_attested(&mut self, word: &str) -> Result<bool> {
        if let Some(attested) = self.attested.get(word) {
            return Ok(*attested);
        }
        let in_lexicon = |lemma: &str, pos: Pos| self.known.has(&(lemma.to_owned(), pos));
        let (lemma, pos) = self.morphology.lemmatize(word, Pos::Noun, &in_lexicon);
        let attested = in_lexicon(&lemma, pos)
            || self
                .database
                .is_attested_beside(word, |release, set| self.held_out.holds(release, set))?;
        self.attested.insert(word.to_owned(), attested);
        Ok(attested)
    }
}

/// The lemma of a trigger as the name of an LU spells it. In lower case, so that the order of
/// outputs decides nothing. Without the characters that mark remarks in FrameNet's names, so that
/// [`Unit::new`] reads it back, and without control characters, which no name has.
fn own_lemma(lemma: &str) -> String {
    let is_no_letter = |c: char| matches!(c, '(' | ')' | '_') || c.is_control();
    let plain = fold(lemma).replace(is_no_letter, " ");
    let words: Vec<&str> = plain.split_whitespace().collect();
    if words.is_empty() { "-".to_owned() } else { words.join(" ") }
}

/// A number of the store's own range from frame and name: the same in every run.
fn proposed_number(frame: FrameId, name: &str) -> LuId {
    let hash = blake3::hash(format!("{frame} {name}").as_bytes());
    let mut low = [0; 4];
    low.copy_from_slice(&hash.as_bytes()[..4]);
    LuId(hashed_number(u32::from_be_bytes(low)))
}

/// The number of a proposed LU: [`proposed_number`], or the next that no other LU has.
pub(crate) fn free_number<E>(
    frame: FrameId,
    name: &str,
    mut is_taken: impl FnMut(LuId) -> std::result::Result<bool, E>,
) -> std::result::Result<LuId, E> {
    let mut lu = proposed_number(frame, name);
    while is_taken(lu)? {
        lu = LuId(hashed_number(lu.0.wrapping_add(1)));
    }
    Ok(lu)
}

/// The name of the LU that a word would be, as in `vet.v`.
pub(crate) fn name_of(lemma: &str, pos: Pos) -> String {
    format!("{lemma}.{}", pos.as_str().to_lowercase())
}

/// A proposed LU.
pub(crate) fn proposed_unit(
    frame: FrameId,
    id: LuId,
    name: &str,
    lemma: &str,
    pos: Pos,
) -> LexUnit {
    let words = lemma.split_whitespace();
    let lexemes = (1..).zip(words).map(|(order, word)| Lexeme {
        name: word.to_owned(),
        pos,
        order: Some(order),
        headword: None,
        break_before: None,
    });
    LexUnit {
        lexemes: lexemes.collect(),
        status: PROPOSED.to_owned(),
        ..LexUnit::named(frame, id, name)
    }
}

/// What something answers in the lexicon of the test data.
#[cfg(test)]
pub(super) fn in_test_lexicon<T>(ask: impl FnOnce(&mut TriggerLexicon<'_>) -> T) -> T {
    let dir = tempfile::tempdir().unwrap();
    let (database, release) = tests::mini(dir.path());
    ask(&mut TriggerLexicon::new(&database, release).unwrap())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::database::Write;
    use crate::model::{AnnotationSet, AnnotationSetId, IdSpace, OWN_RANGE, Provenance, Span};
    use crate::transfer::ImportOptions;

    /// Checking, a frame of the mini lexicon with check.v (twice), examine.v and inspection.n.
    const CHECKING: FrameId = FrameId(102);

    pub(super) fn mini(dir: &Path) -> (Database, ReleaseId) {
        let database = Database::open_writer(dir).unwrap();
        let lexicon = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/mini-framenet");
        let report = database.import(&lexicon, &ImportOptions::default(), &mut |_| {}).unwrap();
        (database, report.release.id)
    }

    #[test]
    fn a_form_of_a_unit_of_the_frame_belongs_to_it() {
        let dir = tempfile::tempdir().unwrap();
        let (database, release) = mini(dir.path());
        let mut lexicon = TriggerLexicon::new(&database, release).unwrap();
        let unit = lexicon.unit_of(CHECKING, "Examining", Pos::Verb).unwrap();
        assert_eq!((unit.lu, unit.lemma.as_str(), unit.pos), (LuId(1003), "examine", Pos::Verb));
        assert!(unit.proposed.is_none());
        let twin = lexicon.unit_of(CHECKING, "checks", Pos::Verb).unwrap();
        assert_eq!(twin.lu, LuId(1001), "of two units of one name the first");
    }

    #[test]
    fn the_part_of_speech_is_the_seeds_unless_the_lemma_is_known_only_in_another() {
        let dir = tempfile::tempdir().unwrap();
        let (database, release) = mini(dir.path());
        let mut lexicon = TriggerLexicon::new(&database, release).unwrap();
        let noun = lexicon.unit_of(CHECKING, "inspections", Pos::Verb).unwrap();
        assert_eq!((noun.lu, noun.pos), (LuId(1005), Pos::Noun));
        let verb = lexicon.unit_of(CHECKING, "scanned", Pos::Verb).unwrap();
        assert_eq!((verb.lemma.as_str(), verb.pos), ("scan", Pos::Verb));
    }

    #[test]
    fn a_proposed_unit_is_the_same_whatever_came_first_and_after_reopening() {
        let dir = tempfile::tempdir().unwrap();
        let (database, release) = mini(dir.path());
        for (first, second) in [("Passports", "passports"), ("( scanned )", "( Scanned )")] {
            let propose = |trigger: &str| {
                let mut lexicon = TriggerLexicon::new(&database, release).unwrap();
                lexicon.unit_of(CHECKING, trigger, Pos::Verb).unwrap()
            };
            let (one, two) = (propose(first), propose(second));
            let name = |unit: &TriggerUnit| unit.proposed.as_ref().unwrap().name.clone();
            assert_eq!((one.lu, name(&one)), (two.lu, name(&two)), "{first}");
            assert!(one.lu.0 >= OWN_RANGE);
            let lexunits = vec![one.proposed.clone().unwrap()];
            database.write(release, &Write { lexunits, ..Write::default() }).unwrap();
            let again = propose(first);
            assert_eq!(again.lu, one.lu);
            assert!(again.proposed.is_none(), "{first} is there already");
        }
    }

    #[test]
    fn a_pair_and_a_trigger_are_new_once() {
        let dir = tempfile::tempdir().unwrap();
        let (database, release) = mini(dir.path());
        let mut lexicon = TriggerLexicon::new(&database, release).unwrap();
        assert!(!lexicon.is_new_pair(CHECKING, "Checked").unwrap(), "the lexicon has it");
        assert!(lexicon.is_new_pair(CHECKING, "scanned").unwrap());
        assert!(!lexicon.is_new_pair(CHECKING, "Scanned").unwrap());
        assert!(!lexicon.is_new_trigger("CHECKED").unwrap());
        assert!(lexicon.is_new_trigger("scanned").unwrap());
        assert!(!lexicon.is_new_trigger("scanned").unwrap());
    }

    #[test]
    fn what_is_forgotten_after_a_commit_is_read_from_the_store_again() {
        let dir = tempfile::tempdir().unwrap();
        let (database, release) = mini(dir.path());
        let mut sets = database.store().annotation_sets_of_frame(release, CHECKING).unwrap();
        let human = sets.next().unwrap().unwrap();
        let text = database.store().sentence(release, human.sentence).unwrap().unwrap().text;
        let trigger = text.split(' ').next().unwrap();
        let mut lexicon = TriggerLexicon::new(&database, release).unwrap();
        lexicon.most_kept = 0;
        let unit = lexicon.unit_of(CHECKING, trigger, Pos::Verb).unwrap();
        assert!(lexicon.is_new_pair(CHECKING, trigger).unwrap());
        assert!(lexicon.is_new_trigger(trigger).unwrap());
        let set = AnnotationSet {
            id: AnnotationSetId::new(IdSpace::Imported, 1 << 40),
            lu: unit.lu,
            targets: vec![Span::new(0, trigger.len() as u32)],
            layers: Vec::new(),
            provenance: Provenance::User,
            ..human
        };
        let lexunits = unit.proposed.into_iter().collect();
        database.write(release, &Write { lexunits, sets: vec![set], ..Write::default() }).unwrap();
        lexicon.forget_committed();
        assert!(lexicon.frames.is_empty() && lexicon.triggers.is_empty());
        assert!(!lexicon.is_new_pair(CHECKING, trigger).unwrap());
        assert!(!lexicon.is_new_trigger(trigger).unwrap());
        let again = lexicon.unit_of(CHECKING, trigger, Pos::Verb).unwrap();
        assert!(again.lu == unit.lu && again.is_proposed && again.proposed.is_none());
    }

    #[test]
    fn a_word_is_known_from_the_lexicon_or_from_human_sentences() {
        let dir = tempfile::tempdir().unwrap();
        let (database, release) = mini(dir.path());
        let mut lexicon = TriggerLexicon::new(&database, release).unwrap();
        assert!(lexicon.knows_words("verifying").unwrap(), "a form of a unit that no text has");
        assert!(lexicon.knows_words("painting").unwrap(), "a word of a sentence");
        assert!(!lexicon.knows_words("confirmcceptance").unwrap());
        assert!(!lexicon.knows_words("checked confirmcceptance").unwrap());
        assert!(!lexicon.knows_words(",").unwrap(), "no word at all");
    }

    #[test]
    fn held_out_annotation_attests_no_words_and_no_frame_elements() {
        let dir = tempfile::tempdir().unwrap();
        let (database, release) = mini(dir.path());
        let blind = |query: &str| {
            let blind_to = crate::expand::BlindTo::new(query.parse().unwrap(), None);
            let held_out = Rc::new(blind_to.held_out(&database).unwrap());
            TriggerLexicon::new(&database, release).unwrap().blind_to(&held_out)
        };
        let expressed = ["Checker", "Matter"].map(str::to_owned).into();
        let check = ("check".to_owned(), Pos::Verb);
        let agreement = |lexicon: &mut TriggerLexicon<'_>| {
            lexicon.agreement(CHECKING, Some(&expressed), &check).unwrap()
        };
        let (none, some) =
            (agreement(&mut blind("frame=Checking")), agreement(&mut blind("origin=user")));
        assert!(none == 0.0 && some > 0.4, "{none} {some}");
        assert!(!blind("text=*painting*").knows_words("painting").unwrap());
        assert!(blind("origin=user").knows_words("painting").unwrap());
        // Names of the lexicon are no annotation.
        assert!(blind("frame=*").knows_words("verifying").unwrap());
        let mut list = crate::model::SplitList::default();
        list.id.name = "fold".to_owned();
        let other = crate::expand::BlindTo::new("split=test".parse().unwrap(), Some(&list));
        let error = other.held_out(&database).unwrap_err().to_string();
        assert!(error.contains("split list `none`, expected `fold`"), "{error}");
    }

    #[test]
    fn a_trigger_is_read_as_a_form_of_the_frames_own_units_first() {
        let dir = tempfile::tempdir().unwrap();
        let (database, release) = mini(dir.path());
        let lay = |id, status: &str| LexUnit {
            status: status.to_owned(),
            ..LexUnit::named(CHECKING, LuId(OWN_RANGE | id), "lay.v")
        };
        let read = |trigger: &str, frame| {
            let mut lexicon = TriggerLexicon::new(&database, release).unwrap();
            lexicon.read(frame, trigger, Pos::Verb).unwrap().0
        };
        assert_eq!(read("lay", CHECKING), "lie");
        let write = |lu| Write { lexunits: vec![lu], ..Write::default() };
        database.write(release, &write(lay(1, PROPOSED))).unwrap();
        assert_eq!(read("lay", CHECKING), "lie", "what was proposed decides nothing");
        database.write(release, &write(lay(2, "Created"))).unwrap();
        assert_eq!(read("lay", CHECKING), "lay", "what someone added does");
        let mut lexicon = TriggerLexicon::new(&database, release).unwrap();
        assert_eq!(lexicon.frames_with(&("lay".to_owned(), Pos::Verb)), 1);
        let units: Vec<String> =
            lexicon.units_of(CHECKING).unwrap().iter().map(|unit| unit.lemma.clone()).collect();
        assert_eq!(units.iter().filter(|lemma| *lemma == "lay").count(), 1, "{units:?}");
    }
}
