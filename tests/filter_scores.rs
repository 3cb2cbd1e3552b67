//! Generated sets with the scores of filters: found by them, shown, exchanged; and sets without
//! any.

use fnstore::database::{Database, Write};
use fnstore::internals::WithStore as _;
use fnstore::model::{AnnotationSetId, FilterScores, Generation, IdSpace, Provenance, SentenceId};
use fnstore::upkeep::CheckOptions;
use tempfile::TempDir;

use crate::cli_program::fnstore_in;
use crate::cli_schema::faults_in;
use crate::{generated, mini};

/// Mini-framenet with three generated sets: g101 and g102 were scored, g103 was not.
fn scored() -> (TempDir, Database) {
    let (dir, database, report) = mini::imported();
    let release = report.release.id;
    database.store().recipe([7; 16], "{\"beam\":4}").unwrap();
    let mut rows = generated::sets(&database, release);
    let (mut sentence, mut set) = rows[1].clone();
    sentence.id = SentenceId::new(IdSpace::Generated, 3);
    set.id = AnnotationSetId::new(IdSpace::Generated, 103);
    set.sentence = sentence.id;
    if let Provenance::Generated(made) = &mut set.provenance {
        made.round = 3;
    }
    rows.push((sentence, set));
    for ((_, set), (precision, recall)) in rows.iter_mut().zip([(0.875, 0.25), (0.5, 0.75)]) {
        let Provenance::Generated(made) = &mut set.provenance else { panic!("{set:?}") };
        made.filter = Some(FilterScores { precision, recall, filter: [0x9a; 16] });
    }
    let (sentences, sets) = rows.into_iter().unzip();
    let lexunits = vec![generated::proposed(&database, release)];
    database.write(release, &Write { sentences, sets, lexunits, ..Default::default() }).unwrap();
    (dir, database)
}

/// How a set came to be.
fn generation(database: &Database, id: &str) -> Generation {
    let query = format!("id={id}").parse().unwrap();
    let answer = database.query(&query).unwrap().next().unwrap().unwrap();
    let Provenance::Generated(made) = answer.set.provenance else { panic!("{id}") };
    *made
}

fn exported(database: &Database) -> Vec<String> {
    let mut out = Vec::new();
    database.export_jsonl(&"origin=generated".parse().unwrap(), false, &mut out).unwrap();
    String::from_utf8(out).unwrap().lines().map(str::to_owned).collect()
}

/// What an import of these lines says against them.
fn import(database: &Database, lines: &[String]) -> Result<(), String> {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("scored.jsonl");
    std::fs::write(&file, lines.join("\n") + "\n").unwrap();
    let report = database.import_jsonl(&file, None, &mut |_| {});
    report.map(drop).map_err(|error| error.to_string())
}

#[test]
fn sets_are_found_by_scores_and_comparisons_are_false_where_there_are_none() {
    let (_dir, database) = scored();
    let found = |query: &str| -> Vec<String> {
        let answers = mini::answers(&database, query).into_iter();
        answers.map(|answer| answer.rsplit_once(' ').unwrap().1.to_owned()).collect()
    };
    assert_eq!(found("p>=0.5 r<0.5"), ["g101"]);
    assert_eq!(found("p<=0.5"), ["g102"]);
    assert_eq!(found("p=0.875 or r=0.75"), ["g101", "g102"]);
    assert_eq!(found("p>=0"), ["g101", "g102"]);
    assert_eq!(found("r>=0"), ["g101", "g102"]);
    assert_eq!(found("p<0 or r<0"), [""; 0]);
    // `!=` is the negation of `=`, so it holds where there is no value.
    assert_eq!(found("p!=0.5 origin=generated"), ["g101", "g103"]);
    assert_eq!(found("p!=0.5").len(), 44);
    assert_eq!(found("not p>=0").len(), 43);
}

#[test]
fn scores_are_kept_beside_sets_without_scores() {
    let (dir, database) = scored();
    let scores = FilterScores { precision: 0.875, recall: 0.25, filter: [0x9a; 16] };
    assert_eq!(generation(&database, "g101").filter, Some(scores));
    assert_eq!(generation(&database, "g103").filter, None);
    drop(database);
    let reader = Database::open(dir.path()).unwrap();
    assert_eq!(generation(&reader, "g101").filter, Some(scores));
    let check = Database::check_at(dir.path(), CheckOptions { deep: true }, &mut |_| {}).unwrap();
    assert!(check.findings.is_empty(), "{:?}", check.findings);
}

