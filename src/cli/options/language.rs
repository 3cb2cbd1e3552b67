//! Languages of texts, releases and models: `--language`, and what is said of models that declare
//! none.

use fnstore::database::{Database, DatabaseError};
use fnstore::model::{Declared, is_english};

use super::author::watch;
use crate::cli::Context;
use crate::cli::print::output::tell;

/// The option of commands that read texts.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct LanguageArgs {
    /// Language of the texts, as in fr: refuse a model that is made for others [default: the
    /// model's]
    #[arg(long, value_name = "TAG")]
    language: Option<String>,
}

impl LanguageArgs {
    /// Checks that a model was made for the texts' language, where one is named.
    pub(crate) fn check(&self, model: &Declared, context: &Context) -> anyhow::Result<()> {
        let Some(language) = &self.language else { return Ok(()) };
        if context.any_language {
            return Ok(());
        }
        tell_undeclared(&[model], [language.as_str()]);
        Ok(model.check("the texts", language).map_err(DatabaseError::from)?)
    }

    /// The texts' language: the given one, else the only one of the model, else English.
    pub(crate) fn of(&self, model: &Declared) -> String {
        let of_model = || model.languages()?.only().map(str::to_owned);
        self.language.clone().or_else(of_model).unwrap_or_else(|| "en".to_owned())
    }
}

impl Context {
    /// A database that models are joined with: on `--any-language` in any language.
    pub(crate) fn joined(&self, database: Database) -> Database {
        watch(&database);
        database.with_any_language(self.any_language)
    }
}

/// Says that models declare no language, where one of some languages is not English.
pub(crate) fn tell_undeclared<'l>(
    models: &[&Declared],
    languages: impl IntoIterator<Item = &'l str>,
) {
    let Some(other) = languages.into_iter().find(|tag| !is_english(tag)) else { return };
    for Declared { model, .. } in models.iter().filter(|model| model.languages == Ok(None)) {
        tell(&format!(
            "the model `{model}` declares no language; is it made for `{other}`? A `languages.json` in its folder \
             says so: [\"{other}\"]"
        ));
    }
}

/// As [`tell_undeclared`], of the releases of a database.
pub(crate) fn tell_undeclared_for(models: &[&Declared], database: &Database) -> anyhow::Result<()> {
    let releases = database.releases()?;
    tell_undeclared(models, releases.iter().map(|release| release.language.as_str()));
    Ok(())
}
