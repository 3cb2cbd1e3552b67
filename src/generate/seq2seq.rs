//! An encoder-decoder of the T5 layout that writes the words of blanks, as in the paper.
//!
//! It reads the sentence with `<extra_id_0>`, `<extra_id_1>`, ... in its blanks from left to right
//! (the paper's released code numbers them from the right), and answers with each of these before
//! the words of its blank. All blanks of a sentence are written in one pass. The decoder blocks
//! whatever would break the order ([`TokenOrder`]).
//!
//! What is said of a blank stands around it: `<FE: Reason> <extra_id_0> </FE: Reason>` in mode
//! `fe`, `<Frame: F + FE: Reason> ...` in mode `frame-fe`. A sentence that spells a sentinel
//! holds none for the network.
//!
//! Cui and Swayamdipta (2024), section 3.2, appendix C.1 and table 7; Raffel et al. (2020), section
//! 3.1.4.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};

use super::answer::checked;
use super::job::{Filled, Job};
use super::recipe::GenerationRecipe;
use super::{GenerateError, Mode, Result, Skip};
use crate::engine::{
    AvoidTokens, Constraint, Device, EncoderDecoder, GoesOn, Hypothesis, Layout, LengthLimit,
    Numbers, SampleSettings, StepNetwork, TokenOrder, Tokenizer, declared_languages,
    search_all_while,
};
use crate::model::Declared;
use crate::text::natural_spacing;

/// As the paper's released code draws: tokens of an answer, temperature, tokens to draw from.
const TOKENS: usize = 64;
const TEMPERATURE: f32 = 1.5;
const TOP_K: usize = 50;

/// Fills blanks by an encoder-decoder of the T5 layout.
#[derive(Debug)]
pub struct Seq2SeqFiller {
    network: EncoderDecoder,
    tokenizer: Tokenizer,
    /// `<extra_id_0>`, `<extra_id_1>`, ...
    sentinels: Vec<u32>,
    /// Tokens that no answer holds: special ones but for sentinels and the end, and ids without a
    /// token.
    never: Arc<AvoidTokens>,
    declared: Declared,
}

impl Seq2SeqFiller {
    /// The languages that the model declares.
    #[must_use]
    pub fn declared(&self) -> &Declared {
        &self.declared
    }

    /// Opens a directory as transformers writes it: `config.json`, `model.safetensors` and
    /// `tokenizer.json`.
    ///
    /// # Errors
    /// When a file is missing or damaged, the layout is another one, or the tokenizer has no
    /// sentinels or is another model's.
    pub fn open(directory: &Path, device: &Device, numbers: Numbers) -> Result<Self> {
        let path = || directory.to_owned();
        let cannot = |source: Box<dyn std::error::Error + Send + Sync>| GenerateError::Seq2Seq {
            path: path(),
            source,
        };
        let tokenizer = Tokenizer::open(directory).map_err(|error| cannot(error.into()))?.plain();
        let network = EncoderDecoder::open_in(directory, device, numbers)
            .map_err(|error| cannot(error.into()))?;
        let sentinels = sentinels_of(&tokenizer);
        let (known, size) = (tokenizer.vocab_size(), network.vocab_size());
        let found = match network.config().layout {
            Layout::T5 if sentinels.len() < 2 => Some("its tokenizer has none".to_owned()),
            Layout::T5 if known > size => Some(format!(
                "its tokenizer has {known} ids and its network {size}, so they are of two models"
            )),
            Layout::T5 => None,
            other => Some(format!("its layout is `{}`", other.name())),
        };
        if let Some(found) = found {
            return Err(GenerateError::Sentinels { path: path(), found });
        }
        let (eos, specials) = (network.eos_token(), tokenizer.special_ids());
        let never = (0..u32::try_from(size).expect("token ids are 32-bit")).filter(|id| {
            let is_text = (*id as usize) < known && specials.binary_search(id).is_err();
            *id != eos && !is_text && !sentinels.contains(id)
        });
        let never =
            AvoidTokens::new(never.map(|id| vec![id])).map_err(|error| cannot(error.into()))?;
        let (never, declared) = (Arc::new(never), declared_languages(directory));
        Ok(Self { network, tokenizer, sentinels, never, declared })
    }

