//! Columns of Arrow's layout: offsets, values and a bit for each row that is not null.

use std::io::Write as _;

use super::ffi::ArrowArray;

/// Name and type of a column.
#[derive(Debug, Clone)]
pub(crate) struct Type {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) nullable: bool,
}

/// What a column holds.
#[derive(Debug, Clone)]
pub(crate) enum Kind {
    Text,
    U8,
    U16,
    U32,
    F32,
    List(Box<Type>),
    Struct(Vec<Type>),
}

/// Bytes of a usual text: names are about as long.
const TEXT: usize = 12;

impl Type {
    pub(crate) const fn new(name: &'static str, kind: Kind) -> Self {
        Self { name, kind, nullable: false }
    }

    pub(crate) const fn nullable(name: &'static str, kind: Kind) -> Self {
        Self { name, kind, nullable: true }
    }

    /// The format string of Arrow's C data interface.
    pub(super) fn format(&self) -> &'static str {
        match self.kind {
            Kind::Text => "u",
            Kind::U8 => "C",
            Kind::U16 => "S",
            Kind::U32 => "I",
            Kind::F32 => "f",
            Kind::List(_) => "+l",
            Kind::Struct(_) => "+s",
        }
    }

    pub(super) fn children(&self) -> &[Self] {
        match &self.kind {
            Kind::List(item) => std::slice::from_ref(item),
            Kind::Struct(fields) => fields,
            _ => &[],
        }
    }

    /// An empty column of the type, with room for so many rows of a usual size.
    pub(crate) fn column(&self, rows: usize) -> Column {
        let ends = || {
            let mut ends = Vec::with_capacity(rows + 1);
            ends.push(0);
            ends
        };
        let values = match &self.kind {
            Kind::Text => Values::Text { ends: ends(), bytes: Vec::with_capacity(rows * TEXT) },
            Kind::U8 => Values::U8(Vec::with_capacity(rows)),
            Kind::U16 => Values::U16(Vec::with_capacity(rows)),
            Kind::U32 => Values::U32(Vec::with_capacity(rows)),
            Kind::F32 => Values::F32(Vec::with_capacity(rows)),
            Kind::List(item) => Values::List { ends: ends(), items: Box::new(item.column(rows)) },
            Kind::Struct(fields) => {
                Values::Struct(fields.iter().map(|field| field.column(rows)).collect())
            }
        };
        Column { rows: 0, nulls: 0, valid: Vec::new(), values }
    }
}

/// A column being filled.
pub(crate) struct Column {
    rows: usize,
    nulls: usize,
    /// A bit for each row, the lowest first; empty as long as no row is null.
    valid: Vec<u8>,
    values: Values,
}

pub(super) enum Values {
    Text { ends: Vec<i32>, bytes: Vec<u8> },
    U8(Vec<u8>),
    U16(Vec<u16>),
    U32(Vec<u32>),
    F32(Vec<f32>),
    List { ends: Vec<i32>, items: Box<Column> },
    Struct(Vec<Column>),
}

/// Offsets are 32 bits: a batch of some thousand rows stays far below that.
const FITS: &str = "a batch holds less than 2 GiB of text";

impl Column {
    /// Appends a row of a text column.
    pub(crate) fn text(&mut self, text: &str) {
        let Values::Text { ends, bytes } = &mut self.values else { unreachable!("a text column") };
        bytes.extend_from_slice(text.as_bytes());
        ends.push(i32::try_from(bytes.len()).expect(FITS));
        self.count(true);
    }

    /// Appends what something is written as to a text column.
    pub(crate) fn display(&mut self, of: &impl std::fmt::Display) {
        let Values::Text { ends, bytes } = &mut self.values else { unreachable!("a text column") };
        write!(bytes, "{of}").expect("memory takes it");
        ends.push(i32::try_from(bytes.len()).expect(FITS));
        self.count(true);
    }

    /// Appends a text, or null.
    pub(crate) fn maybe_text(&mut self, text: Option<&str>) {
        match text {
            Some(text) => self.text(text),
            None => self.null(),
        }
    }

    /// Appends a number, or null.
    pub(crate) fn number(&mut self, number: Option<f64>) {
        let Some(value) = number else { return self.null() };
        // Each of them was given out as that type: nothing is cut off.
        match &mut self.values {
            Values::U8(values) => values.push(value as u8),
            Values::U16(values) => values.push(value as u16),
            Values::U32(values) => values.push(value as u32),
            Values::F32(values) => values.push(value as f32),
            _ => unreachable!("a column of numbers"),
        }
        self.count(true);
    }

    /// Appends a list, which `fill` puts its items into.
    pub(crate) fn list(&mut self, fill: impl FnOnce(&mut Self)) {
        let Values::List { ends, items } = &mut self.values else { unreachable!("a list column") };
        fill(items);
        ends.push(i32::try_from(items.rows).expect(FITS));
        self.count(true);
    }

    /// Appends a row of a struct, of which `fill` appends one to each field.
    pub(crate) fn fields(&mut self, fill: impl FnOnce(&mut [Self])) {
        let Values::Struct(fields) = &mut self.values else { unreachable!("a struct column") };
        fill(fields);
        self.count(true);
    }

    fn null(&mut self) {
        match &mut self.values {
            Values::Text { ends, .. } => ends.push(*ends.last().expect("it begins with 0")),
            Values::U8(values) => values.push(0),
            Values::U16(values) => values.push(0),
            Values::U32(values) => values.push(0),
            Values::F32(values) => values.push(0.0),
            Values::List { .. } | Values::Struct(_) => unreachable!("none of these is null here"),
        }
        self.count(false);
    }

    fn count(&mut self, is_valid: bool) {
        let (byte, bit) = (self.rows / 8, self.rows % 8);
        self.rows += 1;
        if !is_valid && self.valid.is_empty() {
            self.valid = vec![0xff; byte];
            self.valid.push((1 << bit) - 1);
        } else if !self.valid.is_empty() {
            if bit == 0 {
                self.valid.push(0);
            }
            self.valid[byte] |= u8::from(is_valid) << bit;
        }
        self.nulls += usize::from(!is_valid);
    }

    /// The column as Arrow's C data interface has it.
    pub(super) fn export(self) -> ArrowArray {
        let Self { rows, nulls, valid, values } = self;
        let (values, children) = match values {
            Values::List { ends, items } => {
                (Values::List { ends, items: Box::new(Column::empty()) }, vec![items.export()])
            }
            Values::Struct(fields) => {
                (Values::Struct(Vec::new()), fields.into_iter().map(Self::export).collect())
            }
            other => (other, Vec::new()),
        };
        ArrowArray::new((rows, nulls), valid, values, children)
    }

    /// What stands in the place of a column that has become a child.
    fn empty() -> Self {
        Self { rows: 0, nulls: 0, valid: Vec::new(), values: Values::Struct(Vec::new()) }
    }
}
