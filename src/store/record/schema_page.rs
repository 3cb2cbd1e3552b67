//! `schema/records.md` describes what is stored.

#[test]
fn the_schema_page_lists_every_family_and_every_field() {
    let page = include_str!("../../../schema/records.md");
    for family in crate::store::family::Family::ALL {
        assert!(page.contains(&format!("`{}`", family.name())), "{}", family.name());
    }
    // `name: Type,` lines inside the records' definitions, private types included.
    let sources = [
        include_str!("v1.rs"),
        include_str!("v1_annotation.rs"),
        include_str!("v1_foreign.rs"),
        include_str!("v1_growth.rs"),
        include_str!("v1_layout.rs"),
        include_str!("v1_numbers.rs"),
        include_str!("v1_user.rs"),
        include_str!("v2_annotation.rs"),
        include_str!("v2_change.rs"),
        include_str!("v2_document.rs"),
        include_str!("v2_location.rs"),
        include_str!("v2_release_layout.rs"),
    ];
    let (mut inside, mut fields) = (false, 0);
    for line in sources.iter().flat_map(|source| source.lines()) {
        if line.contains("struct ") && line.ends_with('{') {
            inside = true;
        } else if line == "}" {
            inside = false;
        } else if inside && !line.trim_start().starts_with("//") {
            let field = line.trim_start().trim_start_matches("pub(in super::super) ");
            let name = field.split(':').next().unwrap_or_default();
            assert!(page.contains(name), "schema/records.md lacks `{name}`");
            fields += 1;
        }
    }
    assert!(fields > 80, "{fields}");
}
