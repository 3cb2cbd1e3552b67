//! Tests: the gradients of the network against differences of its loss, and that a rule is learnt.

use std::collections::{BTreeMap, BTreeSet};

use super::elements::Inventory;
use super::network::{
    Dropout, FrameVectors, Parameters, Part, Question, Shape, Slopes, products, span_sums,
    words_gradient, words_weight,
};
use super::segments::{Spans, Sums, likelihood, log_sums};
use crate::engine::{Device, Tensor};
use crate::learn::SplitMix64;
use crate::model::{Colors, CoreType, Creation, FeId, Frame, FrameElement, FrameId};

fn frame(name: &str, elements: &[(&str, CoreType)]) -> Frame {
    let element = |(at, (name, core_type)): (usize, &(&str, CoreType))| FrameElement {
        id: FeId(at as u32),
        name: (*name).to_owned(),
        abbreviation: String::new(),
        core_type: *core_type,
        definition: String::new(),
        sem_types: Vec::new(),
        requires: Vec::new(),
        excludes: Vec::new(),
        colors: Colors::default(),
        created: Creation::default(),
    };
    Frame {
        elements: elements.iter().enumerate().map(element).collect(),
        ..Frame::named(FrameId(0), name)
    }
}

fn inventory() -> Inventory {
    let frames = [
        frame("Checking", &[("Agent", CoreType::Core), ("Time", CoreType::Peripheral)]),
        frame("Acting", &[("Agent", CoreType::Core), ("Thing", CoreType::Core)]),
    ];
    let pair = |frame: &str| (frame.to_owned(), "Agent".to_owned());
    let parents = BTreeMap::from([(pair("Checking"), BTreeSet::from([pair("Acting")]))]);
    Inventory::new(&frames, &parents)
}

const SPANS: usize = 5;

/// Loss and gradients of one sentence with two targets.
fn learnt(parameters: &Parameters, states: &Tensor, inventory: &Inventory) -> (f64, Parameters) {
    let device = Device::cpu();
    let spans = Spans::new(SPANS, 3);
    let products =
        products(&device, &words_weight(&device, parameters).unwrap(), states).unwrap().into_data();
    let sums = span_sums(parameters, &products, spans);
    let mut slopes = Slopes::new(parameters.shape, spans);
    let mut loss = 0.0;
    for (name, target, golden) in [
        ("Checking", 1..3, vec![(0, 0), (spans.number(3, 4).unwrap(), 1)]),
        ("Acting", 4..5, vec![]),
    ] {
        let frame = inventory.frame(name).unwrap();
        let vectors = FrameVectors::of(parameters, frame);
        let asked = Question { target: &target, vectors: &vectors };
        let slope = |scores: &mut [f32]| likelihood(spans, scores, frame.elements.len(), &golden);
        let mut none = Dropout::new(0.0, 1);
        loss += slopes
            .learn(parameters, &products, &sums, spans, &asked, frame, &mut none, slope)
            .unwrap();
    }
    slopes.end(spans);
    let mut gradients = Parameters::zeros(parameters.shape);
    slopes.add_to(&mut gradients, 1.0);
    gradients.tensors[Part::Words as usize] =
        words_gradient(&device, &slopes.products, states, parameters.shape.hidden).unwrap();
    (loss, gradients)
}

#[test]
fn gradients_are_the_differences_of_the_loss() {
    let inventory = inventory();
    let shape = Shape { width: 3, hidden: 4, frames: 2, elements: inventory.keys };
    let mut random = SplitMix64::new(5);
    let mut parameters = Parameters::random(shape, &mut random);
    // Larger than they begin, so that differences stand out of the rounding.
    parameters.tensors.iter_mut().flatten().for_each(|x| *x = 4.0 * *x + 0.05);
    let states = (0..SPANS * 3).map(|_| 2.0 * random.unit() - 1.0).collect();
    let states = Tensor::new(&[SPANS, 3], states).unwrap();
    let (_, gradients) = learnt(&parameters, &states, &inventory);
    const STEP: f32 = 1e-2;
    for part in Part::ALL {
        for at in 0..parameters.of(part).len() {
            let moved = |by: f32| {
                let mut parameters = parameters.clone();
                parameters.tensors[part as usize][at] += by;
                learnt(&parameters, &states, &inventory).0
            };
            let difference = (moved(STEP) - moved(-STEP)) / f64::from(2.0 * STEP);
            let found = f64::from(gradients.of(part)[at]);
            assert!((difference - found).abs() < 2e-2, "{part:?} {at}: {found} {difference}");
        }
    }
}

#[test]
fn the_loss_is_the_surprise_at_the_annotated_segmentation() {
    // One word, one label: an FE or not, at even odds.
    let spans = Spans::new(1, 1);
    let mut scores = [0.0];
    let loss = likelihood(spans, &mut scores, 1, &[(0, 0)]);
    assert!((loss - std::f64::consts::LN_2).abs() < 1e-6);
    assert_eq!(scores, [-0.5]);
    let sums = Sums::new(spans, &log_sums(&[0.0], 1));
    assert!((sums.probability((0, 0), 0.0) - 0.5).abs() < 1e-9);
}

#[test]
fn keys_are_shared_by_name_by_type_and_along_relations() {
    let inventory = inventory();
    let agent = |name: &str| {
        let frame = inventory.frame(name).unwrap();
        &frame.elements[frame.place("Agent").unwrap()].keys
    };
    let shared: Vec<&usize> =
        agent("Checking").iter().filter(|key| agent("Acting").contains(key)).collect();
    assert_eq!((agent("Checking").len(), agent("Acting").len(), shared.len()), (4, 3, 3));
    assert_eq!(inventory.core_type("Checking", "Time"), Some(CoreType::Peripheral));
    assert_eq!(inventory.core_type("Checking", "Thing"), None);
}
