//! The card of a data set: what `datasets` reads at its head, and a datasheet for people (Gebru et
//! al. 2021, *Datasheets for Datasets*).

use std::fmt::Write as _;

use super::{FLAGGED, Published, Publishing, Result, SUMS};
use crate::database::Database;
use crate::expand::diversity;
use crate::model::{Judgement, Promise, Share};
use crate::query::{Expression, Field};
use crate::search::StoredRecipe;

/// Licence of the data that Berkeley FrameNet publishes.
pub(super) const OF_FRAMENET: &str = "cc-by-3.0";

/// Sizes that `datasets` knows, by the first number above.
const SIZES: [(u64, &str); 5] = [
    (1_000, "n<1K"),
    (10_000, "1K<n<10K"),
    (100_000, "10K<n<100K"),
    (1_000_000, "100K<n<1M"),
    (10_000_000, "1M<n<10M"),
];

/// What a card is written of.
struct Card<'a> {
    database: &'a Database,
    asked: &'a Publishing<'a>,
    published: &'a Published,
    /// The query of the edition's sets.
    all: &'a Expression,
    text: String,
}

/// The text of the card.
pub(super) fn written(
    database: &Database,
    asked: &Publishing<'_>,
    published: &Published,
    all: &Expression,
) -> Result<String> {
    let mut card = Card { database, asked, published, all, text: String::new() };
    card.head();
    card.what()?;
    card.files();
    card.making()?;
    card.precision()?;
    card.diversity()?;
    card.content();
    card.rights();
    Ok(card.text)
}

