//! The law of the format: whatever a model's value holds, it comes back equal.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::{Record, RecordReader, RecordWriter, ReleaseRecord, Scope};
use crate::model::*;

const RELEASE: ReleaseId = ReleaseId(3);

/// Text on which counts of characters go wrong: astral and combining ones, line ends, quotes.
fn text() -> impl Strategy<Value = String> {
    "[a-c \u{e9}\u{301}\u{1F600}\u{1F1E9}\u{200d}\r\n\t\"\\\\<&\u{0}]{0,12}"
}

fn set_id() -> impl Strategy<Value = AnnotationSetId> {
    (0_usize..4, 0_u64..1 << 56).prop_map(|(space, number)| {
        let spaces = [IdSpace::Exemplar, IdSpace::FullText, IdSpace::Imported, IdSpace::Generated];
        AnnotationSetId::new(spaces[space], number)
    })
}

/// A span of a text, from any two of its boundaries.
fn span_of(text: &str, a: usize, b: usize) -> Span {
    let ends: Vec<u32> =
        text.char_indices().map(|(at, _)| at as u32).chain([text.len() as u32]).collect();
    let (a, b) = (a % ends.len(), b % ends.len());
    Span::new(ends[a.min(b)], ends[a.max(b)])
}

fn creation() -> impl Strategy<Value = Creation> {
    (text(), text()).prop_map(|(by, date)| Creation { by, date })
}

fn colors() -> impl Strategy<Value = Colors> {
    (text(), text()).prop_map(|(fg, bg)| Colors { fg, bg })
}

prop_compose! {
    fn element()(
        id: u32,
        name in text(),
        abbreviation in text(),
        core_type in 0_usize..4,
        definition in text(),
        sem_types in vec(any::<u32>().prop_map(SemTypeId), 0..3),
        requires in vec(any::<u32>().prop_map(FeId), 0..3),
        excludes in vec(any::<u32>().prop_map(FeId), 0..3),
        colors in colors(),
        created in creation(),
    ) -> FrameElement {
        let (id, core_type) = (FeId(id), CoreType::ALL[core_type]);
        FrameElement {
            id, name, abbreviation, core_type, definition, sem_types, requires, excludes, colors, created,
        }
    }
}

prop_compose! {
    fn frame()(
        id: u32,
        name in text(),
        definition in text(),
        elements in vec(element(), 0..3),
        core_sets in vec(vec(any::<u32>().prop_map(FeId), 0..3), 0..3),
        sem_types in vec(any::<u32>().prop_map(SemTypeId), 0..3),
        created in creation(),
        modified in text(),
        has_file: bool,
    ) -> Frame {
        let id = FrameId(id);
        Frame { id, name, definition, elements, core_sets, sem_types, created, modified, has_file }
    }
}

fn realization() -> impl Strategy<Value = FeRealization> {
    let unit = (text(), text(), text()).prop_map(|(fe, pt, gf)| ValenceUnit { fe, pt, gf });
    let pattern = (any::<u32>(), vec(unit, 0..3), vec(set_id(), 0..3))
        .prop_map(|(total, units, sets)| ValencePattern { total, units, sets });
    (vec(text(), 0..3), any::<u32>(), vec(pattern, 0..2))
        .prop_map(|(elements, total, patterns)| FeRealization { elements, total, patterns })
}

fn valences() -> impl Strategy<Value = Valences> {
    let governor = (text(), text(), vec(set_id(), 0..3)).prop_map(|(kind, lemma, sets)| Governor {
        kind,
        lemma,
        sets,
    });
    (vec(governor, 0..2), vec(realization(), 0..2), vec(realization(), 0..2))
        .prop_map(|(governors, realizations, groups)| Valences { governors, realizations, groups })
}

fn pos() -> impl Strategy<Value = Pos> {
    proptest::sample::select(vec![Pos::Noun, Pos::Verb, Pos::SubordinatingConjunction, Pos::Other])
}

