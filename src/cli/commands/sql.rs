//! `prof sql`.

use std::path::Path;

use anyhow::Result;
use clap::{Args, ValueHint};

use crate::cli::terminal::messages::print_messages;
use crate::cli::terminal::target::Target;
use crate::dataset::{Engine, is_dataset, sql};
use crate::report::Message;

/// SQL macros that query a dataset of profiles in DuckDB, Spark or ClickHouse
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  prof sql duckdb fleet/             for duckdb -init FILE -c \"FROM self_total('cpu')\"
  prof sql spark s3a://bucket/fleet  for a dataset in object storage")]
pub(crate) struct SqlCommand {
    /// The query engine: duckdb, spark or clickhouse
    #[arg(value_name = "ENGINE", hide_possible_values = true)]
    engine: Engine,
    /// The dataset: a folder that prof convert --to parquet wrote, or its address in object storage
    #[arg(value_name = "DATASET", default_value = "fleet", value_hint = ValueHint::DirPath)]
    dataset: String,
}

impl SqlCommand {
    pub(crate) fn run(self) -> Result<()> {
        let is_local = !self.dataset.contains("://");
        if is_local && !is_dataset(Path::new(&self.dataset)) {
            // The statements may be meant for another machine.
            print_messages([Message::warning(format!(
                "{}: there is no dataset here; until prof convert --to parquet writes one, these statements fail",
                self.dataset
            ))]);
        }
        let text = sql(self.engine, &self.dataset);
        Target::Stdout.write(|out| Ok(out.write_all(text.as_bytes())?))
    }
}
