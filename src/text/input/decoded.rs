//! Bytes of a file or a pipe as UTF-8, whichever Unicode encoding they are in.

use std::io::{self, BufRead, Read};

/// Most bytes at the beginning of an input that are looked at to tell its encoding.
const LOOKED_AT: usize = 4096;

/// Of the 16-bit units of a file without a mark, one in so many must be a letter of ASCII for the
/// file to be UTF-16.
const ASCII_SHARE: usize = 8;

/// What stands for half a surrogate pair or half a unit: a byte that is never part of UTF-8, so
/// that whoever reads the line refuses it.
const BROKEN: u8 = 0xff;

/// How an input writes its characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    Utf8,
    /// Units of 16 bits, the low byte first.
    Utf16Le,
    /// Units of 16 bits, the high byte first.
    Utf16Be,
}

/// An input as UTF-8, without the byte-order mark that it may begin with.
///
/// UTF-16 is known by its mark, or where there is none by its first line: each letter of ASCII in
/// it has a zero byte on the same side.
#[derive(Debug)]
pub struct Decoded<R> {
    input: R,
    encoding: Option<Encoding>,
    /// Bytes to be handed out before more is read, from `at` on.
    ready: Vec<u8>,
    at: usize,
    /// The first byte of a unit, and the first unit of a surrogate pair, whose rest is to come.
    half_unit: Option<u8>,
    half_pair: Option<u16>,
}

impl<R: BufRead> Decoded<R> {
    /// The text of an input. Nothing is read yet.
    pub fn new(input: R) -> Self {
        let (ready, at) = (Vec::new(), 0);
        Self { input, encoding: None, ready, at, half_unit: None, half_pair: None }
    }

    /// The encoding, which is known once something was read.
    pub(super) fn encoding(&self) -> Option<Encoding> {
        self.encoding
    }

    /// Reads the first line, or as much of it as tells the encoding.
    fn begin(&mut self) -> io::Result<Encoding> {
        let mut head = Vec::new();
        while head.len() < LOOKED_AT {
            let part = self.input.fill_buf()?;
            if part.is_empty() {
                break;
            }
            let most = part.len().min(LOOKED_AT - head.len());
            let end = part[..most].iter().position(|&byte| byte == b'\n');
            let taken = end.map_or(most, |end| end + 1);
            head.extend_from_slice(&part[..taken]);
            self.input.consume(taken);
            // Who writes a pipe may wait for an answer to its first line before he writes a second.
            let says_something = |&byte: &u8| byte != 0 && !byte.is_ascii_whitespace();
            if end.is_some() && head.iter().any(says_something) {
                break;
            }
        }
        let (encoding, mark) = encoding_of(&head);
        self.encoding = Some(encoding);
        match encoding {
            Encoding::Utf8 => {
                head.drain(..mark);
                self.ready = head;
            }
            Encoding::Utf16Le | Encoding::Utf16Be => self.take(encoding, &head[mark..]),
        }
        Ok(encoding)
    }

    /// Adds bytes of UTF-16 to what is ready.
    fn take(&mut self, encoding: Encoding, bytes: &[u8]) {
        for &byte in bytes {
            let Some(first) = self.half_unit.take() else {
                self.half_unit = Some(byte);
                continue;
            };
            let pair = [first, byte];
            let unit = match encoding {
                Encoding::Utf16Be => u16::from_be_bytes(pair),
                _ => u16::from_be_bytes(pair).swap_bytes(),
            };
            let waiting = self.half_pair.take();
            let is_second = (0xdc00..0xe000).contains(&unit);
            if waiting.is_some() && !is_second {
                self.ready.push(BROKEN);
            }
            if (0xd800..0xdc00).contains(&unit) {
                self.half_pair = Some(unit);
                continue;
            }
            for letter in
                char::decode_utf16(waiting.filter(|_| is_second).into_iter().chain([unit]))
            {
                match letter {
                    Ok(letter) => {
                        self.ready.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
                    }
                    Err(_) => self.ready.push(BROKEN),
                }
            }
        }
    }
}

impl<R: BufRead> BufRead for Decoded<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let encoding = match self.encoding {
            Some(encoding) => encoding,
            None => self.begin()?,
        };
        if self.at < self.ready.len() {
            return Ok(&self.ready[self.at..]);
        }
        if encoding == Encoding::Utf8 {
            return self.input.fill_buf();
        }
        self.ready.clear();
        self.at = 0;
        // One byte gives no character yet, so that more may have to be read.
        while self.ready.is_empty() {
            let bytes = self.input.fill_buf()?.to_vec();
            if bytes.is_empty() {
                if self.half_unit.take().is_some() | self.half_pair.take().is_some() {
                    self.ready.push(BROKEN);
                }
                break;
            }
            self.input.consume(bytes.len());
            self.take(encoding, &bytes);
        }
        Ok(&self.ready)
    }

    fn consume(&mut self, amount: usize) {
        match self.at < self.ready.len() {
            true => self.at += amount,
            false => self.input.consume(amount),
        }
    }
}

impl<R: BufRead> Read for Decoded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let part = self.fill_buf()?;
        let read = part.len().min(buffer.len());
        buffer[..read].copy_from_slice(&part[..read]);
        self.consume(read);
        Ok(read)
    }
}

