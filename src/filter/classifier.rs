//! A trained filter on disk, and what it says of a set.
//!
//! A directory with `config.json` ([`FilterConfig`]) and `model.safetensors` (f32): for either
//! classifier, `precision` and `recall`, and each of its networks, `NAME` being `precision.0` and
//! so on, `NAME.inputs.mean` and `NAME.inputs.sd` (I), `NAME.hidden.0.weight` (10, I),
//! `NAME.hidden.1.weight` (10, 10), `NAME.output.weight` (1, 10), and their biases.

use std::collections::BTreeSet;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::committee::Committee;
use super::error::FilterError;
use super::evidence::{FilterEvidence, Input, inputs_of};
use super::table::Share;
use crate::durable::WholeDirectory;
use crate::engine::{Fingerprint, Weights, declared_languages};
use crate::learn::{CONFIG, FileError, read_config, write_model};
use crate::model::{Declared, FilterScores};

/// What `model_type` in a filter's configuration says.
pub const MODEL_TYPE: &str = "filter";

/// The format that this build writes and reads.
pub(super) const FORMAT: u32 = 1;
/// What is done when a filter cannot be written.
const WRITE: &str = "write a filter to";
const PRECISION: &str = "precision";
const RECALL: &str = "recall";

/// What a filter's weights were made for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FilterConfig {
    /// `filter`.
    pub model_type: String,
    /// Version of the format.
    pub format: u32,
    /// What the networks look at, in order.
    pub inputs: Vec<Input>,
    /// Networks of each classifier, whose scores are averaged.
    pub members: usize,
    /// The one that favours precision.
    pub precision: FilterEdition,
    /// The one that favours recall.
    pub recall: FilterEdition,
    /// How they were trained.
    pub training: FilterTraining,
}

/// One of the two classifiers: what was chosen for it on development data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FilterEdition {
    /// How much an output of the label counts that counts less: accepted ones for precision,
    /// refused ones for recall.
    pub weight: f32,
    /// Sets that score as much or more are kept.
    pub cut: f32,
    /// Whether the wanted precision or recall was reached; a precision may be out of reach.
    pub reached: bool,
    /// Of the development outputs that it keeps, those that are acceptable.
    pub precision: Share,
    /// Of the acceptable development outputs, those that it keeps.
    pub recall: Share,
}

/// How a filter was trained.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FilterTraining {
    /// Judged outputs that are acceptable.
    pub accepted: u64,
    /// Those that are not.
    pub refused: u64,
    /// Sentences of the seeds that they come from.
    pub sentences: usize,
    /// Parts to which the sentences were dealt out.
    pub folds: usize,
    /// Steps, each over all of the data.
    pub steps: usize,
    /// Learning rate after warm-up.
    pub learning_rate: f32,
    /// Weight decay.
    pub weight_decay: f32,
    /// Seed of the first weights.
    pub seed: u64,
}

/// The fields by which another model's configuration is told.
#[derive(Deserialize)]
struct ModelTag {
    model_type: Option<String>,
    format: Option<u32>,
}

/// A trained filter.
///
/// ```
/// use fnstore::filter::{FilterEvidence, Filter};
///
/// let filter = Filter::open("models/filter".as_ref())?;
/// let evidence = FilterEvidence::new(1, (0.2, 0.99), (false, 1));
/// let sure = filter.scores(&evidence);
/// let unsure = filter.scores(&FilterEvidence { proposed: true, ..evidence });
/// assert!(sure.precision > unsure.precision);
/// # Ok::<(), fnstore::filter::FilterError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Filter {
    config: FilterConfig,
    precision: Committee,
    recall: Committee,
    fingerprint: Fingerprint,
    declared: Declared,
}

