//! Alignment data by people: tasks that go out, answers that come back, and how far these agree.
//!
//! Culkin et al. 2021, section 4.1: annotators see a sentence with its trigger highlighted, and a
//! paraphrase of it. They mark the span that means the same, or say that there is none (9 % of the
//! paper's answers). Where all three marked a span, it was the same one in 88 %. One JSON object a
//! line, spans `[start, end)` in code points:
//!
//! ```text
//! task    {"id": "1", "sentence": "They checked it.", "span": [5, 12], "trigger": "checked",
//!          "paraphrase": "They inspected it."}
//! answer  {"id": "1", "annotator": "ann", "span": [5, 14]}         null where nothing answers
//! ```

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::{Deserialize, Serialize};

use super::candidates::{WordSpan, word_span};
use super::data::AlignedSpan;
use super::metrics::Counts;
use crate::model::{Span, fleiss_kappa, kappa};
use crate::text::{CharIndex, CharSpan, fold, words_with_cuts};

/// A sentence with its trigger highlighted, and a paraphrase in which it is to be found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// What its answers name it by.
    pub id: String,
    /// Frame that the trigger evokes, for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub frame: String,
    /// LU of the trigger, for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub lu: String,
    /// The sentence.
    pub sentence: String,
    /// The trigger in the sentence, [start, end) in code points.
    pub span: [u32; 2],
    /// Its text, for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub trigger: String,
    /// The paraphrase.
    pub paraphrase: String,
}

/// What one annotator says to one task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The task.
    pub id: String,
    /// Who says so.
    pub annotator: String,
    /// The span of the paraphrase, [start, end) in code points; null where nothing means the same.
    /// (Left out is not the same as null.)
    #[serde(deserialize_with = "Option::deserialize")]
    pub span: Option<[u32; 2]>,
}

/// What is wrong with a task or an answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TaskProblem {
    /// A span is empty, lies outside its text, or holds white space alone.
    #[error(
        "`span` is [{start}, {end}): expected a span of `{field}`, which has {chars} code points, that holds a word"
    )]
    Span {
        /// The field whose text it is in.
        field: &'static str,
        /// Its first code point.
        start: u32,
        /// One past its last code point.
        end: u32,
        /// Length of the text in code points.
        chars: u32,
    },
    /// Two tasks have one id.
    #[error("`id` is `{id}`, which an earlier task has: expected an id for each task")]
    Again {
        /// The id.
        id: String,
    },
    /// An answer to a task that is not there.
    #[error("`id` is `{id}`: expected the id of one of the tasks")]
    Unknown {
        /// The id.
        id: String,
    },
    /// A second answer of one annotator to one task.
    #[error("`annotator` `{annotator}` has answered task `{id}` before: expected one answer each")]
    Twice {
        /// The task.
        id: String,
        /// The annotator.
        annotator: String,
    },
}

impl TaskProblem {
    /// Its code, as output names it.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Span { .. } => "E-span",
            Self::Twice { .. } => "E-annotator",
            Self::Again { .. } | Self::Unknown { .. } => "E-id",
        }
    }
}

/// Tasks with what was answered to them.
#[derive(Debug, Clone, Default)]
pub struct Collection {
    tasks: Vec<Task>,
    numbers: HashMap<String, usize>,
    /// For each task what each annotator marked, in bytes of the paraphrase.
    answers: Vec<BTreeMap<String, Option<Span>>>,
}

impl Collection {
    /// Adds a task.
    ///
    /// # Errors
    /// When its span holds no word of its sentence, or its id is another task's.
    pub fn add_task(&mut self, task: Task) -> Result<(), TaskProblem> {
        in_bytes("sentence", &task.sentence, task.span)?;
        if self.numbers.contains_key(&task.id) {
            return Err(TaskProblem::Again { id: task.id });
        }
        self.numbers.insert(task.id.clone(), self.tasks.len());
        self.tasks.push(task);
        self.answers.push(BTreeMap::new());
        Ok(())
    }

    /// Adds an answer. White space around a marked span is not part of it.
    ///
    /// # Errors
    /// When there is no such task, the span holds no word of its paraphrase, or the annotator has
    /// answered it before.
    pub fn add_answer(&mut self, answer: Answer) -> Result<(), TaskProblem> {
        let Some(&number) = self.numbers.get(&answer.id) else {
            return Err(TaskProblem::Unknown { id: answer.id });
        };
        let text = &self.tasks[number].paraphrase;
        let marked = answer.span.map(|span| in_bytes("paraphrase", text, span)).transpose()?;
        let answers = &mut self.answers[number];
        if answers.contains_key(&answer.annotator) {
            return Err(TaskProblem::Twice { id: answer.id, annotator: answer.annotator });
        }
        answers.insert(answer.annotator, marked);
        Ok(())
    }

