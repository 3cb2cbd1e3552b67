//! Rows that a batch puts or deletes and that are counted by what they say, with what they said
//! before.

use super::Result;
use super::current_sums::unless_damaged;
use super::engine::Engine;
use super::evidence::SetEvidence;
use super::family::Family;
use super::key::{AnnotationKey, CountKey, Key, LexUnitKey, SentenceKey, SetKey};
use super::record::Stored;
use super::row_list::RowList;
use crate::model::{AnnotationSet, LexUnit, LuId, OWN_RANGE, ReleaseId, Sentence, Verification};

/// Rows that are read together.
const ROWS: usize = 4_096;

/// What counts of a row.
pub(super) enum Said {
    /// A set, and what it says for its LU if that was proposed once.
    Set(CountKey, Option<Box<SetEvidence>>),
    LexUnit(CountKey),
    /// A sentence, if it is counted, and its text.
    Sentence(Option<CountKey>, String),
    /// How likely a verifier finds it that a set's target evokes its frame.
    Answer(Option<f32>),
}

impl Said {
    pub(super) fn of_set(release: ReleaseId, set: &AnnotationSet) -> Self {
        let evidence = is_proposed(set.lu).then(|| SetEvidence::of(set, None)).flatten();
        Self::Set(CountKey::of_set(release, set), evidence.map(Box::new))
    }

    pub(super) fn of_sentence(release: ReleaseId, sentence: &Sentence) -> Self {
        Self::Sentence(CountKey::of_sentence(release, sentence.id), sentence.text.clone())
    }

    /// What a row says; `None` for one that cannot be read.
    pub(super) fn read(family: Family, key: &[u8], value: &[u8]) -> Option<Self> {
        Some(match family {
            Family::Annotation => {
                let key = AnnotationKey::decode(key)?;
                Self::of_set(key.release, &AnnotationSet::from_value(&key, value).ok()?)
            }
            Family::LexUnit => {
                let key = LexUnitKey::decode(key)?;
                let lu = LexUnit::from_value(&key, value).ok()?;
                Self::LexUnit(CountKey::of_lexunit(key.release, &lu))
            }
            Family::Verification => {
                let key = SetKey::decode(key)?;
                Self::Answer(Verification::from_value(&key, value).ok()?.evokes)
            }
            _ => {
                let key = SentenceKey::decode(key)?;
                Self::of_sentence(key.release, &Sentence::from_value(&key, value).ok()?)
            }
        })
    }

    /// What the row counts as.
    pub(super) fn counted(&self) -> Option<&CountKey> {
        match self {
            Self::Set(key, _) | Self::LexUnit(key) => Some(key),
            Self::Sentence(key, _) => key.as_ref(),
            Self::Answer(_) => None,
        }
    }
}

/// Whether an LU is one that the store gave its number, as it does to those that are proposed.
pub(super) fn is_proposed(lu: LuId) -> bool {
    lu.0 >= OWN_RANGE
}

/// What becomes of a row that a batch puts, or deletes.
pub(super) struct Touch {
    pub(super) after: Option<Said>,
    /// Whether nothing stood there before.
    is_new: bool,
}

/// Rows that a batch puts, or deletes.
pub(super) type Touched = RowList<Touch>;

impl Touched {
    pub(super) fn put(&mut self, family: Family, key: &impl Key, after: Said, is_new: bool) {
        self.push(family, &key.encode(), Touch { after: Some(after), is_new });
    }

    /// Takes note of a row that is put as it is written, in families of which that is not told
    /// otherwise.
    pub(super) fn written(&mut self, family: Family, key: &[u8], value: &[u8]) {
        if family == Family::Verification {
            let after = Said::read(family, key, value);
            self.push(family, key, Touch { after, is_new: false });
        }
    }

    /// Takes note of a row that is deleted, in families that are counted.
    pub(super) fn deleted(&mut self, family: Family, key: &[u8]) {
        let is_counted = matches!(
            family,
            Family::Annotation | Family::LexUnit | Family::Sentence | Family::Verification
        );
        if is_counted {
            self.push(family, key, Touch { after: None, is_new: false });
        }
    }
}

/// What stood in a row before a batch.
pub(super) enum Before {
    Nothing,
    /// Nothing: the release has no such id.
    New,
    Said(Said),
    /// Something that cannot be read.
    Unreadable,
}

/// Takes family and key of a row, what stood there and what will.
type Take<'t> = dyn FnMut(Family, &[u8], Before, Option<Said>) + 't;

/// Reads what stood in the rows that a batch touches; of one that is touched several times the last
/// counts. Gives family, key, what stood there and what will.
pub(super) fn each_row(engine: &Engine, touched: Touched, take: &mut Take<'_>) -> Result<()> {
    let mut known = Known { family: Family::Meta, rows: Vec::new() };
    touched.each_last(|family, key, Touch { after, is_new }, is_only| {
        if is_new && is_only {
            take(family, key, Before::New, after);
            return Ok(());
        }
        if family != known.family || known.rows.len() == ROWS {
            known.read(engine, take)?;
            known.family = family;
        }
        known.rows.push((key.to_vec(), after));
        Ok(())
    })?;
    known.read(engine, take)
}

/// Rows of one family that may be there, and what they say then.
struct Known {
    family: Family,
    rows: Vec<(Vec<u8>, Option<Said>)>,
}

impl Known {
    /// Reads what stands there.
    fn read(&mut self, engine: &Engine, take: &mut Take<'_>) -> Result<()> {
        let family = self.family;
        let (keys, after): (Vec<_>, Vec<_>) = self.rows.drain(..).unzip();
        // What lies in a damaged file cannot be read, and may be written anew.
        let mut values = unless_damaged(engine.get_sorted(family, &keys))?.map(Vec::into_iter);
        for (key, after) in keys.iter().zip(after) {
            let value = values.as_mut().map(|values| values.next().flatten());
            let read = |value: Vec<u8>| Said::read(family, key, &value);
            let before = match value.map(|value| value.map(read)) {
                Some(None) => Before::Nothing,
                Some(Some(Some(said))) => Before::Said(said),
                None | Some(Some(None)) => Before::Unreadable,
            };
            take(family, key, before, after);
        }
        Ok(())
    }
}
