//! Sets over tokens, as frame-semantic parsers read them: CoNLL, BIOS and SEMAFOR.
//!
//! The columns are those of open-sesame (CoNLL 2009-like) and of pyfn (BIOS, SEMAFOR). None of the
//! formats has a place for null instantiations, second FE layers, grammatical functions or phrase
//! types; none counts characters. Whatever is left out is counted.

use std::io::Write;

use super::Result;
use super::loss::{Holds, Loss, LossLog};
use super::tokens::{Annotated, Covered, Token, Tokens};
use crate::model::{Extent, Label, Span};

/// A format with one token a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenFormat {
    /// 15 columns, as open-sesame reads them: a block for each set.
    Conll,
    /// 16 columns, as pyfn writes them: the last is the FE's core type.
    Bios,
}

/// What token formats say of sets: nothing but frame, LU, target and FEs.
const HOLDS: Holds = Holds {
    origin: false,
    status: false,
    lu_status: false,
    fe_status: false,
    gf_pt: false,
    scores: false,
};

/// What a token format wrote.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TokensWritten {
    /// Sets.
    pub sets: u64,
    /// Sentences with a set.
    pub sentences: u64,
    /// What was left out.
    pub losses: LossLog,
}

/// Writes sets in blocks of one token a line, with `O`, `B-`, `I-` and `S-` before the FE's name.
pub struct TokenWriter<W> {
    out: W,
    format: TokenFormat,
    written: TokensWritten,
}

impl<W: Write> TokenWriter<W> {
    /// A writer of a format.
    #[must_use]
    pub fn new(out: W, format: TokenFormat) -> Self {
        Self { out, format, written: TokensWritten::default() }
    }

    /// Writes the sets of a sentence, each in a block.
    ///
    /// # Errors
    /// When the output fails.
    pub fn sentence(&mut self, text: &str, tokens: &Tokens, sets: &[Annotated]) -> Result<()> {
        let before = self.written.sets;
        for set in sets {
            let is_target = targets(set, tokens, HOLDS, &mut self.written.losses);
            let Some(is_target) = is_target else { continue };
            let roles = roles(set, tokens, &mut self.written.losses);
            for (number, token) in tokens.as_slice().iter().enumerate() {
                let target = is_target.contains(&number).then_some(set);
                self.line(number, token.span.of(text).unwrap_or_default(), token, target, &roles)?;
            }
            self.out.write_all(b"\n")?;
            self.written.sets += 1;
        }
        if self.written.sets > before {
            self.count_sentence(text, tokens);
        }
        Ok(())
    }

    /// Writes the sets of a sentence in one block: the layout for training. LUs and frames of all
    /// targets stand side by side, then the numbers of their sets, then the FEs of each set in its
    /// own column, in order of first target (for BIOS with core types). `?` stands where nobody
    /// looked: for frames inside `unannotated`, also beside those of a target there, and for the
    /// FEs of a set that may have more.
    ///
    /// # Errors
    /// When the output fails.
    pub fn training(
        &mut self,
        text: &str,
        tokens: &Tokens,
        sets: &[Annotated],
        unannotated: &[Span],
    ) -> Result<()> {
        // A mask says what a set's FEs are.
        let holds = Holds { fe_status: true, ..HOLDS };
        let columns = columns(sets, tokens, holds, &mut self.written.losses);
        if columns.is_empty() {
            return Ok(());
        }
        let is_masked = masked(tokens, unannotated);
        for (number, token) in tokens.as_slice().iter().enumerate() {
            let [lus, frames, numbers] = evoked(&columns, number, is_masked[number]);
            let form = token.span.of(text).unwrap_or_default();
            self.first_columns(number, form, token)?;
            write!(self.out, "\t{lus}\t{frames}\t{numbers}")?;
            for column in &columns {
                let Role { label, core_type } = &column.roles[number];
                write!(self.out, "\t{label}")?;
                if self.format == TokenFormat::Bios {
                    write!(self.out, "\t{core_type}")?;
                }
            }
            self.out.write_all(b"\n")?;
        }
        self.out.write_all(b"\n")?;
        self.written.sets += columns.len() as u64;
        self.count_sentence(text, tokens);
        Ok(())
    }

