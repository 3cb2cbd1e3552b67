//! Data on stdout: the only place that prints it.
//!
//! Rows of a table, JSON records, and delimited fields all go through [`Output`], which buffers
//! them. [`tell`] is for everything that is not data and goes to stderr.
//!
//! What is laid out for reading, and all that goes to a terminal, has its control characters made
//! visible here ([`visible`]). JSON, CSV and TSV that go elsewhere keep every text as it is.

use std::borrow::Cow;
use std::io::{self, BufWriter, IsTerminal, Stdout, Write};

use comfy_table::{Table, presets};
use fnstore::named;
pub(crate) use fnstore::text::{counted, grouped};
use fnstore::text::{visible, visible_in_json};
use serde::Serialize;

/// What stands before the first element of a JSON array, and before each of the others.
const FIRST: &[u8] = b"[\n";
const NEXT: &[u8] = b",\n";

/// Width of wrapped text where no terminal says another.
const WIDTH: usize = 100;

named! {
    /// A format of output.
    pub(crate) enum Format {
        /// Laid out for reading
        Table => "table",
        /// One JSON document
        Json => "json",
        /// One JSON record a line
        Jsonl => "jsonl",
        /// Comma-separated values
        Csv => "csv",
        /// Tab-separated values
        Tsv => "tsv",
    }
}

/// Where bytes go.
pub(crate) enum Sink {
    Stdout(BufWriter<Stdout>),
    /// Bytes that are laid out for a place in the data.
    Memory(Vec<u8>),
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stdout(out) => out.write(bytes),
            Self::Memory(out) => out.write(bytes),
        }
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Stdout(out) => out.write_all(bytes),
            Self::Memory(out) => out.write_all(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout(out) => out.flush(),
            Self::Memory(_) => Ok(()),
        }
    }
}

/// How data looks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look {
    format: Option<Format>,
    terminal: bool,
    color: bool,
    width: usize,
}

/// Where data goes.
pub(crate) struct Output {
    out: Sink,
    look: Look,
    /// Records written to the JSON array that is open.
    in_array: Option<usize>,
    /// Whether a field got an apostrophe before it, which is told once.
    has_guarded: bool,
}

impl Output {
    /// Standard output, in the format that was asked for.
    pub(crate) fn stdout(format: Option<Format>) -> Self {
        let terminal = io::stdout().is_terminal();
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let columns = if terminal { Table::new().width() } else { None };
        let look = Look {
            format,
            terminal,
            color: terminal && !no_color,
            width: columns.map_or(WIDTH, |columns| usize::from(columns).clamp(40, WIDTH)),
        };
        let out = Sink::Stdout(BufWriter::new(io::stdout()));
        Self { out, look, in_array: None, has_guarded: false }
    }

    /// How its data looks.
    pub(crate) fn look(&self) -> Look {
        self.look
    }

    /// Data that is laid out apart, for a place [behind other data](Self::append) that looks so.
    pub(crate) fn apart(look: Look) -> Self {
        // Its records stand behind others of an array.
        Self { out: Sink::Memory(Vec::new()), look, in_array: Some(1), has_guarded: false }
    }

    /// Writes records that were laid out apart, and hands them on.
    pub(crate) fn append(&mut self, apart: Self, format: Format) -> io::Result<()> {
        let Sink::Memory(bytes) = apart.out else { return Ok(()) };
        if apart.has_guarded {
            self.tell_of_guards();
        }
        let mut bytes = bytes.as_slice();
        if format == Format::Json && !bytes.is_empty() {
            let written = self.in_array.get_or_insert(0);
            if *written == 0 {
                self.out.write_all(FIRST)?;
                bytes = bytes.strip_prefix(NEXT).unwrap_or(bytes);
            }
            *written += 1;
        }
        self.out.write_all(bytes)?;
        self.out.flush()
    }

    /// Says once that fields have an apostrophe before them.
    fn tell_of_guards(&mut self) {
        if !std::mem::replace(&mut self.has_guarded, true) && matches!(self.out, Sink::Stdout(_)) {
            tell(GUARDED);
        }
    }

    /// The format asked for; else a table on a terminal and `piped` elsewhere.
    pub(crate) fn format_or(&self, piped: Format) -> Format {
        self.look.format.unwrap_or(if self.look.terminal { Format::Table } else { piped })
    }

    /// Writes a line for reading.
    pub(crate) fn line(&mut self, text: &str) -> io::Result<()> {
        self.part(text)?;
        self.out.write_all(b"\n")
    }

    /// Writes the start of a line for reading.
    pub(crate) fn part(&mut self, text: &str) -> io::Result<()> {
        self.out.write_all(visible(text).as_bytes())
    }

    /// Writes a count under its name, with a note where there is one.
    pub(crate) fn count(&mut self, name: &str, count: u64, note: &str) -> io::Result<()> {
        self.figure(name, &grouped(count), note)
    }

    /// Writes a figure under its name, with a note where there is one.
    pub(crate) fn figure(&mut self, name: &str, value: &str, note: &str) -> io::Result<()> {
        self.line(format!("  {name:<20} {value:>9}  {note}").trim_end())
    }

