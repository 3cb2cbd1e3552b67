//! A trained labeller on disk.
//!
//! A directory with `config.json` ([`LabellerConfig`]), `elements.tsv` and `model.safetensors`.
//! Matrices are in 8 bits with a scale for each row. `elements.tsv` says what the rows of
//! `element.weight` and `element.bias` are, in three columns: the FE of a frame (`frame`, `FE`,
//! empty), an FE's name in any other frame (empty, `FE`, empty), and a core type there (empty,
//! empty, core type). A labeller belongs to the states of one encoder and names it by fingerprint.

use std::collections::HashMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::elements::{Element, Inventory};
use super::measure::DevFigures;
use super::network::{FrameVectors, Parameters, Part, add};
use crate::durable::WholeDirectory;
use crate::engine::{Fingerprint, MatrixFormat, NnError, write_small_model};
use crate::learn::{
    Artefact, FileError, Misread, NetworkError, SmallNetwork, Weighted as _, read_lines,
};
use crate::model::{CoreType, Frame, named};

/// What is done when a labeller cannot be written.
pub(super) const WRITE: &str = "write a labeller to";

/// What is done when one cannot be read.
const READ: &str = "read labeller";

/// Name of the list of FEs.
const ELEMENTS: &str = "elements.tsv";

/// What the inputs of the network are; a build that makes them otherwise gives them another name.
pub(super) const FEATURES: &str = "states at both sides of both edges, mean, target, 4 tables";

named! {
    /// What a labeller was trained to say.
    #[derive(Default)]
    pub enum Goal {
        /// Where the FEs of a target are.
        #[default]
        Segmentation => "segmentation",
        /// Which FE a given span is, or none.
        GivenSpans => "given-spans",
    }
}

/// What a labeller's weights were made for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LabellerConfig {
    /// Version of the format.
    pub format: u32,
    /// Directory name of the encoder, for people.
    pub encoder: String,
    /// Fingerprint of the encoder (BLAKE3, hexadecimal).
    pub encoder_fingerprint: String,
    /// Layers of the encoder whose states are read, side by side; 0 is the embeddings.
    pub layers: Vec<usize>,
    /// Width D of a word's states.
    pub width: usize,
    /// Number of hidden units H.
    pub hidden: usize,
    /// What the inputs are.
    pub features: String,
    /// What it was trained to say.
    #[serde(default)]
    pub goal: Goal,
    /// Words of the longest FE.
    pub longest: usize,
    /// The frames, in the order of their rows.
    pub frames: Vec<String>,
    /// How the weights were trained.
    pub training: LabellerTraining,
    /// How the kept epoch did on the development data, before rounding.
    pub dev: DevFigures,
}

/// How a labeller was trained.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LabellerTraining {
    /// Sentences, targets and FEs of full text.
    pub full_text: [usize; 3],
    /// Sentences, targets and FEs beside it.
    pub exemplars: [usize; 3],
    /// Epochs in which the latter are learnt from, too.
    pub exemplar_epochs: usize,
    /// Sentences of training and development data that were too long for the encoder.
    pub left_out: usize,
    /// Epoch whose weights were kept, from 1.
    pub epoch: usize,
    /// Most epochs.
    pub epochs: usize,
    /// Sentences per step.
    pub batch: usize,
    /// Share of inputs and hidden values that a step leaves out.
    pub dropout: f32,
    /// Learning rate after warm-up.
    pub learning_rate: f32,
    /// Weight decay.
    pub weight_decay: f32,
    /// Seed of weights, order and dropout.
    pub seed: u64,
}

impl Artefact for LabellerConfig {
    const NETWORK: SmallNetwork = SmallNetwork::Labeller;
    const READ: &'static str = READ;
    const WHAT: &'static str = "the configuration of a labeller of FEs";

    fn check(&self) -> Result<(), Misread> {
        if self.format != Self::FORMAT || self.features != FEATURES {
            let found = format!("format {} of `{}`", self.format, self.features);
            return Err((found, "format 1 of the features of src/label/network.rs"));
        }
        let sizes = [self.width, self.hidden, self.longest, self.layers.len()];
        if sizes.contains(&0) {
            let found = "no inputs, no hidden units, no layer or no longest FE".to_owned();
            return Err((found, "at least one of each"));
        }
        Ok(())
    }

    fn encoder(&self) -> [&str; 2] {
        [&self.encoder, &self.encoder_fingerprint]
    }
}

/// Writes a labeller, all of it or nothing. An FE's vectors over its keys are added up first.
pub(super) fn write(
    out: WholeDirectory,
    config: &LabellerConfig,
    parameters: &Parameters,
    inventory: &Inventory,
) -> Result<(), NetworkError> {
    let (list, summed) = added_up(parameters, inventory);
    let (place, tensors) = (out.place().to_owned(), summed.tensors(""));
    let written =
        write_small_model(out, MatrixFormat::Int8, config, &tensors, &[(ELEMENTS, &list)]);
    Ok(written.map_err(FileError::io(WRITE, &place))?)
}