impl Card<'_> {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// What `datasets` reads.
    fn head(&mut self) {
        let Published { parts, licence, edition, .. } = self.published;
        let rows: u64 = parts.iter().map(|part| part.sentences).sum();
        let size = SIZES.iter().find(|(above, _)| rows < *above).map_or("n>10M", |(_, name)| name);
        let mut head = format!(
            "---\nlicense: {licence}\nlanguage:\n- {}\npretty_name: {}\n\
             task_categories:\n- token-classification\ntags:\n- framenet\n- frame-semantic-parsing\n\
             size_categories:\n- {size}\nconfigs:\n- config_name: default\n  data_files:\n",
            self.asked.release.language,
            serde_json::Value::from(edition.as_str()),
        );
        for part in parts.iter().filter(|part| part.sentences > 0) {
            let name = part.split.as_str();
            let _ = write!(head, "  - split: {name}\n    path: data/{name}.parquet\n");
        }
        self.line(&(head + "---\n"));
    }

    fn what(&mut self) -> Result<()> {
        let Publishing { release, edition, .. } = self.asked;
        self.line(&format!("# {}\n", edition.name));
        self.line(&format!(
            "{} annotation sets of FrameNet's kind, of the release `{}`. A set says which words of a \
             sentence evoke a frame, and which are its frame elements. The query that chose them: \
             `{}`.\n",
            edition.sets.len(),
            release.name,
            self.short_query(),
        ));
        self.line("| part | sentences (rows) | annotation sets |\n| --- | ---: | ---: |");
        for part in &self.published.parts {
            let row = format!("| {} | {} | {} |", part.split.as_str(), part.sentences, part.sets);
            self.line(&row);
        }
        let Published { leaking, .. } = self.published;
        let list = self.database.split_list_for(self.all)?.map_or_else(
            || "fnstore's built-in list of documents".to_owned(),
            |list| format!("the split list `{}`", list.id.name),
        );
        self.line(&format!(
            "\nParts are those of {list}; what belongs to none trains. {leaking} training sets were \
             left out, since their sentences stand in dev or test, too. Sets that were carried into \
             a sentence along with a chosen one are counted.\n"
        ));
        Ok(())
    }

    /// The edition's query; a number stands for a long list of ids.
    fn short_query(&self) -> String {
        let query = &self.asked.edition.expression;
        query.parse::<Expression>().map_or_else(|_| query.clone(), |it| format!("{it:#}"))
    }

    fn files(&mut self) {
        self.line(
            "## Files\n\n\
             | file | holds |\n| --- | --- |\n\
             | `data/PART.parquet` | a row for each sentence: text, tokens, sets, and what nobody \
             annotated (`unannotated`, `complete`, `fes_complete`) |\n\
             | `jsonl/PART.jsonl` | the same as JSON lines |\n\
             | `edition.jsonl` | the sets without loss, with all that they refer to: what \
             fnstore imports |\n\
             | `framenet-xml/` | FrameNet's own form |",
        );
        if self.published.flagged.is_some() {
            self.line(&format!("| `{FLAGGED}` | sets with words of a list |"));
        }
        self.line(&format!("| `{SUMS}` | BLAKE3 hashes of all files: `b3sum --check {SUMS}` |\n"));
        self.line(
            "```python\nfrom datasets import load_dataset\n\nparts = load_dataset(\"DIRECTORY\")\n\
             parts[\"train\"][0][\"sets\"][0][\"frame\"]\n```\n",
        );
    }

    /// By which recipes the sets were made.
    fn making(&mut self) -> Result<()> {
        let Publishing { edition, .. } = self.asked;
        self.line("## How it was made\n");
        self.line(&format!(
            "Made by fnstore {}, of revision {} of a store. BLAKE3 hash of the ids: `{}`.\n",
            env!("CARGO_PKG_VERSION"),
            edition.revision,
            edition.written_hash(),
        ));
        let origins = self.database.count_by(self.all, &[Field::Origin])?;
        self.line("| origin | annotation sets |\n| --- | ---: |");
        for row in origins {
            self.line(&format!("| {} | {} |", row.value().unwrap_or("none"), row.count));
        }
        let counts = self.database.count_by(self.all, &[Field::Recipe])?;
        for StoredRecipe { id, fingerprint, settings, .. } in self.database.recipes()? {
            let is_it = |row: &&crate::search::ValueCount| row.value() == Some(&id.to_string());
            let Some(row) = counts.iter().find(is_it) else { continue };
            self.line(&format!("\n### Recipe {id}: {} sets\n", row.count));
            self.line(&format!("Fingerprint `{fingerprint}`. Its settings, models included:\n"));
            let settings = match serde_json::from_str::<serde_json::Value>(&settings) {
                Ok(fields) => serde_json::to_string_pretty(&fields).unwrap_or(settings),
                Err(_) => settings,
            };
            self.line(&format!("```json\n{settings}\n```"));
        }
        self.line("");
        Ok(())
    }

    /// What is promised, or what judgements say.
    fn precision(&mut self) -> Result<()> {
        self.line("## How right it is\n");
        let edition = self.asked.edition;
        if let Some(promise) = &edition.promise {
            self.promised(promise);
            return Ok(());
        }
        let mut share = Share::default();
        for frozen in &edition.sets {
            let mean = self.database.mean_judgement(self.asked.release.id, frozen.set)?;
            share.of += u64::from(mean.is_some());
            share.hits +=
                u64::from(mean.is_some_and(|mean| f64::from(mean) >= Judgement::ACCEPTED));
        }
        if share.of == 0 {
            self.line("Nobody has judged these sets. Nothing is promised of them.\n");
            return Ok(());
        }
        let (low, high) = share.interval();
        self.line(&format!(
            "{} of {} judged sets are right: {:.1} % ({:.1} to {:.1}, Wilson's interval at 95 %). \
             They are no random sample unless somebody drew one. Nothing is promised.\n",
            share.hits,
            share.of,
            100.0 * share.share(),
            100.0 * low,
            100.0 * high,
        ));
        Ok(())
    }

    fn promised(&mut self, promise: &Promise) {
        let Promise { precision, confidence, rank, .. } = promise;
        let each = if promise.groups.len() > 1 { ", in each group by itself" } else { "" };
        self.line(&format!(
            "At least {:.1} % of the sets are right, with a confidence of {:.1} %{each}: the marked words \
             evoke the frame. Candidates are ranked by `{rank}`. A random sample of those up to the \
             cut was judged, and the promise holds whenever one stops judging. Sets that were judged \
             wrong are left out. Sets that were carried along are no part of the promise.\n",
            100.0 * precision,
            100.0 * confidence,
        ));
        self.line(
            "| group | candidates | up to the cut | least score | judged | right | lower bound of this cut by itself |\n\
             | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
        );
        for group in &promise.groups {
            let name = if group.name.is_empty() { "all" } else { &group.name };
            let rest = group.cut.map_or_else(
                || "0 | | | | |".to_owned(),
                |cut| {
                    format!(
                        "{} | {} | {} | {} | {:.1} % |",
                        cut.sets,
                        cut.score,
                        cut.judged,
                        cut.right,
                        100.0 * cut.lower
                    )
                },
            );
            let row = format!("| {name} | {} | {rest}", group.candidates.len());
            self.line(&row);
        }
        self.line("");
    }

    fn diversity(&mut self) -> Result<()> {
        let rows = diversity(self.database, self.all, None)?;
        if rows.is_empty() {
            return Ok(());
        }
        self.line("## How far generated sentences differ\n");
        self.line(
            "| round | sets | BLEU against others of the seed | BLEU against the source | words \
             changed |\n| --- | ---: | ---: | ---: | ---: |",
        );
        for row in rows {
            let round = row.round.map_or_else(|| "all".to_owned(), |round| round.to_string());
            let of_others = row.self_bleu.map_or_else(String::new, |bleu| format!("{bleu:.3}"));
            self.line(&format!(
                "| {round} | {} | {of_others} | {:.3} | {:.1} % |",
                row.sets,
                row.source_bleu,
                100.0 * row.changed_words
            ));
        }
        self.line("");
        Ok(())
    }

    /// What a sentence may say, and what the data does not.
    fn content(&mut self) {
        self.line("## What to look out for\n");
        self.line("- A model may have written sentences. They may say what is untrue, or offend.");
        match self.published.flagged {
            Some(count) => self.line(&format!(
                "- {count} sets have a word of the publisher's list. `{FLAGGED}` names them; they \
                 are not left out."
            )),
            None => self.line("- No list of sensitive words was looked through."),
        }
        self.line(
            "- A sentence whose `complete` is false has words that nobody looked at: mask \
             `unannotated` tokens.\n\
             - A set whose `fes_complete` is false may have frame elements that nobody marked.\n",
        );
    }

    fn rights(&mut self) {
        let Published { licence, .. } = self.published;
        let release = &self.asked.release.name;
        let who = match self.asked.licence {
            Some(_) => "The publisher says that the release",
            None => "The release",
        };
        self.line(&format!(
            "## Licence\n\n{who} `{release}` is under `{licence}`, and so are sentences that stand in \
             it or were written from it. Name its authors.\n"
        ));
        self.line(&format!(
            "## How to cite\n\nThe data set by its name and hash, the release, and the method:\n\n\
             ```bibtex\n\
             @misc{{{key},\n  title = {{{name}: annotation sets of {release}}},\n  \
             note = {{BLAKE3 {hash}}}\n}}\n\
             @techreport{{framenet,\n  title = {{FrameNet II: Extended Theory and Practice}},\n  \
             author = {{Ruppenhofer, Josef and Ellsworth, Michael and Petruck, Miriam R. L. and \
             Johnson, Christopher R. and Baker, Collin F. and Scheffczyk, Jan}},\n  year = {{2016}}\n}}\n\
             @article{{culkin-2021,\n  title = {{Iterative Paraphrastic Augmentation with \
             Discriminative Span Alignment}},\n  author = {{Culkin, Ryan and Hu, J. Edward and \
             Stengel-Eskin, Elias and Qin, Guanghui and Van Durme, Benjamin}},\n  \
             journal = {{Transactions of the ACL}},\n  year = {{2021}}\n}}\n```",
            key = "edition",
            name = self.asked.edition.name,
            hash = self.asked.edition.written_hash(),
        ));
    }
}