    pub(super) fn description(&self) -> Value {
        json!({
            "kind": "encoder-decoder",
            "layout": Layout::T5.name(),
            "model": self.network.fingerprint().to_string(),
            "tokens": TOKENS,
            "temperature": TEMPERATURE.to_string(),
            "top_k": TOP_K,
        })
    }

    /// Words for the blanks of some sentences: as many draws for each as the recipe asks for
    /// candidates, less those that are alike or cannot be used.
    pub(super) fn fill(
        &mut self,
        jobs: &[Job<'_>],
        recipe: &GenerationRecipe,
        goes_on: &mut GoesOn<'_>,
    ) -> Result<Vec<Filled>> {
        let limit = self.network.max_length();
        let mut filled = vec![Filled::default(); jobs.len()];
        let (mut places, mut sources) = (Vec::new(), Vec::new());
        for (at, job) in jobs.iter().enumerate() {
            let blanks = job.draft.blanks.len();
            let source = self.source(job, recipe.mode)?;
            if source.len() > limit || blanks > self.sentinels.len() {
                filled[at].skip = Some(Skip::TooLong);
                continue;
            }
            places.push(at);
            sources.push((source, self.constraint(blanks)));
        }
        let settings = SampleSettings {
            samples: recipe.candidates,
            seed: recipe.seed,
            temperature: TEMPERATURE,
            top_k: TOP_K,
            length_limit: LengthLimit::tokens(TOKENS.min(limit)),
            ..SampleSettings::default()
        };
        let found = search_all_while(&mut self.network, sources, settings, goes_on)
            .map_err(|source| GenerateError::Decode(Box::new(source)))?;
        for (at, drawn) in places.into_iter().zip(found) {
            for hypothesis in drawn {
                match self.spans(&hypothesis, jobs[at].draft.blanks.len())? {
                    Ok(spans) => filled[at].take(&jobs[at], &spans),
                    Err(code) => filled[at].rejects.push(code),
                }
            }
            filled[at].skip = filled[at].candidates.is_empty().then_some(Skip::Rejected);
        }
        Ok(filled)
    }

    /// What an answer for so many blanks may hold.
    fn constraint(&self, blanks: usize) -> Constraint {
        let size = u32::try_from(self.network.vocab_size()).expect("token ids are 32-bit");
        let order = TokenOrder::new(&self.sentinels, blanks, self.network.eos_token(), size);
        Constraint {
            tokens: Some(Arc::clone(&self.never)),
            order: Some(Arc::new(order)),
            ..Constraint::default()
        }
    }

    /// The sentence as the network reads it.
    fn source(&self, job: &Job<'_>, mode: Mode) -> Result<Vec<u32>> {
        let draft = job.draft;
        let (mut tokens, mut from) = (Vec::new(), 0);
        for (blank, sentinel) in draft.blanks.iter().zip(&self.sentinels) {
            let [before, behind] = said_of(mode, job.frame, &blank.name);
            self.add(&draft.text[from..blank.span.start as usize], &mut tokens)?;
            self.add(&before, &mut tokens)?;
            tokens.push(*sentinel);
            self.add(&behind, &mut tokens)?;
            from = blank.span.end as usize;
        }
        self.add(&draft.text[from..], &mut tokens)?;
        tokens.push(self.network.eos_token());
        Ok(tokens)
    }

    /// Adds the tokens of a text. None of them is a sentinel or the end, whatever it spells: those
    /// that a vocabulary has as pieces, too, are left out.
    fn add(&self, text: &str, tokens: &mut Vec<u32>) -> Result<()> {
        let text = natural_spacing(text);
        if text.trim().is_empty() {
            return Ok(());
        }
        let found = self.tokenizer.encode(text.trim());
        let found = found.map_err(|source| GenerateError::Tokenize(Box::new(source)))?;
        let eos = self.network.eos_token();
        tokens.extend(found.into_iter().filter(|id| *id != eos && !self.sentinels.contains(id)));
        Ok(())
    }

    /// The spans of an answer, or the code of what is wrong with it.
    fn spans(
        &self,
        answer: &Hypothesis,
        blanks: usize,
    ) -> Result<std::result::Result<Vec<String>, &'static str>> {
        let Some(parts) = split_at_sentinels(&answer.tokens, &self.sentinels, blanks) else {
            return Ok(Err("F-count"));
        };
        if !answer.ended {
            return Ok(Err("F-long"));
        }
        let decoded = parts.iter().map(|part| self.tokenizer.decode(part));
        let decoded = decoded.collect::<std::result::Result<Vec<_>, _>>();
        let spans = decoded.map_err(|source| GenerateError::Tokenize(Box::new(source)))?;
        Ok(checked(spans, blanks))
    }
}

