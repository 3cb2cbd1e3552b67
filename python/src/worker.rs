//! Things that borrow a database and live as long as a Python object: each stays on a thread of its
//! own, which does what it is asked one after another.

use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use crate::error::{Fault, Result};

/// A thread that answers questions of one kind.
pub(crate) struct Worker<Q, A> {
    /// None once it has ended.
    line: Mutex<Option<Line<Q, A>>>,
}

struct Line<Q, A> {
    questions: Sender<Q>,
    answers: Receiver<Result<A>>,
    thread: JoinHandle<()>,
}

impl<Q: Send + 'static, A: Send + 'static> Worker<Q, A> {
    /// Starts a thread. It makes what it needs, says by its first answer whether it could, and then
    /// answers questions until there are no more.
    pub(crate) fn start(
        work: impl FnOnce(&Receiver<Q>, &Sender<Result<A>>) -> Result<()> + Send + 'static,
    ) -> Result<(Self, A)> {
        let (questions, asked) = channel();
        let (answer, answers) = channel();
        let thread = std::thread::spawn(move || {
            if let Err(fault) = work(&asked, &answer) {
                let _ = answer.send(Err(fault));
            }
        });
        let first = answers.recv().map_err(|_| gone())??;
        Ok((Self { line: Mutex::new(Some(Line { questions, answers, thread })) }, first))
    }

    /// Asks, and waits for the answer. Threads that ask at once wait for each other.
    pub(crate) fn ask(&self, question: Q) -> Result<A> {
        let line = self.line.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let line = line.as_ref().ok_or_else(gone)?;
        line.questions.send(question).map_err(|_| gone())?;
        line.answers.recv().map_err(|_| gone())?
    }

    /// Ends the thread, and waits until it has let go of what it held.
    pub(crate) fn end(&self) {
        let line = self.line.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take();
        if let Some(Line { questions, answers, thread }) = line {
            drop((questions, answers));
            let _ = thread.join();
        }
    }
}

/// What is told where a thread has ended.
fn gone() -> Fault {
    let (message, advice) = ("this transaction has ended", "begin another one: db.transaction()");
    Fault::new("ClosedError", "S-ended", message, advice)
}
