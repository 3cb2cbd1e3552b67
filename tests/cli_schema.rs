//! Every JSON record that the program prints is what its schema says.
//!
//! The checker knows the few keywords of JSON Schema that the schemas use, and refuses a schema
//! with others, so nothing goes unchecked.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;

use fnstore::database::{Database, Write};
use fnstore::internals::WithStore as _;
use fnstore::model::{
    AnnotationSet, AnnotationSetId, CarriedElement, FeStatus, Flags, FrameFit, Generation, IdSpace,
    Method, Provenance, Sentence, SentenceId, Span,
};
use serde_json::{Value, json};

use crate::cli_program::{Ran, fnstore, fnstore_in, mini_framenet, new_store};

const KEYWORDS: [&str; 19] = [
    "$schema",
    "$id",
    "$defs",
    "$ref",
    "title",
    "description",
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "minItems",
    "maxItems",
    "enum",
    "const",
    "anyOf",
    "minimum",
    "maximum",
    "pattern",
];

/// The schema in a file; read once, as real data asks for one millions of times.
fn load(file: &str) -> Rc<Value> {
    thread_local! {
        static SCHEMAS: RefCell<HashMap<String, Rc<Value>>> = RefCell::default();
    }
    let known = SCHEMAS.with_borrow(|schemas| schemas.get(file).cloned());
    known.unwrap_or_else(|| {
        let schema = Rc::new(read(file));
        SCHEMAS.with_borrow_mut(|schemas| schemas.insert(file.to_owned(), Rc::clone(&schema)));
        schema
    })
}

fn read(file: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("schema").join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|_| panic!("no {}", path.display()));
    serde_json::from_str(&text).unwrap()
}

/// What is wrong with a value, by the schema at a place of a document.
fn faults(document: &Rc<Value>, schema: &Value, value: &Value, at: &str) -> Vec<String> {
    let fault = |what: &str| vec![format!("{at}: {what}: {value}")];
    if let Some(unknown) =
        schema.as_object().unwrap().keys().find(|key| !KEYWORDS.contains(&key.as_str()))
    {
        return fault(&format!("the schema has the keyword `{unknown}`"));
    }
    let mut found = Vec::new();
    if let Some(reference) = schema["$ref"].as_str() {
        let (file, place) = reference.split_once('#').unwrap_or((reference, ""));
        let other = if file.is_empty() { Rc::clone(document) } else { load(file) };
        found.extend(faults(&other, other.pointer(place).unwrap(), value, at));
    }
    if let Some(branches) = schema["anyOf"].as_array() {
        let mut tried: Vec<_> =
            branches.iter().map(|branch| faults(document, branch, value, at)).collect();
        if tried.iter().all(|faults| !faults.is_empty()) {
            found.extend(tried.swap_remove(0));
        }
    }
    let is_of = |types: Vec<&str>| {
        types.contains(&type_of(value)) || value.is_number() && types.contains(&"number")
    };
    if !types(&schema["type"]).is_none_or(is_of) {
        found.extend(fault(&format!("expected {}", schema["type"])));
    }
    if schema["enum"].as_array().is_some_and(|words| !words.contains(value))
        || schema.get("const").is_some_and(|constant| constant != value)
    {
        found.extend(fault("not one of the words"));
    }
    let pattern = schema["pattern"].as_str().map(|pattern| regex::Regex::new(pattern).unwrap());
    if pattern.zip(value.as_str()).is_some_and(|(pattern, text)| !pattern.is_match(text)) {
        found.extend(fault("does not match"));
    }
    if let Some(number) = value.as_f64() {
        let below = schema["minimum"].as_f64().is_some_and(|minimum| number < minimum);
        let above = schema["maximum"].as_f64().is_some_and(|maximum| number > maximum);
        if below || above {
            found.extend(fault("out of range"));
        }
    }
    if let Some(items) = value.as_array() {
        let length = items.len() as u64;
        if schema["minItems"].as_u64().is_some_and(|least| length < least)
            || schema["maxItems"].as_u64().is_some_and(|most| length > most)
        {
            found.extend(fault("wrong number of items"));
        }
        if schema["items"].is_object() {
            for (number, item) in items.iter().enumerate() {
                let at = format!("{at}/{number}");
                found.extend(faults(document, &schema["items"], item, &at));
            }
        }
    }
    if let Some(members) = value.as_object() {
        let required = schema["required"].as_array().into_iter().flatten();
        for name in required.filter(|name| !members.contains_key(name.as_str().unwrap())) {
            found.extend(fault(&format!("lacks {name}")));
        }
        for (name, member) in members {
            let at = format!("{at}/{name}");
            match (&schema["properties"][name], &schema["additionalProperties"]) {
                (Value::Null, Value::Bool(false)) => found.push(format!("{at}: not in the schema")),
                (Value::Null, Value::Object(_)) => {
                    let rest = &schema["additionalProperties"];
                    found.extend(faults(document, rest, member, &at));
                }
                (Value::Null, _) => {}
                (of_member, _) => found.extend(faults(document, of_member, member, &at)),
            }
        }
    }
    found
}

