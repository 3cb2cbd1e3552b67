//! The record of a sentence's set of layers, and the layers of any set.

use super::annotation::IN_KEY;
use crate::model::{
    AnnotationSetId, Extent, IdSpace, Label, Layer, LayerName, NullInstantiation, SentenceId,
    SentenceLayers, Span,
};

coded! {
    LayerName as String: |name| name.as_str().to_owned(), |text| Ok(Self::parse(&text));
    NullInstantiation as String: |kind| kind.as_str().to_owned(), |text| Ok(Self::parse(&text));
    Span as (u32, u32): |span| (span.start, span.end), span;
}

fn span((start, end): (u32, u32)) -> Result<Span, String> {
    if start > end {
        return Err(format!("a span from {start} to {end}"));
    }
    Ok(Span::new(start, end))
}

fields! {
    SentenceLayers {
        xml_id, construction, status, created, listed_under, layers;
        absent id: AnnotationSetId::new(IdSpace::Exemplar, IN_KEY),
        sentence: SentenceId::new(IdSpace::Exemplar, IN_KEY)
    }
    Layer { name, rank, labels }
    Label { name, extent, fe, annotator, colors }
}

cases! {
    Extent, "extent" {
        0 => None,
        1 => Overt(span),
        2 => Null(kind),
    }
}