    fn count_sentence(&mut self, text: &str, tokens: &Tokens) {
        count_white_space(text, tokens, &mut self.written.losses);
        if !tokens.are_tagged() {
            self.written.losses.add(Loss::NoTags);
        }
        self.written.sentences += 1;
    }

    fn line(
        &mut self,
        number: usize,
        form: &str,
        token: &Token,
        target: Option<&Annotated>,
        roles: &[Role],
    ) -> Result<()> {
        let (lu, frame) = target.map_or(("_", "_"), |set| (set.lu.as_str(), set.frame.as_str()));
        // LU names of several words keep their space in FrameNet; columns are parted by tabs.
        let role = &roles[number].label;
        self.first_columns(number, form, token)?;
        write!(self.out, "\t{lu}\t{frame}\t{role}")?;
        if self.format == TokenFormat::Bios {
            write!(self.out, "\t{}", roles[number].core_type)?;
        }
        self.out.write_all(b"\n")?;
        Ok(())
    }

    /// The columns up to the parse, which say nothing of sets.
    fn first_columns(&mut self, number: usize, form: &str, token: &Token) -> Result<()> {
        let tag = token.tag.as_deref().unwrap_or("_");
        let fn_tag = if self.format == TokenFormat::Conll { tag } else { "_" };
        let (place, sentence, lemma) = (number + 1, self.written.sentences, &token.lemma);
        write!(
            self.out,
            "{place}\t{form}\t_\t{lemma}\t{fn_tag}\t{tag}\t{sentence}\t_\t_\t_\t_\t_",
        )?;
        Ok(())
    }

    /// Ends the file. Gives what was written and what was lost.
    ///
    /// # Errors
    /// When the output fails.
    pub fn finish(mut self) -> Result<TokensWritten> {
        self.out.flush()?;
        Ok(self.written)
    }
}

