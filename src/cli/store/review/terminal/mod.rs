//! The review on a terminal, with the keys of the page.

mod list;
mod marks;
mod proposed;
mod screen;

use std::io::{IsTerminal as _, Write as _, stdin, stdout};
use std::process::exit;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use crossterm::cursor::{Hide, Show};
use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, read};
use crossterm::execute;
use crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode, size,
};
use fnstore::model::{Frame, Judgement};
use fnstore::review::{
    Decision, Example, FLAGS, Mark, Question, ReviewError, Session, Step, Triple, View,
};
use fnstore::text::{CharIndex, plain_definition};

use super::keys::{Where, keys_of};
use super::{ENDED, Review};
use crate::cli::Outcome;
use crate::cli::print::linked::LinkRecord;
use crate::cli::print::output::{counted, tell};
use crate::cli::process::stop;
use crate::cli::store::edit::now;
use list::List;
use marks::Marks;
use proposed::Proposed;
use screen::{BOLD, DIM, Look, PLAIN, Screen};

const KEYS: &str = "a accept  r reject  1-9 n score  s skip  u undo  e span  / search  p proposals  ? keys  q quit";
const SPAN_KEYS: &str = "left, right: by word, with shift by letter; tab: the other end; up, down: another piece; f: another element; enter saves, escape leaves";

/// The window that a terminal is to the session.
const WINDOW: &str = "terminal";

/// How often is looked whether the terminal is still there.
const LOOK: Duration = Duration::from_millis(500);

/// What a shell says of a program that its terminal ended: 128 and the number of SIGHUP.
const HUNG_UP: i32 = 129;

/// The terminal as the review wants it, given back whichever way the review ends.
struct Raw;

impl Raw {
    fn take() -> anyhow::Result<Self> {
        let is_there = stdin().is_terminal() && stdout().is_terminal();
        ensure!(is_there, "this is no terminal; leave `--terminal` out for the page");
        enable_raw_mode().context("the terminal gives no single keys")?;
        let raw = Self;
        execute!(stdout(), EnterAlternateScreen, Hide).context("cannot write to the terminal")?;
        Ok(raw)
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        give_back();
    }
}

/// Makes the terminal what it was.
fn give_back() {
    let _ = execute!(stdout(), Show, LeaveAlternateScreen);
    let _ = disable_raw_mode();
}

/// What keys mean at the moment.
enum Mode {
    /// They decide on the item.
    Item,
    /// They move the ends of its target or of an FE.
    Span(Marks),
    /// All keys are shown.
    Keys,
    /// A query is written.
    Query(String),
    /// The digits of a score are written.
    Score(String),
    /// They decide on what a query found.
    List(List),
    /// They decide on proposals.
    Proposed(Proposed),
}

struct Terminal<'a> {
    review: &'a Review,
    session: &'a Session,
    number: usize,
    view: Option<View>,
    since: Instant,
    flags: [bool; FLAGS.len()],
    said: String,
    mode: Mode,
}

pub(super) fn run(review: &Review) -> anyhow::Result<Outcome> {
    let session = &review.session;
    let Some(first) = session.next(None, WINDOW)? else {
        return Outcome::nothing("there is nothing to review");
    };
    // What it says of them belongs before the first screen.
    review.vectors()?;
    stop::at_once_after(give_back, ENDED)?;
    let raw = Raw::take()?;
    thread::spawn(end_with_the_terminal);
    let mut terminal = Terminal {
        review,
        session,
        number: first,
        view: None,
        since: Instant::now(),
        flags: Default::default(),
        said: String::new(),
        mode: Mode::Item,
    };
    terminal.show(Some(first))?;
    loop {
        terminal.draw()?;
        if !terminal.key(key()?)? {
            break;
        }
    }
    drop(raw);
    tell(&format!("decided: {}", session.counts().decided));
    Ok(Outcome::Done)
}

/// Ends the program when its terminal is gone. The library that reads keys would read on for ever,
/// and burn a core. Nothing is lost: what was decided is stored.
fn end_with_the_terminal() {
    while stdin().is_terminal() {
        thread::sleep(LOOK);
    }
    exit(HUNG_UP);
}

