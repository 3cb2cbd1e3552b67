//! How FrameNet's files list what they hold, as JSON: what XML needs beside the records.

use crate::model::{
    AnnotationSetId, Colors, CorpusId, DocumentId, DocumentLayout, Foreign, ForeignFile, FrameId,
    FrameIndexEntry, FrameLayout, IndexCorpus, LexUnitHead, LexUnitLayout, Lexeme, ListedElement,
    ListedRelation, ListedSentence, ListedSubcorpus, LuId, LuIndex, LuIndexEntry, OddLabel,
    OddOffsets, Pos, RelationId, RelationKind, RelationList, ReleaseLayout, SemTypeId, SemTypeList,
    SentenceId, Title,
};

/// The file that a layout describes, with the layout.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Layout {
    /// The files at the top of a release.
    Release(ReleaseLayout),
    /// A frame's file.
    Frame(FrameId, FrameLayout),
    /// An LU's file.
    LexUnit(FrameId, LuId, LexUnitLayout),
    /// A document's file.
    Document(CorpusId, DocumentId, DocumentLayout),
    /// What a file holds beside FrameNet.
    Foreign(ForeignFile, Foreign),
}

record! {
    ReleaseLayout as ReleaseLayoutRecord of ReleaseLayout {
        frame_index: Option<Vec<FrameIndexEntry>>,
        lu_index: Option<LuIndex>,
        fulltext_index: Option<Vec<IndexCorpus>>,
        sem_types: Option<SemTypeList>,
        relations: Option<RelationList>,
    }
}

record! {
    FrameIndexEntry as FrameIndexRecord { id: FrameId, name: String, modified: String }
}

record! {
    LuIndex as LuIndexRecord { legend: Vec<(String, String)>, entries: Vec<LuIndexEntry> }
}

record! {
    /// What a status means.
    (String, String) [(name, description)] as LegendRecord {
        name: String = name,
        description: String = description,
    }
}

record! {
    LuIndexEntry [LuIndexEntry { id, name, frame, frame_name, status, annotated, instances }]
    as LuIndexEntryRecord {
        id: LuId = id,
        name: String = name,
        frame: (FrameId, String) = (frame, frame_name),
        status: String = status,
        annotated: bool = annotated,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        instances: Option<u32> = instances,
    }
}

record! {
    IndexCorpus [IndexCorpus { id, title: Title { name, description }, documents }]
    as IndexCorpusRecord {
        id: CorpusId = id,
        name: String = name,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        description: Option<String> = description,
        documents: Vec<(DocumentId, Title)> = documents,
    }
}

record! {
    (DocumentId, Title) [(id, Title { name, description })] as IndexDocumentRecord {
        id: DocumentId = id,
        name: String = name,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        description: Option<String> = description,
    }
}

record! {
    SemTypeList as SemTypeListRecord { created: String, sem_types: Vec<SemTypeId> }
}

record! {
    RelationList [RelationList { created, kinds }] as RelationListRecord {
        created: String = created,
        types: Vec<RelationKind> = kinds,
    }
}

record! {
    RelationKind as RelationTypeRecord {
        id: Option<u32>,
        name: String,
        super_role: String,
        sub_role: String,
        relations: Vec<RelationId>,
    }
}

record! {
    (FrameId, FrameLayout) [(frame, FrameLayout { relations, lexunits })]
    as FrameLayoutRecord of FrameLayout {
        frame: FrameId = frame,
        relations: Vec<ListedRelation> = relations,
        lexunits: Vec<LuId> = lexunits,
    }
}

record! {
    ListedRelation [ListedRelation { kind, id, frames }] as ListedRelationRecord {
        #[serde(rename = "type")]
        relation_type: String = kind,
        id: Option<u32> = id,
        frames: Vec<(Option<FrameId>, String)> = frames,
    }
}

record! {
    (Option<FrameId>, String) [(id, name)] as ListedFrameRecord {
        id: Option<FrameId> = id,
        name: String = name,
    }
}

record! {
    (FrameId, LuId, LexUnitLayout) [
        (frame, lu, LexUnitLayout { head, lexemes, elements, corpora, subcorpora, odd_labels })
    ] as LexUnitLayoutRecord of LexunitLayout {
        frame: FrameId = frame,
        lu: LuId = lu,
        head: Option<LexUnitHead> = head,
        lexemes: Vec<Lexeme> = lexemes,
        elements: Option<Vec<ListedElement>> = elements,
        corpora: Vec<(CorpusId, Vec<DocumentId>)> = corpora,
        subcorpora: Vec<ListedSubcorpus> = subcorpora,
        odd_labels: Vec<OddLabel> = odd_labels,
    }
}

record! {
    LexUnitHead as HeadRecord {
        name: String,
        pos: Pos,
        status: String,
        incorporated_fe: Option<String>,
        definition: String,
        sem_types: Vec<SemTypeId>,
    }
}

record! {
    ListedElement as ListedElementRecord {
        name: String,
        core_type: String,
        abbreviation: String,
        colors: Colors,
    }
}

record! {
    (CorpusId, Vec<DocumentId>) [(id, documents)] as ListedCorpusRecord {
        id: CorpusId = id,
        documents: Vec<DocumentId> = documents,
    }
}

record! {
    ListedSubcorpus as SubcorpusRecord { name: String, sentences: Vec<ListedSentence> }
}

record! {
    ListedSentence as ListedSentenceRecord {
        id: SentenceId,
        occurrence: u32,
        sets: Vec<AnnotationSetId>,
    }
}

record! {
    /// A label whose place a set cannot hold; `start` and `end` are FrameNet's, the end included.
    OddLabel [OddLabel { set, label: OddOffsets { layer, label, start, end, null } }]
    as OddLabelRecord {
        set: AnnotationSetId = set,
        layer: u32 = layer,
        label: u32 = label,
        start: Option<u32> = start,
        end: Option<u32> = end,
        ni: Option<String> = null,
    }
}

record! {
    (CorpusId, DocumentId, DocumentLayout) [
        (corpus, document, DocumentLayout { sentences, odd_labels })
    ] as DocumentLayoutRecord of DocumentLayout {
        corpus: CorpusId = corpus,
        document: DocumentId = document,
        sentences: Vec<ListedSentence> = sentences,
        odd_labels: Vec<OddLabel> = odd_labels,
    }
}