/// The LUs, the frames and the numbers of the sets whose target a token belongs to; a token that
/// nobody annotated has a mask among the first two.
pub(super) fn evoked(columns: &[Column<'_>], number: usize, is_masked: bool) -> [String; 3] {
    let (mut lus, mut frames, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
    for (at, column) in (1_usize..).zip(columns) {
        if column.targets.contains(&number) {
            lus.push(column.of.lu.as_str());
            frames.push(column.of.frame.as_str());
            numbers.push(at.to_string());
        }
    }
    if is_masked {
        lus.push(MASK);
        frames.push(MASK);
    }
    let numbers: Vec<&str> = numbers.iter().map(String::as_str).collect();
    [joined(&lus), joined(&frames), joined(&numbers)]
}

/// Names that share a column; `_` for none.
pub(super) fn joined(names: &[&str]) -> String {
    if names.is_empty() { "_".to_owned() } else { names.join("|") }
}

/// The three files of SEMAFOR's format: sets, sentences, and sentences as tokens.
pub struct SemaforFiles<W> {
    /// `.frame.elements`: a line for each set.
    pub elements: W,
    /// `.sentences`: a line for each sentence.
    pub sentences: W,
    /// `.sentences.tokenized`: the same lines, tokens parted by spaces.
    pub tokenized: W,
    written: TokensWritten,
}

impl<W: Write> SemaforFiles<W> {
    /// A writer into the three files.
    #[must_use]
    pub fn new(elements: W, sentences: W, tokenized: W) -> Self {
        Self { elements, sentences, tokenized, written: TokensWritten::default() }
    }

    /// Writes a sentence and its sets.
    ///
    /// # Errors
    /// When the output fails.
    pub fn sentence(&mut self, text: &str, tokens: &Tokens, sets: &[Annotated]) -> Result<()> {
        let losses = &mut self.written.losses;
        count_white_space(text, tokens, losses);
        let line = text.trim().replace(['\n', '\r', '\t'], " ");
        writeln!(self.sentences, "{line}")?;
        let words = tokens.words(text);
        writeln!(self.tokenized, "{}", words.join(" "))?;
        for set in sets {
            let Some(of_target) = targets(set, tokens, HOLDS, losses) else { continue };
            let elements = elements(set, tokens, losses);
            let numbers: Vec<String> = of_target.iter().map(ToString::to_string).collect();
            let target: Vec<&str> = of_target.iter().map(|number| words[*number]).collect();
            // Rank and score are those of a gold set; the count holds the frame, too.
            write!(
                self.elements,
                "1\t0.0\t{}\t{}\t{}\t{}\t{}\t{}",
                elements.len() + 1,
                set.frame,
                set.lu,
                numbers.join("_"),
                target.join(" "),
                self.written.sentences,
            )?;
            for (label, Covered { tokens, .. }) in elements {
                let (first, last) = (tokens.start, tokens.end - 1);
                let range =
                    if first == last { first.to_string() } else { format!("{first}:{last}") };
                write!(self.elements, "\t{}\t{range}", label.name)?;
            }
            self.elements.write_all(b"\n")?;
            self.written.sets += 1;
        }
        self.written.sentences += 1;
        Ok(())
    }

    /// Ends the files. Gives what was written and what was lost.
    ///
    /// # Errors
    /// When the output fails.
    pub fn finish(mut self) -> Result<TokensWritten> {
        for out in [&mut self.elements, &mut self.sentences, &mut self.tokenized] {
            out.flush()?;
        }
        Ok(self.written)
    }
}

/// The numbers of the target's tokens, in order; `None`, counted, when there are none.
fn targets(
    set: &Annotated,
    tokens: &Tokens,
    holds: Holds,
    losses: &mut LossLog,
) -> Option<Vec<usize>> {
    let mut numbers = Vec::new();
    for target in &set.set.targets {
        let Some(covered) = tokens.covered(*target) else {
            losses.add(Loss::TargetWithoutToken);
            continue;
        };
        if !covered.is_exact {
            losses.add(Loss::TargetInsideToken);
        }
        numbers.extend(covered.tokens);
    }
    numbers.sort_unstable();
    numbers.dedup();
    if numbers.is_empty() {
        losses.add(Loss::NoTarget);
        return None;
    }
    losses.add_set(&set.set, set.is_proposed, holds);
    Some(numbers)
}

/// The FE labels of the first layer that cover tokens, in order of their tokens.
fn elements<'a>(
    set: &'a Annotated,
    tokens: &Tokens,
    losses: &mut LossLog,
) -> Vec<(&'a Label, Covered)> {
    let mut found = Vec::new();
    for layer in set.set.fe_layers() {
        for label in &layer.labels {
            match (&label.extent, layer.rank) {
                (Extent::Null(_), _) => losses.add(Loss::NullInstantiation),
                (Extent::None, _) => losses.add(Loss::NoExtent),
                (Extent::Overt(_), 2..) => losses.add(Loss::SecondRank),
                (Extent::Overt(span), _) => match tokens.covered(*span) {
                    None => losses.add(Loss::NoToken),
                    Some(covered) => {
                        if !covered.is_exact {
                            losses.add(Loss::ElementInsideToken);
                        }
                        found.push((label, covered));
                    }
                },
            }
        }
    }
    found.sort_by_key(|(_, covered)| (covered.tokens.start, covered.tokens.end));
    found
}

/// What a token is in a set that has no FE there.
const OUTSIDE: &str = "O";

/// What stands where nobody looked.
pub(super) const MASK: &str = "?";

/// What one token is in a set.
pub(super) struct Role {
    pub(super) label: String,
    core_type: &'static str,
}

/// A set beside others of its sentence.
pub(super) struct Column<'a> {
    pub(super) of: &'a Annotated,
    /// The tokens of its target.
    pub(super) targets: Vec<usize>,
    /// The role of every token; masked outside of FEs where not all of them are there.
    pub(super) roles: Vec<Role>,
}

/// The sets of a sentence in order of their first token; those without one are left out.
pub(super) fn columns<'a>(
    sets: &'a [Annotated],
    tokens: &Tokens,
    holds: Holds,
    losses: &mut LossLog,
) -> Vec<Column<'a>> {
    let mut columns = Vec::new();
    for of in sets {
        let Some(targets) = targets(of, tokens, holds, losses) else { continue };
        let mut roles = roles(of, tokens, losses);
        if !of.fes_complete {
            roles.iter_mut().filter(|role| role.label == OUTSIDE).for_each(Role::mask);
        }
        columns.push(Column { of, targets, roles });
    }
    columns.sort_by_key(|column| column.targets.first().copied());
    columns
}