prop_compose! {
    fn lexeme()(
        name in text(),
        pos in pos(),
        order: Option<u32>,
        headword: Option<bool>,
        break_before: Option<bool>,
    ) -> Lexeme {
        Lexeme { name, pos, order, headword, break_before }
    }
}

prop_compose! {
    fn lexunit()(
        (id, frame, lemma_id, annotated, total, total_annotated) in any::<(u32, u32, Option<u32>, u32, u32, u32)>(),
        (name, status, definition) in (text(), text(), text()),
        pos in pos(),
        lexemes in vec(lexeme(), 0..3),
        incorporated_fe in option::of(text()),
        sem_types in vec(any::<u32>().prop_map(SemTypeId), 0..3),
        created in creation(),
        subcorpora in vec(text(), 0..3),
        valences in valences(),
        (frame_file, lu_file) in any::<(bool, bool)>(),
    ) -> LexUnit {
        LexUnit {
            pos, status, definition, lexemes, incorporated_fe, sem_types, lemma_id, created,
            sentence_count: SentenceCount { annotated, total },
            total_annotated, subcorpora, valences,
            listing: Listing { frame_file, lu_file },
            ..LexUnit::named(FrameId(frame), LuId(id), &name)
        }
    }
}

prop_compose! {
    fn sentence()(
        number in 0_u64..1 << 56,
        xml_id: Option<u64>,
        text in text(),
        places in vec((option::of(text()), any::<[Option<u32>; 5]>(), any::<Option<u64>>()), 0..3),
    ) -> Sentence {
        let occurrence = |(subcorpus, numbers, position): (_, [Option<u32>; 5], _)| {
            let [lu, corpus, document, paragraph, number] = numbers;
            Occurrence {
                lu: lu.map(LuId),
                subcorpus,
                corpus: corpus.map(CorpusId),
                document: document.map(DocumentId),
                paragraph,
                number,
                position,
            }
        };
        let occurrences = places.into_iter().map(occurrence).collect();
        Sentence { id: SentenceId::new(IdSpace::FullText, number), xml_id, text, occurrences }
    }
}

/// What a label covers, before its text is known.
#[derive(Debug, Clone)]
enum Covers {
    Span(usize, usize),
    Null(String),
    Nothing,
}

type LabelParts = (String, Covers, Option<u32>, String, Option<Colors>);
type LayerParts = (String, u8, Vec<LabelParts>);

fn layer_parts() -> impl Strategy<Value = Vec<LayerParts>> {
    let covers = prop_oneof![
        (0_usize..13, 0_usize..13).prop_map(|(a, b)| Covers::Span(a, b)),
        prop_oneof![Just("INI".to_owned()), Just("INC".to_owned()), text()].prop_map(Covers::Null),
        Just(Covers::Nothing),
    ];
    let label = (text(), covers, any::<Option<u32>>(), text(), option::of(colors()));
    let name = prop_oneof![Just("FE".to_owned()), Just("PENN".to_owned()), text()];
    vec((name, any::<u8>(), vec(label, 0..4)), 0..4)
}

fn layers(parts: Vec<LayerParts>, text: &str) -> Vec<Layer> {
    let label = |(name, covers, fe, annotator, colors): LabelParts| {
        let extent = match covers {
            Covers::Span(a, b) => Extent::Overt(span_of(text, a, b)),
            Covers::Null(kind) => Extent::Null(NullInstantiation::parse(&kind)),
            Covers::Nothing => Extent::None,
        };
        Label { name, extent, fe: fe.map(FeId), annotator, colors }
    };
    let layer = |(name, rank, labels): LayerParts| Layer {
        name: LayerName::parse(&name),
        rank,
        labels: labels.into_iter().map(label).collect(),
    };
    parts.into_iter().map(layer).collect()
}

