//! Progress on stderr: a bar on a terminal, a line a minute elsewhere, as in the log of a cluster.

mod estimator;

use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use fnstore::expand::ExpansionProgress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use self::estimator::Estimator;
use super::output::{counted, grouped, tell};

/// Seconds between two lines where stderr is no terminal.
const PAUSE: &str = "FNSTORE_PROGRESS_SECONDS";

/// How far some work is: a bar on a terminal, or a line a minute.
#[derive(Debug)]
pub(crate) struct Bar {
    drawn: ProgressBar,
    unit: String,
    estimator: Arc<Mutex<Estimator>>,
    began: Instant,
    lines: Option<Mutex<Lines>>,
}

/// Lines where there is no terminal.
#[derive(Debug)]
struct Lines {
    pause: Duration,
    last: Instant,
}

/// A bar for work that is counted in `unit`s, as in `files`.
///
/// It is drawn on stderr where that is a terminal. Elsewhere a line tells now and then how far the
/// work is.
pub(crate) fn bar(doing: &'static str, unit: &str) -> Bar {
    let began = Instant::now();
    let estimator = Arc::new(Mutex::new(Estimator::default()));
    let template = format!("{{msg}} {{wide_bar}} {{human_pos}}/{{human_len}} {unit} {{left}}");
    let of_bar = Arc::clone(&estimator);
    let left = move |_: &ProgressState, out: &mut dyn std::fmt::Write| {
        let _ = out.write_str(&left(&mut locked(&of_bar), began));
    };
    let style = ProgressStyle::with_template(&template).expect("the template is a constant");
    let drawn = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
    drawn.set_style(style.with_key("left", left));
    drawn.set_message(doing);
    let pause = std::env::var(PAUSE).ok().and_then(|text| text.parse().ok()).unwrap_or(60.0);
    let pause = Duration::try_from_secs_f64(pause).unwrap_or(Duration::MAX);
    let lines = drawn.is_hidden().then(|| Mutex::new(Lines { pause, last: began }));
    Bar { drawn, unit: unit.to_owned(), estimator, began, lines }
}

/// The share of the work that is done, and the time that is left, for a bar or a line.
fn left(estimator: &mut Estimator, began: Instant) -> String {
    let share = (100.0 * estimator.share()).floor();
    match estimator.left(began.elapsed()) {
        Some(left) => format!("{share:.0} %, {} left", duration(left.as_secs_f64().ceil() as u64)),
        None => format!("{share:.0} %"),
    }
}

/// Seconds as `40 s`, `12 min` or `3 h 20 min`.
pub(crate) fn duration(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds.div_ceil(60)),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Bar {
    pub(crate) fn set_length(&self, length: u64) {
        self.drawn.set_length(length);
    }

    /// So many units are done.
    pub(crate) fn set_position(&self, position: u64) {
        self.at(position, (position, self.drawn.length().unwrap_or(0)));
    }

    /// So many units are done, of so many; the time is told by other work, which is more even.
    pub(crate) fn set_work(&self, (position, length): (u64, u64), work: (u64, u64)) {
        self.drawn.set_length(length);
        self.at(position, work);
    }

    /// How far an expansion is.
    pub(crate) fn set_expansion(&self, at: &ExpansionProgress) {
        let rate = at.sentences as f64 / self.began.elapsed().as_secs_f64().max(1e-3);
        let sentences = counted(at.sentences, "sentence");
        self.drawn.set_message(format!("expanding: {sentences}, {rate:.1}/s"));
        self.set_work((at.seeds, at.of), (at.rounds, at.of_rounds));
    }

    pub(crate) fn inc(&self, units: u64) {
        self.set_position(self.drawn.position() + units);
    }

    pub(crate) fn set_message(&self, message: String) {
        self.drawn.set_message(message);
    }

    pub(crate) fn message(&self) -> String {
        self.drawn.message()
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.drawn.is_finished()
    }

    /// Does what writes to the terminal in between.
    pub(crate) fn suspend<T>(&self, write: impl FnOnce() -> T) -> T {
        self.drawn.suspend(write)
    }

    pub(crate) fn finish_and_clear(&self) {
        self.drawn.finish_and_clear();
    }

    fn at(&self, position: u64, (done, of): (u64, u64)) {
        locked(&self.estimator).note(self.began.elapsed(), done as f64, of as f64);
        self.drawn.set_position(position);
        let Some(lines) = &self.lines else { return };
        let mut lines = locked(lines);
        if lines.last.elapsed() >= lines.pause {
            lines.last = Instant::now();
            tell(&self.line());
        }
    }

    /// As `expanding: 12 of 200 sets, 7 %, 12 min left`.
    fn line(&self) -> String {
        let mut line = format!("{}: {}", self.drawn.message(), grouped(self.drawn.position()));
        match self.drawn.length().unwrap_or(0) {
            0 => {
                let _ = write!(line, " {}", self.unit);
            }
            of => {
                let left = left(&mut locked(&self.estimator), self.began);
                let _ = write!(line, " of {} {}, {left}", grouped(of), self.unit);
            }
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_how_far_and_how_much_longer() {
        let bar = bar("expanding", "sets");
        bar.set_position(0);
        assert_eq!(bar.line(), "expanding: 0 sets");
        bar.set_work((0, 200), (0, 600));
        assert_eq!(bar.line(), "expanding: 0 of 200 sets, 0 %");
        std::thread::sleep(Duration::from_millis(5));
        bar.set_work((199, 200), (599, 600));
        assert_eq!(bar.line(), "expanding: 199 of 200 sets, 99 %, 1 s left");
        bar.set_work((200, 200), (600, 600));
        assert_eq!(bar.line(), "expanding: 200 of 200 sets, 100 %, 0 s left");
    }

    #[test]
    fn times_are_told_in_the_unit_that_fits() {
        let told = [0, 119, 120, 121, 7199, 7200, 12_000].map(duration);
        assert_eq!(told, ["0 s", "119 s", "2 min", "3 min", "120 min", "2 h 0 min", "3 h 20 min"]);
    }
}