impl Filter {
    /// Opens the filter in a directory.
    ///
    /// # Errors
    /// When its files are missing or damaged, or belong to another kind of model.
    pub fn open(directory: &Path) -> Result<Self, FilterError> {
        let config = read_filter_config(directory)?;
        let of_weights = |source| FilterError::Weights { path: directory.to_owned(), source };
        let weights = Weights::open(directory).map_err(of_weights)?;
        let sizes = [config.members, config.inputs.len()];
        let read = |name| Committee::read(&weights, name, sizes).map_err(of_weights);
        let (precision, recall) = (read(PRECISION)?, read(RECALL)?);
        if !precision.is_sound() || !recall.is_sound() {
            let path = directory.join("model.safetensors");
            let found = "numbers with which inputs cannot be standardised";
            let expected = "finite means, and standard deviations above 0";
            return Err(FileError::content(&path, 1, found, expected).into());
        }
        let fingerprint = weights.fingerprint().map_err(of_weights)?;
        let declared = declared_languages(directory);
        Ok(Self { precision, recall, fingerprint, config, declared })
    }

    /// The languages that the filter declares.
    #[must_use]
    pub fn declared(&self) -> &Declared {
        &self.declared
    }

    /// What it says of a generated set. An input that is not known of the set counts as its mean
    /// over the training data.
    #[must_use]
    pub fn scores(&self, evidence: &FilterEvidence) -> FilterScores {
        let inputs = inputs_of(evidence, &self.config.inputs);
        FilterScores {
            precision: self.precision.score(&inputs),
            recall: self.recall.score(&inputs),
            filter: self.short_fingerprint(),
        }
    }

    /// Whether it looks at an input.
    #[must_use]
    pub fn looks_at(&self, input: Input) -> bool {
        self.config.inputs.contains(&input)
    }

    /// The first 16 bytes of its fingerprint, as sets have it.
    #[must_use]
    pub fn short_fingerprint(&self) -> [u8; 16] {
        let mut short = [0; 16];
        short.copy_from_slice(&self.fingerprint.0[..16]);
        short
    }

    /// The fingerprint of its weights and configuration.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// What its weights were made for.
    #[must_use]
    pub fn config(&self) -> &FilterConfig {
        &self.config
    }
}

/// Reads `config.json` and refuses what this build would misread.
fn read_filter_config(directory: &Path) -> Result<FilterConfig, FilterError> {
    let (action, expected) = ("read filter", "the configuration of a filter");
    let path = directory.join(CONFIG);
    let refuse =
        |found: String, expected| FilterError::from(FileError::content(&path, 1, found, expected));
    let kind: ModelTag = read_config(directory, action, expected)?;
    if kind.model_type.as_deref() != Some(MODEL_TYPE) || kind.format != Some(FORMAT) {
        let (model, format) = (kind.model_type, kind.format.unwrap_or(0));
        let model = model.as_deref().unwrap_or("no model type");
        return Err(refuse(format!("`{model}` of format {format}"), "`filter` of format 1"));
    }
    let config: FilterConfig = read_config(directory, action, expected)?;
    let distinct: BTreeSet<&Input> = config.inputs.iter().collect();
    if config.inputs.is_empty() || distinct.len() < config.inputs.len() {
        return Err(refuse(format!("`inputs` {:?}", config.inputs), "one or more, each once"));
    }
    if config.members == 0 {
        return Err(refuse("`members` 0".to_owned(), "1 or more"));
    }
    for cut in [config.precision.cut, config.recall.cut] {
        if !(0.0..=1.0).contains(&cut) {
            return Err(refuse(format!("`cut` {cut}"), "a number from 0 to 1"));
        }
    }
    Ok(config)
}

/// Tries, before the work, whether a filter can be written at a place: nothing may be there, an
/// empty directory, or an earlier filter.
pub(super) fn prepare(out: &Path) -> Result<WholeDirectory, FilterError> {
    let prepared = WholeDirectory::prepare(out, |old| read_filter_config(old).is_ok());
    Ok(prepared.map_err(FileError::io(WRITE, out))?)
}

/// Writes a filter, all of it or nothing.
pub(super) fn write(
    out: WholeDirectory,
    config: &FilterConfig,
    [precision, recall]: &[Committee; 2],
) -> Result<(), FilterError> {
    let tensors = [precision.tensors(PRECISION), recall.tensors(RECALL)].concat();
    Ok(write_model(out, WRITE, config, &tensors)?)
}

#[cfg(test)]
mod tests {
    use super::super::network::{ACTIVATION, Member, Standard, sizes};
    use super::*;
    use crate::engine::write_weights;
    use crate::learn::{Mlp, SplitMix64};