fn filter_scores() -> impl Strategy<Value = FilterScores> {
    (0_f32..=1.0, 0_f32..=1.0, any::<[u8; 16]>())
        .prop_map(|(precision, recall, filter)| FilterScores { precision, recall, filter })
}

/// A paraphrase score, infinite where nothing scored the text.
fn cost() -> impl Strategy<Value = f32> {
    prop_oneof![4 => any::<f32>().prop_filter("finite", |cost| cost.is_finite()), 1 => Just(f32::INFINITY)]
}

fn fit() -> impl Strategy<Value = FrameFit> {
    (0_f32..=1.0, any::<[u8; 16]>())
        .prop_map(|(probability, model)| FrameFit { probability, model })
}

fn prediction() -> impl Strategy<Value = Prediction> {
    let runners_up = vec((text(), 0_f32..=1.0), 0..3);
    (text(), fit(), runners_up).prop_map(|(file, fit, runners_up)| Prediction {
        file,
        fit,
        runners_up,
    })
}

prop_compose! {
    fn evidence()(
        (sets, seeds, rounds, frames, words) in any::<(u32, u32, u32, u32, u32)>(),
        (paraphrase, aligner, unknown) in (cost(), 0_f32..=1.0, 0_f32..=1.0),
        (p, r, frame_fit) in (option::of(0_f32..=1.0), option::of(0_f32..=1.0), option::of(0_f32..=1.0)),
        likeness in option::of(-1_f32..=1.0),
        (evokes, evokes_share, verified) in
            (option::of(0_f32..=1.0), option::of(0_f32..=1.0), any::<u32>()),
    ) -> Evidence {
        Evidence {
            sets, seeds, rounds, paraphrase, aligner, p, r, frames, likeness, frame_fit, unknown, words,
            evokes, evokes_share, verified,
        }
    }
}

prop_compose! {
    fn decision()(
        verdict in prop::sample::select(Verdict::ALL.to_vec()),
        time: u64,
        (note, lu) in (text(), any::<u32>().prop_map(LuId)),
        evidence in evidence(),
    ) -> Decision {
        let reviewer = "ana".to_owned();
        Decision { verdict, reviewer, time, note, lu, evidence, moved: None, undone: None }
    }
}

prop_compose! {
    fn generation()(
        (seed, source, chain) in (set_id(), set_id(), vec(set_id(), 0..3)),
        (target_ordinal, round, rank) in (any::<u16>(), 1_u16.., any::<u16>()),
        (copy, duplicate, weak_alignment) in any::<(bool, bool, bool)>(),
        (unmet, unknown_word, unlike_frame, lost_element) in any::<(bool, bool, bool, bool)>(),
        (paraphrase, aligner) in (cost(), 0_f32..=1.0),
        fit in option::of(fit()),
        method in prop::sample::select(Method::ALL.to_vec()),
        filter in option::of(filter_scores()),
        elements in vec((text(), option::of(0_f32..=1.0)), 0..3),
    ) -> Generation {
        let flags = Flags {
            copy, duplicate, weak_alignment, unmet, unknown_word, unlike_frame, lost_element,
        };
        Generation {
            seed, source, target_ordinal, round, rank, chain, method,
            recipe: RecipeId(7), flags, paraphrase, aligner, filter,
            elements: elements.into_iter().map(|(name, score)| CarriedElement { name, score }).collect(),
            fit,
        }
    }
}

prop_compose! {
    fn carrying()(
        (generated, source) in (set_id(), set_id()),
        aligner in 0_f32..=1.0,
        elements in vec((text(), option::of(0_f32..=1.0)), 0..3),
    ) -> Carrying {
        let elements =
            elements.into_iter().map(|(name, score)| CarriedElement { name, score }).collect();
        Carrying { generated, source, aligner, elements }
    }
}

