//! `schema/records.md` describes what is stored.

use super::*;

#[test]
fn the_schema_page_lists_every_family_and_every_field() {
    let page = include_str!("../../../schema/records.md");
    for family in crate::store::family::Family::ALL {
        assert!(page.contains(&format!("`{}`", family.name())), "{}", family.name());
    }
    let lists = [
        v1::FIELDS,
        v1_annotation::FIELDS,
        v1_foreign::FIELDS,
        v1_governance::FIELDS,
        v1_layout::FIELDS,
        v1_numbers::FIELDS,
        v1_user::FIELDS,
        v2_annotation::FIELDS,
        v2_change::FIELDS,
        v2_decision::FIELDS,
        v2_document::FIELDS,
        v2_edition::FIELDS,
        v2_judgement::FIELDS,
        v2_location::FIELDS,
        v2_release_layout::FIELDS,
        v3_annotation::FIELDS,
        v3_edition::FIELDS,
        v4_annotation::FIELDS,
    ];
    for field in lists.concat() {
        assert!(page.contains(field), "schema/records.md lacks `{field}`");
    }
    assert!(lists.concat().len() > 80);
}
