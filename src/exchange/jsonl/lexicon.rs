//! Frames, their relations, semantic types, and LUs with their valence tables as JSON.

use crate::model::{
    AnnotationSetId, Colors, CoreType, Creation, FeId, FeRealization, FeRelation, Frame,
    FrameElement, FrameId, FrameRelation, Governor, LexUnit, Lexeme, Listing, LuId, Pos,
    RelationId, SemType, SemTypeId, SentenceCount, ValencePattern, ValenceUnit, Valences,
};

record! {
    /// Author and date.
    Creation as CreationRecord { by: String, date: String }
}

record! {
    /// Display colours.
    Colors as ColorsRecord { fg: String, bg: String }
}

record! {
    Frame as FrameRecord of Frame {
        id: FrameId,
        name: String,
        definition: String,
        elements: Vec<FrameElement>,
        core_sets: Vec<Vec<FeId>>,
        sem_types: Vec<SemTypeId>,
        created: Creation,
        modified: String,
        has_file: bool,
    }
}

record! {
    FrameElement as ElementRecord {
        id: FeId,
        name: String,
        abbreviation: String,
        core_type: CoreType,
        definition: String,
        sem_types: Vec<SemTypeId>,
        requires: Vec<FeId>,
        excludes: Vec<FeId>,
        colors: Colors,
        created: Creation,
    }
}

record! {
    /// An FE that a frame of the release gets: the frame with its name, and the FE.
    (FrameId, String, FrameElement) [(id, name, element)] as AddedElementRecord of Element {
        frame: (FrameId, String) = (id, name),
        element: FrameElement = element,
    }
}

record! {
    FrameRelation [FrameRelation {
        id, kind, super_role, sub_role, parent, parent_name, child, child_name, elements
    }] as RelationRecord of Relation {
        id: RelationId = id,
        #[serde(rename = "type")]
        relation_type: String = kind,
        super_role: String = super_role,
        sub_role: String = sub_role,
        parent: (FrameId, String) = (parent, parent_name),
        child: (FrameId, String) = (child, child_name),
        elements: Vec<FeRelation> = elements,
    }
}

record! {
    FeRelation [FeRelation { id, parent, parent_name, child, child_name }] as FePairRecord {
        id: u32 = id,
        parent: (FeId, String) = (parent, parent_name),
        child: (FeId, String) = (child, child_name),
    }
}

record! {
    SemType as SemTypeRecord of SemType {
        id: SemTypeId,
        name: String,
        abbreviation: String,
        definition: String,
        parents: Vec<SemTypeId>,
    }
}

record! {
    /// An LU, and the name of its frame.
    (LexUnit, String) [(
        LexUnit {
            id, frame, name, pos, status, definition, lexemes, incorporated_fe, sem_types,
            lemma_id, created, total_annotated, subcorpora,
            sentence_count: SentenceCount { annotated, total },
            valences: Valences { governors, realizations, groups },
            listing: Listing { frame_file, lu_file },
        },
        frame_name
    )] as LexUnitRecord of Lexunit {
        id: LuId = id,
        name: String = name,
        frame: (FrameId, String) = (frame, frame_name),
        pos: Pos = pos,
        status: String = status,
        definition: String = definition,
        lexemes: Vec<Lexeme> = lexemes,
        incorporated_fe: Option<String> = incorporated_fe,
        sem_types: Vec<SemTypeId> = sem_types,
        lemma_id: Option<u32> = lemma_id,
        created: Creation = created,
        annotated: u32 = annotated,
        extracted: u32 = total,
        total_annotated: u32 = total_annotated,
        subcorpora: Vec<String> = subcorpora,
        governors: Vec<Governor> = governors,
        realizations: Vec<FeRealization> = realizations,
        groups: Vec<FeRealization> = groups,
        in_frame_file: bool = frame_file,
        has_file: bool = lu_file,
    }
}

record! {
    Lexeme as LexemeRecord {
        name: String,
        pos: Pos,
        order: Option<u32>,
        headword: Option<bool>,
        break_before: Option<bool>,
    }
}

record! {
    Governor [Governor { kind, lemma, sets }] as GovernorRecord {
        #[serde(rename = "type")]
        governor_type: String = kind,
        lemma: String = lemma,
        sets: Vec<AnnotationSetId> = sets,
    }
}

record! {
    FeRealization as RealizationRecord {
        elements: Vec<String>,
        total: u32,
        patterns: Vec<ValencePattern>,
    }
}

record! {
    ValencePattern as PatternRecord {
        total: u32,
        units: Vec<ValenceUnit>,
        sets: Vec<AnnotationSetId>,
    }
}

record! {
    ValenceUnit as UnitRecord { fe: String, pt: String, gf: String }
}
