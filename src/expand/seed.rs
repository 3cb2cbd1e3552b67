//! A human annotation set that is expanded: its sentence, its target, and what is annotated of it.

use super::Result;
use super::valence::{Expressed, expressed};
use crate::database::Database;
use crate::model::{
    AnnotationSet, AnnotationSetId, FeStatus, FrameId, Layer, LayerName, LexUnit, Pos, ReleaseId,
    Sentence, Span,
};
use crate::text::{natural_spacing, words};

/// FrameNet sets mark one target each, in one or several pieces; the key has room for more.
pub(super) const TARGET: u16 = 0;

/// A human annotation set to be expanded.
#[derive(Clone)]
pub(super) struct Seed {
    pub(super) release: ReleaseId,
    pub(super) set: AnnotationSetId,
    pub(super) frame: FrameId,
    pub(super) text: String,
    pub(super) targets: Vec<Span>,
    pub(super) lemma: String,
    pub(super) pos: Pos,
    /// The FEs that are expressed, where they are annotated.
    pub(super) expressed: Option<Expressed>,
    /// What is annotated of them.
    pub(super) elements: Elements,
}

impl Seed {
    /// The set of that id, as the store has it; `None` when it is gone.
    pub(super) fn read(
        database: &Database,
        release: ReleaseId,
        id: AnnotationSetId,
    ) -> Result<Option<Self>> {
        let Some((set, sentence)) = stored(database, release, id)? else { return Ok(None) };
        let lexunit = database.store().lexunit(release, set.frame, set.lu)?;
        Ok(Some(Self::of(release, (&set, sentence.text), lexunit.as_ref())))
    }

    /// A set over its sentence's text, under its LU.
    pub(super) fn of(
        release: ReleaseId,
        (set, text): (&AnnotationSet, String),
        lexunit: Option<&LexUnit>,
    ) -> Self {
        let (lemma, pos) = lexunit.map_or((String::new(), Pos::Other), |lexunit| {
            (lexunit.lemma().to_owned(), lexunit.pos)
        });
        Self {
            release,
            set: set.id,
            frame: set.frame,
            targets: distinct_pieces(&text, &set.targets),
            expressed: expressed(set),
            elements: Elements::of(set, is_described),
            text,
            lemma,
            pos,
        }
    }

    /// The words of the target, its pieces joined by a space.
    pub(super) fn trigger(&self) -> String {
        let pieces: Vec<&str> =
            self.targets.iter().filter_map(|span| span.of(&self.text)).collect();
        pieces.join(" ")
    }

    /// Whether a span shares letters with the target.
    pub(super) fn overlaps_target(&self, span: Span) -> bool {
        self.targets.iter().any(|target| target.overlaps(span))
    }

    /// Whether a span is a piece of the target, or part of one.
    pub(super) fn is_inside_target(&self, span: Span) -> bool {
        self.targets.iter().any(|target| target.start <= span.start && span.end <= target.end)
    }

    /// The sentence as the rewriter reads it.
    pub(super) fn natural(&self) -> String {
        natural_spacing(&self.text)
    }
}

/// What is annotated of a seed's FEs: the layers FE, GF and PT; none where nobody annotated them.
/// Of a set that is carried along its other layers, too, but for that of its target.
#[derive(Debug, Clone, Default)]
pub(super) struct Elements {
    pub(super) layers: Vec<Layer>,
}

impl Elements {
    pub(super) fn of(set: &AnnotationSet, is_wanted: fn(&LayerName) -> bool) -> Self {
        let is_annotated = set.fe_status == FeStatus::Annotated;
        let layers = set.layers.iter().filter(|layer| match is_described(&layer.name) {
            true => is_annotated && is_wanted(&layer.name),
            false => is_wanted(&layer.name),
        });
        Self { layers: layers.cloned().collect() }
    }

    fn fe_layers(&self) -> impl Iterator<Item = &Layer> {
        self.layers.iter().filter(|layer| layer.name == LayerName::Fe)
    }

    /// The spans that FEs cover, each once, in order of text.
    pub(super) fn distinct(&self) -> Vec<Span> {
        let labels = self.fe_layers().flat_map(|layer| &layer.labels);
        let mut spans: Vec<Span> = labels.filter_map(|label| label.extent.span()).collect();
        spans.sort_unstable();
        spans.dedup();
        spans
    }
}

/// Whether a layer describes FEs.
pub(super) fn is_described(name: &LayerName) -> bool {
    [LayerName::Fe, LayerName::Gf, LayerName::Pt].contains(name)
}

/// The pieces of a target that cover words, in order of text; pieces that overlap are one (three
/// sets of FrameNet 1.5 mark `rings a bell` and, again, `a` and `bell`).
pub(super) fn distinct_pieces(text: &str, targets: &[Span]) -> Vec<Span> {
    let mut pieces: Vec<Span> = targets
        .iter()
        .copied()
        .filter(|span| span.of(text).is_some_and(|piece| !words(piece).is_empty()))
        .collect();
    pieces.sort_unstable();
    let mut distinct: Vec<Span> = Vec::with_capacity(pieces.len());
    for piece in pieces {
        match distinct.last_mut() {
            Some(last) if last.overlaps(piece) => last.end = last.end.max(piece.end),
            _ => distinct.push(piece),
        }
    }
    distinct
}

/// A set of the store, with its sentence.
pub(super) fn stored(
    database: &Database,
    release: ReleaseId,
    id: AnnotationSetId,
) -> Result<Option<(AnnotationSet, Sentence)>> {
    let Some(set) = database.store().annotation_set(release, id)? else { return Ok(None) };
    Ok(database.store().sentence(release, set.sentence)?.map(|sentence| (set, sentence)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_that_overlap_are_one_and_pieces_without_words_are_none() {
        let text = "That rings a bell .";
        let pieces = distinct_pieces(
            text,
            &[Span::new(5, 17), Span::new(11, 12), Span::new(13, 17), Span::new(4, 5)],
        );
        assert_eq!(pieces, [Span::new(5, 17)]);
        assert!(distinct_pieces(text, &[Span::new(4, 5), Span::new(90, 99)]).is_empty());
    }
}