fn sentinels_of(tokenizer: &Tokenizer) -> Vec<u32> {
    (0..).map_while(|number| tokenizer.id(&format!("<extra_id_{number}>"))).collect()
}

/// What stands around a blank.
fn said_of(mode: Mode, frame: &str, element: &str) -> [String; 2] {
    match mode {
        Mode::None => [String::new(), String::new()],
        Mode::Fe => [format!("<FE: {element}>"), format!("</FE: {element}>")],
        Mode::FrameFe => [
            format!("<Frame: {frame} + FE: {element}>"),
            format!("</Frame: {frame} + FE: {element}>"),
        ],
    }
}

/// The tokens behind each sentinel; none where there are not as many as blanks, in their order.
fn split_at_sentinels(tokens: &[u32], sentinels: &[u32], blanks: usize) -> Option<Vec<Vec<u32>>> {
    let mut parts: Vec<Vec<u32>> = Vec::new();
    for token in tokens {
        match sentinels.iter().position(|sentinel| sentinel == token) {
            // The one behind the last part.
            Some(at) if at == blanks && parts.len() == blanks => return Some(parts),
            Some(at) if at == parts.len() => parts.push(Vec::new()),
            Some(_) => return None,
            None => parts.last_mut()?.push(*token),
        }
    }
    (parts.len() == blanks).then_some(parts)
}

