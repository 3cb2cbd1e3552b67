//! When something was made, from the dates that FrameNet writes.

/// The instant of a date as FrameNet writes it, `MM/DD/YYYY HH:MM:SS TZ Day`, in seconds since 1970
/// (UTC). Zones are those of North America, `UTC` and `GMT`; the day's name is not looked at.
/// `None` for any other text.
///
/// ```
/// use fnstore::model::instant;
///
/// assert_eq!(instant("02/07/2001 04:11:40 PST Wed"), Some(981_547_900));
/// assert_eq!(instant("02/07/2001 12:11:40 UTC Wed"), Some(981_547_900));
/// assert_eq!(instant("2001-02-07"), None);
/// ```
#[must_use]
pub fn instant(written: &str) -> Option<i64> {
    let mut parts = written.split(' ');
    let [month, day, year] = numbers(parts.next()?, '/', [2, 2, 4])?;
    let [hour, minute, second] = numbers(parts.next()?, ':', [2, 2, 2])?;
    let west = hours_west(parts.next()?)?;
    parts.next()?;
    let is_time = hour < 24 && minute < 60 && second <= 60;
    if parts.next().is_some() || !is_time || day == 0 || day > days_of(month, year)? {
        return None;
    }
    Some(((days_since_1970(year, month, day) * 24 + hour + west) * 60 + minute) * 60 + second)
}

/// A time in seconds since 1970 (UTC), to the minute, as in `2026-11-28 17:05`.
#[must_use]
pub fn date(seconds: u64) -> String {
    let minutes = i64::try_from(seconds / 60).unwrap_or(i64::MAX);
    let (mut days, minute) = (minutes / (24 * 60), minutes % (24 * 60));
    let mut year = 1970 + days / 366;
    while days_since_1970(year + 1, 1, 1) <= days {
        year += 1;
    }
    days -= days_since_1970(year, 1, 1);
    let mut month = 1;
    while let Some(length) = days_of(month, year).filter(|length| *length <= days) {
        days -= length;
        month += 1;
    }
    format!("{year}-{month:02}-{:02} {:02}:{:02}", days + 1, minute / 60, minute % 60)
}

/// Numbers of so many digits each.
fn numbers(text: &str, between: char, digits: [usize; 3]) -> Option<[i64; 3]> {
    let mut parts = text.split(between);
    let mut found = [0; 3];
    for (found, digits) in found.iter_mut().zip(digits) {
        let part = parts.next()?;
        let is_number = part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit());
        *found = part.parse().ok().filter(|_| is_number)?;
    }
    parts.next().is_none().then_some(found)
}

/// By how many hours a zone is behind UTC.
fn hours_west(zone: &str) -> Option<i64> {
    Some(match zone {
        "UTC" | "GMT" => 0,
        "EDT" => 4,
        "EST" | "CDT" => 5,
        "CST" | "MDT" => 6,
        "MST" | "PDT" => 7,
        "PST" => 8,
        _ => return None,
    })
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_of(month: i64, year: i64) -> Option<i64> {
    Some(match month {
        2 => 28 + i64::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    })
}

/// Days from the first of 1970 to a date of the Gregorian calendar.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let before = |year: i64| year * 365 + year / 4 - year / 100 + year / 400;
    let months: i64 = (1..month).filter_map(|month| days_of(month, year)).sum();
    before(year - 1) - before(1969) + months + day - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_that_of_its_instant() {
        for day in 0..60_000_u64 {
            let seconds = day * 24 * 60 * 60 + (day * 977) % (24 * 60 * 60);
            let text = date(seconds);
            let (date, time) = text.split_once(' ').unwrap();
            let parts: Vec<&str> = date.split('-').collect();
            let written = format!("{}/{}/{} {time}:00 UTC Mon", parts[1], parts[2], parts[0]);
            assert_eq!(instant(&written), Some((seconds / 60 * 60).cast_signed()), "{text}");
        }
        assert_eq!(date(1_795_885_911), "2026-11-28 17:11");
    }

    #[test]
    fn dates_are_instants_whatever_their_zone() {
        assert_eq!(instant("01/01/1970 00:00:00 GMT Thu"), Some(0));
        assert_eq!(instant("02/29/2000 23:59:59 UTC Tue"), Some(951_868_799));
        assert_eq!(instant("03/01/2000 00:00:00 UTC Wed"), Some(951_868_800));
        // Summer time ends: an hour that is there twice.
        let twice = ["10/28/2001 01:30:00 PDT Sun", "10/28/2001 01:30:00 PST Sun"].map(instant);
        assert_eq!(twice, [Some(1_004_257_800), Some(1_004_261_400)]);
        assert!(instant("03/02/2026 09:30:00 UTC Mon") > instant("03/02/2026 01:29:59 PST Mon"));
    }

    #[test]
    fn what_is_no_date_is_none() {
        for text in [
            "",
            "02/07/2001",
            "2/7/2001 04:11:40 PST Wed",
            "02/30/2001 04:11:40 PST Wed",
            "02/29/1900 04:11:40 PST Wed",
            "13/07/2001 04:11:40 PST Wed",
            "02/00/2001 04:11:40 PST Wed",
            "02/07/2001 24:11:40 PST Wed",
            "02/07/2001 04:11:40 XYZ Wed",
            "02/07/2001 04:11:40 PST",
            "02/07/2001 04:11:40 PST Wed again",
            "+2/07/2001 04:11:40 PST Wed",
        ] {
            assert_eq!(instant(text), None, "{text}");
        }
    }
}
