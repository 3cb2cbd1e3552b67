//! `fnstore_answer`: an annotation set that a query found.

use std::ffi::{CStr, CString, c_char};
use std::sync::OnceLock;

use fnstore::model::Extent;
use fnstore::search::{self, AnswerRecord};
use fnstore::text::CharIndex;

use crate::boundary::{self, Handle, call, words};
use crate::error::{Error, Fault, Result};

/// A part of a text, its end excluded.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Span {
    /// Where it begins.
    pub start: u32,
    /// Behind its last unit.
    pub end: u32,
}

/// An FE label of an annotation set. Its texts live as long as the answer.
#[repr(C)]
pub struct Element {
    /// Name of the FE.
    pub name: *const c_char,
    /// Grammatical function; null where there is none.
    pub gf: *const c_char,
    /// Phrase type; null where there is none.
    pub pt: *const c_char,
    /// Why no words express it: `INI` (left open), `DNI` (known from context), `CNI` (left out by a
    /// construction), `INC` (the target expresses it), or what an import says; null where words do.
    pub ni: *const c_char,
    /// Where it stands, in bytes of UTF-8; 0 to 0 where no words express it.
    pub bytes: Span,
    /// The same in code points.
    pub code_points: Span,
    /// Rank of its layer, from 1.
    pub rank: u32,
}

/// A score of an annotation set, from 0 to 1 but for the rewriter's.
#[repr(C)]
#[allow(dead_code, reason = "C gives them by number")]
pub enum Score {
    /// The rewriter's, of a generated set.
    Paraphrase = 0,
    /// The aligner's, of a generated set.
    Aligner = 1,
    /// The precision filter's, of a generated set.
    Precision = 2,
    /// The recall filter's, of a generated set.
    Recall = 3,
    /// Probability of the frame, where a frame model was asked.
    FrameFit = 4,
    /// Probability that the target evokes the frame, where a verifier was asked.
    Evokes = 5,
    /// Probability that it says what its source says, where a verifier was asked.
    SameMeaning = 6,
}

/// An annotation set with its sentence and names. It depends on nothing: it may outlive the list of
/// answers and the database, and any thread may read it. Its texts live as long as it does.
pub struct Answer {
    answer: search::Answer,
    texts: OnceLock<Texts>,
    elements: OnceLock<Vec<[Option<CString>; 4]>>,
    json: OnceLock<CString>,
}

/// Its texts as C reads them.
struct Texts {
    release: CString,
    id: CString,
    frame: CString,
    lu: CString,
    trigger: CString,
    sentence: CString,
    text: CString,
    status: CString,
    document: Option<CString>,
    seed: Option<CString>,
}

impl Handle for Answer {
    const KIND: &'static str = "answer";
}

impl Answer {
    /// An answer; it is refused where one of its texts holds NUL, behind which C would not read.
    pub(crate) fn new(answer: search::Answer) -> Result<Self> {
        let names = [&*answer.release.name, &*answer.frame, &*answer.lexunit];
        let texts = names.into_iter().chain([&*answer.sentence.text]);
        let texts = texts.chain(answer.document.as_deref());
        require_no_nul(&format!("annotation set {}", answer.set.id), texts)?;
        let (texts, elements, json) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Ok(Self { answer, texts, elements, json })
    }

    pub(crate) fn of(&self) -> &search::Answer {
        &self.answer
    }

    fn texts(&self) -> &Texts {
        self.texts.get_or_init(|| {
            let of = &self.answer;
            Texts {
                release: words(of.release.name.as_str()),
                id: words(of.set.id.to_string()),
                frame: words(&*of.frame),
                lu: words(&*of.lexunit),
                trigger: words(of.trigger()),
                sentence: words(of.sentence.id.to_string()),
                text: words(of.sentence.text.as_str()),
                status: words(of.set.status.as_str()),
                document: of.document.as_deref().map(words),
                seed: of.generation().map(|made| words(made.seed.to_string())),
            }
        })
    }

    /// A span in bytes and in code points.
    fn spans(&self, span: fnstore::model::Span) -> Result<(Span, Span)> {
        let chars = CharIndex::new(&self.answer.sentence.text).to_chars(span).map_err(misplaced)?;
        let bytes = Span { start: span.start, end: span.end };
        Ok((bytes, Span { start: chars.start, end: chars.end }))
    }