/// Which tokens stand in stretches that nobody annotated.
pub(super) fn masked(tokens: &Tokens, unannotated: &[Span]) -> Vec<bool> {
    let mut is_masked = vec![false; tokens.as_slice().len()];
    for covered in unannotated.iter().filter_map(|span| tokens.covered(*span)) {
        is_masked[covered.tokens].fill(true);
    }
    is_masked
}

impl Role {
    fn mask(&mut self) {
        self.label = MASK.to_owned();
    }
}

/// The role of every token: of FEs that overlap, the one that begins first has the tokens.
fn roles(set: &Annotated, tokens: &Tokens, losses: &mut LossLog) -> Vec<Role> {
    let outside = || Role { label: OUTSIDE.to_owned(), core_type: "_" };
    let mut roles: Vec<Role> = tokens.as_slice().iter().map(|_| outside()).collect();
    let mut free = 0;
    for (label, Covered { tokens, .. }) in elements(set, tokens, losses) {
        if tokens.start < free {
            losses.add(Loss::OverlappingElement);
            continue;
        }
        free = tokens.end;
        let core_type = set.core_types.get(&label.name).copied().unwrap_or("_");
        let is_single = tokens.len() == 1;
        for (place, role) in roles[tokens].iter_mut().enumerate() {
            let prefix = match (place, is_single) {
                (0, true) => "S",
                (0, false) => "B",
                _ => "I",
            };
            *role = Role { label: format!("{prefix}-{}", label.name), core_type };
        }
    }
    roles
}