    /// Writes a heading: bold on a terminal.
    pub(crate) fn heading(&mut self, title: &str) -> io::Result<()> {
        self.headed(title, "")
    }

    /// Writes a line that begins with a heading, two spaces before the rest where there is one.
    pub(crate) fn headed(&mut self, title: &str, rest: &str) -> io::Result<()> {
        let (start, end) = if self.look.color { ("\x1b[1m", "\x1b[0m") } else { ("", "") };
        let space = if rest.is_empty() { "" } else { "  " };
        let (title, rest) = (visible(title), visible(rest));
        writeln!(self.out, "{start}{title}{end}{space}{rest}")
    }

    /// Writes a line of a drawing, moved in: it has colours and no other control characters.
    pub(crate) fn drawn(&mut self, indent: usize, line: &str) -> io::Result<()> {
        writeln!(self.out, "{:indent$}{line}", "")
    }

    /// Writes a paragraph, wrapped at spaces and indented.
    pub(crate) fn paragraph(&mut self, indent: usize, text: &str) -> io::Result<()> {
        let room = self.look.width.saturating_sub(indent).max(20);
        for line in wrapped(text, room) {
            self.line(&format!("{:indent$}{line}", ""))?;
        }
        Ok(())
    }

    /// Writes one JSON document, laid out over lines under [`Format::Json`] and in one line else.
    pub(crate) fn json(&mut self, document: &impl Serialize) -> anyhow::Result<()> {
        self.write_json(document, self.look.format == Some(Format::Json))?;
        Ok(self.out.write_all(b"\n")?)
    }

    fn write_json(&mut self, document: &impl Serialize, is_pretty: bool) -> io::Result<()> {
        if !self.look.terminal {
            return match is_pretty {
                true => Ok(serde_json::to_writer_pretty(&mut self.out, document)?),
                false => Ok(serde_json::to_writer(&mut self.out, document)?),
            };
        }
        let text = match is_pretty {
            true => serde_json::to_string_pretty(document)?,
            false => serde_json::to_string(document)?,
        };
        self.out.write_all(visible_in_json(&text).as_bytes())
    }

    /// Writes what a name stands for in every release that has it: one document a line, under
    /// [`Format::Json`] one document in all, an array when there are several.
    pub(crate) fn documents(&mut self, documents: &[impl Serialize]) -> anyhow::Result<()> {
        if documents.len() > 1 && self.look.format == Some(Format::Json) {
            return self.json(&documents);
        }
        documents.iter().try_for_each(|document| self.json(document))
    }

    /// Writes one of many records, as a line of JSON lines or an element of one JSON array, which
    /// [`end_records`](Self::end_records) closes.
    pub(crate) fn record(&mut self, record: &impl Serialize, format: Format) -> anyhow::Result<()> {
        if format == Format::Json {
            let written = self.in_array.get_or_insert(0);
            self.out.write_all(if *written == 0 { FIRST } else { NEXT })?;
            *written += 1;
            return Ok(self.write_json(record, false)?);
        }
        self.write_json(record, false)?;
        Ok(self.out.write_all(b"\n")?)
    }

    /// Ends the records: a JSON array is closed, an empty one written.
    pub(crate) fn end_records(&mut self, format: Format) -> io::Result<()> {
        if format == Format::Json {
            let end: &[u8] = if self.in_array.take().is_some() { b"\n]\n" } else { b"[]\n" };
            self.out.write_all(end)?;
        }
        Ok(())
    }

    /// Writes one row of delimited fields; a field is quoted where RFC 4180 asks for it, and
    /// [guarded](guarded) where a spreadsheet would run it. On a terminal fields are for reading.
    pub(crate) fn fields<F: AsRef<str>>(
        &mut self,
        format: Format,
        fields: impl IntoIterator<Item = F>,
    ) -> io::Result<()> {
        let delimiter = if format == Format::Csv { ',' } else { '\t' };
        let mut row = String::new();
        for (number, field) in fields.into_iter().enumerate() {
            if number > 0 {
                row.push(delimiter);
            }
            let field = guarded(field.as_ref());
            if matches!(field, Cow::Owned(_)) {
                self.tell_of_guards();
            }
            push_field(&mut row, &field, delimiter);
        }
        row.push('\n');
        let row = if self.look.terminal { visible(&row) } else { Cow::from(row) };
        self.out.write_all(row.as_bytes())
    }

    /// Writes columns side by side, under their names.
    pub(crate) fn table(&mut self, header: &[&str], rows: Vec<Vec<String>>) -> io::Result<()> {
        let mut table = Table::new();
        table.load_style(presets::NOTHING);
        table.set_header(header.to_vec());
        let shown = |cell: &String| visible(cell).into_owned();
        table.add_rows(rows.iter().map(|row| row.iter().map(shown).collect::<Vec<_>>()));
        let lines: Vec<String> = table.lines().map(|line| line.trim_end().to_owned()).collect();
        lines.iter().try_for_each(|line| self.line(line.strip_prefix(' ').unwrap_or(line)))
    }

