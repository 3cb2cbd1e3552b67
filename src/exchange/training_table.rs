//! Sentences for training as a Parquet file: a row for each sentence, with its tokens and its
//! annotation sets as lists in the row.
//!
//! A row is the record that the JSON lines have, laid out in columns as Dremel does (Melnik et al.
//! 2010): each leaf of the schema is a column, whose levels say how deep a value or its absence is
//! (definition) and at which list it begins anew (repetition).

use std::io::Write;
use std::sync::Arc;

use parquet::basic::{Compression, Repetition, Type as PhysicalType, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::{Type, TypePtr};
use serde_json::Value;

use super::Result;
use super::parquet_table::table_error;

/// Sentences of a row group: some 20 MB in memory.
const GROUP: usize = 10_000;

const SCHEMA: &str = "
message sentences {
  required binary release (STRING);
  required binary sentence (STRING);
  optional binary split (STRING);
  required binary offset_unit (STRING);
  required binary text (STRING);
  required boolean complete;
  required group tokens (LIST) { repeated group list { required group element {
    required int32 start;
    required int32 end;
    required binary text (STRING);
    required binary lemma (STRING);
    optional binary tag (STRING);
  } } }
  required group unannotated (LIST) { repeated group list { required group element {
    required int32 start;
    required int32 end;
    required binary text (STRING);
  } } }
  required group sets (LIST) { repeated group list { required group element {
    required binary id (STRING);
    required binary origin (STRING);
    required binary status (STRING);
    required binary frame (STRING);
    required int64 frame_id;
    required binary lu (STRING);
    required int64 lu_id;
    required binary lu_status (STRING);
    required group targets (LIST) { repeated group list { required group element {
      required int32 start;
      required int32 end;
      required binary text (STRING);
    } } }
    required binary fe_status (STRING);
    required boolean fes_complete;
    required group elements (LIST) { repeated group list { required group element {
      required binary name (STRING);
      optional int64 id;
      optional binary core_type (STRING);
      required int32 rank;
      optional group span {
        required int32 start;
        required int32 end;
        required binary text (STRING);
      }
      optional binary null_instantiation (STRING);
    } } }
    optional binary seed (STRING);
    optional binary source (STRING);
    optional int32 round;
    required group flags (LIST) { repeated group list { required binary element (STRING); } }
    optional double paraphrase;
    optional double aligner;
    optional double p;
    optional double r;
    optional double frame_fit;
    optional double evokes;
    optional double same_meaning;
    optional double reverse;
  } } }
}";

/// The values of a column, as far as they are there.
enum Values {
    Texts(Vec<ByteArray>),
    Bools(Vec<bool>),
    Small(Vec<i32>),
    Large(Vec<i64>),
    Numbers(Vec<f64>),
}

/// A column of the row group that is gathered.
struct Leaf {
    values: Values,
    definition: Vec<i16>,
    repetition: Vec<i16>,
}

/// How deep a value lies: the definition and repetition levels that are reached, and the repetition
/// level that its column writes for it.
#[derive(Clone, Copy)]
struct Levels {
    definition: i16,
    repetition: i16,
    begins: i16,
}

impl Leaf {
    fn new(kind: PhysicalType) -> Self {
        let values = match kind {
            PhysicalType::BOOLEAN => Values::Bools(Vec::new()),
            PhysicalType::INT32 => Values::Small(Vec::new()),
            PhysicalType::INT64 => Values::Large(Vec::new()),
            PhysicalType::DOUBLE => Values::Numbers(Vec::new()),
            _ => Values::Texts(Vec::new()),
        };
        Self { values, definition: Vec::new(), repetition: Vec::new() }
    }

    /// Notes a value, or that there is none that deep.
    fn put(&mut self, value: Option<&Value>, at: Levels) {
        self.definition.push(at.definition);
        self.repetition.push(at.begins);
        let Some(value) = value else { return };
        match &mut self.values {
            Values::Texts(all) => all.push(value.as_str().unwrap_or_default().into()),
            Values::Bools(all) => all.push(value.as_bool().unwrap_or_default()),
            // Offsets and ranks fit: texts are shorter than 4 GiB, and hold 2^31 code points never.
            Values::Small(all) => all.push(value.as_i64().unwrap_or_default() as i32),
            Values::Large(all) => all.push(value.as_i64().unwrap_or_default()),
            Values::Numbers(all) => all.push(value.as_f64().unwrap_or_default()),
        }
    }

    fn write(
        self,
        column: &mut SerializedColumnWriter<'_>,
    ) -> std::result::Result<(), ParquetError> {
        let levels = (Some(self.definition.as_slice()), Some(self.repetition.as_slice()));
        let (definition, repetition) = levels;
        match &self.values {
            Values::Texts(all) => {
                column.typed::<ByteArrayType>().write_batch(all, definition, repetition)
            }
            Values::Bools(all) => {
                column.typed::<BoolType>().write_batch(all, definition, repetition)
            }
            Values::Small(all) => {
                column.typed::<Int32Type>().write_batch(all, definition, repetition)
            }
            Values::Large(all) => {
                column.typed::<Int64Type>().write_batch(all, definition, repetition)
            }
            Values::Numbers(all) => {
                column.typed::<DoubleType>().write_batch(all, definition, repetition)
            }
        }?;
        Ok(())
    }
}

/// The kinds of the leaves of a type, in order.
fn kinds(of: &Type, all: &mut Vec<PhysicalType>) {
    match of {
        Type::PrimitiveType { physical_type, .. } => all.push(*physical_type),
        Type::GroupType { fields, .. } => fields.iter().for_each(|field| kinds(field, all)),
    }
}

fn leaves(of: &Type) -> usize {
    match of {
        Type::PrimitiveType { .. } => 1,
        Type::GroupType { fields, .. } => fields.iter().map(|field| leaves(field)).sum(),
    }
}

/// Lays the fields of a group out, each into its own leaves.
fn put_fields(of: &Type, value: Option<&Value>, at: Levels, mut columns: &mut [Leaf]) {
    for field in of.get_fields() {
        let (own, rest) = columns.split_at_mut(leaves(field));
        // A list has one field, which repeats, and that one field again: the array and its items.
        let is_list = field.name() == "list" || field.name() == "element";
        let inner = if is_list { value } else { value.and_then(|value| value.get(field.name())) };
        put_field(field, inner, at, own);
        columns = rest;
    }
}

fn put_field(of: &Type, value: Option<&Value>, at: Levels, columns: &mut [Leaf]) {
    let value = value.filter(|value| !value.is_null());
    match of.get_basic_info().repetition() {
        Repetition::REQUIRED => put_inside(of, value, at, columns),
        Repetition::OPTIONAL => {
            let definition = at.definition + i16::from(value.is_some());
            put_inside(of, value, Levels { definition, ..at }, columns);
        }
        Repetition::REPEATED => {
            let items = value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
            if items.is_empty() {
                return put_inside(of, None, at, columns);
            }
            let (definition, repetition) = (at.definition + 1, at.repetition + 1);
            for (number, item) in items.iter().enumerate() {
                let begins = if number == 0 { at.begins } else { repetition };
                put_inside(of, Some(item), Levels { definition, repetition, begins }, columns);
            }
        }
    }
}

fn put_inside(of: &Type, value: Option<&Value>, at: Levels, columns: &mut [Leaf]) {
    match (of, value) {
        (Type::PrimitiveType { .. }, value) => columns[0].put(value, at),
        (Type::GroupType { .. }, Some(value)) => put_fields(of, Some(value), at, columns),
        (Type::GroupType { .. }, None) => columns.iter_mut().for_each(|leaf| leaf.put(None, at)),
    }
}

/// Writes records of sentences as Parquet.
pub(super) struct TrainingTable<W: Write + Send> {
    out: SerializedFileWriter<W>,
    schema: TypePtr,
    columns: Vec<Leaf>,
    rows: usize,
}

impl<W: Write + Send> TrainingTable<W> {
    /// Begins the table.
    ///
    /// # Errors
    /// When the output fails; so for every function here.
    pub(super) fn new(out: W) -> Result<Self> {
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_created_by(format!("fnstore {}", env!("CARGO_PKG_VERSION")))
            .build();
        let schema = Arc::new(parse_message_type(SCHEMA).map_err(table_error)?);
        let out = SerializedFileWriter::new(out, Arc::clone(&schema), Arc::new(properties));
        let columns = columns(&schema);
        Ok(Self { out: out.map_err(table_error)?, schema, columns, rows: 0 })
    }

    /// Writes a row.
    pub(super) fn row(&mut self, record: &Value) -> Result<()> {
        let at = Levels { definition: 0, repetition: 0, begins: 0 };
        put_fields(&self.schema, Some(record), at, &mut self.columns);
        self.rows += 1;
        if self.rows >= GROUP { self.write_group() } else { Ok(()) }
    }

    /// Ends the table.
    pub(super) fn finish(mut self) -> Result<()> {
        if self.rows > 0 {
            self.write_group()?;
        }
        self.out.close().map_err(table_error)?;
        Ok(())
    }

    fn write_group(&mut self) -> Result<()> {
        let gathered = std::mem::replace(&mut self.columns, columns(&self.schema));
        self.rows = 0;
        let write = || {
            let mut group = self.out.next_row_group()?;
            for leaf in gathered {
                let Some(mut column) = group.next_column()? else { break };
                leaf.write(&mut column)?;
                column.close()?;
            }
            group.close()
        };
        write().map(drop).map_err(table_error)
    }
}

fn columns(schema: &Type) -> Vec<Leaf> {
    let mut all = Vec::new();
    kinds(schema, &mut all);
    all.into_iter().map(Leaf::new).collect()
}

#[cfg(test)]
mod tests {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::{Field, Row};
    use proptest::prelude::*;
    use serde_json::{Map, json};

    use super::*;

    /// A row as the record that it was made of.
    fn record(of: Row) -> Value {
        let fields = of.into_columns().into_iter();
        Value::Object(fields.map(|(name, field)| (name, value(field))).collect::<Map<_, _>>())
    }

    fn value(of: Field) -> Value {
        match of {
            Field::Null => Value::Null,
            Field::Bool(it) => it.into(),
            Field::Int(it) => it.into(),
            Field::Long(it) => it.into(),
            Field::Double(it) => it.into(),
            Field::Str(it) => it.into(),
            Field::Group(row) => record(row),
            Field::ListInternal(list) => list.elements().iter().cloned().map(value).collect(),
            other => panic!("{other:?}"),
        }
    }

    fn spans() -> impl Strategy<Value = Value> {
        let span = (0..9_i32, 0..9_i32)
            .prop_map(|(start, end)| json!({"start": start, "end": end, "text": "\u{1F600}"}));
        prop::collection::vec(span, 0..3).prop_map(Value::from)
    }

    fn text() -> impl Strategy<Value = Value> {
        prop_oneof![Just(Value::Null), Just(json!("")), Just(json!("VBD"))]
    }

    fn number() -> impl Strategy<Value = Value> {
        let score = prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL | prop::num::f64::ZERO;
        prop_oneof![Just(Value::Null), score.prop_map(Value::from)]
    }

    fn sets() -> impl Strategy<Value = Value> {
        let element = (text(), text(), spans()).prop_map(|(core_type, ni, spans)| {
            let id = spans.as_array().and_then(|all| all.first()).map(|_| 4_000_000_000_u32);
            json!({
                "name": "Agent", "id": id, "core_type": core_type, "rank": 1, "span": spans.get(0),
                "null_instantiation": ni
            })
        });
        let elements = prop::collection::vec(element, 0..3);
        let flags = prop::collection::vec(Just("copy"), 0..3);
        let set = (spans(), elements, (text(), number(), number()), flags, any::<bool>());
        let set = set.prop_map(|(targets, elements, (seed, p, evokes), flags, complete)| {
            json!({
                "id": "x1", "origin": "exemplar", "status": "MANUAL", "frame": "Checking",
                "frame_id": 102, "lu": "check.v", "lu_id": 1001, "lu_status": "Created",
                "targets": targets, "fe_status": "annotated", "fes_complete": complete,
                "elements": elements, "seed": seed, "source": null, "round": null, "flags": flags,
                "paraphrase": null, "aligner": p, "p": p, "r": null, "frame_fit": null,
                "evokes": evokes, "same_meaning": null, "reverse": null
            })
        });
        prop::collection::vec(set, 0..4).prop_map(Value::from)
    }

    proptest! {
        #[test]
        fn rows_come_back_as_they_were(
            rows in prop::collection::vec((text(), spans(), sets(), spans()), 0..6)
        ) {
            let rows: Vec<Value> = rows.into_iter().map(|(split, unannotated, sets, tokens)| {
                let tokens: Vec<Value> = tokens.as_array().unwrap().iter().map(|token| {
                    let mut token = token.clone();
                    token["lemma"] = json!("be");
                    token["tag"] = split.clone();
                    token
                }).collect();
                json!({
                    "release": "r", "sentence": "x1", "split": split, "offset_unit": "codepoint",
                    "text": "a", "complete": tokens.is_empty(), "tokens": tokens, "unannotated": unannotated, "sets": sets
                })
            }).collect();
            let mut file = tempfile::tempfile().unwrap();
            let mut table = TrainingTable::new(&mut file).unwrap();
            rows.iter().for_each(|row| table.row(row).unwrap());
            table.finish().unwrap();
            let reader = SerializedFileReader::new(file).unwrap();
            let back = reader.get_row_iter(None).unwrap().map(|row| record(row.unwrap()));
            prop_assert_eq!(back.collect::<Vec<_>>(), rows);
        }
    }
}
