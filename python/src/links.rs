//! `db.link(...)` and `db.links(...)`: links of LUs and FEs to other lexicons.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use fnstore::database;
use fnstore::internals::WithStore as _;
use fnstore::internals::verify::Verifier;
use fnstore::link::{LinkFate, LinkOptions, LinkPlace, Linker, frame_synsets};
use fnstore::model::{self, Frame, LinkSubject, Reviewed};

use pyo3::prelude::*;

use crate::database::Database;
use crate::database::directories;
use crate::error::{Fault, Result};
use crate::expand::Teller;
use crate::handle::Handle;
use crate::models::Places;
use crate::proposals::signed;

/// A link of an LU, an FE or a frame to another lexicon.
#[pyclass(frozen, module = "fnstore")]
pub(crate) struct Link {
    #[pyo3(get)]
    release: String,
    #[pyo3(get)]
    frame: String,
    /// `lu`, `fe` or `frame`.
    #[pyo3(get)]
    kind: &'static str,
    /// Name of the LU, the FE or the frame.
    #[pyo3(get)]
    name: String,
    /// Number of the LU, the FE or the frame.
    #[pyo3(get)]
    id: u32,
    /// Name of the other lexicon.
    #[pyo3(get)]
    resource: String,
    /// A synset's id, or the name of a class or roleset.
    #[pyo3(get)]
    target: String,
    #[pyo3(get)]
    role: Option<String>,
    #[pyo3(get)]
    score: f32,
    /// `semlink`, `name`, `definition`, `model` or `user`.
    #[pyo3(get)]
    source: &'static str,
    /// Whether it was accepted; None where nobody decided.
    #[pyo3(get)]
    accepted: Option<bool>,
    place: Option<LinkPlace>,
    handle: Arc<Handle>,
}

#[pymethods]
impl Link {
    /// Says that it holds.
    #[pyo3(signature = (*, reviewer=None, note=String::new()),
           text_signature = "($self, *, reviewer=None, note='')")]
    fn accept(&self, py: Python<'_>, reviewer: Option<String>, note: String) -> Result<()> {
        py.detach(|| self.decide(LinkFate::Accept, signed(reviewer, note)))
    }

    /// Says that it does not hold.
    #[pyo3(signature = (*, reviewer=None, note=String::new()),
           text_signature = "($self, *, reviewer=None, note='')")]
    fn reject(&self, py: Python<'_>, reviewer: Option<String>, note: String) -> Result<()> {
        py.detach(|| self.decide(LinkFate::Reject, signed(reviewer, note)))
    }

    /// Takes back the last decision on it.
    #[pyo3(signature = (*, reviewer=None, note=String::new()),
           text_signature = "($self, *, reviewer=None, note='')")]
    fn undo(&self, py: Python<'_>, reviewer: Option<String>, note: String) -> Result<()> {
        py.detach(|| self.decide(LinkFate::Undo, signed(reviewer, note)))
    }

    fn __repr__(&self) -> String {
        format!("<Link {} of {} to {}, {:.2}>", self.name, self.frame, self.target, self.score)
    }
}

impl Link {
    fn decide(&self, fate: LinkFate, by: Reviewed) -> Result<()> {
        let Some(place) = &self.place else {
            let message = "a frame's links are those of its LUs";
            return Err(Fault::new("ExpandError", "V-link", message, "decide on a link of an LU"));
        };
        self.handle.write(|database| Ok(database.decide_link(place, fate, by).map(drop)?))
    }
}

/// The frames of these names, or all.
fn frames(database: &database::Database, release: &str, names: &[String]) -> Result<Vec<Frame>> {
    let lexicon = database.lexicon(release)?;
    match names.is_empty() {
        true => Ok(lexicon.frames()?.collect::<std::result::Result<_, _>>()?),
        false => Ok(lexicon.frames_called(names)?),
    }
}

/// Which links are wanted.
struct Wanted<'w> {
    lu: Option<&'w str>,
    resource: Option<&'w str>,
    by_frame: bool,
    with_rejected: bool,
}

