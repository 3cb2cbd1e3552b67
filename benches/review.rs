//! How long does a reviewer wait for the first sentence, for the next one and for a saved decision,
//! and how much memory does `fnstore review` take the while? Measured in Chromium, from key to
//! screen.
//!
//! `FNSTORE_BENCH_STORE=STORE cargo bench --profile release --bench review`, for another query than
//! all generated sets with `FNSTORE_BENCH_QUERY=EXPRESSION`. It judges sets of the store under a
//! reviewer of its own. Without a store it makes a small one.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a bench prints what it measured")]

/// The browser of the tests says by this what it lacks.
macro_rules! skipped {
    ($($why:tt)*) => { eprintln!("skipped: {}", format!($($why)*)) };
}

#[allow(dead_code, reason = "each bench uses a part of it")]
#[path = "../tests/browser.rs"]
mod browser;
#[allow(dead_code, reason = "each bench uses a part of it")]
mod common;
#[allow(dead_code, reason = "each bench uses a part of it")]
#[path = "../tests/review_server.rs"]
mod review_server;

use std::error::Error;
use std::time::Instant;

use browser::Browser;
use common::BenchStore;
use common::synthetic::Synthetic;
use fnstore::database::{Database, Write};
use review_server::Review;
use serde_json::json;

/// Keys of each kind.
const KEYS: usize = 300;

/// Generated sets of a store that is made for the bench.
const SETS: usize = 20_000;

/// Notes when an item stands in the page, when it is painted, and when the page says that a
/// decision is saved: milliseconds since the last key, of the first item since the navigation
/// began.
const WATCH: &str = "
(() => {
window.watched = { shown: [], painted: [], saved: [] };
let pressed = 0;
const since = (list) => window.watched[list].push(performance.now() - pressed);
addEventListener('keydown', (event) => { pressed = event.timeStamp; }, true);
new MutationObserver((changes) => {
  for (const { type, target } of changes) {
    if (type === 'attributes' && target === document.body) {
      since('shown');
      requestAnimationFrame(() => setTimeout(() => since('painted')));
    } else if (type === 'childList' && target.id === 'state' && target.textContent.startsWith('saved')) since('saved');
  }
}).observe(document, { subtree: true, childList: true, attributes: true, attributeFilter: ['data-item'] });
})();
";

/// What of the way to the first item was waiting for the program: for the page, and for the item.
const SERVED: &str = "
const page = performance.getEntriesByType('navigation')[0];
const item = performance.getEntriesByType('resource').find((entry) => entry.name.includes('/item?'));
return [page.responseEnd - page.requestStart, item.requestStart, item.responseEnd - item.requestStart];
";

fn main() -> Result<(), Box<dyn Error>> {
    let Some(browser) = Browser::start() else { return Ok(()) };
    let bench = BenchStore::open()?;
    if bench.is_generated() {
        let database = Database::open_writer(&bench.path)?;
        let release = database.releases()?[0].id;
        let mut synthetic = Synthetic::new(&database, release, SETS)?;
        while let Some(frame) = synthetic.frame()? {
            let frame: Write = frame;
            database.write(release, &frame)?;
        }
    }
    let query = std::env::var("FNSTORE_BENCH_QUERY").unwrap_or("origin=generated".to_owned());
    println!("`fnstore review {query}` in Chromium on {}", bench.what);
    let reviewer = format!("bench-{}", std::process::id());
    let begun = Instant::now();
    let review = Review::start(&bench.path, &[&query, "--reviewer", &reviewer]);
    let started = begun.elapsed().as_secs_f64() * 1000.0;
    browser.emulate("Page.addScriptToEvaluateOnNewDocument", &json!({ "source": WATCH }));
    browser.visit(&review.address(""));
    await_item(&browser, 0);
    let first = taken(&browser, "painted");
    println!("{:<34} {started:>9.1} ms", "program to address");
    println!("{:<34} {:>9.1} ms", "navigation to first item", first.first().unwrap_or(&0.0));
    let parts = browser.run(SERVED);
    for (what, part) in ["page answered in", "item asked for after", "item answered in"]
        .iter()
        .zip(parts.as_array().unwrap())
    {
        println!("  {what:<32} {:>9.1} ms", part.as_f64().unwrap());
    }
    let megabytes = |what: &str| {
        let (now, most) = review.resident();
        println!("{what:<34} {now:>9} MB {most:>9} MB");
    };
    println!("\n{:<34} {:>12} {:>12}", "memory of the program", "now", "at most");
    megabytes("first item");
    let mut at = 0;
    let mut rows = Vec::new();
    for (what, key, waits) in [
        ("skipped", "s", false),
        ("decided", "a", true),
        ("decided without waiting for the disk", "r", false),
    ] {
        taken(&browser, "shown");
        taken(&browser, "painted");
        taken(&browser, "saved");
        for number in 1..=KEYS {
            browser.press(key);
            at += 1;
            await_item(&browser, at);
            if waits {
                browser.until("window.watched.saved.length", &json!(number));
            }
            if key != "s" && number % 100 == 0 {
                megabytes(&format!("{number} {what}"));
            }
        }
        if key != "s" {
            browser.until_said("saved");
        }
        for list in ["shown", "painted", "saved"] {
            rows.push((format!("{what}: {list}"), taken(&browser, list)));
        }
    }
    println!("\n{:<44} {:>6} {:>10} {:>10} {:>10}", "key to", "", "median ms", "95th", "most");
    for (what, mut times) in rows {
        times.sort_by(f64::total_cmp);
        let Some(last) = times.len().checked_sub(1) else { continue };
        let at = |share: f64| times[(last as f64 * share).round() as usize];
        let (count, median, high, most) = (times.len(), at(0.5), at(0.95), at(1.0));
        println!("{what:<44} {count:>6} {median:>10.1} {high:>10.1} {most:>10.1}");
    }
    Ok(())
}

/// Waits until an item stands in the page and is painted.
fn await_item(browser: &Browser, number: usize) {
    browser.until("document.body?.dataset.item", &json!(number.to_string()));
    browser.until("window.watched.painted.length === window.watched.shown.length", &json!(true));
}

/// What was noted since it was asked last.
fn taken(browser: &Browser, list: &str) -> Vec<f64> {
    let noted = browser.run(&format!("return window.watched.{list}.splice(0)"));
    noted.as_array().unwrap().iter().filter_map(serde_json::Value::as_f64).collect()
}
