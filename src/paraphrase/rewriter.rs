//! What rewrites in rounds: a model's search, or a server. An expansion works with either.

use super::remote::RemoteSession;
use super::{
    Constraints, Network, ParaphraseError, Paraphraser, RemoteParaphraser, Rewrite, Session,
    Settings, Substitute,
};
use crate::endpoint::Usage;
use crate::engine::{GoesOn, SourceId};
use crate::model::{Declared, Span};

/// A rewriter of one of two kinds.
#[derive(Debug)]
#[non_exhaustive]
pub enum Rewriter {
    /// A model of one's own, under constraints that hold.
    Model(Box<Paraphraser<Network>>),
    /// A server, whose answers are checked.
    Server(Box<RemoteParaphraser>),
}

impl Rewriter {
    /// Whether outputs may hold a word under [`Settings::known_words`], whatever their source.
    #[must_use]
    pub fn knows_word(&self, word: &str) -> bool {
        match self {
            Self::Model(model) => model.knows_word(word),
            Self::Server(_) => true,
        }
    }

    /// The languages that a model declares; a server's are not known.
    #[must_use]
    pub fn declared(&self) -> Option<&Declared> {
        match self {
            Self::Model(model) => Some(model.declared()),
            Self::Server(_) => None,
        }
    }

    /// As [`Paraphraser::leaks`]; what a server's answers break is in each of them.
    #[must_use]
    pub fn leaks(&self) -> u64 {
        match self {
            Self::Model(model) => model.leaks(),
            Self::Server(_) => 0,
        }
    }

    /// What a server was asked.
    #[must_use]
    pub fn usage(&self) -> Usage {
        match self {
            Self::Model(_) => Usage::default(),
            Self::Server(server) => server.usage(),
        }
    }

    /// Begins rounds under these settings.
    ///
    /// # Errors
    /// As [`Paraphraser::session`].
    pub fn rounds(&mut self, settings: Settings) -> Result<Rounds<'_>, ParaphraseError> {
        Ok(match self {
            Self::Model(model) => Rounds::Search(model.session(settings)?),
            Self::Server(server) => Rounds::PromptContent(RemoteSession::new(server, settings)),
        })
    }
}

/// Sources in flight through a rewriter. Its calls are those of [`Session`].
#[derive(Debug)]
#[non_exhaustive]
pub enum Rounds<'r> {
    /// Through a model.
    Search(Session<'r, Network>),
    /// Through a server.
    PromptContent(RemoteSession<'r>),
}

impl Rounds<'_> {
    /// Whether sources in flight share work. A server is asked for one after the other.
    #[must_use]
    pub fn share_work(&self) -> bool {
        matches!(self, Self::Search(_))
    }

    /// As [`Session::open_under`].
    ///
    /// # Errors
    /// As there.
    pub fn open_under(
        &mut self,
        text: &str,
        constraints: &Constraints,
    ) -> Result<SourceId, ParaphraseError> {
        match self {
            Self::Search(session) => session.open_under(text, constraints),
            Self::PromptContent(session) => session.open(text),
        }
    }

    /// As [`Session::reopen_under`].
    ///
    /// # Errors
    /// As there.
    pub fn reopen_under(
        &mut self,
        source: SourceId,
        constraints: &Constraints,
    ) -> Result<SourceId, ParaphraseError> {
        match self {
            Self::Search(session) => session.reopen_under(source, constraints),
            Self::PromptContent(_) => Ok(source),
        }
    }

    /// As [`Session::submit`].
    ///
    /// # Errors
    /// As there.
    pub fn submit(
        &mut self,
        source: SourceId,
        constraints: &Constraints,
    ) -> Result<(), ParaphraseError> {
        match self {
            Self::Search(session) => session.submit(source, constraints).map(drop),
            Self::PromptContent(session) => {
                session.submit(source, constraints);
                Ok(())
            }
        }
    }

    /// As [`Session::next_finished_while`]; a server's answer is waited for as long as `goes_on`
    /// says so.
    ///
    /// # Errors
    /// As there; or when a server refuses, does not answer, or its budget is used up.
    pub fn next_finished_while(
        &mut self,
        goes_on: &mut GoesOn<'_>,
    ) -> Result<Option<Rewrite>, ParaphraseError> {
        match self {
            Self::Search(session) => session.next_finished_while(goes_on),
            Self::PromptContent(session) => session.next_finished(goes_on),
        }
    }

    /// As [`Session::substitutes`].
    ///
    /// # Errors
    /// As there; of a server always.
    pub fn substitutes(
        &mut self,
        text: &str,
        target: Span,
        avoid: &[String],
        goes_on: &mut GoesOn<'_>,
    ) -> Result<Vec<Substitute>, ParaphraseError> {
        match self {
            Self::Search(session) => session.substitutes(text, target, avoid, goes_on),
            Self::PromptContent(_) => Err(ParaphraseError::NoPrompt),
        }
    }

    /// As [`Session::close`].
    pub fn close(&mut self, source: SourceId) {
        match self {
            Self::Search(session) => session.close(source),
            Self::PromptContent(session) => session.close(source),
        }
    }
}