fn count_white_space(text: &str, tokens: &Tokens, losses: &mut LossLog) {
    let spaced = tokens
        .as_slice()
        .windows(2)
        .all(|pair| text.get(pair[0].span.end as usize..pair[1].span.start as usize) == Some(" "));
    if !spaced || text.trim() != text {
        losses.add(Loss::WhiteSpace);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::exchange::Lemmas;
    use crate::model::{
        AnnotationSet, AnnotationSetId, FeStatus, FrameId, IdSpace, Layer, LayerName, LuId,
        NullInstantiation, Provenance, SentenceId,
    };
    use crate::text::Morphology;

    const TEXT: &str = "She  looked it over .";

    fn label(name: &str, extent: Extent) -> Label {
        let annotator = String::new();
        Label { name: name.to_owned(), extent, fe: None, annotator, colors: None }
    }

    /// A discontinuous target, FEs that overlap, one inside a token, one in layer 2, one not
    /// expressed.
    fn set() -> Annotated {
        let overt = |start, end| Extent::Overt(Span::new(start, end));
        let first = vec![
            label("Agent", overt(0, 3)),
            label("Matter", overt(12, 19)),
            label("Thing", overt(12, 14)),
            label("Mark", overt(0, 1)),
            label("Ground", Extent::Null(NullInstantiation::Indefinite)),
        ];
        let layer = |name, rank, labels| Layer { name, rank, labels };
        let core_types = [("Agent".to_owned(), "Core"), ("Matter".to_owned(), "Peripheral")];
        Annotated {
            frame: "Checking".to_owned(),
            lu: "look over.v".to_owned(),
            is_proposed: false,
            lu_status: "Created".to_owned(),
            fes_complete: true,
            fe_ids: Arc::default(),
            verification: None,
            core_types: Arc::new(core_types.into()),
            set: AnnotationSet {
                id: AnnotationSetId::new(IdSpace::Exemplar, 1),
                xml_id: Some(1),
                sentence: SentenceId::new(IdSpace::Exemplar, 1),
                frame: FrameId(1),
                lu: LuId(1),
                status: "MANUAL".to_owned(),
                created: String::new(),
                targets: vec![Span::new(5, 11), Span::new(15, 19)],
                fe_status: FeStatus::Annotated,
                layers: vec![
                    layer(LayerName::Fe, 1, first),
                    layer(LayerName::Fe, 2, vec![label("Agent", overt(0, 3))]),
                    layer(LayerName::Gf, 1, vec![label("Ext", overt(0, 3))]),
                ],
                provenance: Provenance::User,
            },
        }
    }

    fn counts(losses: &LossLog) -> Vec<(&'static str, u64)> {
        losses.iter().map(|(loss, count)| (loss.as_str(), count)).collect()
    }

    #[test]
    fn bios_marks_every_token_and_counts_what_it_leaves_out() {
        let mut out = Vec::new();
        let mut writer = TokenWriter::new(&mut out, TokenFormat::Bios);
        let mut tokens = Tokens::new(TEXT, &[]);
        let mut targetless = set();
        targetless.set.targets.clear();
        Lemmas::new([], Morphology::English).give(TEXT, &mut tokens, &[set()]);
        writer.sentence(TEXT, &tokens, &[set(), targetless]).unwrap();
        let TokensWritten { sets, sentences, losses } = writer.finish().unwrap();
        assert_eq!((sets, sentences), (1, 1));
        let lines = [
            "1\tShe\t_\tshe\t_\t_\t0\t_\t_\t_\t_\t_\t_\t_\tS-Agent\tCore",
            "2\tlooked\t_\tlook\t_\t_\t0\t_\t_\t_\t_\t_\tlook over.v\tChecking\tO\t_",
            "3\tit\t_\tit\t_\t_\t0\t_\t_\t_\t_\t_\t_\t_\tS-Thing\t_",
            "4\tover\t_\tover\t_\t_\t0\t_\t_\t_\t_\t_\tlook over.v\tChecking\tO\t_",
            "5\t.\t_\t.\t_\t_\t0\t_\t_\t_\t_\t_\t_\t_\tO\t_",
        ];
        let expected = format!("{}\n\n", lines.join("\n"));
        assert_eq!(String::from_utf8(out).unwrap(), expected);
        assert_eq!(
            counts(&losses),
            [
                ("null-instantiation", 1),
                ("overlapping-fe", 2),
                ("fe-layer-2-3", 1),
                ("no-target", 1),
                ("fe-inside-token", 1),
                ("white-space", 1),
                ("no-tags", 1),
                ("gf-pt", 1),
                ("status", 1),
            ]
        );
    }

    /// Two sets of one LU on words side by side, and a third on one of them that is left out.
    #[test]
    fn a_block_for_training_tells_targets_side_by_side_apart_and_masks_shared_ones() {
        let text = "many many";
        let on = |start, end, is_complete| {
            let mut annotated = set();
            annotated.lu = "many.a".to_owned();
            annotated.set.targets = vec![Span::new(start, end)];
            annotated.set.layers.clear();
            annotated.fes_complete = is_complete;
            annotated
        };
        let mut tokens = Tokens::new(text, &[]);
        let sets = [on(0, 4, true), on(5, 9, false)];
        Lemmas::new([], Morphology::English).give(text, &mut tokens, &sets);
        let mut out = Vec::new();
        let mut writer = TokenWriter::new(&mut out, TokenFormat::Conll);
        writer.training(text, &tokens, &sets, &[Span::new(5, 9)]).unwrap();
        let mut targetless = set();
        targetless.set.targets.clear();
        writer.training(text, &tokens, &[targetless], &[]).unwrap();
        let written = writer.finish().unwrap();
        assert_eq!((written.sets, written.sentences), (2, 1));
        assert_eq!(counts(&written.losses), [("no-target", 1), ("no-tags", 1), ("status", 2)]);
        let lines = [
            "1\tmany\t_\tmany\t_\t_\t0\t_\t_\t_\t_\t_\tmany.a\tChecking\t1\tO\t?",
            "2\tmany\t_\tmany\t_\t_\t0\t_\t_\t_\t_\t_\tmany.a|?\tChecking|?\t2\tO\t?",
        ];
        assert_eq!(String::from_utf8(out).unwrap(), format!("{}\n\n", lines.join("\n")));
    }

    #[test]
    fn semafor_keeps_overlaps_and_pieces() {
        let (mut elements, mut sentences, mut tokenized) = (Vec::new(), Vec::new(), Vec::new());
        let mut files = SemaforFiles::new(&mut elements, &mut sentences, &mut tokenized);
        files.sentence(TEXT, &Tokens::new(TEXT, &[]), &[set()]).unwrap();
        let losses = files.finish().unwrap().losses;
        assert_eq!(losses.count(Loss::OverlappingElement), 0);
        let line = "1\t0.0\t5\tChecking\tlook over.v\t1_3\tlooked over\t0\tAgent\t0\tMark\t0\t\
                    Thing\t2\tMatter\t2:3\n";
        assert_eq!(String::from_utf8(elements).unwrap(), line);
        assert_eq!(sentences, b"She  looked it over .\n");
        assert_eq!(tokenized, b"She looked it over .\n");
    }
}