#[test]
fn every_output_has_the_scores() {
    let (dir, database) = scored();
    drop(database);
    let query = |arguments: &[&str]| {
        let all = [&["query", "origin=generated"], arguments].concat();
        let ran = fnstore_in(dir.path(), &all);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        ran
    };
    let sorted = query(&["--sort", "p", "--fields", "id,p,r", "--format", "csv"]).stdout;
    assert_eq!(sorted, "id,p,r\ng102,0.5,0.75\ng101,0.875,0.25\ng103,,\n", "none comes last");
    let sorted = query(&["--sort=-r", "--fields", "id", "--format", "csv"]).stdout;
    assert_eq!(sorted, "id\ng102\ng101\ng103\n");
    assert_eq!(query(&["--count-by", "p"]).stdout, "value\tcount\n(none)\t1\n0.5\t1\n0.875\t1\n");

    let records = query(&["--sort", "id"]).records();
    for (record, (p, r)) in records.iter().zip([(Some(0.875), Some(0.25)), (Some(0.5), Some(0.75))])
    {
        assert_eq!(faults_in("hit.schema.json", record), [""; 0], "{record}");
        let made = &record["generation"];
        assert_eq!((made["p"].as_f64(), made["r"].as_f64()), (p, r), "{record}");
    }
    assert_eq!(faults_in("hit.schema.json", &records[2]), [""; 0]);
    let made = records[2]["generation"].as_object().unwrap();
    assert!(made["p"].is_null() && made["r"].is_null(), "{made:?}");

    let csv = query(&["--sort", "id", "--format", "csv"]).stdout;
    let lines: Vec<&str> = csv.lines().collect();
    assert!(lines[0].ends_with(",aligner,p,r,flags"), "{csv}");
    assert!(lines[1].ends_with(",0.99,0.875,0.25,"), "{csv}");
    assert!(lines[3].ends_with(",0.5,,,weak-alignment"), "{csv}");
    let table = query(&["--format", "table"]).stdout;
    assert!(table.contains("  aligner 0.99  p 0.88  r 0.25  from x7012"), "{table}");
    assert!(table.contains("g103  generated  round 3  paraphrase 1.25  aligner 0.50  from x7012"));

    let csv = fnstore_in(dir.path(), &["export", "origin=generated", "--to", "csv"]).stdout;
    let header = csv.lines().next().unwrap();
    assert!(header.ends_with(",aligner,p,r,frame_fit,evokes,same_meaning,reverse"), "{csv}");
    let row = |id: &str| csv.lines().find(|line| line.contains(id)).unwrap();
    assert!(row(",g101,").ends_with(",0.875,0.25,,,,"), "{csv}");
    assert!(row(",g103,").ends_with(",0.5,,,,,,"), "{csv}");
}

#[test]
fn json_lines_keep_the_scores() {
    let (_dir, database) = scored();
    let lines = exported(&database);
    let mut with_scores = 0;
    for line in lines.iter().filter(|line| line.starts_with("{\"kind\":\"set\"")) {
        let record = serde_json::from_str(line).unwrap();
        assert_eq!(faults_in("jsonl-set.schema.json", &record), [""; 0], "{line}");
        with_scores += usize::from(record["provenance"].get("filter").is_some());
    }
    assert_eq!(with_scores, 2, "the member is left out where there are no scores");
    let digits = "9a".repeat(16);
    let member = format!("\"filter\":{{\"p\":0.875,\"r\":0.25,\"filter\":\"{digits}\"}}");
    assert!(lines.iter().any(|line| line.contains(&member)), "{lines:?}");

    let (_other, base, _) = mini::imported();
    import(&base, &lines).unwrap();
    for id in ["g101", "g102", "g103"] {
        assert_eq!(generation(&base, id), generation(&database, id));
    }
    // The second line is the release, which says when it was imported.
    assert_eq!(exported(&base)[2..], lines[2..], "and goes out again as it came");
}

#[test]
fn scores_that_are_none_are_refused_whole() {
    let (_dir, database) = scored();
    let lines = exported(&database);
    let (_other, base, _) = mini::imported();
    let revision = base.store().revision().unwrap();
    let digits = "9a".repeat(16);
    let number = "expected a number from 0 to 1";
    let print = "expected 32 hexadecimal digits";
    let wrong = [
        ("\"p\":0.875", "\"p\":1.5", format!("`provenance.filter.p` is `1.5`, {number}")),
        ("\"p\":0.875", "\"p\":1e39", "E-json: ".to_owned()),
        ("\"r\":0.25", "\"r\":-0.25", format!("`provenance.filter.r` is `-0.25`, {number}")),
        (&digits, "9a", format!("`provenance.filter.filter` is `9a`, {print}")),
        (&digits, &"xy".repeat(16), format!("`{}`, {print}", "xy".repeat(16))),
        ("\"p\":0.875", "\"p\":\"high\"", "E-json: ".to_owned()),
        ("\"p\":0.875", "\"p\":null", "E-json: ".to_owned()),
        ("\"p\":0.875,", "", "missing field `p`".to_owned()),
        ("\"p\":0.875", "\"p\":0.875,\"more\":1", "unknown field `more`".to_owned()),
    ];
    for (from, to, message) in wrong {
        let mut lines = lines.clone();
        let line = lines.iter_mut().find(|line| line.contains(from)).unwrap();
        *line = line.replacen(from, to, 1);
        let error = import(&base, &lines).unwrap_err();
        assert!(error.starts_with("E-") && error.contains(&message), "{from} -> {to}: {error}");
        assert_eq!(base.store().revision().unwrap(), revision, "nothing was written");
    }
}
