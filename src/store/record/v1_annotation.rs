//! Version 1 of the records of annotation sets.

use bincode::de::Decoder;
use bincode::enc::Encoder;
use bincode::error::{DecodeError, EncodeError};
use bincode::{Decode, Encode};

use super::v1::one_of;
use crate::model::{
    AnnotationSet, AnnotationSetId, Extent, FeStatus, Flags, FrameId, Generation, IdSpace, Label,
    Layer, LayerName, LuId, Method, NullInstantiation, Provenance, SentenceId, SentenceLayers,
    Span,
};

/// The id of a set or sentence whose key has it.
const IN_KEY: u64 = 0;

coded! {
    LayerName as String: |name| name.as_str().to_owned(), |text| Ok(Self::parse(&text));
    NullInstantiation as String: |kind| kind.as_str().to_owned(), |text| Ok(Self::parse(&text));
    FeStatus as u8: |status| *status as u8, |code| one_of(&FeStatus::ALL, code, "FE status");
    Method as u8: |method| *method as u8, |code| one_of(&Method::ALL, code, "method");
    Span as (u32, u32): |span| (span.start, span.end), span;
    Flags as u8: bits, flags;
}

fn span((start, end): (u32, u32)) -> Result<Span, String> {
    if start > end {
        return Err(format!("a span from {start} to {end}"));
    }
    Ok(Span::new(start, end))
}

/// copy 1, duplicate 2, weak alignment 4, unmet 8, unknown word 16, unlike frame 32, lost FE 64.
fn bits(flags: &Flags) -> u8 {
    let mut flags = *flags;
    flags.slots().iter().enumerate().map(|(bit, (_, set))| u8::from(**set) << bit).sum()
}

fn flags(bits: u8) -> Result<Flags, String> {
    if bits >> 7 != 0 {
        return Err(format!("flags {bits:#b}"));
    }
    let mut flags = Flags::default();
    for (bit, (_, flag)) in flags.slots().into_iter().enumerate() {
        *flag = bits & (1 << bit) != 0;
    }
    Ok(flags)
}

fields! {
    AnnotationSet {
        xml_id, status, created, targets, fe_status, layers, provenance;
        absent id: AnnotationSetId::new(IdSpace::Exemplar, IN_KEY),
        sentence: SentenceId::new(IdSpace::Exemplar, IN_KEY), frame: FrameId(0), lu: LuId(0)
    }
    SentenceLayers {
        xml_id, construction, status, created, listed_under, layers;
        absent id: AnnotationSetId::new(IdSpace::Exemplar, IN_KEY),
        sentence: SentenceId::new(IdSpace::Exemplar, IN_KEY)
    }
    Layer { name, rank, labels }
    Label { name, extent, fe, annotator, colors }
    Generation {
        seed, source, target_ordinal, round, rank, chain, method, recipe, flags, paraphrase, aligner;
        absent filter: None, elements: Vec::new(), fit: None
    }
}

fn no_case<T>(what: &str, case: u32) -> Result<T, DecodeError> {
    Err(DecodeError::OtherString(format!("{what} {case}")))
}

#[doc(hidden)]
impl Encode for Extent {
    fn encode<E: Encoder>(&self, encoder: &mut E) -> Result<(), EncodeError> {
        match self {
            Self::None => 0_u32.encode(encoder),
            Self::Overt(span) => (1_u32, *span).encode(encoder),
            Self::Null(kind) => {
                2_u32.encode(encoder)?;
                kind.encode(encoder)
            }
        }
    }
}

#[doc(hidden)]
impl<C> Decode<C> for Extent {
    fn decode<D: Decoder<Context = C>>(decoder: &mut D) -> Result<Self, DecodeError> {
        match u32::decode(decoder)? {
            0 => Ok(Self::None),
            1 => Decode::decode(decoder).map(Self::Overt),
            2 => Decode::decode(decoder).map(Self::Null),
            case => no_case("extent", case),
        }
    }
}

#[doc(hidden)]
impl Encode for Provenance {
    fn encode<E: Encoder>(&self, encoder: &mut E) -> Result<(), EncodeError> {
        match self {
            Self::Exemplar { lu, subcorpus } => {
                (0_u32, *lu).encode(encoder)?;
                subcorpus.encode(encoder)
            }
            Self::FullText { corpus, document } => (1_u32, *corpus, *document).encode(encoder),
            Self::Imported { file } => {
                2_u32.encode(encoder)?;
                file.encode(encoder)
            }
            // What a prediction is, version 4 says.
            Self::User | Self::Predicted(_) => 3_u32.encode(encoder),
            Self::Generated(made) => {
                4_u32.encode(encoder)?;
                made.encode(encoder)
            }
        }
    }
}

#[doc(hidden)]
impl<C> Decode<C> for Provenance {
    fn decode<D: Decoder<Context = C>>(decoder: &mut D) -> Result<Self, DecodeError> {
        Ok(match u32::decode(decoder)? {
            0 => {
                Self::Exemplar { lu: Decode::decode(decoder)?, subcorpus: Decode::decode(decoder)? }
            }
            1 => Self::FullText {
                corpus: Decode::decode(decoder)?,
                document: Decode::decode(decoder)?,
            },
            2 => Self::Imported { file: Decode::decode(decoder)? },
            3 => Self::User,
            4 => Self::Generated(Decode::decode(decoder)?),
            case => return no_case("provenance", case),
        })
    }
}