fn provenance() -> impl Strategy<Value = Provenance> {
    prop_oneof![
        (any::<u32>(), text())
            .prop_map(|(lu, subcorpus)| Provenance::Exemplar { lu: LuId(lu), subcorpus }),
        any::<(u32, u32)>().prop_map(|(corpus, document)| Provenance::FullText {
            corpus: CorpusId(corpus),
            document: DocumentId(document)
        }),
        text().prop_map(|file| Provenance::Imported { file }),
        Just(Provenance::User),
        generation().prop_map(|made| Provenance::Generated(Box::new(made))),
        prediction().prop_map(|prediction| Provenance::Predicted(Box::new(prediction))),
        carrying().prop_map(|carrying| Provenance::Carried(Box::new(carrying))),
    ]
}

prop_compose! {
    fn set()(
        id in set_id(),
        (xml_id, frame, lu) in any::<(Option<u64>, u32, u32)>(),
        sentence in sentence(),
        (status, created) in (text(), text()),
        pieces in vec((0_usize..13, 0_usize..13), 0..3),
        fe_status in 0_usize..4,
        parts in layer_parts(),
        provenance in provenance(),
    ) -> (Sentence, AnnotationSet) {
        let fe_statuses = FeStatus::ALL;
        let set = AnnotationSet {
            id, xml_id, sentence: sentence.id, frame: FrameId(frame), lu: LuId(lu), status, created,
            targets: pieces.into_iter().map(|(a, b)| span_of(&sentence.text, a, b)).collect(),
            fe_status: fe_statuses[fe_status],
            layers: layers(parts, &sentence.text),
            provenance,
        };
        (sentence, set)
    }
}

