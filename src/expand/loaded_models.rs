//! A recipe's models, open, and the recipe as they make it.

use std::sync::{Arc, OnceLock};

use super::guide::{Guide, written_words};
use super::judged_choice::JudgedChoice;
use super::judges::Judges;
use super::knowledge::Knowledge;
use super::recipe::PromptIdentity;
use super::{
    Choice, ExpandError, Guidance, Recipe, RecipeError, Result, RewriterSource, RunOptions,
    VerifierModels,
};
use serde_json::{Value, json};

use crate::align::Aligner;
use crate::database::Database;
use crate::endpoint::Endpoint;
use crate::engine::Device;
use crate::filter::{ChoiceWeights, Filter, Input};
use crate::grow::ModelFiles;
use crate::identify::FrameIdentifier;
use crate::model::{Declared, recipe_fingerprint};
use crate::paraphrase::{ParaphraseError, Paraphraser, Prompt, RemoteParaphraser, Rewriter};
use crate::tag::Tagger;
use crate::vectors::WordVectors;

/// What guides: word vectors, which of their words the rewriter writes, and a tagger.
pub(super) struct GuideParts {
    vectors: Arc<WordVectors>,
    /// Known once a run has asked.
    is_written: OnceLock<Arc<[bool]>>,
    tagger: Arc<Tagger>,
}

/// The models of a recipe.
pub(super) struct LoadedModels {
    pub(super) rewriter: Rewriter,
    pub(super) aligner: Aligner,
    /// What guides, where the recipe is guided.
    pub(super) guide: Option<GuideParts>,
    pub(super) filter: Option<Filter>,
    /// Says how likely frames are, where the recipe asks.
    pub(super) identifier: Option<FrameIdentifier>,
    /// Chooses among outputs, where the recipe asks.
    pub(super) judged: Option<JudgedChoice>,
    /// Asked about what is kept, where the run asks and they do not choose.
    pub(super) judges: Option<Judges>,
    pub(super) files: ModelFiles,
    /// The whole recipe as JSON.
    pub(super) description: String,
}

impl LoadedModels {
    /// Opens the models.
    ///
    /// # Errors
    /// When the recipe's numbers are out of range, or a model cannot be opened.
    pub(super) fn open((recipe, options): (&Recipe, &RunOptions)) -> Result<Self> {
        recipe.check()?;
        options.check()?;
        let device = &options.device;
        let models = &recipe.models;
        let files = models.files()?;
        let rewriter = open_rewriter(recipe, device)?;
        let is_asked = matches!(&rewriter, Rewriter::Model(model) if model.prompt().is_some());
        if recipe.guidance == Guidance::Context && !is_asked {
            return Err(ParaphraseError::NoPrompt.into());
        }
        let aligner = Aligner::open(&models.aligner, &models.encoder, device)
            .map_err(|source| ExpandError::Align { seed: None, source })?;
        let guide = open_guide(recipe, device)?;
        let filter = models.filter.as_deref().map(Filter::open).transpose()?;
        let wants_fit = filter.as_ref().is_some_and(|filter| filter.looks_at(Input::FrameFit));
        let asks = recipe.frame_fit || wants_fit;
        let identifier = models
            .frames
            .as_ref()
            .filter(|_| asks)
            .map(|frames| FrameIdentifier::open(&frames.identifier, &frames.encoder, device));
        let identifier = identifier.transpose()?;
        let frames = identifier.as_ref().map(FrameIdentifier::fingerprint);
        let judged = open_judges(recipe, &rewriter, device)?;
        let choosing = judged.as_ref().map(JudgedChoice::fingerprint);
        let (described, identity) = match &rewriter {
            Rewriter::Model(model) => prompt_identity(model),
            Rewriter::Server(server) => (server.description(), PromptIdentity::default()),
        };
        let description = recipe.description(
            described,
            PromptIdentity { frames, judges: choosing, ..identity },
            aligner.fingerprint(),
            guide.as_ref().map(|of| [of.vectors.fingerprint(), of.tagger.fingerprint()]),
            device,
        );
        let judges = open_judges_of_kept((recipe, options), &rewriter)?;
        files.check()?;
        Ok(Self {
            rewriter,
            aligner,
            guide,
            filter,
            identifier,
            judged,
            judges,
            files,
            description,
        })
    }

    /// The languages that its models declare; a server's are not known.
    pub(super) fn declared(&self) -> Vec<Declared> {
        let guide = self.guide.iter();
        let guide = guide.flat_map(|of| [of.vectors.declared(), of.tagger.declared()]);
        let others = self.filter.as_ref().map(Filter::declared).into_iter();
        let judges = self.judged.as_ref().map(|judged| &judged.judges).or(self.judges.as_ref());
        let others = others.chain(judges.map(|judges| judges.verifier.declared()));
        let others = others.chain(self.identifier.as_ref().map(FrameIdentifier::declared));
        let models = self.rewriter.declared().into_iter().chain([self.aligner.declared()]);
        models.chain(guide).chain(others).cloned().collect()
    }

