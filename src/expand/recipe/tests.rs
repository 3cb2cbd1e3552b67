//! What makes two recipes the same, and which numbers are refused.

use super::*;
use crate::model::recipe_fingerprint;

fn recipe() -> Recipe {
    let place = || "m".into();
    Recipe::new(Models {
        rewriter: RewriterSource::Model { directory: place(), base: None },
        aligner: place(),
        encoder: place(),
        guide: None,
        filter: None,
        frames: None,
        verifier: None,
    })
}

/// A recipe's settings on the CPU.
fn described(
    recipe: &Recipe,
    rewriter: Value,
    identity: PromptIdentity<'_>,
    aligner: Fingerprint,
    guide: Option<[Fingerprint; 2]>,
) -> String {
    recipe.description(rewriter, identity, aligner, guide, &Device::cpu())
}

#[test]
fn only_what_outputs_depend_on_makes_another_recipe() {
    let (a, b) = (Fingerprint([1; 32]), Fingerprint([2; 32]));
    let named = |print: Fingerprint| json!(print.to_string());
    let print = |recipe: &Recipe, a, b| {
        recipe_fingerprint(&described(recipe, named(a), PromptIdentity::default(), b, None))
    };
    let first = print(&recipe(), a, b);
    let one = Device::Cpu { threads: 1 };
    let on_one = recipe().description(named(a), PromptIdentity::default(), b, None, &one);
    assert_eq!(recipe_fingerprint(&on_one), first);
    assert_ne!(print(&recipe(), b, a), first);
    assert_ne!(print(&Recipe { beam_size: 30, ..recipe() }, a, b), first);
    assert_ne!(print(&Recipe { candidates: 3, ..recipe() }, a, b), first);
    assert_ne!(print(&Recipe { numbers: Numbers::Int8, ..recipe() }, a, b), first);
    assert_ne!(print(&Recipe { known_words: false, ..recipe() }, a, b), first);
    assert_ne!(print(&Recipe { choice: Choice::Aligner, ..recipe() }, a, b), first);
    assert_ne!(print(&Recipe { tell_bans: false, ..recipe() }, a, b), first);
    assert_ne!(print(&Recipe { ban_lexicon: true, ..recipe() }, a, b), first);
    assert_ne!(print(&Recipe { reword: 0.2, ..recipe() }, a, b), first);
    assert_ne!(print(&Recipe { targets: Targets::All, ..recipe() }, a, b), first);
    let guided =
        |recipe: Recipe| described(&recipe, named(a), PromptIdentity::default(), b, Some([a, b]));
    assert_ne!(guided(Recipe { few_lus: true, ..recipe() }), guided(recipe()));
    let query: crate::query::Expression = "split=test".parse().unwrap();
    let blind = |list: Option<&crate::model::SplitList>| Recipe {
        blind_to: Some(BlindTo::new(query.clone(), list)),
        ..recipe()
    };
    let list = crate::model::SplitList::default();
    assert_ne!(print(&blind(None), a, b), first);
    assert_ne!(print(&blind(Some(&list)), a, b), print(&blind(None), a, b));
    let identity = PromptIdentity { frames: Some(b), ..PromptIdentity::default() };
    let judged = |recipe: Recipe| described(&recipe, named(a), identity, b, None);
    let plain = described(&recipe(), named(a), PromptIdentity::default(), b, None);
    assert_eq!(judged(Recipe { frame_fit: true, ..recipe() }), plain, "a score changes nothing");
    let ended = Recipe { frame_fit: true, least_frame_fit: 0.2, ..recipe() };
    assert!(judged(ended).contains("\"least\":\"0.2\""));
    let marked = described(
        &recipe(),
        named(a),
        PromptIdentity { mark: Some("<avoid>"), ..PromptIdentity::default() },
        b,
        None,
    );
    assert!(marked.contains("<avoid>") && recipe_fingerprint(&marked) != first);
    let guided = described(&recipe(), named(a), PromptIdentity::default(), a, Some([b, a]));
    assert!(guided.contains(&b.to_string()) && recipe_fingerprint(&guided) != first);
    let identity =
        PromptIdentity { adapter: Some(a), prompt: Some(b), ..PromptIdentity::default() };
    let adapted = described(&recipe(), named(a), identity, b, None);
    let other =
        described(&recipe(), named(a), PromptIdentity { prompt: Some(a), ..identity }, b, None);
    assert!(adapted != other && adapted.contains("\"adapter\""));
    assert_ne!(recipe_fingerprint(&adapted), first);
}

#[test]
fn a_recipe_numbers_the_rules_that_its_outputs_go_through() {
    let (a, b) = (Fingerprint([1; 32]), Fingerprint([2; 32]));
    let rules = |recipe: Recipe, identity| {
        let settings = described(&recipe, json!("m"), identity, b, Some([a, b]));
        let settings: Value = serde_json::from_str(&settings).unwrap();
        settings["rules"].as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ")
    };
    let plain = Recipe { keep_fe: KeepElements::None, carry: Carry::Target, ..recipe() };
    assert_eq!(rules(plain, PromptIdentity::default()), "settings rewriting choice");
    let identity = PromptIdentity { prompt: Some(a), ..PromptIdentity::default() };
    let guided = Recipe { guidance: Guidance::Lexicon, few_lus: true, ..recipe() };
    assert_eq!(
        rules(guided, identity),
        "settings rewriting choice prompt elements carrying guide few-lus"
    );
    let context = Recipe { guidance: Guidance::Context, reword: 0.3, ..recipe() };
    let several = Recipe { targets: Targets::All, ..context.clone() };
    assert_eq!(
        rules(context, identity),
        "settings rewriting choice prompt elements carrying in-context rewording"
    );
    assert_eq!(
        rules(several, identity),
        "settings rewriting choice prompt elements carrying targets in-context rewording"
    );
}

#[test]
fn numbers_out_of_range_are_named() {
    let wrong = Recipe { beam_size: 5, candidates: 6, ..recipe() };
    let message = wrong.check().unwrap_err().to_string();
    assert_eq!(message, "number of candidates is 6, expected 1 to the beam size, 5");
    let said = |wrong: Recipe| wrong.check().unwrap_err().to_string();
    let rounds = RunOptions::rounds(0).check().unwrap_err().to_string();
    assert_eq!(rounds, "number of rounds is 0, expected 1 or more");
    let fit = said(Recipe { least_frame_fit: 0.5, ..recipe() });
    assert!(fit.contains("least-frame-fit is 0.5") && fit.contains("frame-fit = true"), "{fit}");
    let model = said(Recipe { frame_fit: true, ..recipe() });
    assert!(model.contains("no frame model"), "{model}");
    let reword = said(Recipe { reword: 1.5, ..recipe() });
    assert!(reword.starts_with("reword is 1.5, expected 0 to 1"), "{reword}");
    let unguided = said(Recipe { reword: 0.2, guidance: Guidance::None, ..recipe() });
    assert!(unguided.contains("not guided"), "{unguided}");
    let alone = said(Recipe { targets: Targets::All, carry: Carry::Target, ..recipe() });
    assert!(alone.contains("changes several targets"), "{alone}");
    let beam = said(Recipe { beam_size: 0, ..recipe() });
    assert_eq!(beam, "beam size is 0, expected 1 to 1000");
    assert!(recipe().check().is_ok());
}