fn types(names: &Value) -> Option<Vec<&str>> {
    match names {
        Value::String(name) => Some(vec![name]),
        Value::Array(names) => Some(names.iter().filter_map(Value::as_str).collect()),
        _ => None,
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// What is wrong with a record, by the schema in a file.
pub(crate) fn faults_in(schema: &str, record: &Value) -> Vec<String> {
    let document = load(schema);
    faults(&document, &document, record, "")
}

fn assert_follows(schema: &str, ran: &Ran) {
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let records = ran.records();
    assert!(!records.is_empty());
    for record in records {
        assert_eq!(faults_in(schema, &record), [""; 0], "{schema}");
    }
}

/// Writes a generated set beside the seed.
pub(crate) fn generate(store: &Path) {
    let database = Database::open_existing_writer(store).unwrap();
    let seed = database.query(&"id=x7002".parse().unwrap()).unwrap().next().unwrap().unwrap();
    let recipe = database.store().recipe([7; 16], "{}").unwrap();
    let sentence = SentenceId::new(IdSpace::Generated, 1);
    let text = "She examined the ropes .".to_owned();
    let generation = Generation {
        seed: seed.set.id,
        source: seed.set.id,
        target_ordinal: 0,
        round: 1,
        rank: 0,
        chain: Vec::new(),
        method: Method::Paraphrase,
        recipe,
        flags: Flags { weak_alignment: true, lost_element: true, ..Flags::default() },
        paraphrase: 0.75,
        aligner: 0.5,
        filter: None,
        elements: vec![CarriedElement { name: "Matter".to_owned(), score: None }],
        fit: Some(FrameFit { probability: 0.25, model: [3; 16] }),
    };
    let set = AnnotationSet {
        id: AnnotationSetId::new(IdSpace::Generated, 1),
        xml_id: None,
        sentence,
        status: "GENERATED".to_owned(),
        created: String::new(),
        targets: vec![Span::new(4, 12)],
        fe_status: FeStatus::Carried,
        layers: Vec::new(),
        provenance: Provenance::Generated(Box::new(generation)),
        ..seed.set
    };
    let row = Sentence { id: sentence, xml_id: None, text, occurrences: Vec::new() };
    let write = Write { sentences: vec![row], sets: vec![set], ..Write::default() };
    database.write(seed.release.id, &write).unwrap();
}

#[test]
fn the_checker_finds_faults() {
    let schema = load("count.schema.json");
    let faults = |value: Value| faults(&schema, &schema, &value, "").len();
    assert_eq!(faults(json!({"field": "frame", "value": null, "count": 3})), 0);
    assert_eq!(faults(json!({"field": "frame", "value": "x", "count": -3})), 1);
    assert_eq!(faults(json!({"field": 7, "value": "x"})), 2);
    assert_eq!(faults(json!({"field": "f", "value": "x", "count": 1, "more": 1})), 1);
}

#[test]
fn hits_follow_their_schema() {
    assert_follows("hit.schema.json", &fnstore(&["query"]));
    assert_follows("hit.schema.json", &fnstore(&["show", "set", "x7042", "--format", "jsonl"]));
}

#[test]
fn generated_hits_follow_their_schema_and_say_how_they_came_to_be() {
    let store = new_store();
    generate(store.path());
    let ran = fnstore_in(store.path(), &["query", "origin=generated"]);
    assert_follows("hit.schema.json", &ran);
    let record = &ran.records()[0];
    assert_eq!(record["generation"]["seed"], "x7002");
    assert_eq!(record["generation"]["flags"], json!(["weak-alignment", "lost-fe"]));
    assert_eq!(record["fe_status"], "carried");
    let table = fnstore_in(store.path(), &["query", "round=1", "--format", "table"]).stdout;
    let title = "Checking  check.v  g1  generated  round 1  paraphrase 0.75  aligner 0.50  frame fit 0.25  from x7002";
    assert!(table.starts_with(title), "{table}");
    assert!(table.contains("(weak-alignment)") && table.contains("[Matter:not found]"));
    let rounds = fnstore_in(store.path(), &["query", "--count-by", "round"]).stdout;
    assert_eq!(rounds, "value\tcount\n(none)\t42\n1\t1\n");
    let flags = fnstore_in(store.path(), &["query", "round=1", "--count-by", "flag"]).stdout;
    assert_eq!(flags, "value\tcount\nlost-fe\t1\nweak-alignment\t1\n");
}

#[test]
fn the_lexicon_follows_its_schemas() {
    for (schema, kind, name) in [
        ("frame.schema.json", "frame", "Checking"),
        ("frame.schema.json", "frame", "Draft_sewing"),
        ("lexunit.schema.json", "lu", "check.v"),
        ("lexunit.schema.json", "lu", "inspection.n"),
        ("sentence.schema.json", "sentence", "x5001"),
        ("sentence.schema.json", "sentence", "f6003"),
        ("document.schema.json", "document", "*"),
    ] {
        assert_follows(schema, &fnstore(&["show", kind, name, "--format", "jsonl"]));
    }
}

#[test]
fn listings_follow_their_schemas() {
    for (schema, arguments) in [
        ("frames.schema.json", &["frames"][..]),
        ("lus.schema.json", &["lus", "--include-status", "Problem"]),
        ("fes.schema.json", &["fes"]),
        ("relations.schema.json", &["relations"]),
        ("fe-relations.schema.json", &["relations", "--fes"]),
        ("relation-kinds.schema.json", &["relations", "--kinds"]),
        ("tree.schema.json", &["relations", "--tree", "*", "--kind", "*"]),
        ("tree.schema.json", &["semtypes", "--tree"]),
        ("semtypes.schema.json", &["semtypes"]),
        ("valence.schema.json", &["valence", "*"]),
        ("valence.schema.json", &["valence", "*", "--over", "origin=fulltext", "--sets"]),
        ("stats.schema.json", &["stats"]),
        ("growth.schema.json", &["stats", "growth"]),
    ] {
        assert_follows(schema, &fnstore(&[arguments, &["--format", "jsonl"]].concat()));
    }
}

#[test]
fn counts_releases_and_reports_follow_their_schemas() {
    let counts = fnstore(&["query", "--count-by", "split", "--format", "jsonl"]);
    assert_follows("count.schema.json", &counts);
    assert_follows("release.schema.json", &fnstore(&["releases"]));
    let store = new_store();
    generate(store.path());
    let recipes = fnstore_in(store.path(), &["recipes"]);
    assert_follows("recipe.schema.json", &recipes);
    assert_eq!(recipes.records()[0]["sets"], 1);
    let dir = tempfile::tempdir().unwrap();
    let release = mini_framenet();
    let arguments = ["import", release.to_str().unwrap(), "--format", "jsonl"];
    assert_follows("import.schema.json", &fnstore_in(dir.path(), &arguments));
}
