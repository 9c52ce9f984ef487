//! Views and macros by which query engines answer the questions of `prof` about a dataset.

/// A query engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Engine {
    /// DuckDB, in one process
    Duckdb,
    /// Spark, on one machine or a cluster
    Spark,
    /// ClickHouse, local or a server
    Clickhouse,
}

/// The statements that define views and macros for the dataset at a path, or an address such as `s3://bucket/fleet`.
pub fn sql(engine: Engine, dataset: &str) -> String {
    let dataset = dataset.trim_end_matches('/');
    let (template, quoted) = match engine {
        Engine::Duckdb => (include_str!("sql/duckdb.sql"), dataset.replace('\'', "''")),
        Engine::Spark => (include_str!("sql/spark.sql"), dataset.replace('`', "``")),
        Engine::Clickhouse => {
            let quoted = dataset.replace('\\', r"\\").replace('\'', r"\'");
            (include_str!("sql/clickhouse.sql"), quoted)
        }
    };
    template.replace("{dataset}", &quoted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_the_dataset_is_quoted() {
        for (engine, quoted) in [
            (Engine::Duckdb, "'it''s/profiles/*.parquet'"),
            (Engine::Spark, "`it's/profiles`"),
            (Engine::Clickhouse, r"'it\'s/profiles/*.parquet'"),
        ] {
            let text = sql(engine, "it's/");
            assert!(text.contains(quoted) && !text.contains("{dataset}"), "{engine:?}");
            for name in ["self_total", "callers", "callees", "diff", "by_label", "flame"] {
                assert!(text.contains(&format!(" {name}")), "{engine:?} has no {name}");
            }
        }
    }
}