    fn written(directory: &Path) -> FilterConfig {
        let share = Share { hits: 3, of: 4 };
        let edition = FilterEdition {
            weight: 0.5,
            cut: 0.25,
            reached: true,
            precision: share,
            recall: share,
        };
        let training = FilterTraining {
            accepted: 3,
            refused: 1,
            sentences: 2,
            folds: 10,
            steps: 5,
            learning_rate: 0.5,
            weight_decay: 0.0,
            seed: 1,
        };
        let config = FilterConfig {
            model_type: MODEL_TYPE.to_owned(),
            format: FORMAT,
            inputs: Input::PAPER.into(),
            members: 2,
            precision: edition.clone(),
            recall: edition,
            training,
        };
        let data = [[1.0, 0.5, 0.9], [2.0, 0.7, 0.8]].map(|row| row.map(Some).to_vec());
        let networks = [1, 2].map(|seed| {
            let mut random = SplitMix64::new(seed);
            let member = |_| {
                let mlp = Mlp::random(&sizes(3), ACTIVATION, &mut random);
                Member::new(Standard::of(&data), mlp).unwrap()
            };
            Committee::new((0..2).map(member).collect())
        });
        write(prepare(directory).unwrap(), &config, &networks).unwrap();
        config
    }

    #[test]
    fn a_filter_reads_back_as_it_was_written_and_has_two_opinions() {
        let directory = tempfile::tempdir().unwrap();
        let config = written(directory.path());
        let filter = Filter::open(directory.path()).unwrap();
        assert_eq!(filter.config(), &config);
        let evidence = FilterEvidence::new(2, (0.5, 0.9), (false, 1));
        let scores = filter.scores(&evidence);
        assert_ne!(scores.precision, scores.recall);
        assert!((0.0..=1.0).contains(&scores.precision) && (0.0..=1.0).contains(&scores.recall));
        assert_eq!(scores.filter, filter.fingerprint().0[..16]);
        // It does not look at this.
        assert_eq!(filter.scores(&FilterEvidence { proposed: true, ..evidence }), scores);
    }

    #[test]
    fn a_damaged_filter_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let error = |said: &str| {
            let error = Filter::open(directory.path()).unwrap_err();
            let all = format!("{error} {:?}", std::error::Error::source(&error));
            assert!(all.contains(said), "{all}");
        };
        error("cannot read filter");
        written(directory.path());
        // Standard deviations of 0.
        let weights = Weights::open(directory.path()).unwrap();
        let read = |name| Committee::read(&weights, name, [2, 3]).unwrap();
        let sound = [read(PRECISION), read(RECALL)];
        let mut tensors = [sound[0].tensors(PRECISION), sound[1].tensors(RECALL)].concat();
        let deviation = tensors.iter_mut().find(|(name, ..)| name == "recall.1.inputs.sd");
        deviation.unwrap().2 = &[0.0; 3];
        write_weights(directory.path(), &tensors).unwrap();
        error("standard deviations above 0");
        written(directory.path());
        let path = directory.path().join(CONFIG);
        let json = std::fs::read_to_string(&path).unwrap();
        for (old, new, said) in [
            ("\"format\": 1", "\"format\": 2", "`filter` of format 2"),
            ("\"filter\"", "\"bert\"", "`bert` of format 1"),
            ("\"round\"", "\"colour\"", "unknown variant `colour`"),
            ("\"round\",", "", "precision.0.inputs.mean"),
            ("\"members\": 2", "\"members\": 3", "precision.2.inputs.mean"),
            ("\"members\": 2", "\"members\": 0", "`members` 0"),
            ("\"round\"", "\"aligner\"", "one or more, each once"),
            ("\"cut\": 0.25", "\"cut\": 5", "`cut` 5"),
            ("{", "[", "line 2"),
        ] {
            std::fs::write(&path, json.replacen(old, new, 1)).unwrap();
            error(said);
        }
    }

    #[test]
    fn only_a_filter_is_replaced() {
        let directory = tempfile::tempdir().unwrap();
        written(directory.path());
        assert!(prepare(directory.path()).is_ok());
        std::fs::write(directory.path().join(CONFIG), "{}").unwrap();
        let error = prepare(directory.path()).unwrap_err().to_string();
        assert!(error.contains("cannot write a filter to"), "{error}");
    }
}