/// The encoding that the first bytes show, and the length of the mark among them.
fn encoding_of(head: &[u8]) -> (Encoding, usize) {
    match head {
        [0xef, 0xbb, 0xbf, ..] => (Encoding::Utf8, 3),
        [0xff, 0xfe, ..] => (Encoding::Utf16Le, 2),
        [0xfe, 0xff, ..] => (Encoding::Utf16Be, 2),
        _ if is_plainly(head, 1) => (Encoding::Utf16Le, 0),
        _ if is_plainly(head, 0) => (Encoding::Utf16Be, 0),
        _ => (Encoding::Utf8, 0),
    }
}

/// Whether bytes without a mark are UTF-16 whose high bytes stand at `high` of each pair: it begins
/// with a letter of ASCII, has more of them, and zeros and line feeds stand where they must.
fn is_plainly(head: &[u8], high: usize) -> bool {
    let pairs = || head.chunks_exact(2).map(|pair| (pair[high], pair[1 - high]));
    let ascii = pairs().filter(|(high, low)| *high == 0 && low.is_ascii()).count();
    let begins = pairs().next().is_some_and(|(high, low)| high == 0 && low.is_ascii());
    // A zero in the low byte, or a line feed in the high one, is of a script that comes near no
    // ASCII, or of a text that is not UTF-16.
    let is_wrong = |(high, low): (u8, u8)| low == 0 || high == b'\n';
    begins && ascii > 1 && ascii * ASCII_SHARE >= pairs().count() && !pairs().any(is_wrong)
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    fn utf16(text: &str, big: bool) -> Vec<u8> {
        let bytes =
            |unit: u16| if big { unit.to_be_bytes() } else { unit.swap_bytes().to_be_bytes() };
        text.encode_utf16().flat_map(bytes).collect()
    }

    fn decoded(bytes: &[u8]) -> Vec<u8> {
        let mut all = Vec::new();
        Decoded::new(bytes).read_to_end(&mut all).unwrap();
        // Whatever the size of the parts that it comes in.
        for size in [1, 3] {
            let mut again = Vec::new();
            let parts = BufReader::with_capacity(size, bytes);
            Decoded::new(parts).read_to_end(&mut again).unwrap();
            assert_eq!(again, all, "in parts of {size}");
        }
        all
    }

    const TEXT: &str =
        "{\"text\": \"\u{5d1}\u{5d3}\u{5e7} \u{1f415} caf\u{e9}\"}\r\n\r\n\u{4e0a}\r\n";

    #[test]
    fn utf_16_and_marks_are_read_as_the_text_that_they_write() {
        assert_eq!(decoded(TEXT.as_bytes()), TEXT.as_bytes());
        for mark in ["\u{feff}", ""] {
            let marked = format!("{mark}{TEXT}");
            assert_eq!(decoded(marked.as_bytes()), TEXT.as_bytes(), "{mark:?}");
            for big in [false, true] {
                assert_eq!(decoded(&utf16(&marked, big)), TEXT.as_bytes(), "{mark:?} {big}");
            }
        }
        assert_eq!(decoded(b""), b"");
        assert_eq!(decoded(&utf16("\u{feff}\u{5d1}", false)), "\u{5d1}".as_bytes());
    }

    #[test]
    fn a_blank_first_line_hides_no_encoding() {
        for big in [false, true] {
            let text = "\r\n  \n{\"a\": 1}\n";
            assert_eq!(decoded(&utf16(text, big)), text.as_bytes(), "{big}");
        }
    }

    #[test]
    fn utf_8_with_zeros_stays_what_it_is() {
        for bytes in [&b"a\0b\n"[..], b"a\0", b"\0", b"\0\0\0\0", b"a b c d\0 e f\n", b"ab\0\0cd"] {
            assert_eq!(decoded(bytes), bytes, "{bytes:?}");
        }
    }

    #[test]
    fn what_is_half_there_is_a_byte_that_no_text_has() {
        let mut odd = utf16("\u{feff}ab", false);
        odd.push(b'c');
        assert_eq!(decoded(&odd), b"ab\xff");
        // The first half of a pair alone, at the end, and the second half alone.
        let units = |units: &[u16]| -> Vec<u8> {
            [0xfeff]
                .iter()
                .chain(units)
                .flat_map(|unit: &u16| unit.swap_bytes().to_be_bytes())
                .collect()
        };
        assert_eq!(decoded(&units(&[0xd83d, 0x61, 0xd83d])), b"\xffa\xff");
        assert_eq!(decoded(&units(&[0xdc15, 0x61])), b"\xffa");
        let dog = [&[0xff], "\u{1f415}".as_bytes()].concat();
        assert_eq!(decoded(&units(&[0xd83d, 0xd83d, 0xdc15])), dog);
    }

    #[test]
    fn the_first_line_of_a_pipe_is_handed_out_before_the_second_is_written() {
        struct Pipe(Vec<&'static [u8]>);
        impl Read for Pipe {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                let part = self.0.remove(0);
                buffer[..part.len()].copy_from_slice(part);
                Ok(part.len())
            }
        }
        // A third read would panic.
        let mut input = Decoded::new(BufReader::new(Pipe(vec![b"one ", b"line\n"])));
        let mut line = Vec::new();
        input.read_until(b'\n', &mut line).unwrap();
        assert_eq!(line, b"one line\n");
    }
}
