//! What commands over the labeller of FEs are told: which labeller, and which release.

use std::path::PathBuf;

use fnstore::database::Database;
use fnstore::label::Labeller;
use fnstore::model::Split;
use fnstore::query::Expression;

use super::device::DeviceArgs;
use super::locate;
use super::release::release;
use super::splits::SplitArgs;
use crate::cli::Context;

/// Name of the shipped labeller.
pub(crate) const LABELLER: &str = "fes";

/// Which labeller finds FEs, and where.
#[derive(Debug, clap::Args)]
pub(crate) struct LabellerArgs {
    /// Directory of the labeller, or its name among the models
    #[arg(long, value_name = "DIR|NAME", default_value = LABELLER)]
    labeller: PathBuf,

    /// Directory of the encoder, or its name among the models [default: the one that the labeller
    /// names]
    #[arg(long, value_name = "DIR|NAME")]
    encoder: Option<PathBuf>,

    /// Directory that holds the models
    #[arg(long, value_name = "DIR")]
    models: Option<PathBuf>,

    #[command(flatten)]
    device: DeviceArgs,
}

impl LabellerArgs {
    pub(crate) fn open(self) -> anyhow::Result<Labeller> {
        let dirs = locate::model_dirs(self.models);
        let labeller = locate::model(&self.labeller, &dirs)?;
        let encoder = locate::encoder(self.encoder.as_deref(), &labeller, &dirs)?;
        Ok(Labeller::open(&labeller, &encoder, &self.device.open()?)?)
    }
}

/// Which release is read, and how it is parted.
#[derive(Debug, clap::Args)]
pub(crate) struct ReleaseArgs {
    /// Release to read [default: the only one]
    #[arg(long, value_name = "NAME")]
    release: Option<String>,

    #[command(flatten)]
    splits: SplitArgs,
}

impl ReleaseArgs {
    /// The database and the release's name.
    pub(crate) fn open(&self, context: &Context) -> anyhow::Result<(Database, String)> {
        self.open_for(&Expression::Everything, context)
    }

    /// As [`open`](Self::open); where no list is named, under that of the editions that an
    /// expression asks for.
    pub(crate) fn open_for(
        &self,
        expression: &Expression,
        context: &Context,
    ) -> anyhow::Result<(Database, String)> {
        let database = self.splits.over_query(expression, || Database::open(&context.store))?;
        let database = context.joined(database);
        let release = release(&database, self.release.as_deref())?.name;
        Ok((database, release))
    }
}

/// The full text of a part of the data.
pub(crate) fn part(split: Split) -> anyhow::Result<Expression> {
    Ok(Expression::parse(&format!("origin=fulltext split={}", split.as_str()))?)
}
