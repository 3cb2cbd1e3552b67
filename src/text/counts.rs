//! Numbers in sentences: grouped digits, and things in singular or plural.

/// A number of things, as in `1 commit`, `2,000 commits` and `3 entries`.
#[must_use]
pub fn counted(number: u64, thing: &str) -> String {
    let number_said = grouped(number);
    match thing.strip_suffix('y') {
        _ if number == 1 => format!("{number_said} {thing}"),
        Some(stem) => format!("{number_said} {stem}ies"),
        None => format!("{number_said} {thing}s"),
    }
}

/// A number with its thousands set apart.
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
