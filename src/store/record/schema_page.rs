//! `schema/records.md` describes what is stored.

use super::*;

#[test]
fn the_schema_page_lists_every_family_and_every_field() {
    let page = include_str!("../../../schema/records.md");
    for family in crate::store::family::Family::ALL {
        assert!(page.contains(&format!("`{}`", family.name())), "{}", family.name());
    }
    let lists = [
        annotation::FIELDS,
        book::FIELDS,
        change::FIELDS,
        commit::FIELDS,
        decision::FIELDS,
        discovery::FIELDS,
        document::FIELDS,
        edition::FIELDS,
        edition::EDITION_FIELDS,
        evidence::FIELDS,
        foreign::FIELDS,
        frame::FIELDS,
        journal::FIELDS,
        judgement::FIELDS,
        layers::FIELDS,
        layout::FIELDS,
        lexunit::FIELDS,
        location::FIELDS,
        numbers::FIELDS,
        own_ids::FIELDS,
        recipe::FIELDS,
        relation::FIELDS,
        predicate::FIELDS,
        link::FIELDS,
        resource::FIELDS,
        sem_type::FIELDS,
        sentence::FIELDS,
        verification::FIELDS,
        wordnet::FIELDS,
    ];
    for field in lists.concat() {
        assert!(page.contains(field), "schema/records.md lacks `{field}`");
    }
    assert!(lists.concat().len() > 80);
}
