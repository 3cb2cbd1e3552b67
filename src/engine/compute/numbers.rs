//! In which numbers a network's matrix products are computed.

use std::str::FromStr;

use crate::model::named;

named! {
    /// In which numbers a network's matrix products are computed. All else is computed in f32.
    ///
    /// The default, blocks, works with every model and is the fastest on a CPU.
    ///
    /// ```
    /// use fnstore::engine::Numbers;
    ///
    /// assert_eq!("int8".parse(), Ok(Numbers::Int8));
    /// assert_eq!(Numbers::default().to_string(), "blocks");
    /// ```
    #[derive(Default)]
    #[non_exhaustive]
    pub enum Numbers {
        /// 32-bit floating point, whatever the weights are stored in.
        F32 => "f32",
        /// 8-bit integers, with a scale for each row of a weight and for each row of its input.
        ///
        /// Weights that are stored so are used as they are. Others are rounded when they are
        /// loaded.
        Int8 => "int8",
        /// Integers of 4 to 8 bits in blocks of 16 or 32 that share a scale, as GGUF files store
        /// them.
        ///
        /// Such weights are used as they are. Others are rounded to 8 bits when they are loaded.
        /// Inputs are rounded to 8 bits in blocks of 32.
        #[default]
        Blocks => "blocks",
    }
}

/// A name that stands for no kind of numbers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot compute in `{name}`: expected `f32`, `int8` or `blocks`")]
pub struct UnknownNumbers {
    /// The name.
    pub name: String,
}

impl FromStr for Numbers {
    type Err = UnknownNumbers;

    fn from_str(name: &str) -> Result<Self, UnknownNumbers> {
        Self::parse(name).ok_or_else(|| UnknownNumbers { name: name.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for numbers in Numbers::ALL {
            assert_eq!(numbers.to_string().parse(), Ok(numbers));
        }
        let error = "fp16".parse::<Numbers>().unwrap_err().to_string();
        assert!(error.contains("`fp16`") && error.contains("`int8`"), "{error}");
    }
}