    fn element(&self, place: usize) -> Result<Option<Element>> {
        let Some(of) = self.answer.elements().nth(place) else { return Ok(None) };
        let texts = [Some(of.label.name.as_str()), of.gf, of.pt, ni(&of.label.extent)];
        require_no_nul("label of a frame element", texts.into_iter().flatten())?;
        let texts = self.elements.get_or_init(|| {
            let texts = self.answer.elements().map(|of| {
                let ni = ni(&of.label.extent);
                [Some(of.label.name.as_str()), of.gf, of.pt, ni].map(|text| text.map(words))
            });
            texts.collect()
        });
        let [name, gf, pt, ni] = texts[place].each_ref().map(|text| pointer(text.as_deref()));
        let spans = of.label.extent.span().map(|span| self.spans(span)).transpose()?;
        let (bytes, code_points) = spans.unwrap_or_default();
        Ok(Some(Element { name, gf, pt, ni, bytes, code_points, rank: of.rank.into() }))
    }

    fn json(&self) -> Result<&CStr> {
        if let Some(json) = self.json.get() {
            return Ok(json);
        }
        let record = AnswerRecord::new(&self.answer).map_err(misplaced)?;
        let json = serde_json::to_string(&record)
            .map_err(|error| Fault::new("F-json", format!("cannot write the record: {error}")))?;
        Ok(self.json.get_or_init(|| words(json)))
    }

    fn score(&self, score: u32) -> Option<f32> {
        let of = &self.answer;
        let (made, said) = (of.generation(), of.verification.as_ref());
        match score {
            0 => made?.paraphrase_score(),
            1 => Some(made?.aligner),
            2 => Some(made?.filter?.precision),
            3 => Some(made?.filter?.recall),
            4 => of.set.provenance.fit().map(|fit| fit.probability),
            5 => said?.evokes,
            6 => said?.same_meaning,
            _ => None,
        }
    }
}

fn require_no_nul<'t>(of: &str, texts: impl Iterator<Item = &'t str>) -> Result<()> {
    for text in texts {
        if let Some(at) = text.find('\0') {
            let shown = text.replace('\0', "\\0");
            let message = format!(
                "{of} has a text that holds NUL at byte {at}, which a text of C cannot: `{shown}`"
            );
            return Err(Fault::new("F-nul", message));
        }
    }
    Ok(())
}

/// Why no words express a frame element.
fn ni(extent: &Extent) -> Option<&str> {
    match extent {
        Extent::Null(kind) => Some(kind.as_str()),
        _ => None,
    }
}

/// A span outside its text, as in a damaged store.
fn misplaced(error: fnstore::text::OffsetError) -> Fault {
    Fault::new("C-record", error.to_string())
}

fn pointer(text: Option<&CStr>) -> *const c_char {
    text.map_or(std::ptr::null(), CStr::as_ptr)
}

/// Name of the release.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_answer_release(answer: *const Answer) -> *const c_char {
    boundary::read(answer, std::ptr::null(), |answer| answer.texts().release.as_ptr())
}

/// Id of the set, as in `x1024`.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_answer_id(answer: *const Answer) -> *const c_char {
    boundary::read(answer, std::ptr::null(), |answer| answer.texts().id.as_ptr())
}

/// Name of the frame.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_answer_frame(answer: *const Answer) -> *const c_char {
    boundary::read(answer, std::ptr::null(), |answer| answer.texts().frame.as_ptr())
}

/// Number of the frame.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_answer_frame_id(answer: *const Answer) -> u32 {
    boundary::read(answer, 0, |answer| answer.answer.set.frame.0)
}

/// Name of the LU.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_answer_lu(answer: *const Answer) -> *const c_char {
    boundary::read(answer, std::ptr::null(), |answer| answer.texts().lu.as_ptr())
}

/// Number of the LU.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_answer_lu_id(answer: *const Answer) -> u32 {
    boundary::read(answer, 0, |answer| answer.answer.set.lu.0)
}

/// The target's text, pieces joined by a space.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_answer_trigger(answer: *const Answer) -> *const c_char {
    boundary::read(answer, std::ptr::null(), |answer| answer.texts().trigger.as_ptr())
}

