//! How a type's record is written down: as a list of its fields, as one of several cases, or as a
//! code.
//!
//! bincode writes neither names nor nesting, so the list is the format. A type of [`crate::model`]
//! may get another order of its fields; what is listed here stays.
//!
//! The traits of bincode are hidden in the documentation: they are no part of the public interface.

/// Decodes a type that borrows nothing, where bincode asks for one that may.
macro_rules! borrowed {
    ($type:ident) => {
        #[doc(hidden)]
        impl<'de, C> bincode::BorrowDecode<'de, C> for $type {
            fn borrow_decode<D: bincode::de::BorrowDecoder<'de, Context = C>>(
                decoder: &mut D,
            ) -> Result<Self, bincode::error::DecodeError> {
                bincode::Decode::decode(decoder)
            }
        }
    };
}

/// Encodes types as the fields given, in that order. Fields after `absent` stand in the record's
/// key: decoding gives them these values until the key is read.
macro_rules! fields {
    ($($type:ident {
        $($field:ident),* $(; absent $($absent:ident: $value:expr),*)?
    })*) => {
        $(
            #[doc(hidden)]
            impl bincode::Encode for $type {
                fn encode<E: bincode::enc::Encoder>(
                    &self,
                    encoder: &mut E,
                ) -> Result<(), bincode::error::EncodeError> {
                    $(bincode::Encode::encode(&self.$field, encoder)?;)*
                    Ok(())
                }
            }

            #[doc(hidden)]
            impl<C> bincode::Decode<C> for $type {
                fn decode<D: bincode::de::Decoder<Context = C>>(
                    decoder: &mut D,
                ) -> Result<Self, bincode::error::DecodeError> {
                    Ok(Self {
                        $($field: bincode::Decode::decode(decoder)?,)*
                        $($($absent: $value,)*)?
                    })
                }
            }

            borrowed!($type);
        )*

        /// Every field that is listed here.
        #[cfg(test)]
        pub(super) const FIELDS: &[&str] = &[$($(stringify!($field),)*)*];
    };
}

/// Encodes types as the number of a case, then the case's parts in the order given; `what` is what
/// an error calls the type.
macro_rules! cases {
    ($type:ident, $what:literal {
        $($number:literal => $case:ident
            $(($($part:ident),*))? $({ $($field:ident),* })?,)*
    }) => {
        #[doc(hidden)]
        impl bincode::Encode for $type {
            fn encode<E: bincode::enc::Encoder>(
                &self,
                encoder: &mut E,
            ) -> Result<(), bincode::error::EncodeError> {
                match self {
                    $(Self::$case $(($($part),*))? $({ $($field),* })? => {
                        let case: u32 = $number;
                        bincode::Encode::encode(&case, encoder)?;
                        $($(bincode::Encode::encode($part, encoder)?;)*)?
                        $($(bincode::Encode::encode($field, encoder)?;)*)?
                    })*
                }
                Ok(())
            }
        }

        #[doc(hidden)]
        impl<C> bincode::Decode<C> for $type {
            fn decode<D: bincode::de::Decoder<Context = C>>(
                decoder: &mut D,
            ) -> Result<Self, bincode::error::DecodeError> {
                let case: u32 = bincode::Decode::decode(decoder)?;
                Ok(match case {
                    $($number => {
                        $($(let $part = bincode::Decode::decode(decoder)?;)*)?
                        $($(let $field = bincode::Decode::decode(decoder)?;)*)?
                        Self::$case $(($($part),*))? $({ $($field),* })?
                    })*
                    _ => {
                        let reason = format!("{} {case}", $what);
                        return Err(bincode::error::DecodeError::OtherString(reason));
                    }
                })
            }
        }

        borrowed!($type);
    };
}

/// Encodes types as a code: how it is made, and how it is read. A number that is not read is not
/// written; every text is read.
macro_rules! coded {
    (@try String, $code:ident, $read:ident) => {};
    (@try $type:tt, $code:ident, $read:ident) => {
        if let Err(reason) = $read($code) {
            return Err(bincode::error::EncodeError::OtherString(reason));
        }
    };
    ($($type:ident as $code:tt: $write:expr, $read:expr;)*) => {$(
        #[doc(hidden)]
        impl bincode::Encode for $type {
            fn encode<E: bincode::enc::Encoder>(
                &self,
                encoder: &mut E,
            ) -> Result<(), bincode::error::EncodeError> {
                let write: fn(&Self) -> $code = $write;
                #[allow(unused_variables, reason = "every text is read")]
                let read: fn($code) -> Result<Self, String> = $read;
                let code = write(self);
                coded!(@try $code, code, read);
                bincode::Encode::encode(&code, encoder)
            }
        }

        #[doc(hidden)]
        impl<C> bincode::Decode<C> for $type {
            fn decode<D: bincode::de::Decoder<Context = C>>(
                decoder: &mut D,
            ) -> Result<Self, bincode::error::DecodeError> {
                let read: fn($code) -> Result<Self, String> = $read;
                read(bincode::Decode::decode(decoder)?)
                    .map_err(bincode::error::DecodeError::OtherString)
            }
        }

        borrowed!($type);
    )*};
}
