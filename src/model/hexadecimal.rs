//! Bytes as people read them.

/// Two hexadecimal digits for each byte, in small letters.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_has_two_digits() {
        assert_eq!(hexadecimal(&[0, 10, 255]), "000aff");
        assert_eq!(hexadecimal(&[]), "");
    }
}
