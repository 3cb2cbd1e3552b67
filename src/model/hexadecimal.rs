//! Bytes as people read them.

/// Two hexadecimal digits for each byte, in small letters.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes that two digits each, in letters of either case, stand for; `None` for any other text.
pub(crate) fn from_hexadecimal<const BYTES: usize>(text: &str) -> Option<[u8; BYTES]> {
    let digits = text.as_bytes();
    if digits.len() != 2 * BYTES {
        return None;
    }
    let mut bytes = [0; BYTES];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks(2)) {
        for digit in pair {
            let value = char::from(*digit).to_digit(16)?;
            *byte = *byte << 4 | value as u8;
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_has_two_digits() {
        assert_eq!(hexadecimal(&[0, 10, 255]), "000aff");
        assert_eq!(hexadecimal(&[]), "");
        assert_eq!(from_hexadecimal("000aFf"), Some([0, 10, 255]));
        for text in ["000af", "000aff00", "000ag0", "+00aff"] {
            assert_eq!(from_hexadecimal::<3>(text), None, "{text}");
        }
    }
}
