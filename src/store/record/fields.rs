//! How a type's record is written down: as a list of its fields, or as a code.
//!
//! bincode writes neither names nor nesting, so the list is the format. A type of [`crate::model`]
//! may get other fields or another order of them; what is listed here for a version stays.
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

/// Encodes types as the fields given, in that order. Fields after `absent` are not in the record:
/// they stand in its key, or version 1 has no room for them, and decoding gives them these values.
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
