//! Names: which ids have one, and which names there are.

use crate::model::{CorpusId, DocumentId, FeId, FrameId, LuId, ReleaseId, SemTypeId};
use crate::text::{fold, is_same};

use super::family::Family;
use super::key::{Key, NameKey, NameKind};
use super::{Result, Store, StoreError};

impl Store {
    fn named(
        &self,
        release: ReleaseId,
        kind: NameKind,
        name: &str,
        fold_case: bool,
    ) -> Result<Vec<u64>> {
        // Letters may be composed in many ways, and a key has one of them. All fold to the same.
        let is_folded = fold_case || !name.is_ascii();
        let key = if is_folded { fold(name) } else { name.to_owned() };
        let prefix = NameKey::name_prefix(release, kind, is_folded, &key);
        let rows = self.engine.scan(Family::Name, prefix)?;
        let ids = rows.map(|row| Ok(self.name_key(&row?.0)?.id));
        let mut ids: Vec<u64> = ids.collect::<Result<_>>()?;
        if is_folded && !fold_case {
            let mut kept = Vec::new();
            for id in ids {
                let spelled = self.name_of(release, kind, unpair(id))?;
                kept.extend(spelled.filter(|spelled| is_same(spelled, name)).map(|_| id));
            }
            ids = kept;
        }
        Ok(ids)
    }

    /// The name of a kind that the record of an id has (see [`NameKind`]).
    pub fn name_of(
        &self,
        release: ReleaseId,
        kind: NameKind,
        (high, low): (u32, u32),
    ) -> Result<Option<String>> {
        Ok(match kind {
            NameKind::Frame => self.frame(release, FrameId(low))?.map(|frame| frame.name),
            NameKind::LexUnit => {
                self.lexunit(release, FrameId(high), LuId(low))?.map(|lexunit| lexunit.name)
            }
            NameKind::FrameElement => self
                .frame(release, FrameId(high))?
                .and_then(|frame| frame.fe(FeId(low)).map(|element| element.name.clone())),
            NameKind::SemType => {
                self.sem_type(release, SemTypeId(low))?.map(|sem_type| sem_type.name)
            }
            NameKind::Document => self
                .document(release, CorpusId(high), DocumentId(low))?
                .map(|document| document.name),
        })
    }

    fn name_key(&self, key: &[u8]) -> Result<NameKey> {
        NameKey::decode(key).ok_or_else(|| StoreError::damaged(Family::Name.name(), key, "no key"))
    }

    /// The two numbers of every id that a name of a kind has (see [`NameKind`]).
    pub fn ids_by_name(
        &self,
        release: ReleaseId,
        kind: NameKind,
        name: &str,
        fold_case: bool,
    ) -> Result<Vec<(u32, u32)>> {
        Ok(self.named(release, kind, name, fold_case)?.into_iter().map(unpair).collect())
    }

    /// Whether a name of a kind is that of an id (see [`NameKind`]).
    pub fn name_leads_to(
        &self,
        release: ReleaseId,
        kind: NameKind,
        (name, fold_case): (&str, bool),
        (high, low): (u32, u32),
    ) -> Result<bool> {
        let name = if fold_case { fold(name) } else { name.to_owned() };
        let key = NameKey { release, kind, folded: fold_case, name, id: pair(high, low) };
        Ok(self.engine.get(Family::Name, &key.encode())?.is_some())
    }

    /// Numbers of the frames of that name.
    pub fn frames_by_name(
        &self,
        release: ReleaseId,
        name: &str,
        fold_case: bool,
    ) -> Result<Vec<FrameId>> {
        let ids = self.named(release, NameKind::Frame, name, fold_case)?;
        Ok(ids.into_iter().map(|id| FrameId(unpair(id).1)).collect())
    }

    /// Frame and number of the LUs of that name; a name has one in each frame that it evokes, and
    /// FrameNet 1.5 has frames with two.
    pub fn lexunits_by_name(
        &self,
        release: ReleaseId,
        name: &str,
        fold_case: bool,
    ) -> Result<Vec<(FrameId, LuId)>> {
        let ids = self.named(release, NameKind::LexUnit, name, fold_case)?;
        Ok(ids.into_iter().map(lexunit_ids).collect())
    }

    /// Frame and number of the FEs of that name.
    pub fn elements_by_name(
        &self,
        release: ReleaseId,
        name: &str,
        fold_case: bool,
    ) -> Result<Vec<(FrameId, FeId)>> {
        let ids = self.named(release, NameKind::FrameElement, name, fold_case)?;
        Ok(ids.into_iter().map(unpair).map(|(frame, fe)| (FrameId(frame), FeId(fe))).collect())
    }

    /// All names of a kind, in order of name, with repetitions, as FrameNet spells them.
    pub fn names(
        &self,
        release: ReleaseId,
        kind: NameKind,
    ) -> Result<impl Iterator<Item = Result<String>> + '_> {
        let prefix = NameKey::kind_prefix(release, kind, false);
        let rows = self.engine.scan(Family::Name, prefix)?;
        Ok(rows.map(|row| Ok(self.name_key(&row?.0)?.name)))
    }

    /// Frame, number and name of every LU, in order of name, without reading the LUs themselves.
    pub fn lexunit_names(
        &self,
        release: ReleaseId,
    ) -> Result<impl Iterator<Item = Result<(FrameId, LuId, String)>> + '_> {
        let prefix = NameKey::kind_prefix(release, NameKind::LexUnit, false);
        let rows = self.engine.scan(Family::Name, prefix)?;
        Ok(rows.map(|row| {
            let key = self.name_key(&row?.0)?;
            let (frame, lu) = lexunit_ids(key.id);
            Ok((frame, lu, key.name))
        }))
    }

    /// Number and name of every frame, in order of name, without reading the frames themselves.
    pub fn frame_names(
        &self,
        release: ReleaseId,
    ) -> Result<impl Iterator<Item = Result<(FrameId, String)>> + '_> {
        let prefix = NameKey::kind_prefix(release, NameKind::Frame, false);
        let rows = self.engine.scan(Family::Name, prefix)?;
        Ok(rows.map(|row| {
            let key = self.name_key(&row?.0)?;
            Ok((FrameId(unpair(key.id).1), key.name))
        }))
    }
}

/// Two numbers as one: an FE or an LU behind its frame.
pub(super) fn pair(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// Takes apart what [`pair`] put together.
pub(super) fn unpair(id: u64) -> (u32, u32) {
    ((id >> 32) as u32, (id & u64::from(u32::MAX)) as u32)
}

/// An LU's frame and number from a `name` row's id.
pub(super) fn lexunit_ids(id: u64) -> (FrameId, LuId) {
    let (frame, lu) = unpair(id);
    (FrameId(frame), LuId(lu))
}
