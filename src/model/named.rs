//! Enums whose cases have a written name, by which JSON has them, too.

/// Defines an enum with the name of each case beside it: `Case => "name",`.
macro_rules! named {
    ($(#[$meta:meta])* $visible:vis enum $name:ident {
        $($(#[$of_case:meta])* $case:ident $(= $code:literal)? => $text:expr,)*
    }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $visible enum $name {
            $($(#[$of_case])* $case $(= $code)?,)*
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