/// Writes a file of one kind of record and reads its records.
fn there_and_back(
    write: impl FnOnce(&mut RecordWriter<&mut Vec<u8>>),
) -> (Vec<Record>, RecordReader<std::io::Cursor<Vec<u8>>>) {
    let release = Release {
        id: RELEASE,
        name: "a".to_owned(),
        language: "en".to_owned(),
        source: String::new(),
        source_bytes: 0,
        imported: 0,
        counts: ReleaseCounts::default(),
    };
    let mut bytes = Vec::new();
    let mut writer =
        RecordWriter::new(&mut bytes, &ReleaseRecord::new(&release, Scope::Whole)).unwrap();
    let recipe = super::RecipeRecord::new([7; 16], "{}".to_owned());
    writer.recipe(RecipeId(7), &recipe).unwrap();
    write(&mut writer);
    writer.finish().unwrap();
    let mut reader = RecordReader::new(std::io::Cursor::new(bytes), "a.jsonl".as_ref()).unwrap();
    assert_eq!(reader.release().clone().into_model(RELEASE), release);
    let mut records = Vec::new();
    while let Some(record) = reader.read().unwrap() {
        records.push(record);
    }
    assert!(matches!(records.remove(0), Record::Recipe([7, ..], _)));
    (records, reader)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn frames_come_back(frame in frame()) {
        let (records, _) = there_and_back(|writer| writer.frame(frame.clone()).unwrap());
        let [Record::Frame(back)] = records.as_slice() else { panic!("{records:?}") };
        prop_assert_eq!(back, &frame);
    }

    #[test]
    fn lexical_units_come_back(lexunit in lexunit(), frame_name in text()) {
        let (records, _) =
            there_and_back(|writer| writer.lexunit(lexunit.clone(), &frame_name).unwrap());
        let [Record::LexUnit(back, name)] = records.as_slice() else { panic!("{records:?}") };
        prop_assert_eq!((&**back, name), (&lexunit, &frame_name));
    }

    #[test]
    fn sentences_and_sets_come_back((sentence, set) in set(), names in (text(), text())) {
        let (records, reader) = there_and_back(|writer| {
            writer.sentence(sentence.clone()).unwrap();
            writer.set(set.clone(), &names.0, &names.1, &sentence.text).unwrap();
        });
        let mut records = records.into_iter();
        let Some(Record::Sentence(back)) = records.next() else { panic!("no sentence") };
        prop_assert_eq!(&back, &sentence);
        let Some(Record::Set(record, of)) = records.next() else { panic!("no set") };
        prop_assert_eq!(of, sentence.id);
        prop_assert_eq!((&record.frame().name, &record.lu().name), (&names.0, &names.1));
        let recipe = record.recipe().map(|_| RecipeId(7));
        prop_assert_eq!(reader.set(*record, &sentence.text, recipe).unwrap(), set);
    }

    #[test]
    fn decisions_come_back(frame: u32, history in vec(decision(), 1..3)) {
        let decided = Decided { frame: FrameId(frame), name: "vet.v".to_owned(), history };
        let (records, _) =
            there_and_back(|writer| writer.decisions(decided.clone(), "Checking").unwrap());
        let [Record::Decisions(back, name)] = records.as_slice() else { panic!("{records:?}") };
        prop_assert_eq!((back, name.as_str()), (&decided, "Checking"));
    }

    #[test]
    fn what_a_search_found_comes_back(
        frame: u32,
        score in 0.0f32..=1.0,
        slot in option::of(-9.0f32..9.0),
        words in vec(text(), 2),
        place in text(),
        is_search: bool,
    ) {
        let name = if is_search { String::new() } else { "vet.v".to_owned() };
        let text = format!("{}{}", words[0], words[1]);
        let target = Span::new(words[0].len() as u32, text.len() as u32);
        let (made_of, evokes) = (Some(AnnotationSetId::new(IdSpace::Exemplar, 7)), Some(score));
        let sentence = FoundSentence { text, target, evokes, made_of, place };
        let by = words[0].clone();
        let found = Discovery {
            frame: FrameId(frame), name, lu: LuId(9), score, evokes, slot,
            support: 1.0, likeness: slot, sources: words, sentences: vec![sentence],
            refused: vec![RefusedWord { name: "a.v".to_owned(), reason: "b".to_owned(), by }],
            candidates: 3, asked: 2, verifier: [8; 16], time: 5,
        };
        let (records, _) =
            there_and_back(|writer| writer.discovery(found.clone(), "Checking").unwrap());
        let [Record::Discovery(back, name)] = records.as_slice() else { panic!("{records:?}") };
        prop_assert_eq!((&**back, name.as_str()), (&found, "Checking"));
    }

    #[test]
    fn sentence_layers_come_back(
        sentence in sentence(),
        id in set_id(),
        xml_id: u64,
        construction in option::of((any::<u32>(), text())),
        (status, created) in (text(), text()),
        listed_under in vec(any::<u32>().prop_map(LuId), 0..3),
        parts in layer_parts(),
    ) {
        let layers = layers(parts, &sentence.text);
        let sentence_id = sentence.id;
        let set = SentenceLayers {
            id, xml_id, sentence: sentence_id, construction, status, created, listed_under, layers,
        };
        let (records, reader) =
            there_and_back(|writer| writer.layers(set.clone(), &sentence.text).unwrap());
        let mut records = records.into_iter();
        let Some(Record::Layers(record, of)) = records.next() else { panic!("no layers") };
        prop_assert_eq!(of, sentence_id);
        prop_assert_eq!(reader.layers(record, &sentence.text).unwrap(), set);
    }

    #[test]
    fn no_bytes_make_the_reader_panic(line in vec(any::<u8>(), 0..60)) {
        let mut bytes = Vec::new();
        let release = ReleaseRecord::new(
            &Release {
                id: RELEASE,
                name: "a".to_owned(),
                language: String::new(),
                source: String::new(),
                source_bytes: 0,
                imported: 0,
                counts: ReleaseCounts::default(),
            },
            Scope::Part,
        );
        drop(RecordWriter::new(&mut bytes, &release).unwrap());
        bytes.extend(line);
        let mut reader =
            RecordReader::new(bytes.as_slice(), "a.jsonl".as_ref()).unwrap();
        while let Ok(Some(_)) = reader.read() {}
    }
}