    /// What is known beside seeds, with what guides.
    pub(super) fn knowledge<'a>(
        &self,
        database: &'a Database,
        recipe: &'a Recipe,
    ) -> Result<Knowledge<'a>> {
        let tagger = self.guide.as_ref().map(|of| Arc::clone(&of.tagger));
        let guide = self.guide.as_ref().map(|of| {
            let knows_word = |word: &str| self.rewriter.knows_word(word);
            let is_written = of.is_written.get_or_init(|| written_words(&of.vectors, knows_word));
            let (vectors, is_written) = (Arc::clone(&of.vectors), Arc::clone(is_written));
            let guide = Guide::new(recipe.guidance, vectors, is_written);
            guide.unattested_only(recipe.from_sisters.clone()).with_few(recipe.few_lus)
        });
        Knowledge::new((database, recipe), guide, tagger)
    }

    /// The recipe's fingerprint.
    pub(super) fn fingerprint(&self) -> [u8; 16] {
        recipe_fingerprint(&self.description)
    }
}

fn open_rewriter(recipe: &Recipe, device: &Device) -> Result<Rewriter> {
    let open = || -> std::result::Result<Rewriter, ParaphraseError> {
        Ok(match &recipe.models.rewriter {
            RewriterSource::Model { directory, base } => {
                let (base, numbers) = (base.as_deref(), recipe.numbers);
                let model = Paraphraser::open_with(directory, base, device, numbers)?;
                Rewriter::Model(Box::new(model))
            }
            RewriterSource::Server(settings) => {
                let endpoint = Endpoint::new(settings.clone())?;
                Rewriter::Server(Box::new(RemoteParaphraser::new(endpoint)))
            }
        })
    };
    Ok(open()?)
}

/// Who chooses among outputs, where the recipe asks.
fn open_judges(
    recipe: &Recipe,
    rewriter: &Rewriter,
    device: &Device,
) -> Result<Option<JudgedChoice>> {
    let missing = || ExpandError::Recipe(RecipeError::VerifierMissing);
    if recipe.choice != Choice::Judged {
        return Ok(None);
    }
    let VerifierModels { adapter, base } = recipe.models.verifier.as_ref().ok_or_else(missing)?;
    let Rewriter::Model(rewriter) = rewriter else { return Err(missing()) };
    let judges = Judges::open((adapter, base), rewriter.again()?, (device, recipe.numbers))?;
    Ok(Some(JudgedChoice::new(judges, ChoiceWeights::read(adapter)?, recipe.asked)))
}

/// Who is asked about what is kept, where the run asks and they do not choose.
fn open_judges_of_kept(
    (recipe, options): (&Recipe, &RunOptions),
    rewriter: &Rewriter,
) -> Result<Option<Judges>> {
    if !options.verify || recipe.choice == Choice::Judged {
        return Ok(None);
    }
    let missing = ExpandError::Recipe(RecipeError::NobodyToAsk);
    let VerifierModels { adapter, base } = recipe.models.verifier.as_ref().ok_or(missing)?;
    let rewriter = match rewriter {
        Rewriter::Model(model) => model.again()?,
        Rewriter::Server(_) => None,
    };
    let judges = Judges::open((adapter, base), rewriter, (&options.device, recipe.numbers))?;
    Ok(Some(judges))
}

/// What a recipe says of a model, and what the model is told.
fn prompt_identity(model: &Paraphraser) -> (Value, PromptIdentity<'_>) {
    let identity = PromptIdentity {
        mark: model.mark(),
        adapter: model.adapter_fingerprint(),
        prompt: model.prompt().map(Prompt::fingerprint),
        frames: None,
        judges: None,
    };
    (json!(model.fingerprint().to_string()), identity)
}

/// What guides an expansion, where it is guided.
fn open_guide(recipe: &Recipe, device: &Device) -> Result<Option<GuideParts>> {
    if recipe.guidance == Guidance::None {
        return Ok(None);
    }
    let Some(models) = &recipe.models.guide else {
        return Err(ExpandError::Recipe(RecipeError::GuideMissing));
    };
    let tagger = Tagger::open(&models.tagger, &models.encoder, device);
    let tagger = tagger.map_err(|source| ExpandError::Tag { source })?;
    let vectors = WordVectors::open(&models.word_vectors)?;
    let vectors = Arc::new(if recipe.few_lus { vectors.of_text() } else { vectors });
    Ok(Some(GuideParts { vectors, is_written: OnceLock::new(), tagger: Arc::new(tagger) }))
}
