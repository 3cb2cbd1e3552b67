//! The full-text split of Das and Smith (2011), as open-sesame lists it: 23 test documents, 8 dev
//! documents, the rest train.

use super::Document;
use super::named::named;

named! {
    /// A part of the data.
    #[allow(missing_docs, reason = "the field's own words")]
    pub enum Split {
        Train => "train",
        Dev => "dev",
        Test => "test",
    }
}

const DEV: [&str; 8] = [
    "ANC__110CYL072",
    "KBEval__MIT",
    "LUCorpus-v0.3__20000415_apw_eng-NEW",
    "LUCorpus-v0.3__ENRON-pearson-email-25jul02",
    "Miscellaneous__Hijack",
    "NTI__NorthKorea_NuclearOverview",
    "NTI__WMDNews_062606",
    "PropBank__TicketSplitting",
];

const TEST: [&str; 23] = [
    "ANC__110CYL067",
    "ANC__110CYL069",
    "ANC__112C-L013",
    "ANC__IntroHongKong",
    "ANC__StephanopoulosCrimes",
    "ANC__WhereToHongKong",
    "KBEval__Brandeis",
    "KBEval__Stanford",
    "KBEval__atm",
    "KBEval__cycorp",
    "KBEval__parc",
    "KBEval__utd-icsi",
    "LUCorpus-v0.3__20000410_nyt-NEW",
    "LUCorpus-v0.3__AFGP-2002-602187-Trans",
    "LUCorpus-v0.3__IZ-060316-01-Trans-1",
    "LUCorpus-v0.3__SNO-525",
    "LUCorpus-v0.3__enron-thread-159550",
    "LUCorpus-v0.3__sw2025-ms98-a-trans.ascii-1-NEW",
    "Miscellaneous__Hound-Ch14",
    "Miscellaneous__SadatAssassination",
    "NTI__NorthKorea_Introduction",
    "NTI__Syria_NuclearOverview",
    "PropBank__AetnaLifeAndCasualty",
];

impl Split {
    /// The part that a full-text document belongs to, by the stem of its file.
    #[must_use]
    pub fn of_document(file_stem: &str) -> Self {
        if TEST.contains(&file_stem) {
            Self::Test
        } else if DEV.contains(&file_stem) {
            Self::Dev
        } else {
            Self::Train
        }
    }

    /// The part that a document belongs to: a full text's by the list, that of span-labelled data
    /// by the name of its corpus.
    #[must_use]
    pub fn of(document: &Document) -> Option<Self> {
        if document.file.is_empty() {
            return Self::parse(&document.corpus_name);
        }
        Some(Self::of_document(&document.file))
    }
}