/// The next key; a terminal of another size is drawn anew.
fn key() -> anyhow::Result<Option<KeyEvent>> {
    loop {
        match read().context("the terminal went away")? {
            Event::Key(event) if event.kind != KeyEventKind::Release => return Ok(Some(event)),
            Event::Resize(..) => return Ok(None),
            _ => {}
        }
    }
}

/// The score that a key gives.
fn score_of(key: char) -> Option<u8> {
    match key {
        'a' => Some(Judgement::BEST),
        'r' => Some(0),
        '1'..='9' => Some((key as u8 - b'0') * 10),
        _ => None,
    }
}

impl Terminal<'_> {
    /// Shows an item, or the next one where it is gone; none at the end.
    fn show(&mut self, mut number: Option<usize>) -> anyhow::Result<()> {
        self.view = None;
        while let Some(at) = number {
            self.number = at;
            match self.session.view(at) {
                Ok(view) => {
                    self.view = Some(view);
                    break;
                }
                Err(ReviewError::Gone(set)) => {
                    self.said = format!("`{set}` was deleted meanwhile");
                    number = self.session.next(Some(at), WINDOW)?;
                }
                Err(error) => return Err(error.into()),
            }
        }
        self.flags = Default::default();
        self.since = Instant::now();
        Ok(())
    }

    fn next(&mut self) -> anyhow::Result<()> {
        self.show(self.session.next(Some(self.number), WINDOW)?)
    }

    /// Does what a key asks for; `false` ends the review.
    fn key(&mut self, event: Option<KeyEvent>) -> anyhow::Result<bool> {
        let Some(event) = event else { return Ok(true) };
        let is_control = event.modifiers.contains(KeyModifiers::CONTROL);
        if is_control && event.code == KeyCode::Char('c') {
            return Ok(false);
        }
        let said = std::mem::take(&mut self.said);
        match std::mem::replace(&mut self.mode, Mode::Item) {
            Mode::Item => match event.code {
                KeyCode::Char('q') => return Ok(false),
                KeyCode::Char(letter) if !is_control => self.item_key(letter)?,
                _ => self.said = said,
            },
            Mode::Keys => {}
            Mode::Span(marks) => self.span_key(marks, event)?,
            Mode::Query(query) => self.query_key(query, event.code)?,
            Mode::Score(digits) => self.score_key(digits, event.code)?,
            Mode::List(list) => match event.code {
                KeyCode::Char('q') => return Ok(false),
                code => self.list_key(list, code)?,
            },
            Mode::Proposed(list) => match (list.is_asking(), event.code) {
                (false, KeyCode::Char('q')) => return Ok(false),
                (false, KeyCode::Esc | KeyCode::Char('s')) => self.show(Some(self.number))?,
                (_, code) => self.proposed_key(list, code),
            },
        }
        Ok(true)
    }

    fn item_key(&mut self, letter: char) -> anyhow::Result<()> {
        match letter {
            's' => self.skip()?,
            'u' => self.undo()?,
            'e' => self.edit(),
            '/' => self.mode = Mode::Query(String::new()),
            'n' if self.view.is_some() => self.mode = Mode::Score(String::new()),
            '?' => self.mode = Mode::Keys,
            'p' => match Proposed::find(self.review) {
                Ok(list) => self.mode = Mode::Proposed(list),
                Err(error) => self.said = format!("{error:#}"),
            },
            'f' | 'm' if self.session.question() == Question::Similarity => {
                let flag = &mut self.flags[usize::from(letter == 'm')];
                *flag = !*flag;
            }
            letter => match score_of(letter) {
                Some(score) if self.view.is_some() => self.decide(score)?,
                _ => self.said = KEYS.to_owned(),
            },
        }
        Ok(())
    }

    fn skip(&mut self) -> anyhow::Result<()> {
        if self.view.is_some() {
            self.session.skip(self.number, WINDOW)?;
            self.said = format!("skipped no. {}; the next review shows it", self.number + 1);
        }
        self.next()
    }

    fn decide(&mut self, score: u8) -> anyhow::Result<()> {
        let millis = self.since.elapsed().as_millis() as u64;
        let flags =
            FLAGS.iter().zip(self.flags).filter_map(|(flag, is_set)| is_set.then_some(*flag));
        let note = flags.collect::<Vec<_>>().join(", ");
        let decision = Decision { item: self.number, score, millis, note };
        match self.session.decide(&[decision], now()) {
            Ok(saved) => {
                self.next()?;
                if let Some(gone) = saved.gone.first() {
                    self.said = format!("`{gone}` was deleted meanwhile");
                }
            }
            Err(error) => self.said = format!("not saved: {error}"),
        }
        Ok(())
    }

    fn undo(&mut self) -> anyhow::Result<()> {
        match self.session.undo() {
            Ok(undone) => {
                self.show(Some(undone.item))?;
                self.said = format!("undone: no. {}", undone.item + 1);
            }
            Err(error) => self.said = error.to_string(),
        }
        Ok(())
    }

    fn edit(&mut self) {
        let Some(view) = &self.view else { return };
        if self.session.is_blind() {
            self.said = ReviewError::Blind.to_string();
        } else if let Some(marks) = Marks::of(view) {
            self.mode = Mode::Span(marks);
        } else {
            self.said = "there is no target to move".to_owned();
        }
    }

    fn span_key(&mut self, mut marks: Marks, event: KeyEvent) -> anyhow::Result<()> {
        let is_shifted = event.modifiers.contains(KeyModifiers::SHIFT);
        let step = if is_shifted { Step::Letter } else { Step::Word };
        let asked = match event.code {
            KeyCode::Left => Some((false, step)),
            KeyCode::Right => Some((true, step)),
            KeyCode::Char('h') => Some((false, Step::Word)),
            KeyCode::Char('l') => Some((true, Step::Word)),
            KeyCode::Char('H') => Some((false, Step::Letter)),
            KeyCode::Char('L') => Some((true, Step::Letter)),
            _ => None,
        };
        if let Some((forward, step)) = asked
            && !marks.edit.step(forward, step)
        {
            self.said = "this end stops here".to_owned();
        }
        match event.code {
            KeyCode::Tab | KeyCode::BackTab => marks.edit.other_end(),
            KeyCode::Up => marks.edit.other_piece(false),
            KeyCode::Down => marks.edit.other_piece(true),
            KeyCode::Char('f') => marks.next(),
            KeyCode::Esc => {
                self.said = "the span stays as it was".to_owned();
                return Ok(());
            }
            KeyCode::Enter => return self.save(marks),
            _ => {}
        }
        self.mode = Mode::Span(marks);
        Ok(())
    }

    fn save(&mut self, marks: Marks) -> anyhow::Result<()> {
        let Some(view) = &self.view else { return Ok(()) };
        let index = CharIndex::new(&view.output.text);
        let spans: Result<Vec<_>, _> =
            marks.edit.pieces().iter().map(|piece| index.to_chars(*piece)).collect();
        let spans: Vec<_> = spans?.into_iter().map(|piece| (piece.start, piece.end)).collect();
        let moved = match (marks.element(), spans.first()) {
            (Some(element), Some(span)) => self.session.move_element(self.number, element, *span),
            _ => self.session.retarget(self.number, &spans),
        };
        match moved {
            Ok(moved) => {
                self.show(Some(self.number))?;
                self.said =
                    if moved { "span saved" } else { "the span stays as it was" }.to_owned();
            }
            Err(error) => {
                self.said = format!("not saved: {error}");
                self.mode = Mode::Span(marks);
            }
        }
        Ok(())
    }

    fn query_key(&mut self, mut query: String, code: KeyCode) -> anyhow::Result<()> {
        match code {
            KeyCode::Esc => return Ok(()),
            KeyCode::Char(letter) => query.push(letter),
            KeyCode::Backspace => {
                query.pop();
            }
            KeyCode::Enter => match List::find(self.session, &query) {
                Ok(list) => {
                    self.mode = Mode::List(list);
                    return Ok(());
                }
                Err(error) => {
                    let hint = crate::cli::hint(&error).map(|hint| format!("; {hint}"));
                    self.said = format!("{error:#}{}", hint.unwrap_or_default());
                }
            },
            _ => {}
        }
        self.mode = Mode::Query(query);
        Ok(())
    }

    /// A score by its digits: enter decides, escape goes back.
    fn score_key(&mut self, mut digits: String, code: KeyCode) -> anyhow::Result<()> {
        match code {
            KeyCode::Esc => return Ok(()),
            KeyCode::Char(digit) if digit.is_ascii_digit() => digits.push(digit),
            KeyCode::Backspace => {
                digits.pop();
            }
            KeyCode::Enter => match digits.parse() {
                Ok(score) if score <= Judgement::BEST => return self.decide(score),
                _ => self.said = "a score is a whole number from 0 to 100".to_owned(),
            },
            _ => {}
        }
        self.mode = Mode::Score(digits);
        Ok(())
    }

    fn list_key(&mut self, mut list: List, code: KeyCode) -> anyhow::Result<()> {
        match code {
            KeyCode::Esc | KeyCode::Char('s') => return self.show(Some(self.number)),
            KeyCode::Char('/') => {
                self.mode = Mode::Query(list.query().to_owned());
                return Ok(());
            }
            KeyCode::Char('j') | KeyCode::Down => list.step(true),
            KeyCode::Char('k') | KeyCode::Up => list.step(false),
            KeyCode::Char('x') => list.pick(),
            KeyCode::Char('X') => list.pick_all(),
            KeyCode::Char('u') => {
                self.said = match self.session.undo() {
                    Ok(undone) => {
                        list.taken_back(self.session, &undone.sets)?;
                        format!("undone: {}", counted(undone.sets.len() as u64, "set"))
                    }
                    Err(error) => error.to_string(),
                }
            }
            KeyCode::Char(letter) if score_of(letter).is_some() => {
                self.said = match list.decide(self.session, score_of(letter).unwrap_or_default()) {
                    Ok(saved) => saved,
                    Err(error) => format!("not saved: {error:#}"),
                };
            }
            _ => self.said = list::KEYS.to_owned(),
        }
        self.mode = Mode::List(list);
        Ok(())
    }

    fn proposed_key(&mut self, mut list: Proposed, code: KeyCode) {
        self.said = list.key(self.review, code).unwrap_or_else(|error| {
            let hint = crate::cli::hint(&error).map(|hint| format!("; {hint}"));
            format!("{error:#}{}", hint.unwrap_or_default())
        });
        self.mode = Mode::Proposed(list);
    }

    fn draw(&self) -> anyhow::Result<()> {
        let (columns, rows) = size().unwrap_or((80, 24));
        let mut screen = Screen::new(columns);
        match &self.mode {
            Mode::Keys => {
                for (key, does) in keys_of(Where::Terminal) {
                    screen.paragraph(&[(&format!("{key:<18}"), BOLD), (does, PLAIN)]);
                }
                screen.blank();
                screen.line("any key goes back", DIM);
            }
            Mode::Query(query) => {
                screen.paragraph(&[("query: ", BOLD), (query, PLAIN), ("_", DIM)]);
                screen.line("as in `fnstore query`; enter finds, escape leaves", DIM);
                screen.line(&self.said, BOLD);
            }
            Mode::List(list) => list.draw(&mut screen, usize::from(rows), &self.said),
            Mode::Proposed(list) => list.draw(&mut screen, usize::from(rows), &self.said),
            Mode::Item => self.draw_item(&mut screen, None),
            Mode::Score(digits) => {
                screen.paragraph(&[("score: ", BOLD), (digits, PLAIN), ("_", DIM)]);
                self.draw_item(&mut screen, None);
            }
            Mode::Span(marks) => self.draw_item(&mut screen, Some(marks)),
        }
        screen.draw(&mut stdout(), rows).context("the terminal went away")?;
        stdout().flush().context("the terminal went away")
    }

    /// The sentence, the question and what was said first: a small terminal shows these at least.
    fn draw_item(&self, screen: &mut Screen, marks: Option<&Marks>) {
        let counts = self.session.counts();
        let left = counts.left.map_or_else(String::new, |left| format!(", to go: {left}"));
        let decided = format!("decided: {}{left}   ", counts.decided);
        let Some(view) = &self.view else {
            screen.line("All is decided, skipped, or shown elsewhere: u undoes, q ends.", PLAIN);
            return screen.line(&format!("{decided}{}", self.said), DIM);
        };
        if let Some(triple) = &view.triple {
            let Triple { number, of, sentences, at } = triple;
            let place =
                format!("task {} of {of}, sentence {} of {}", number + 1, at + 1, sentences.len());
            screen.line(&place, DIM);
        } else if self.session.is_blind() {
            screen.line("a sentence with a marked word", DIM);
        } else {
            let release = view.release.as_ref().map_or_else(String::new, |of| format!(" of {of}"));
            let facts = format!("  {} in {}{release}", view.output.lexunit, view.frame.name);
            screen.paragraph(&[(&view.item.set.to_string(), DIM), (&facts, PLAIN)]);
        }
        if let Some(source) = &view.source {
            sentence(screen, ("source  ", DIM), source, &view.frame);
        }
        let before = if view.source.is_some() { "output  " } else { "" };
        match marks {
            Some(marks) => marks.draw(screen, before),
            None => candidates(screen, before, view),
        }
        screen.blank();
        screen.line(&self.session.question().wording(Some(&view.frame.name)), BOLD);
        if self.session.question() == Question::Similarity {
            for ((flag, key), is_set) in FLAGS.iter().zip(["f", "m"]).zip(self.flags) {
                screen.line(&format!("[{}] {flag} ({key})", if is_set { "x" } else { " " }), PLAIN);
            }
        }
        if let Some(judged) = &view.judged {
            screen.line(&format!("you gave it {}", judged.score), DIM);
        }
        screen.line(if marks.is_some() { SPAN_KEYS } else { KEYS }, DIM);
        screen.paragraph(&[(&decided, DIM), (&self.said, BOLD)]);
        if matches!(self.session.question(), Question::Evokes | Question::Elements) {
            frame(screen, view);
        }
    }
}