/// The list of FEs, and weights in which each row of `element.weight` is the vector of a line.
fn added_up(parameters: &Parameters, inventory: &Inventory) -> (String, Parameters) {
    let mut list = String::new();
    let mut names: HashMap<(&str, &str), usize> = HashMap::new();
    let (mut rows, mut biases) = (Vec::new(), Vec::new());
    let mut add_row = |line: String, keys: &[usize]| {
        list.push_str(&line);
        let mut row = vec![0.0; parameters.shape.hidden];
        keys.iter().for_each(|key| add(&mut row, parameters.row(Part::Element, *key)));
        rows.extend(row);
        biases.push(keys.iter().map(|key| parameters.of(Part::ElementBias)[*key]).sum());
    };
    for (name, frame) in inventory.frames() {
        for element in &frame.elements {
            add_row(format!("{name}\t{}\t\n", element.name), &element.keys);
            names.insert((&element.name, ""), element.keys[Element::NAME]);
            names.insert(("", element.core_type.as_str()), element.keys[Element::TYPE]);
        }
    }
    let mut names: Vec<_> = names.into_iter().collect();
    names.sort_unstable();
    for ((name, core_type), key) in names {
        add_row(format!("\t{name}\t{core_type}\n"), &[key]);
    }
    let mut summed = parameters.clone();
    summed.shape.elements = biases.len();
    summed.tensors[Part::Element as usize] = rows;
    summed.tensors[Part::ElementBias as usize] = biases;
    (list, summed)
}

/// A labeller as it was read.
#[derive(Debug)]
pub(super) struct Trained {
    pub(super) config: LabellerConfig,
    pub(super) parameters: Parameters,
    pub(super) fingerprint: Fingerprint,
    frames: HashMap<String, usize>,
    /// Rows by frame, FE and core type.
    elements: HashMap<(String, String, String), usize>,
}

impl Trained {
    /// Reads a labeller's weights, which were trained on an encoder's states.
    pub(super) fn read(
        directory: &Path,
        config: LabellerConfig,
        fingerprint: &str,
    ) -> Result<Self, NetworkError> {
        let weights = config.weights(directory, fingerprint)?;
        let lines = read_lines(&directory.join(ELEMENTS), READ, |line| {
            let mut columns = line.split('\t').map(str::to_owned);
            let mut next = || columns.next().unwrap_or_default();
            match (next(), next(), next(), columns.next()) {
                (frame, element, kind, None) if !(element.is_empty() && kind.is_empty()) => {
                    Ok((frame, element, kind))
                }
                _ => Err((format!("`{line}`"), "a frame, an FE and a core type, parted by tabs")),
            }
        })?;
        let sizes = [config.width, config.hidden, config.frames.len(), lines.len()];
        let parameters = Parameters::read(&weights, "", &sizes, ()).map_err(NnError::from)?;
        Ok(Self {
            parameters,
            fingerprint: weights.fingerprint().map_err(NnError::from)?,
            frames: config.frames.iter().cloned().zip(0..).collect(),
            elements: lines.into_iter().map(|(_, line)| line).zip(0..).collect(),
            config,
        })
    }

    /// The vectors of a frame and its FEs, in their order; of an FE that training did not know what
    /// its name and its core type are worth.
    pub(super) fn vectors(&self, frame: &Frame) -> FrameVectors {
        let h = self.config.hidden;
        let number = self.frames.get(&frame.name);
        let mut vectors = FrameVectors {
            frame: number
                .map_or(vec![0.0; h], |row| self.parameters.row(Part::Frame, *row).to_vec()),
            elements: vec![0.0; frame.elements.len() * h],
            biases: vec![0.0; frame.elements.len()],
        };
        let row = |frame: &str, element: &str, kind: &str| {
            self.elements.get(&(frame.to_owned(), element.to_owned(), kind.to_owned())).copied()
        };
        for (at, fe) in frame.elements.iter().enumerate() {
            let own = row(&frame.name, &fe.name, "").map(|own| vec![own]);
            let rows = own.unwrap_or_else(|| {
                let kind: &CoreType = &fe.core_type;
                [row("", &fe.name, ""), row("", "", kind.as_str())].into_iter().flatten().collect()
            });
            for row in rows {
                add(&mut vectors.elements[at * h..][..h], self.parameters.row(Part::Element, row));
                vectors.biases[at] += self.parameters.of(Part::ElementBias)[row];
            }
        }
        vectors
    }
}