    /// Number of tasks.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Whether there is no task.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    /// One item of training data for each task that was answered, in order of the tasks: what most
    /// annotators marked. Where no answer has more voices than every other there is none.
    #[must_use]
    pub fn items(&self) -> Vec<AlignedSpan> {
        let tasks = self.tasks.iter().zip(&self.answers);
        tasks.filter_map(|(task, answers)| Some(item(task, most_marked(answers)?))).collect()
    }

    /// How far the annotators agree.
    #[must_use]
    pub fn agreement(&self) -> AnnotatorAgreement {
        let mut agreement = AnnotatorAgreement::default();
        let mut annotators = BTreeSet::new();
        let mut shared: Vec<&BTreeMap<String, Option<Span>>> = Vec::new();
        for (task, answers) in self.tasks.iter().zip(&self.answers) {
            annotators.extend(answers.keys());
            agreement.tasks += u64::from(!answers.is_empty());
            agreement.undecided += u64::from(!answers.is_empty() && most_marked(answers).is_none());
            agreement.answers += answers.len() as u64;
            agreement.unaligned += answers.values().filter(|span| span.is_none()).count() as u64;
            if answers.len() > 1 {
                shared.push(answers);
                agreement
                    .add_shared(&task.paraphrase, &answers.values().copied().collect::<Vec<_>>());
            }
        }
        agreement.annotators = annotators.len() as u64;
        let marked = |task: &&BTreeMap<String, Option<Span>>| {
            (task.values().flatten().count() as u32, task.len() as u32)
        };
        agreement.fleiss_kappa = fleiss_kappa(&shared.iter().map(marked).collect::<Vec<_>>());
        agreement.cohen_kappa = cohen(&shared);
        agreement
    }
}

/// How far annotators agree who answered the same tasks.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct AnnotatorAgreement {
    /// Tasks with an answer.
    pub tasks: u64,
    /// Annotators.
    pub annotators: u64,
    /// Answers.
    pub answers: u64,
    /// Answers that say that nothing means the same.
    pub unaligned: u64,
    /// Answered tasks of which no answer has more voices than every other.
    pub undecided: u64,
    /// Tasks with two answers or more: what follows counts these.
    pub shared: u64,
    /// Of them, those where everyone marked a span.
    pub all_marked: u64,
    /// Of these, those where all marked the same span.
    pub all_same: u64,
    /// Words that two annotators marked of one paraphrase, summed over pairs of answers that marked
    /// a span; one of them stands as predicted and the other as gold.
    pub words: Counts,
    /// Fleiss' kappa of "something means the same" against "nothing does"; null where chance
    /// explains everything. JSON `{"type": ["number", "null"], "maximum": 1}`.
    pub fleiss_kappa: Option<f64>,
    /// Cohen's kappa of the same; null unless the same two annotators answered all shared tasks, or
    /// where chance explains everything. JSON `{"type": ["number", "null"], "maximum": 1}`.
    pub cohen_kappa: Option<f64>,
}

impl AnnotatorAgreement {
    /// Share of the tasks where everyone marked a span in which all marked the same one; 0 of none.
    /// 88 % in the paper.
    #[must_use]
    pub fn exact(&self) -> f64 {
        self.all_same as f64 / self.all_marked.max(1) as f64
    }

    /// F1 of words between two annotators who marked a span.
    #[must_use]
    pub fn soft(&self) -> f64 {
        self.words.f1()
    }

    /// Share of the answers that say that nothing means the same; 9 % in the paper.
    #[must_use]
    pub fn unaligned_share(&self) -> f64 {
        self.unaligned as f64 / self.answers.max(1) as f64
    }

    fn add_shared(&mut self, paraphrase: &str, answers: &[Option<Span>]) {
        self.shared += 1;
        let marked: Vec<Span> = answers.iter().copied().flatten().collect();
        if marked.len() == answers.len() {
            self.all_marked += 1;
            self.all_same += u64::from(marked.iter().all(|span| *span == marked[0]));
        }
        for (at, &one) in marked.iter().enumerate() {
            for &other in &marked[at + 1..] {
                let words = words_with_cuts(paraphrase, &[one, other]);
                let (one, other) = (word_span(&words, one), word_span(&words, other));
                self.words.right += u64::from(one.shared(other));
                self.words.predicted += u64::from(one.len());
                self.words.gold += u64::from(other.len());
            }
        }
    }
}

