//! `matchday connect`: runs beside an unmodified agent that nobody can call, and has it play by dialling out.

use super::program_env_arg::ProgramEnvArg;
use super::tls::TlsArgs;
use super::{Usage, notice, roster};
use ::matchday_terminal;
use anyhow::{Result, anyhow};
use clap::Args;
use matchday_core::protocol::{Endpoint, Token};
use matchday_net::client::Client;
use matchday_net::proxy::Proxies;
use matchday_os::signals::Termination;
use matchday_runtime::deciders::command::{PREFIX, Program};
use matchday_runtime::entropy_from_system;
use matchday_server::connect::{
    AgentEndpoint, Dialled, SavedMailbox, StandIn, Status, keep_running,
};
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use tokio::net::TcpListener;
use tokio::sync::watch;

pub(super) const EXAMPLE: &str = "\
The agent registers with http://localhost:8000/mcp, as it does with a league on its own machine, and is called at --to. Nothing
else of this machine can be reached through it. HTTPS_PROXY, HTTP_PROXY and NO_PROXY are observed.

Example:
  matchday connect https://league.example/leagues/spring/mcp --code tok_join_... --to http://localhost:8101/mcp
  matchday connect https://league.example/leagues/spring/mcp --to \"command:python3 agent.py --port 8101\"";

/// Let an agent play in a league elsewhere, from any network.
#[derive(Debug, Args)]
pub(crate) struct ConnectArgs {
    /// The league, as its operator gives it out, such as `https://league.example/leagues/spring/mcp`
    #[arg(value_name = "URL")]
    league: String,
    /// The join code that the operator gave out, if it is not in the URL
    #[arg(
        long,
        value_name = "CODE",
        env = "MATCHDAY_CODE",
        hide_env_values = true
    )]
    code: Option<String>,
    /// Where the agent listens, or `command:PROGRAM` to start it and to start it again when it ends
    #[arg(
        long,
        value_name = "URL|command:PROGRAM",
        default_value = "http://localhost:8101/mcp"
    )]
    to: String,
    /// Where to stand in for the manager: the agent registers there
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:8000")]
    listen: String,
    /// The file that keeps the mailbox, so that the agent stays registered when this is started again [default: connect-PORT.json]
    #[arg(long, value_name = "FILE")]
    mailbox: Option<PathBuf>,
    /// Replace another client that reads the same mailbox
    #[arg(long)]
    take_over: bool,
    #[command(flatten)]
    program_env: ProgramEnvArg,
    #[command(flatten)]
    tls: TlsArgs,
}

/// What `--to` names.
enum Agent {
    At(String),
    Started(Program),
}

impl Agent {
    fn parse(text: &str) -> Result<Self> {
        if let Some(command) = text.strip_prefix(PREFIX) {
            let program = command
                .parse()
                .map_err(|error| Usage(format!("--to {text:?}: {error}")))?;
            return Ok(Self::Started(program));
        }
        let wrong = || {
            Usage(format!(
                "--to {text:?}: expected a URL such as http://localhost:8101/mcp, or {PREFIX}PROGRAM"
            ))
        };
        Endpoint::parse(text).map_err(|_| wrong())?;
        Ok(Self::At(text.to_owned()))
    }
}

pub(super) async fn execute(args: ConnectArgs) -> Result<ExitCode> {
    let mut stop = Termination::listen()?;
    let agent = Agent::parse(&args.to)?;
    args.program_env.apply()?;
    let (league, code) = roster::split(&args.league);
    Endpoint::parse(&league).map_err(|_| {
        Usage(format!(
            "{league:?}: expected the URL of a league, such as https://league.example/leagues/spring/mcp"
        ))
    })?;
    let code = args.code.as_deref().map(Token::new).or(code);
    let client = with_proxies(&args.tls.client()?)?;
    let listener = TcpListener::bind(&args.listen).await.map_err(|error| {
        anyhow!(
            "cannot listen on {}: {error} - choose another address with --listen HOST:PORT",
            args.listen
        )
    })?;
    let listening = listener.local_addr()?;
    let file = args
        .mailbox
        .unwrap_or_else(|| PathBuf::from(format!("connect-{}.json", listening.port())));
    let saved =
        SavedMailbox::read_or_open(&client, &league, code.as_ref(), Some(&file), notice).await?;
    notice(&format!(
        "the agent registers with http://{listening}/mcp, and plays at {league} - its mailbox is kept in {}",
        file.display()
    ));
    let status = shown_status();
    let relay = saved.relay_client(client.clone());
    let (url, program) = match agent {
        Agent::At(url) => (Some(url), None),
        Agent::Started(program) => (None, Some(program)),
    };
    let endpoint = AgentEndpoint::at(Client::new(), url);
    let registers_at = match &code {
        Some(code) => format!(
            "{}/join/{}/mcp",
            league.trim_end_matches("/mcp"),
            code.reveal()
        ),
        None => league.clone(),
    };
    let contact = saved.contact_endpoint.clone();
    let stand_in = StandIn {
        client,
        league: registers_at,
        contact,
        agent: endpoint.clone(),
        status: status.clone(),
    };
    let entropy = entropy_from_system()?;
    let (close, closing) = watch::channel(false);
    let serving = tokio::spawn(stand_in.serve(listener, closing));
    let dialled = Dialled::new(relay, endpoint, status.clone(), args.take_over);
    let running = async {
        match program {
            Some(program) => keep_running(program, status).await,
            None => std::future::pending().await,
        }
    };
    let ended = tokio::select! {
        () = stop.recv() => Ok(()),
        why = dialled.run(entropy) => Err(why),
        () = running => Ok(()),
    };
    let _ = close.send(true);
    serving.await??;
    match ended {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(why) => {
            if why == matchday_server::connect::RelayError::MailboxGone {
                let _ = std::fs::remove_file(&file);
            }
            Err(why.into())
        }
    }
}

/// A client that calls through the proxies of the environment.
pub(super) fn with_proxies(client: &Client) -> Result<Client> {
    Ok(client.with_proxies(Proxies::from_variables(|name| std::env::var(name).ok())?))
}

/// A live line on a terminal; elsewhere a line for each change, but for calls that were answered.
fn shown_status() -> Status {
    if std::io::stdout().is_terminal() {
        return Status::new(|_, line| matchday_terminal::show(format!("\r\x1b[2K{line}")));
    }
    Status::notices(notice)
}
