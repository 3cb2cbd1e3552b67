//! Progress on stderr: a bar on a terminal, nothing elsewhere.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar for work that is counted in `unit`s, as in `files`.
///
/// It is drawn on stderr only when that is a terminal.
pub(super) fn bar(doing: &'static str, unit: &str) -> ProgressBar {
    let template = format!("{{msg}} {{wide_bar}} {{human_pos}}/{{human_len}} {unit} {{eta}}");
    let style = ProgressStyle::with_template(&template).expect("the template is a constant");
    let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
    bar.set_style(style);
    bar.set_message(doing);
    bar
}