/// Kappa of two raters (Cohen 1960): none when the tasks have others, or more than two.
fn cohen(shared: &[&BTreeMap<String, Option<Span>>]) -> Option<f64> {
    let first = shared.first()?;
    if first.len() != 2 || shared.iter().any(|task| !task.keys().eq(first.keys())) {
        return None;
    }
    let (mut same, mut yes) = (0.0, [0.0; 2]);
    for task in shared {
        let marked: Vec<bool> = task.values().map(Option::is_some).collect();
        same += f64::from(u8::from(marked[0] == marked[1]));
        for (yes, marked) in yes.iter_mut().zip(marked) {
            *yes += f64::from(u8::from(marked));
        }
    }
    let tasks = shared.len() as f64;
    let [a, b] = yes.map(|yes| yes / tasks);
    kappa(same / tasks, a * b + (1.0 - a) * (1.0 - b))
}

/// What more annotators marked than anything else.
fn most_marked(answers: &BTreeMap<String, Option<Span>>) -> Option<Option<Span>> {
    let mut voices: BTreeMap<Option<Span>, usize> = BTreeMap::new();
    for span in answers.values() {
        *voices.entry(*span).or_default() += 1;
    }
    let most = voices.values().copied().max()?;
    let mut first = voices.into_iter().filter(|(_, count)| *count == most);
    let (span, _) = first.next()?;
    first.next().is_none().then_some(span)
}

/// The item that a task and its answer make, in words.
fn item(task: &Task, marked: Option<Span>) -> AlignedSpan {
    let trigger = in_bytes("sentence", &task.sentence, task.span).expect("it was checked");
    let side = |text: &str, span: Option<Span>| -> (Vec<String>, Option<WordSpan>) {
        let words = words_with_cuts(text, span.as_slice());
        let spoken = words.iter().filter_map(|word| word.of(text)).map(str::to_owned);
        (spoken.collect(), span.map(|span| word_span(&words, span)))
    };
    let (source, source_span) = side(&task.sentence, Some(trigger));
    let (target, target_span) = side(&task.paraphrase, marked);
    let said = |span: Span, text: &str| span.of(text).map(fold);
    let changed =
        marked.is_none_or(|span| said(span, &task.paraphrase) != said(trigger, &task.sentence));
    AlignedSpan {
        id: task.id.clone(),
        source,
        source_span: source_span.expect("the trigger is a span"),
        target,
        target_span,
        changed,
    }
}