/// Id of the sentence.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_answer_sentence(answer: *const Answer) -> *const c_char {
    boundary::read(answer, std::ptr::null(), |answer| answer.texts().sentence.as_ptr())
}

/// Text of the sentence.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_answer_text(answer: *const Answer) -> *const c_char {
    boundary::read(answer, std::ptr::null(), |answer| answer.texts().text.as_ptr())
}

/// Where the set comes from: `exemplar`, `fulltext`, `imported`, `user`, `generated`, `predicted`,
/// `carried`.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_answer_origin(answer: *const Answer) -> *const c_char {
    boundary::read(answer, std::ptr::null(), |answer| {
        use fnstore::model::Origin::{
            Carried, Exemplar, FullText, Generated, Imported, Predicted, User,
        };
        let name = match answer.answer.set.provenance.origin() {
            Exemplar => c"exemplar",
            FullText => c"fulltext",
            Imported => c"imported",
            User => c"user",
            Generated => c"generated",
            Predicted => c"predicted",
            Carried => c"carried",
            _ => c"other",
        };
        name.as_ptr()
    })
}

/// Status of the set.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_answer_status(answer: *const Answer) -> *const c_char {
    boundary::read(answer, std::ptr::null(), |answer| answer.texts().status.as_ptr())
}

/// Name of the document; null where there is none.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_answer_document(answer: *const Answer) -> *const c_char {
    let none = std::ptr::null();
    boundary::read(answer, none, |answer| pointer(answer.texts().document.as_deref()))
}

/// The human set that a generated set grew from; null of another.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_answer_seed(answer: *const Answer) -> *const c_char {
    let none = std::ptr::null();
    boundary::read(answer, none, |answer| pointer(answer.texts().seed.as_deref()))
}

/// The round of a generated set; 0 of another.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_answer_round(answer: *const Answer) -> u32 {
    boundary::read(answer, 0, |answer| answer.answer.generation().map_or(0, |of| of.round.into()))
}

/// A score of the set: `score` is a `fnstore_score`. NaN where the set has none.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_answer_score(answer: *const Answer, score: u32) -> f64 {
    let none = f64::NAN;
    boundary::read(answer, none, |answer| answer.score(score).map_or(none, f64::from))
}

/// How many pieces the target has.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_answer_target_count(answer: *const Answer) -> usize {
    boundary::read(answer, 0, |answer| answer.answer.set.targets.len())
}

/// A piece of the target by its place, from 0: where it stands, in bytes of UTF-8 and in code
/// points. Either may be null. False behind the last one, and when it fails: then `*error` is not
/// null.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_answer_target(
    answer: *const Answer,
    place: usize,
    bytes: *mut Span,
    code_points: *mut Span,
    error: *mut *mut Error,
) -> bool {
    call(error, false, || {
        let answer = boundary::borrow(answer)?;
        let Some(target) = answer.answer.set.targets.get(place) else { return Ok(false) };
        let (in_bytes, in_code_points) = answer.spans(*target)?;
        boundary::put(bytes, in_bytes);
        boundary::put(code_points, in_code_points);
        Ok(true)
    })
}

/// How many FE labels the set has.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_answer_element_count(answer: *const Answer) -> usize {
    boundary::read(answer, 0, |answer| answer.answer.elements().count())
}

/// An FE label by its place, from 0, to `element`. False behind the last one, and when it fails:
/// then `*error` is not null.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_answer_element(
    answer: *const Answer,
    place: usize,
    element: *mut Element,
    error: *mut *mut Error,
) -> bool {
    call(error, false, || match boundary::borrow(answer)?.element(place)? {
        Some(found) => {
            boundary::put(element, found);
            Ok(true)
        }
        None => Ok(false),
    })
}

/// The whole record as JSON, as `fnstore query` prints it (`schema/hit.schema.json`). It lives as
/// long as the answer. Null when it fails.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_answer_json(
    answer: *const Answer,
    error: *mut *mut Error,
) -> *const c_char {
    call(error, std::ptr::null(), || Ok(boundary::borrow(answer)?.json()?.as_ptr()))
}

/// Frees an answer; null is nothing.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_answer_free(answer: *mut Answer) {
    boundary::take(answer);
}
