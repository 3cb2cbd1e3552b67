//! Numbers and texts by what they are, where their type does not say it.
//!
//! Each is another name of a type. The schemas of records say its bounds, and nothing checks them.

use std::time::Duration;

use serde::Serializer;

/// From 0 to 1, in JSON `{"type": "number", "minimum": 0, "maximum": 1}`.
pub type Fraction<T = f64> = T;
/// From 0, in JSON `{"type": "number", "minimum": 0}`.
pub type Amount<T = f64> = T;
/// From 1, in JSON `{"type": "integer", "minimum": 1}`.
pub type Positive<T = u64> = T;
/// From 0 to 100, in JSON `{"type": "integer", "minimum": 0, "maximum": 100}`.
pub type Percent<T = u8> = T;
/// A logarithm of a probability, in JSON `{"type": "number", "maximum": 0}`.
pub type LogProbability<T = f64> = T;
/// 16 hexadecimal digits, in JSON `{"type": "string", "pattern": "^[0-9a-f]{16}$"}`.
pub type Hex16<T = String> = T;
/// 32 hexadecimal digits, in JSON `{"type": "string", "pattern": "^[0-9a-f]{32}$"}`.
pub type Hex32<T = String> = T;
/// 64 hexadecimal digits, in JSON `{"type": "string", "pattern": "^[0-9a-f]{64}$"}`.
pub type Hex64<T = String> = T;

/// Writes a duration as seconds, in JSON `{"type": "number", "minimum": 0}`.
///
/// # Errors
/// When the serializer fails.
pub fn seconds<S: Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64(time.as_secs_f64())
}