    /// Whether text may be coloured: on a terminal, unless `NO_COLOR` is set.
    pub(crate) fn has_color(&self) -> bool {
        self.look.color
    }

    /// Columns that a line for reading may take.
    pub(crate) fn width(&self) -> usize {
        self.look.width
    }

    /// Where data that is laid out elsewhere goes.
    pub(crate) fn data(&mut self) -> &mut Sink {
        &mut self.out
    }

    /// Hands on what is still buffered.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Says something that is not data.
pub(crate) fn tell(text: &str) {
    // A notice that nobody can read is no reason to stop.
    let _ = writeln!(io::stderr().lock(), "{}", visible(text));
}

/// A number of things of which something is said, as in `1 item is` and `2 items are`.
pub(crate) fn counted_are(number: u64, thing: &str) -> String {
    format!("{} {}", counted(number, thing), if number == 1 { "is" } else { "are" })
}

/// A size in the largest fitting unit of 1024s.
pub(crate) fn size(bytes: u64) -> String {
    let units = ["KiB", "MiB", "GiB", "TiB"];
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < units.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.1} {}", units[unit])
}

/// What is told of guarded fields.
const GUARDED: &str = "note: fields that a spreadsheet would run as a formula have an apostrophe \
                       before them; `--format jsonl` keeps every text as it is";

/// A field as a spreadsheet shows it: an apostrophe stands before text that would be a formula, and
/// before text that begins with apostrophes and would then be taken for one of these. So a reader
/// gets the text back by removing one apostrophe from what has one before `=`, `+`, `-` or `@`.
fn guarded(field: &str) -> Cow<'_, str> {
    let is_formula = field.trim_start_matches('\'').starts_with(['=', '+', '-', '@', '\t', '\r']);
    match is_formula && field.len() > 1 && field.parse::<f64>().is_err() {
        true => format!("'{field}").into(),
        false => field.into(),
    }
}

fn push_field(row: &mut String, field: &str, delimiter: char) {
    if field.contains([delimiter, '"', '\n', '\r']) {
        row.push('"');
        row.push_str(&field.replace('"', "\"\""));
        row.push('"');
    } else {
        row.push_str(field);
    }
}

/// The lines of a paragraph, each of at most `room` characters unless a single word is longer.
fn wrapped(text: &str, room: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut length = 0;
    for word in text.split_whitespace() {
        let letters = word.chars().count();
        if length > 0 && length + 1 + letters > room {
            lines.push(std::mem::take(&mut line));
            length = 0;
        }
        if length > 0 {
            line.push(' ');
            length += 1;
        }
        line.push_str(word);
        length += letters;
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_is_no_plural() {
        let said = [0, 1, 2000].map(|number| counted(number, "row"));
        assert_eq!(said, ["0 rows", "1 row", "2,000 rows"]);
        assert_eq!([1, 3].map(|number| counted(number, "entry")), ["1 entry", "3 entries"]);
        assert_eq!([1, 2].map(|number| counted_are(number, "item")), ["1 item is", "2 items are"]);
    }

    #[test]
    fn a_field_is_quoted_where_it_must_be() {
        let mut row = String::new();
        for (field, quoted) in [
            ("plain", "plain"),
            ("a,b", "\"a,b\""),
            ("\"x\"", "\"\"\"x\"\"\""),
            ("a\nb", "\"a\nb\""),
        ] {
            row.clear();
            push_field(&mut row, field, ',');
            assert_eq!(row, quoted);
        }
        row.clear();
        push_field(&mut row, "a,b", '\t');
        assert_eq!(row, "a,b");
    }

    #[test]
    fn what_a_spreadsheet_would_run_has_an_apostrophe_and_comes_back_without_one() {
        for (field, written) in [
            ("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"),
            ("+ 3 more", "'+ 3 more"),
            ("-- he said", "'-- he said"),
            ("@SUM(1)", "'@SUM(1)"),
            ("\t=1", "'\t=1"),
            ("'=1", "''=1"),
            ("'tis", "'tis"),
            ("-0.5", "-0.5"),
            ("+1e-7", "+1e-7"),
            ("-", "-"),
            ("", ""),
        ] {
            assert_eq!(guarded(field), written);
            let is_guarded =
                written.trim_start_matches('\'').starts_with(['=', '+', '-', '@', '\t']);
            let read =
                if is_guarded { written.strip_prefix('\'').unwrap_or(written) } else { written };
            assert_eq!(read, field);
        }
    }

    #[test]
    fn a_paragraph_keeps_its_words_and_its_width() {
        assert_eq!(wrapped("one two  three\nfour", 8), ["one two", "three", "four"]);
        assert_eq!(wrapped("incomprehensible a", 5), ["incomprehensible", "a"]);
        assert_eq!(wrapped(" ", 5), [""; 0]);
    }

    #[test]
    fn numbers_are_written_for_reading() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([512, 1024, 3 << 20].map(size), ["0.5 KiB", "1.0 KiB", "3.0 MiB"]);
    }
}