impl Wanted<'_> {
    fn has(&self, of: &model::Link) -> bool {
        self.resource.is_none_or(|name| of.resource == name) && (self.with_rejected || of.stands())
    }

    fn of_frame(
        &self,
        database: &database::Database,
        (release, frame): (&str, &Frame),
        handle: &Arc<Handle>,
    ) -> Result<Vec<Link>> {
        let lexicon = database.lexicon(release)?;
        let id = lexicon.release().id;
        let mut found = Vec::new();
        let mut add = |kind, name: &str, of: &model::Link, subject: Option<LinkSubject>| {
            let number = match subject {
                Some(LinkSubject::LexUnit(lu)) => lu.0,
                Some(LinkSubject::Element(fe)) => fe.0,
                None => frame.id.0,
            };
            let target = match of.role.as_str() {
                "" => of.target.clone(),
                role => format!("{}:{role}", of.target),
            };
            let resource = Some(of.resource.clone());
            let place = |of| LinkPlace { release: id, frame: frame.id, of, target, resource };
            found.push(Link {
                release: release.to_owned(),
                frame: frame.name.clone(),
                kind,
                name: name.to_owned(),
                id: number,
                resource: of.resource.clone(),
                target: of.target.clone(),
                role: Some(of.role.clone()).filter(|role| !role.is_empty()),
                score: of.score,
                source: of.source.as_str(),
                accepted: of.standing().map(|standing| standing.accepted),
                place: subject.map(place),
                handle: Arc::clone(handle),
            });
        };
        if self.by_frame {
            for (of, _) in frame_synsets(database, lexicon.release(), frame.id)? {
                if self.has(&of) {
                    add("frame", &frame.name, &of, None);
                }
            }
            return Ok(found);
        }
        for row in database.store().links_of(id, frame.id).map_err(database::DatabaseError::from)? {
            let row = row.map_err(database::DatabaseError::from)?;
            let (kind, name) = match row.of {
                LinkSubject::LexUnit(lu) => {
                    ("lu", lexicon.lu_of_frame(frame.id, lu)?.map(|lu| lu.name))
                }
                LinkSubject::Element(fe) => {
                    let element = frame.elements.iter().find(|element| element.id == fe);
                    ("fe", element.map(|element| element.name.clone()))
                }
            };
            let Some(name) =
                name.filter(|name| self.lu.is_none_or(|lu| kind == "lu" && name == lu))
            else {
                continue;
            };
            row.links
                .iter()
                .filter(|of| self.has(of))
                .for_each(|of| add(kind, &name, of, Some(row.of)));
        }
        Ok(found)
    }
}

#[pymethods]
impl Database {
    /// Links the LUs and FEs of frames, or of all, to the WordNets, VerbNets and PropBanks of the
    /// store, as `fnstore link` does. With a verifier, it is asked about examples. progress is
    /// called with frames that are linked and their number. Gives the number of links that stand.
    #[pyo3(signature = (*frames, release=None, least=0.13, again=false, verifier=None, models=None,
                        device="cpu", numbers=None, progress=None))]
    #[allow(clippy::too_many_arguments, reason = "Python's callers name them")]
    fn link(
        &self,
        py: Python<'_>,
        frames: Vec<String>,
        release: Option<String>,
        least: f32,
        again: bool,
        verifier: Option<PathBuf>,
        models: Option<PathBuf>,
        device: &str,
        numbers: Option<&str>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<u64> {
        let dirs = directories(py, models)?;
        let mut teller = Teller::new(progress);
        let linked = py.detach(|| {
            let release = self.only(release)?;
            let mut verifier = match verifier {
                Some(verifier) => {
                    let places = Places::new(dirs, device, numbers)?;
                    let (adapter, base) = places.verifier(&verifier)?;
                    let at = (&places.device, places.numbers);
                    Some(Verifier::open_beside(None, (&adapter, &base), at)?)
                }
                None => None,
            };
            self.handle.write(|database| {
                let options = LinkOptions { least, again };
                let mut linker = Linker::new(database, &release, verifier.as_mut(), options)?;
                let frames = self::frames(database, &release, &frames)?;
                let (mut links, of) = (0, frames.len());
                for (done, frame) in frames.iter().enumerate() {
                    match linker.link(frame, &mut || teller.check()) {
                        Err(error) if error.is_stopped() => break,
                        linked => links += u64::from(linked?.links),
                    }
                    let told = teller.tell(|function| function.call1((done + 1, of)).map(drop));
                    if told == ControlFlow::Break(()) {
                        break;
                    }
                }
                Ok(links)
            })
        });
        teller.end()?;
        Ok(linked?)
    }

    /// The links of LUs and FEs of frames, or of all; by_frame gives the synsets of whole frames.
    #[pyo3(signature = (*frames, lu=None, resource=None, by_frame=false, with_rejected=false,
                        release=None))]
    #[allow(clippy::too_many_arguments, reason = "Python's callers name them")]
    fn links(
        &self,
        py: Python<'_>,
        frames: Vec<String>,
        lu: Option<&str>,
        resource: Option<&str>,
        by_frame: bool,
        with_rejected: bool,
        release: Option<&str>,
    ) -> Result<Vec<Link>> {
        let wanted = Wanted { lu, resource, by_frame, with_rejected };
        py.detach(|| {
            let database = self.handle.get()?;
            self.each(release, |_, lexicon| {
                let name = &lexicon.release().name;
                let mut found = Vec::new();
                for frame in self::frames(&database, name, &frames)? {
                    found.extend(wanted.of_frame(&database, (name, &frame), &self.handle)?);
                }
                Ok(found)
            })
        })
    }
}
