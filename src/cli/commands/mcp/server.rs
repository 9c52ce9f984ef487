//! The protocol: which tools there are, and their answers.

use std::io::Write;
use std::sync::Arc;

use anyhow::{Result, anyhow};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest, CustomResult,
    ErrorCode, Implementation, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig,
    Tool as McpTool, ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer, ServerInitializeError};
use rmcp::{ErrorData, ServerHandler, ServiceExt};
use serde::de::IgnoredAny;
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream};

use crate::cli::commands::mcp::answer::Answerer;
use crate::cli::commands::mcp::tools::{Tool, purposes};
use crate::cli::terminal::words::in_words;

/// What a program learns about the server when it connects: before and after the list of tools.
const BEFORE: &str = "prof reads CPU, memory and lock profiles of any format. Begin with `open` and `lint`, then `report`; then \
look closer. ";
const AFTER: &str = "Patterns are regular expressions on function names; @gc, @idle, @alloc, @json, @lock and others are named \
sets. Shares are of the whole profile. Every answer ends with the same command line for a person; it begins in the first folder \
of the server.";

/// The methods that the server has.
const METHODS: [&str; 4] = ["initialize", "ping", "tools/list", "tools/call"];

/// Serves tools on standard input and output until the client closes the connection.
pub(super) fn serve(answerer: Answerer) -> Result<()> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().thread_stack_size(STACK).build()?;
    let served = runtime.block_on(async {
        let server = Server { answerer: Arc::new(answerer) };
        let (kept, lines) = tokio::io::duplex(PIPE);
        tokio::spawn(pass_on(kept));
        match server.serve((lines, tokio::io::stdout())).await {
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

/// How much of a message is passed on at once.
const PIPE: usize = 64 << 10;

/// A longer line is no message.
const LONGEST_LINE: u64 = 16 << 20;

/// Passes the messages of the client on, and answers what is no JSON: the protocol would ignore it, and a client would wait
/// for an answer.
async fn pass_on(mut to: DuplexStream) {
    let mut input = BufReader::new(tokio::io::stdin());
    let mut line = Vec::new();
    while let Ok(1..) = (&mut input).take(LONGEST_LINE).read_until(b'\n', &mut line).await {
        let is_blank = line.iter().all(u8::is_ascii_whitespace);
        if is_blank || serde_json::from_slice::<IgnoredAny>(&line).is_ok() {
            if to.write_all(&line).await.is_err() {
                return;
            }
        } else {
            let refused = json!({
                "jsonrpc": "2.0",
                "id": null,
                "error": { "code": ErrorCode::PARSE_ERROR.0, "message": "this line is not JSON; a message is one line of JSON" },
            });
            // The rest of a line that is too long is part of it.
            while !line.ends_with(b"\n") {
                line.clear();
                let rest = (&mut input).take(LONGEST_LINE).read_until(b'\n', &mut line).await;
                if !matches!(rest, Ok(1..)) {
                    break;
                }
            }
            // Written at once, so that it is not in the middle of an answer.
            let mut output = std::io::stdout().lock();
            if output.write_all(format!("{refused}\n").as_bytes()).and_then(|()| output.flush()).is_err() {
                return;
            }
        }
        line.clear();
    }
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
            .with_instructions(format!("{BEFORE}{}{AFTER}", purposes()))
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.answerer.tools.iter().map(described).collect()))
    }

    /// Answers what is no request as the protocol knows it: another method, or parameters that do not fit the method.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method: String = request.method.chars().take(60).collect();
        if METHODS.contains(&&*method) {
            return Err(ErrorData::invalid_params(format!("{method}: {}", expected(&method)), None));
        }
        let message = format!("no method {method}; this server has {}", in_words(&METHODS));
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None))
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

/// What the parameters of a method should have been.
fn expected(method: &str) -> &'static str {
    match method {
        "tools/call" => {
            "expected the name of a tool and an object of arguments: {\"name\": \"top\", \"arguments\": {\"profile\": \"cpu.pb.gz\"}}"
        }
        _ => "the parameters are not those of this method",
    }
}

/// A tool as the protocol describes it.
fn described(tool: &Tool) -> McpTool {
    let annotations =
        ToolAnnotations::new().read_only(true).destructive(false).idempotent(true).open_world(false);
    McpTool::new(tool.name, tool.about.clone(), Arc::new(tool.schema())).with_annotations(annotations)
}
