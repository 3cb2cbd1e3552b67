//! What writes, ranks and filters: what `generate` and `eval generation` are told alike; and the
//! verifier that `generate` asks.

mod trained;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use fnstore::database::Database;
use fnstore::durable::Stamp;
use fnstore::engine::{Numbers, declared_languages};
use fnstore::expand::{FrameModels, VerifierModels};
use fnstore::generate::{
    Answer, GenerationPrompt, Generator, LanguageFiller, RemoteFiller, Seq2SeqFiller, is_seq2seq,
    stamped,
};
use fnstore::identify::FrameIdentifier;
use fnstore::label::Labeller;
use fnstore::models::{VERIFIER, find};
use fnstore::query::Expression;
use fnstore::score::Scorer;

pub(crate) use self::trained::INFILLER;
use self::trained::Trained;
use super::device::DeviceArgs;
use super::endpoint::EndpointArgs;
use super::named::named;
use super::{locate, verifier};
use crate::cli::print::output::tell;

/// The labeller that classifies given spans, unless another is named.
const CLASSIFIER: &str = "fe-classifier";

/// The language model that fills blanks and ranks, unless another is named.
const LANGUAGE_MODEL: &str = "SmolLM2-135M-Instruct";

#[derive(Debug, clap::Args)]
pub(crate) struct GeneratorArgs {
    /// Language model that fills and ranks: a GGUF file, an adapter or a name among the models; or
    /// the directory of a T5 that fills; with --endpoint the server's name of its model; `none` for
    /// no ranking [default: the adapter `infill` where its language model is at hand, else
    /// SmolLM2-135M-Instruct]
    #[arg(long, value_name = "FILE|DIR|NAME|none")]
    model: Option<String>,

    /// Language model that ranks what an endpoint or a T5 writes; `none` for no ranking [default:
    /// SmolLM2-135M-Instruct, if it is there]
    #[arg(long, value_name = "FILE|DIR|NAME|none", requires = "model")]
    ranker: Option<PathBuf>,

    /// Labeller that reads the new words: candidates with words that it reads as another frame
    /// element are dropped; `none` for no check [default: fe-classifier, if it is there]
    #[arg(long, value_name = "DIR|NAME|none")]
    classifier: Option<PathBuf>,

    /// How the generator is asked: `json` or `paper` for an endpoint, or a TOML file [default:
    /// json for an endpoint]
    #[arg(long, value_name = "json|paper|FILE")]
    prompt: Option<PathBuf>,

    #[command(flatten)]
    endpoint: EndpointArgs,

    /// Directory that holds the models
    #[arg(long, value_name = "DIR")]
    models: Option<PathBuf>,

    #[command(flatten)]
    device: DeviceArgs,

    /// Number format of the language model
    #[arg(long, value_parser = named::<Numbers>(), default_value_t = Numbers::default())]
    numbers: Numbers,
}

impl GeneratorArgs {
    /// Whether a server is asked.
    pub(crate) fn asks(&self) -> bool {
        self.endpoint.is_given()
    }

    /// Whether a language model ranks, if the usual one is there.
    pub(crate) fn ranks(&self) -> bool {
        self.model.as_deref() != Some("none")
    }

    /// What fills blanks, ranks and filters.
    pub(crate) fn open_filling(&self) -> anyhow::Result<Generator> {
        let asks = self.asks();
        if let Some(place) = self.seq2seq() {
            return self.open_seq2seq(&place);
        }
        if self.ranker.is_some() && !asks {
            bail!(
                "--ranker ranks what an endpoint or a T5 writes; a language model ranks its own (N-ranker)"
            );
        }
        let trained = if asks { None } else { Trained::find(self)? };
        let prompt = self.prompt(asks, trained.as_ref())?;
        let generator = Generator::copying();
        let generator = match self.endpoint.open(self.model.as_deref().unwrap_or_default())? {
            Some(endpoint) => generator.asking(RemoteFiller::new(endpoint, prompt)),
            None => match &trained {
                Some(trained) => generator.filling_as_trained(trained.open(self, prompt)?),
                None => generator.filling(LanguageFiller::new(prompt)),
            },
        };
        let (named, others) = match trained {
            Some(trained) => (Some(trained.base.clone()), trained.files()?),
            None if asks => (self.ranker.clone(), Vec::new()),
            None => (self.model.clone().map(PathBuf::from), Vec::new()),
        };
        self.reading(self.ranking(generator, !asks, named, others)?)
    }