/// A span of code points in bytes, without the white space around it.
fn in_bytes(field: &'static str, text: &str, [start, end]: [u32; 2]) -> Result<Span, TaskProblem> {
    let index = CharIndex::new(text);
    let refused = TaskProblem::Span { field, start, end, chars: index.chars() };
    if start >= end {
        return Err(refused);
    }
    let Ok(span) = index.to_bytes(CharSpan { start, end }) else { return Err(refused) };
    let marked = span.of(text).unwrap_or_default();
    let from = span.start + (marked.len() - marked.trim_start().len()) as u32;
    let trimmed = Span::new(from, from + marked.trim().len() as u32);
    if trimmed.start == trimmed.end { Err(refused) } else { Ok(trimmed) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collection() -> Collection {
        let mut collection = Collection::default();
        for id in ["1", "2", "3", "4"] {
            let task = Task {
                id: id.to_owned(),
                frame: String::new(),
                lu: String::new(),
                sentence: "They re-checked caf\u{e9}s.".to_owned(),
                span: [8, 15],
                trigger: String::new(),
                paraphrase: "Caf\u{e9}s were looked into.".to_owned(),
            };
            collection.add_task(task).unwrap();
        }
        collection
    }

    fn answer(
        collection: &mut Collection,
        id: &str,
        annotator: &str,
        span: Option<[u32; 2]>,
    ) -> Result<(), TaskProblem> {
        collection.add_answer(Answer { id: id.to_owned(), annotator: annotator.to_owned(), span })
    }

    #[test]
    fn what_most_annotators_marked_becomes_an_item_in_words() {
        let mut all = collection();
        for (id, annotator, span) in [
            ("1", "a", Some([11, 22])),
            // White space at the edge is no other span.
            ("1", "b", Some([10, 22])),
            ("1", "c", None),
            ("2", "a", None),
            ("3", "a", None),
            ("3", "b", Some([0, 5])),
        ] {
            answer(&mut all, id, annotator, span).unwrap();
        }
        let items = all.items();
        let ids: Vec<&str> = items.iter().map(|item| item.id.as_str()).collect();
        assert_eq!(ids, ["1", "2"], "task 3 is undecided, task 4 has no answer");
        assert_eq!(items[0].source[items[0].source_span.range()], ["checked"]);
        let target = items[0].target_span.unwrap();
        assert_eq!(items[0].target[target.range()], ["looked", "into"]);
        assert_eq!((items[1].target_span, items[1].changed), (None, true));
        let agreement = all.agreement();
        assert_eq!((agreement.tasks, agreement.undecided, agreement.annotators), (3, 1, 3));
    }

    #[test]
    fn agreement_counts_spans_words_and_null() {
        let mut all = collection();
        for (id, a, b) in [
            ("1", Some([11, 22]), Some([11, 22])),
            ("2", Some([11, 22]), Some([11, 17])),
            ("3", None, None),
            ("4", None, Some([0, 5])),
        ] {
            answer(&mut all, id, "a", a).unwrap();
            answer(&mut all, id, "b", b).unwrap();
        }
        let agreement = all.agreement();
        assert_eq!((agreement.shared, agreement.all_marked, agreement.all_same), (4, 2, 1));
        assert_eq!((agreement.exact(), agreement.unaligned_share()), (0.5, 3.0 / 8.0));
        // looked into = looked into; looked into against looked: 2 * 3 / (4 + 3).
        assert!((agreement.soft() - 6.0 / 7.0).abs() < 1e-12);
        // Three of four agree; a marks 2 of 4 and b 3 of 4: chance is 1/2.
        assert!((agreement.cohen_kappa.unwrap() - 0.5).abs() < 1e-12);
        // Together they mark 5 of 8: chance is (25 + 9) / 64.
        let chance = 34.0 / 64.0;
        let fleiss = (0.75 - chance) / (1.0 - chance);
        assert!((agreement.fleiss_kappa.unwrap() - fleiss).abs() < 1e-12);
    }

    #[test]
    fn kappa_is_none_where_chance_explains_everything() {
        let mut all = collection();
        assert_eq!(all.agreement().fleiss_kappa, None);
        answer(&mut all, "1", "a", None).unwrap();
        answer(&mut all, "1", "b", None).unwrap();
        let agreement = all.agreement();
        assert_eq!((agreement.fleiss_kappa, agreement.cohen_kappa), (None, None));
        // A third annotator ends Cohen's.
        answer(&mut all, "2", "a", None).unwrap();
        answer(&mut all, "2", "c", Some([0, 5])).unwrap();
        let agreement = all.agreement();
        assert!(agreement.fleiss_kappa.is_some() && agreement.cohen_kappa.is_none());
    }

    #[test]
    fn answers_and_tasks_that_cannot_be_are_refused_and_name_the_field() {
        let mut all = collection();
        for span in [[3, 3], [20, 99], [5, 6], [7, 3]] {
            let problem = answer(&mut all, "1", "a", Some(span)).unwrap_err();
            assert!(problem.to_string().contains("`paraphrase`, which has 23"), "{problem}");
        }
        let problem = answer(&mut all, "9", "a", None).unwrap_err();
        assert_eq!(problem, TaskProblem::Unknown { id: "9".to_owned() });
        answer(&mut all, "1", "a", None).unwrap();
        let problem = answer(&mut all, "1", "a", Some([0, 5])).unwrap_err();
        assert!(matches!(problem, TaskProblem::Twice { .. }), "{problem}");
        let again = all.tasks[0].clone();
        assert!(matches!(all.add_task(again.clone()), Err(TaskProblem::Again { .. })));
        let outside = Task { id: "5".to_owned(), span: [40, 41], ..again };
        assert!(matches!(all.add_task(outside), Err(TaskProblem::Span { field: "sentence", .. })));
        let error = serde_json::from_str::<Answer>(r#"{"id": "1", "annotator": "a"}"#).unwrap_err();
        assert!(error.to_string().contains("missing field"), "{error}");
    }
}
