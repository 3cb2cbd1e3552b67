//! The review on a terminal, with the same keys.

use std::io::{Write as _, stdout};
use std::time::Instant;

use anyhow::{Context as _, bail};
use crossterm::event::{Event, KeyCode, KeyEventKind, KeyModifiers, read};
use crossterm::style::{Attribute, Print, SetAttribute};
use crossterm::terminal::{Clear, ClearType, disable_raw_mode, enable_raw_mode};
use crossterm::{cursor::MoveTo, queue};
use fnstore::model::Judgement;
use fnstore::review::{Decision, Example, Mark, Question, ReviewError, Session, View};
use fnstore::text::visible;

use crate::cli::Outcome;
use crate::cli::edit::now;
use crate::cli::output::tell;

const KEYS: &str = "a accept  r reject  1-9 score  s skip  u undo  q quit";

/// Raw mode, ended whichever way the review ends.
struct Raw;

impl Drop for Raw {
    fn drop(&mut self) {
        let _ = disable_raw_mode();
    }
}

pub(super) fn run(session: &Session) -> anyhow::Result<Outcome> {
    let mut at = session.next(None, "terminal")?;
    if at.is_none() {
        tell("there is nothing to review");
        return Ok(Outcome::NothingFound);
    }
    enable_raw_mode()
        .context("standard input is no terminal; leave `--terminal` out for the page")?;
    let raw = Raw;
    let mut said = String::new();
    while let Some(number) = at {
        let view = match session.view(number) {
            Ok(view) => view,
            Err(ReviewError::Gone(set)) => {
                said = format!("`{set}` was deleted meanwhile");
                at = session.next(at, "terminal")?;
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        draw(session, &view, &said)?;
        let since = Instant::now();
        said = String::new();
        match key()? {
            'q' => break,
            's' => at = session.next(at, "terminal")?,
            'u' => match session.undo() {
                Ok(number) => at = Some(number),
                Err(error) => said = error.to_string(),
            },
            letter => {
                let score = match letter {
                    'a' => Judgement::BEST,
                    'r' => 0,
                    '1'..='9' => (letter as u8 - b'0') * 10,
                    _ => {
                        said = KEYS.to_owned();
                        continue;
                    }
                };
                let millis = since.elapsed().as_millis() as u64;
                let decision = Decision { item: number, score, millis, note: String::new() };
                match session.decide(&[decision], now()) {
                    Ok(_) => at = session.next(at, "terminal")?,
                    Err(error) => said = format!("not saved: {error}"),
                }
            }
        }
    }
    drop(raw);
    queue!(stdout(), Clear(ClearType::All), MoveTo(0, 0))?;
    stdout().flush()?;
    tell(&format!("decided: {}", session.counts().decided));
    Ok(Outcome::Done)
}

/// The next key; Ctrl-C is `q`.
fn key() -> anyhow::Result<char> {
    loop {
        let Event::Key(event) = read()? else { continue };
        if event.kind != KeyEventKind::Press {
            continue;
        }
        match event.code {
            KeyCode::Char('c') if event.modifiers.contains(KeyModifiers::CONTROL) => {
                return Ok('q');
            }
            KeyCode::Char(letter) => return Ok(letter),
            KeyCode::Esc => return Ok('q'),
            _ => {}
        }
        if !stdout_is_open() {
            bail!("the terminal went away");
        }
    }
}

fn stdout_is_open() -> bool {
    stdout().flush().is_ok()
}

fn draw(session: &Session, view: &View, said: &str) -> anyhow::Result<()> {
    let mut out = stdout();
    queue!(out, Clear(ClearType::All), MoveTo(0, 0))?;
    let line = |text: &str, out: &mut std::io::Stdout| queue!(out, Print(text), Print("\r\n"));
    if !session.is_blind() {
        line(
            &format!("{}  {}  {}", view.item.set, view.output.lexunit, view.frame.name),
            &mut out,
        )?;
    }
    if let Some(source) = &view.source {
        line("", &mut out)?;
        sentence(source, &mut out)?;
    }
    line("", &mut out)?;
    sentence(&view.output, &mut out)?;
    line("", &mut out)?;
    for example in &view.examples {
        queue!(out, Print("  "))?;
        sentence(example, &mut out)?;
    }
    line("", &mut out)?;
    let question = match session.question() {
        Question::Evokes => format!("Does the marked word evoke {}?", view.frame.name),
        Question::Meaning => "Does the output say what the source says?".to_owned(),
        Question::Similarity => "How alike are the two sentences in meaning?".to_owned(),
    };
    line(&question, &mut out)?;
    line(&format!("{KEYS}   decided: {}", session.counts().decided), &mut out)?;
    line(&visible(said), &mut out)?;
    out.flush()?;
    Ok(())
}

/// A sentence on one line, the target in reverse, changed words underlined.
fn sentence(example: &Example, out: &mut std::io::Stdout) -> anyhow::Result<()> {
    for (text, marks) in example.pieces() {
        if marks.contains(&&Mark::Target) {
            queue!(out, SetAttribute(Attribute::Reverse))?;
        }
        if marks.contains(&&Mark::Changed) {
            queue!(out, SetAttribute(Attribute::Underlined))?;
        }
        queue!(out, Print(visible(text)), SetAttribute(Attribute::Reset))?;
    }
    queue!(out, Print("\r\n"))?;
    Ok(())
}