    /// The directory of an encoder-decoder, where `--model` names one.
    fn seq2seq(&self) -> Option<PathBuf> {
        let dirs = locate::model_dirs(self.models.clone());
        let name = self.model.as_deref().filter(|_| !self.asks())?;
        find(Path::new(name), &dirs).filter(|place| is_seq2seq(place))
    }

    fn open_seq2seq(&self, place: &Path) -> anyhow::Result<Generator> {
        if self.prompt.is_some() {
            bail!("a T5 is told by marks around the blanks and takes no --prompt (P-field)");
        }
        let files = stamped(place)?;
        let filler = Seq2SeqFiller::open(place, &self.device.open()?, self.numbers)?;
        let generator = Generator::copying().filling_by_sentinels(filler, files);
        self.reading(self.ranking(generator, false, self.ranker.clone(), Vec::new())?)
    }

    /// What ranks alone. A prompt that cannot be used is refused here as well.
    pub(crate) fn open_ranking(&self) -> anyhow::Result<Generator> {
        self.prompt(false, None)?;
        let named = self.model.clone().map(PathBuf::from);
        self.ranking(Generator::copying(), false, named, Vec::new())
    }

    /// What ranks and filters.
    pub(crate) fn open_measuring(&self) -> anyhow::Result<Generator> {
        self.reading(self.open_ranking()?)
    }

    fn prompt(&self, asks: bool, trained: Option<&Trained>) -> anyhow::Result<GenerationPrompt> {
        let prompt = match (self.prompt.as_deref().map(Path::to_str), trained) {
            (None, Some(trained)) => GenerationPrompt::read(&trained.prompt())?,
            (None, None) if !asks => GenerationPrompt::built_in(Answer::Sentence),
            (None | Some(Some("json")), _) => GenerationPrompt::built_in(Answer::Json),
            (Some(Some("paper")), _) => GenerationPrompt::built_in(Answer::Commas),
            _ => GenerationPrompt::read(self.prompt.as_deref().unwrap_or(Path::new("")))?,
        };
        let (whose, gives) = match (asks, trained) {
            (true, _) => ("an endpoint", !prompt.answer().is_of_language_model()),
            (false, Some(_)) => ("an adapter for infilling", prompt.answer() == Answer::Bars),
            (false, None) => ("a language model", prompt.answer() == Answer::Sentence),
        };
        if !gives {
            bail!(
                "the prompt's `answer` is `{}`, which {whose} cannot give (P-field)",
                prompt.answer().as_str(),
            );
        }
        Ok(prompt)
    }

    fn ranking(
        &self,
        generator: Generator,
        fills: bool,
        named: Option<PathBuf>,
        others: Vec<(PathBuf, Stamp)>,
    ) -> anyhow::Result<Generator> {
        Ok(match with_model(self, fills, named, others)? {
            Some((scorer, files)) => generator.ranking(scorer, files),
            None => generator,
        })
    }

    /// What also says how likely frames are, where there is a frame model.
    pub(crate) fn judging(&self, generator: Generator) -> anyhow::Result<Generator> {
        let dirs = locate::model_dirs(self.models.clone());
        let Some(FrameModels { identifier, encoder }) = FrameModels::search(&dirs) else {
            return Ok(generator);
        };
        let identifier = FrameIdentifier::open(&identifier, &encoder, &self.device.open()?)?;
        Ok(generator.judging(identifier))
    }

