//! What the reader of WN-LMF makes of small files.

use super::*;

fn read(lexicon: &str) -> Result<WordnetFiles> {
    let text = format!(
        "<LexicalResource><Lexicon id='t' language='en' version='1' license='own'>{lexicon}\
         </Lexicon></LexicalResource>"
    );
    Lmf::new("t.xml", &text).read()
}

fn entry(id: &str, lemma: &str, senses: &str) -> String {
    format!(
        "<LexicalEntry id='{id}'><Lemma writtenForm='{lemma}' partOfSpeech='s'/>{senses}\
         </LexicalEntry>"
    )
}

#[test]
fn members_come_as_the_synset_lists_them_and_its_class_is_theirs_where_it_says_none() {
    let senses = ["<Sense id='x-1' synset='s' dc:identifier='x%5:00:00::'/>"];
    let text = entry("x", "X", senses[0])
        + &entry("y", "y", "<Sense id='y-1' synset='s'/>")
        + "<Synset id='s' ili='' members='y x'/>";
    let files = read(&text).unwrap();
    let synset = &files.synsets[0];
    assert_eq!((synset.class, &synset.ili), (WordClass::Adjective, &None));
    assert!(synset.is_satellite);
    assert_eq!(synset.members, ["y", "X"]);
    assert_eq!(synset.keys, ["y-1", "x%5:00:00::"]);
}

#[test]
fn entries_of_one_lemma_are_one_word_with_senses_in_order() {
    let sense = |of: &str, rank| format!("<Sense id='{of}-1' synset='{of}' n='{rank}'/>");
    let synset = |id: &str| format!("<Synset id='{id}' partOfSpeech='a'/>");
    let all = |ranks: [u8; 2]| {
        let text = entry("M", "March", &sense("a", ranks[0]))
            + &entry("m", "march", &sense("b", ranks[1]))
            + &synset("a")
            + &synset("b");
        let files = read(&text).unwrap();
        let [word] = &files.words[..] else { panic!("{:?}", files.words) };
        assert_eq!(word.lemma, "march");
        word.senses.clone()
    };
    assert_eq!(all([1, 2]), [SynsetId(1), SynsetId(2)]);
    assert_eq!(all([2, 1]), [SynsetId(2), SynsetId(1)]);
}

#[test]
fn a_relation_that_the_schema_does_not_name_has_the_name_that_the_file_gives() {
    let relations = "<SynsetRelation relType='other' dc:type='rhymes' target='s'/>\
                     <SynsetRelation relType='other' target='s'/>";
    let files = read(&format!("<Synset id='s' partOfSpeech='n'>{relations}</Synset>")).unwrap();
    let kinds: Vec<&str> = files.synsets[0].relations.iter().map(|of| &*of.kind).collect();
    assert_eq!(kinds, ["rhymes", "other"]);
    let error = read(&format!("<Synset id='s' partOfSpeech='n'/>{relations}")).unwrap_err();
    assert!(error.to_string().contains("`SynsetRelation` alone"), "{error}");
}
