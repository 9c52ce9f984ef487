//! The protocol: which tools there are, and their answers.

use std::sync::Arc;

use anyhow::{Result, anyhow};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool as McpTool, ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer, ServerInitializeError};
use rmcp::transport::stdio;
use rmcp::{ErrorData, ServerHandler, ServiceExt};

use crate::cli::commands::mcp::answer::Answerer;
use crate::cli::commands::mcp::tools::Tool;

/// What a program learns about the server when it connects.
const INSTRUCTIONS: &str = "prof reads CPU, memory and lock profiles of any format. Begin with `open` (what the file has) and \
`lint` (is it fit to conclude from), then `report` (conclusions, each with a command that shows its number). Then look closer: \
`top` (functions), `tree` (call tree; bottom_up for callers), `focus` (one function: callers and callees), `hot` (repeated \
sequences), `source` (lines), `labels` and `timeline`. `diff` says what changed between two profiles and whether it is noise. \
Patterns are regular expressions on function names; @gc, @idle, @alloc, @json, @lock and others are named sets. Shares are of \
the whole profile. Every answer ends with the same command line for a person; it begins in the first folder of the server.";

/// Serves tools on standard input and output until the client closes the connection.
pub(super) fn serve(answerer: Answerer) -> Result<()> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().thread_stack_size(STACK).build()?;
    let served = runtime.block_on(async {
        let server = Server { answerer: Arc::new(answerer) };
        match server.serve(stdio()).await {
            Ok(service) => service.waiting().await.map(drop).map_err(anyhow::Error::from),
            // The client went away before it said anything.
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => Err(anyhow!("the client does not speak the protocol: {error}")),
        }
    });
    // A command that still runs has nobody to answer.
    runtime.shutdown_background();
    served
}

/// The stack of the threads on which commands run, as large as that of a main thread.
const STACK: usize = 8 << 20;

struct Server {
    answerer: Arc<Answerer>,
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("prof", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.answerer.tools.iter().map(described).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let (answerer, cancelled) = (self.answerer.clone(), context.ct.clone());
        let (name, given) = (request.name, request.arguments.unwrap_or_default());
        let named = name.to_string();
        let answer = tokio::task::spawn_blocking(move || {
            // Commands run one after the other; while this one waited, it may have become pointless.
            if cancelled.is_cancelled() { None } else { Some(answerer.answer(&name, &given)) }
        });
        let result = match answer.await {
            Ok(Some(Some(answer))) if !answer.is_error => {
                CallToolResult::success(vec![ContentBlock::text(answer.text)])
            }
            Ok(Some(Some(answer))) => CallToolResult::error(vec![ContentBlock::text(answer.text)]),
            Ok(Some(None)) => {
                let known: Vec<&str> = self.answerer.tools.iter().map(|tool| tool.name).collect();
                let named: String = named.chars().take(60).collect();
                let message = format!("no tool named {named}; the tools are {}", known.join(", "));
                return Err(ErrorData::invalid_params(message, None));
            }
            Ok(None) => CallToolResult::error(vec![ContentBlock::text("error: cancelled")]),
            Err(_) => {
                let text = "error: the command failed inside prof, which is a defect of prof; other calls still work";
                CallToolResult::error(vec![ContentBlock::text(text)])
            }
        };
        Ok(result.into())
    }
}

/// A tool as the protocol describes it.
fn described(tool: &Tool) -> McpTool {
    let annotations =
        ToolAnnotations::new().read_only(true).destructive(false).idempotent(true).open_world(false);
    McpTool::new(tool.name, tool.about.clone(), Arc::new(tool.schema())).with_annotations(annotations)
}