    /// What is also asked about what it keeps: the verifier of a name, else the usual one, if it is
    /// there and made for the releases of an expression.
    pub(crate) fn verifying(
        &self,
        generator: Generator,
        named: Option<&Path>,
        of: (&Database, &Expression),
    ) -> anyhow::Result<Generator> {
        let is_unwanted = |name: Option<&Path>| name == Some(Path::new("none"));
        // Without another word, whoever wants no language model gets none.
        if is_unwanted(named) || named.is_none() && !self.ranks() {
            return Ok(generator);
        }
        let found = match named {
            Some(name) => self.verifier(name)?,
            None => match self
                .verifier(VERIFIER.as_ref())
                .and_then(|of_files| check_languages(&of_files, of).map(|()| of_files))
            {
                Ok(found) => found,
                Err(why) => {
                    tell(&format!("nothing is said of `evokes`: {why:#}"));
                    return Ok(generator);
                }
            },
        };
        let files = [stamped(&found.adapter)?, stamped(&found.base)?].concat();
        let at = (&self.device.open()?, self.numbers);
        Ok(generator.verifying(&found, at, files)?)
    }

    fn verifier(&self, name: &Path) -> anyhow::Result<VerifierModels> {
        verifier::models(name, &locate::model_dirs(self.models.clone()))
    }

    fn reading(&self, generator: Generator) -> anyhow::Result<Generator> {
        Ok(match classifier(self)? {
            Some(labeller) => generator.classifying(labeller),
            None => generator,
        })
    }
}

/// Checks that a verifier was made for the releases that an expression may find.
fn check_languages(
    VerifierModels { adapter, base }: &VerifierModels,
    (database, expression): (&Database, &Expression),
) -> anyhow::Result<()> {
    let declared = declared_languages(adapter).or(&declared_languages(base));
    let releases = database.releases_of(expression)?;
    Ok(database.check_languages([&declared], releases.iter().map(|release| release.id))?)
}

/// The labeller that reads new words; none if none is wanted, or the usual one is not there.
fn classifier(args: &GeneratorArgs) -> anyhow::Result<Option<Labeller>> {
    let named = args.classifier.as_deref();
    if named == Some(Path::new("none")) {
        return Ok(None);
    }
    let dirs = locate::model_dirs(args.models.clone());
    let place = match locate::model(named.unwrap_or(Path::new(CLASSIFIER)), &dirs) {
        Ok(place) => place,
        Err(error) if named.is_some() => return Err(error),
        Err(_) => return Ok(None),
    };
    let encoder = locate::encoder(None, &place, &dirs)?;
    Ok(Some(Labeller::open(&place, &encoder, &args.device.open()?)?))
}

/// A language model, and the files that it was read from.
type Ranker = (Scorer, Vec<(PathBuf, Stamp)>);

/// The language model that ranks, and fills where it is to: the one that is named, else the
/// default one; where only ranks are lost, none will do. `others` are files that outputs depend on,
/// too.
fn with_model(
    args: &GeneratorArgs,
    fills: bool,
    named: Option<PathBuf>,
    others: Vec<(PathBuf, Stamp)>,
) -> anyhow::Result<Option<Ranker>> {
    let is_none = named.as_deref() == Some(Path::new("none"));
    if is_none && !fills {
        return Ok(None);
    }
    let dirs = locate::model_dirs(args.models.clone());
    let is_named = named.is_some();
    let name = named.unwrap_or_else(|| LANGUAGE_MODEL.into());
    let place = match locate::language_model(&name, &dirs) {
        Ok(place) => place,
        Err(error) if is_named || fills => {
            return Err(error).context(
                "infilling wants a language model; `make rewriter` fetches SmolLM2-135M-Instruct (N-model)",
            );
        }
        Err(_) => {
            tell("there is no language model: sentences are neither scored nor ranked");
            return Ok(None);
        }
    };
    let stamps = [stamped(&place)?, others].concat();
    let scorer = Scorer::open(&place, &args.device.open()?, args.numbers)?;
    Ok(Some((scorer, stamps)))
}
