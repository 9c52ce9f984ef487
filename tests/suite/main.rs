//! All integration tests, in one program: linking one is much faster than linking fifteen.

mod cli;
mod corpus;
mod corpus_binary;
mod corpus_hot;
mod corpus_json;
mod corpus_text;
mod counting;
mod diff_forms;
mod diff_runs;
mod diff_stacks;
mod filters;
mod filters_cli;
mod filters_random;
mod fixtures_binary;
mod fixtures_json;
mod fixtures_text;
mod help;
mod layers;
mod page;
mod recipes;
mod roundtrip;
mod stats_attribution;
mod stats_properties;
mod stats_vectors;
mod support;