/// Whether a directory holds an encoder-decoder, of any layout.
#[must_use]
pub fn is_seq2seq(directory: &Path) -> bool {
    #[derive(serde::Deserialize)]
    struct Config {
        model_type: String,
    }
    let text = std::fs::read(PathBuf::from(directory).join("config.json")).unwrap_or_default();
    serde_json::from_slice::<Config>(&text)
        .is_ok_and(|config| Layout::ALL.iter().any(|(name, _)| *name == config.model_type))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::always;
    use crate::generate::{Blank, Draft};
    use crate::model::{AnnotationSetId, FeId, IdSpace, Span};

    /// The tiny T5 of the parity tests.
    fn tiny() -> Seq2SeqFiller {
        let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/parity/t5");
        Seq2SeqFiller::open(&place, &Device::cpu(), Numbers::F32).unwrap()
    }

    fn draft(text: &str, blanks: &[(&str, &str)]) -> Draft {
        let blank = |(number, (name, words)): (u32, &(&str, &str))| {
            let start = text.find(words).unwrap() as u32;
            let span = Span::new(start, start + words.len() as u32);
            Blank { fe: FeId(number), name: (*name).to_owned(), span }
        };
        Draft {
            sister: AnnotationSetId::new(IdSpace::Exemplar, 1),
            source: text.to_owned(),
            text: text.to_owned(),
            target: Span::new(0, 1),
            blanks: (1..).zip(blanks).map(blank).collect(),
            kept: Default::default(),
            by_rules: true,
            layers: Vec::new(),
        }
    }

    /// The source as text, sentinels and the end by their names.
    fn read(filler: &Seq2SeqFiller, draft: &Draft, mode: Mode) -> String {
        let job = Job { draft, frame: "Checking", lexunit: "check.v" };
        let tokens = filler.source(&job, mode).unwrap();
        let specials = filler.tokenizer.special_ids();
        let spelled = |token: &u32| match specials.contains(token) {
            true => format!(" {}", filler.tokenizer.token(*token).unwrap()),
            false => String::from_utf8(filler.tokenizer.surface(*token).to_vec()).unwrap(),
        };
        tokens.iter().map(spelled).collect()
    }

    #[test]
    fn blanks_are_sentinels_and_what_spells_one_is_none() {
        let filler = tiny();
        assert_eq!(filler.sentinels, [94, 93, 92, 91, 90]);
        let text = "He saw <extra_id_1> , a </s> , check the old car .";
        let draft = draft(text, &[("Inspector", "He"), ("Ground", "the old car")]);
        assert_eq!(
            read(&filler, &draft, Mode::None),
            " <extra_id_0> saw <extra_id_1>, a , check <extra_id_1> . </s>"
        );
        let source = filler.source(&Job { draft: &draft, frame: "F", lexunit: "l" }, Mode::None);
        let count = |id: u32| source.as_ref().unwrap().iter().filter(|token| **token == id).count();
        let end = filler.network.eos_token();
        assert_eq!([94, 93, 92, end].map(count), [1, 1, 0, 1], "the blanks and the end alone");
        let told = read(&filler, &draft, Mode::FrameFe);
        let around =
            " check <Frame: Checking + FE: Ground> <extra_id_1> </Frame: Checking + FE: Ground> .";
        assert!(told.contains(around), "{told}");
    }

    #[test]
    fn an_answer_has_a_part_for_each_blank_or_is_rejected() {
        let mut filler = tiny();
        let draft = draft("He check it .", &[("Inspector", "He"), ("Ground", "it")]);
        let job = [Job { draft: &draft, frame: "Checking", lexunit: "check.v" }];
        let recipe = GenerationRecipe { candidates: 40, ..GenerationRecipe::default() };
        let filled = filler.fill(&job, &recipe, &mut always()).unwrap().remove(0);
        assert!(filled.candidates.len() + filled.rejects.len() <= 40);
        assert!(!filled.candidates.is_empty(), "{filled:?}");
        assert!(filled.candidates.iter().all(|spans| spans.len() == 2), "{filled:?}");
        // More blanks than sentinels.
        let names: Vec<String> = (0..6).map(|number| format!("w{number}")).collect();
        let many: Vec<(&str, &str)> = names.iter().map(|name| ("E", name.as_str())).collect();
        let draft = self::draft(&names.join(" "), &many);
        let job = [Job { draft: &draft, frame: "Checking", lexunit: "check.v" }];
        assert_eq!(filler.fill(&job, &recipe, &mut always()).unwrap()[0].skip, Some(Skip::TooLong));
    }

    #[test]
    fn an_answer_is_parted_at_sentinels_in_their_order() {
        let split = |tokens: &[u32], blanks| split_at_sentinels(tokens, &[90, 91, 92], blanks);
        let two = Some(vec![vec![5, 6], vec![7]]);
        assert_eq!(split(&[90, 5, 6, 91, 7, 1], 2), Some(vec![vec![5, 6], vec![7, 1]]));
        assert_eq!(split(&[90, 5, 6, 91, 7, 92, 1], 2), two);
        for wrong in [
            &[90, 5][..],
            &[5, 90, 6, 91, 7],
            &[91, 5, 90, 7],
            &[90, 5, 90, 6, 91, 7],
            &[90, 5, 92, 6],
            &[],
        ] {
            assert_eq!(split(wrong, 2), None, "{wrong:?}");
        }
        assert_eq!(split(&[90, 5, 91, 6, 92, 7], 3).map(|parts| parts.len()), Some(3));
    }

    #[test]
    fn what_is_said_stands_around_a_blank() {
        let said = |mode| said_of(mode, "Causation", "Reason").join(" <extra_id_0> ");
        assert_eq!(said(Mode::None), " <extra_id_0> ");
        assert_eq!(said(Mode::Fe), "<FE: Reason> <extra_id_0> </FE: Reason>");
        let both = "<Frame: Causation + FE: Reason> <extra_id_0> </Frame: Causation + FE: Reason>";
        assert_eq!(said(Mode::FrameFe), both);
    }
}