/// The sentence that is asked about, with an arrow among the others of its triple.
fn candidates(screen: &mut Screen, before: &str, view: &View) {
    let Some(triple) = &view.triple else {
        return sentence(screen, (before, DIM), &view.output, &view.frame);
    };
    for (at, other) in triple.sentences.iter().enumerate() {
        let before = if at == triple.at { ("> ", BOLD) } else { ("  ", DIM) };
        sentence(screen, before, other, &view.frame);
    }
}

/// Definition, FEs in their colours, and examples.
fn frame(screen: &mut Screen, view: &View) {
    screen.blank();
    screen.line(&view.frame.name, BOLD);
    screen.line(&plain_definition(&view.frame.definition), PLAIN);
    let mut names: Vec<(&str, Look)> = Vec::new();
    for (place, element) in view.frame.elements.iter().enumerate() {
        names.push((element.name.as_str(), Look { element: Some(place), ..PLAIN }));
        names.push((" ", PLAIN));
    }
    screen.paragraph(&names);
    for example in &view.examples {
        sentence(screen, ("- ", DIM), example, &view.frame);
    }
    if !view.links.is_empty() {
        screen.line(&format!("Linked to {}", view.output.lexunit), BOLD);
    }
    for link in &view.links {
        screen.line(&LinkRecord::new(link).line(), DIM);
    }
}

/// A sentence: the target in reverse, changed words underlined, FEs in their colours, and named
/// behind it.
fn sentence(screen: &mut Screen, before: (&str, Look), example: &Example, frame: &Frame) {
    let mut pieces = vec![before];
    let mut named: Vec<(String, Look)> = Vec::new();
    for (text, marks) in example.pieces() {
        let mut look = PLAIN;
        for mark in marks {
            match mark {
                Mark::Target => look.is_reversed = true,
                Mark::Changed => look.is_underlined = true,
                Mark::Element(name) => {
                    look.element = frame.elements.iter().position(|element| element.name == *name);
                    let look = Look { element: look.element, ..PLAIN };
                    if named.iter().all(|(known, _)| known != name) {
                        named.push((name.clone(), look));
                    }
                }
            }
        }
        pieces.push((text, look));
    }
    for (name, look) in &named {
        pieces.push(("  ", PLAIN));
        pieces.push((name.as_str(), Look { is_dim: true, ..*look }));
    }
    screen.paragraph(&pieces);
}
