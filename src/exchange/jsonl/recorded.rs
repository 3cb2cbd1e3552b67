//! A type of [`crate::model`] and its record, from one list of fields.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Checked, NamedId};
use crate::exchange::error::Fault;
use crate::model::{
    AnnotationSetId, CoreType, CorpusId, DocumentId, FeId, FeStatus, FrameId, LinkSource, LuId,
    Method, NumberKind, Pos, RelationId, SemTypeId, SentenceId, Verdict, from_hexadecimal,
    hexadecimal,
};

/// What has a record.
pub(super) trait Recorded: Sized {
    type Record: Serialize + DeserializeOwned;

    fn into_record(self) -> Self::Record;

    /// What a record says; the fault names the field by its path inside the record.
    fn from_record(record: Self::Record) -> Checked<Self>;
}

/// Defines a record and [`Recorded`] for its model. A record of fields that the model has, too:
///
/// `Model as Record { field: Type }`
///
/// A record of another shape, where the same words take the model apart and put it together:
///
/// `Model [Model { field, other }] as Record { both: (Type, Other) = (field, other) }`
///
/// `as Record of Kind` says that the record is a line of its own.
macro_rules! record {
    ($(#[$meta:meta])* $model:ident as $record:ident $(of $kind:ident)? {
        $($(#[$attribute:meta])* $field:ident: $type:ty),* $(,)?
    }) => {
        record! {
            $(#[$meta])* $model [$model { $($field),* }] as $record $(of $kind)? {
                $($(#[$attribute])* $field: $type = $field),*
            }
        }
    };
    ($(#[$meta:meta])* $model:ty [$($shape:tt)*] as $record:ident $(of $kind:ident)? {
        $($(#[$attribute:meta])* $field:ident: $type:ty = $part:tt),* $(,)?
    }) => {
        $(#[$meta])*
        #[derive(Debug, serde::Serialize, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(super) struct $record {
            $(#[doc = stringify!($kind)] kind: super::LineKind,)?
            $($(#[$attribute])* $field: <$type as super::recorded::Recorded>::Record,)*
        }

        #[allow(unused_parens, reason = "a part of several tokens stands in them")]
        impl super::recorded::Recorded for $model {
            type Record = $record;

            fn into_record(self) -> $record {
                let $($shape)* = self;
                $record {
                    $(kind: super::LineKind::$kind,)?
                    $($field: super::recorded::Recorded::into_record($part),)*
                }
            }

            fn from_record(record: $record) -> super::Checked<Self> {
                $(let $part = <$type as super::recorded::Recorded>::from_record(record.$field)
                    .map_err(|fault| fault.inside(stringify!($field)))?;)*
                Ok($($shape)*)
            }
        }
    };
}

/// Types that stand in records as they are.
macro_rules! plain {
    ($($type:ty)*) => {$(
        impl Recorded for $type {
            type Record = Self;

            fn into_record(self) -> Self {
                self
            }

            fn from_record(record: Self) -> Checked<Self> {
                Ok(record)
            }
        }
    )*};
}

plain! { bool u8 u16 u32 u64 String }

impl Recorded for f32 {
    type Record = Self;

    fn into_record(self) -> Self {
        self
    }

    /// JSON has numbers that are infinite in 32 bits, and no infinity.
    fn from_record(record: Self) -> Checked<Self> {
        match record.is_finite() {
            true => Ok(record),
            false => Err(Fault::value("", record, "a number up to 3.4e38")),
        }
    }
}

/// A paraphrase score, infinite where nothing scored the text.
pub(super) struct Cost(pub(super) f32);

impl Recorded for Cost {
    type Record = Option<f32>;

    fn into_record(self) -> Option<f32> {
        Some(self.0).filter(|cost| cost.is_finite())
    }

    fn from_record(record: Option<f32>) -> Checked<Self> {
        record.map_or(Ok(f32::INFINITY), f32::from_record).map(Self)
    }
}

/// Numbers, alone and with the name that they stand for.
macro_rules! numbers {
    ($($id:ident)*) => {$(
        impl Recorded for $id {
            type Record = u32;

            fn into_record(self) -> u32 {
                self.0
            }

            fn from_record(number: u32) -> Checked<Self> {
                Ok(Self(number))
            }
        }

        impl Recorded for ($id, String) {
            type Record = NamedId;

            fn into_record(self) -> NamedId {
                NamedId { id: self.0.0, name: self.1 }
            }

            fn from_record(NamedId { id, name }: NamedId) -> Checked<Self> {
                Ok(($id(id), name))
            }
        }
    )*};
}

numbers! { FrameId FeId LuId SemTypeId RelationId CorpusId DocumentId }

/// Types that stand in records as text: how it is written, how it is read, what it may be.
macro_rules! texts {
    ($($type:ty: $write:expr, $read:expr, $expected:expr;)*) => {$(
        impl Recorded for $type {
            type Record = String;

            fn into_record(self) -> String {
                let write: fn(Self) -> String = $write;
                write(self)
            }

            fn from_record(text: String) -> Checked<Self> {
                let read: fn(&str) -> Option<Self> = $read;
                read(&text).ok_or_else(|| Fault::value("", &text, $expected))
            }
        }
    )*};
}

const ID: &str = "a letter (x, f, i or g) and a number, as in `x1024`";

texts! {
    AnnotationSetId: |id| id.to_string(), Self::parse, ID;
    SentenceId: |id| id.to_string(), Self::parse, ID;
    Pos: |pos| pos.as_str().to_owned(),
        |text| Some(Self::parse(text)).filter(|pos| pos.as_str() == text),
        "a part of speech of FrameNet, as in `V`, or `X` for any other";
    NumberKind: |kind| kind.as_str().to_owned(), Self::parse,
        format!("one of {}", Self::ALL.map(Self::as_str).join(", "));
    FeStatus: |status| status.as_str().to_owned(), Self::parse,
        "`annotated`, `unannotated`, `unknown` or `carried`";
    Verdict: |verdict| verdict.as_str().to_owned(), Self::parse,
        "`accept`, `reject`, `move` or `merge`";
    LinkSource: |source| source.as_str().to_owned(), Self::parse,
        format!("one of {}", Self::ALL.map(Self::as_str).join(", "));
    Method: |method| method.as_str().to_owned(), Self::parse, "`paraphrase`";
    // A fingerprint.
    [u8; 16]: |print| hexadecimal(&print), |text| from_hexadecimal(text), "32 hexadecimal digits";
    CoreType: |core_type| core_type.as_str().to_owned(), Self::parse,
        "`Core`, `Core-Unexpressed`, `Peripheral` or `Extra-Thematic`";
}

impl<T: Recorded> Recorded for Option<T> {
    type Record = Option<T::Record>;

    fn into_record(self) -> Self::Record {
        self.map(T::into_record)
    }

    fn from_record(record: Self::Record) -> Checked<Self> {
        record.map(T::from_record).transpose()
    }
}

impl<T: Recorded> Recorded for Vec<T> {
    type Record = Vec<T::Record>;

    fn into_record(self) -> Self::Record {
        self.into_iter().map(T::into_record).collect()
    }

    fn from_record(records: Self::Record) -> Checked<Self> {
        let item = |(number, record)| {
            T::from_record(record).map_err(|fault| fault.inside(&format!("[{number}]")))
        };
        records.into_iter().enumerate().map(item).collect()
    }
}
