//! Enums whose cases have a written name, by which JSON has them, too.

use std::collections::BTreeMap;
use std::fmt::Display;

use serde::{Serialize, Serializer};

/// An enum whose cases have written names; [`named!`](crate::named) defines one.
pub trait Named: Copy + 'static {
    /// All cases, in order.
    const CASES: &'static [Self];

    /// The name, as files and output have it.
    fn name(self) -> &'static str;

    /// What the case is: its doc comment, a line for each of its lines.
    fn about(self) -> &'static str;
}

/// Writes a map in the order of its keys' names.
///
/// # Errors
/// When the serializer fails.
pub fn by_name<K: Display, V: Serialize, S: Serializer>(
    map: &BTreeMap<K, V>,
    to: S,
) -> Result<S::Ok, S::Error> {
    let named: BTreeMap<String, &V> =
        map.iter().map(|(of, value)| (of.to_string(), value)).collect();
    named.serialize(to)
}

/// The text of the doc comments among attributes.
#[doc(hidden)]
#[macro_export]
macro_rules! documented {
    () => { "" };
    (#[doc = $text:literal] $($rest:tt)*) => {
        concat!($text, "\n", $crate::documented!($($rest)*))
    };
    (#[$($other:tt)*] $($rest:tt)*) => { $crate::documented!($($rest)*) };
}

/// Defines an enum with the name of each case beside it: `Case => "name",`.
#[doc(hidden)]
#[macro_export]
macro_rules! named {
    ($(#[$meta:meta])* $visible:vis enum $name:ident {
        $($(#[$($of_case:tt)*])* $case:ident $(= $code:literal)? => $text:expr,)*
    }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $visible enum $name {
            $($(#[$($of_case)*])* $case $(= $code)?,)*
        }

        #[allow(dead_code, reason = "not every enum is read, or listed")]
        impl $name {
            /// All cases, in order.
            $visible const ALL: [Self; [$($text),*].len()] = [$(Self::$case),*];

            /// The name, as files and output have it.
            #[must_use]
            $visible fn as_str(self) -> &'static str {
                match self {
                    $(Self::$case => $text,)*
                }
            }

            /// Reads what [`as_str`](Self::as_str) writes.
            #[must_use]
            $visible fn parse(text: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|case| case.as_str() == text)
            }
        }

        impl $crate::model::Named for $name {
            const CASES: &'static [Self] = &Self::ALL;

            fn name(self) -> &'static str {
                self.as_str()
            }

            fn about(self) -> &'static str {
                match self {
                    $(Self::$case => $crate::documented!($(#[$($of_case)*])*),)*
                }
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, to: S) -> ::std::result::Result<S::Ok, S::Error> {
                to.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> ::std::result::Result<Self, D::Error> {
                let text = <::std::borrow::Cow<'_, str> as serde::Deserialize>::deserialize(from)?;
                let unknown = || serde::de::Error::unknown_variant(&text, &[$($text),*]);
                Self::parse(&text).ok_or_else(unknown)
            }
        }
    };
}

pub(crate) use named;
