//! The command line of `kobana admin` and `kobana token`.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use kobana_contract::{Role, Scope};

/// Works on the data directory itself, whether or not a server runs on it: what is changed counts from its next request on.
/// Exit code 0: done; 2: nothing was changed.
#[derive(Debug, Args)]
pub(crate) struct Admin {
    #[command(flatten)]
    pub(super) place: Place,
    #[command(subcommand)]
    pub(super) command: AdminCommand,
}

/// Works on the data directory itself, whether or not a server runs on it: what is changed counts from its next request on.
/// Exit code 0: done; 2: nothing was changed.
#[derive(Debug, Args)]
pub(crate) struct Token {
    #[command(flatten)]
    pub(super) place: Place,
    #[command(subcommand)]
    pub(super) command: TokenCommand,
}

/// What stands above the options that every command has.
const COMMON: &str = "Common options";

/// Where to work, and for whom to write.
#[derive(Debug, Args)]
pub(crate) struct Place {
    /// Directory that holds the database
    #[arg(long, value_name = "DIR", global = true, help_heading = COMMON)]
    pub(crate) data: Option<PathBuf>,
    /// Configuration file in TOML [default: kobana.toml, if it exists]
    #[arg(long, value_name = "FILE", global = true, help_heading = COMMON)]
    pub(super) config: Option<PathBuf>,
    /// Write JSON, for machines
    #[arg(long, global = true, help_heading = COMMON)]
    pub(super) json: bool,
}

#[derive(Debug, Subcommand)]
pub(super) enum AdminCommand {
    /// Organizations, whose workspaces are the tenants
    Organization {
        #[command(subcommand)]
        command: OrganizationCommand,
    },
    /// Workspaces of an organization
    Workspace {
        #[command(subcommand)]
        command: WorkspaceCommand,
    },
    /// Persons of an organization, and how they sign in
    Person {
        #[command(subcommand)]
        command: PersonCommand,
    },
    /// Who is what in which workspace
    Member {
        #[command(subcommand)]
        command: MemberCommand,
    },
}

#[derive(Debug, Subcommand)]
pub(super) enum OrganizationCommand {
    /// Make an organization
    Create {
        /// Its name, which people read
        name: String,
    },
    /// List organizations
    List,
    /// Switch an organization off: none of its persons can sign in, none of their tokens counts
    Disable {
        /// Name or UUID
        organization: String,
    },
    /// Switch an organization on again
    Enable {
        /// Name or UUID
        organization: String,
    },
}

impl OrganizationCommand {
    /// Whether it makes the data directory where there is none.
    pub(super) const fn begins(&self) -> bool {
        matches!(self, Self::Create { .. })
    }
}

/// The organization, where there are several.
#[derive(Debug, Args)]
pub(super) struct InOrganization {
    /// Name or UUID of the organization; it may be left out while there is only one
    #[arg(long, value_name = "NAME")]
    pub(super) organization: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(super) enum WorkspaceCommand {
    /// Make a workspace; nobody is a member of it yet
    Create {
        /// Its name for programs (external_id): letters, digits and . _ : @ -
        name: String,
        /// What people read [default: the name]
        #[arg(long)]
        label: Option<String>,
        #[command(flatten)]
        organization: InOrganization,
    },
    /// List workspaces
    List {
        #[command(flatten)]
        organization: InOrganization,
    },
    /// Switch a workspace off: its members do not reach it. Mail to its inboxes is still taken in and processed
    Disable {
        /// external_id or UUID
        workspace: String,
        #[command(flatten)]
        organization: InOrganization,
    },
    /// Switch a workspace on again
    Enable {
        /// external_id or UUID
        workspace: String,
        #[command(flatten)]
        organization: InOrganization,
    },
}

/// How a password comes in.
#[derive(Debug, Args)]
pub(super) struct PasswordFrom {
    /// Read the password from standard input instead of asking on the terminal
    #[arg(long)]
    pub(super) password_stdin: bool,
}

#[derive(Debug, Subcommand)]
pub(super) enum PersonCommand {
    /// Make a person; asks for a password where there is a terminal
    Create {
        /// E-mail address, which is what they sign in with
        email: String,
        /// Name
        #[arg(long)]
        name: String,
        #[command(flatten)]
        organization: InOrganization,
        /// Make them a member of this workspace, by external_id or UUID
        #[arg(long, value_name = "NAME", requires = "role")]
        workspace: Option<String>,
        /// What they are in it
        #[arg(long, value_parser = roles(), requires = "workspace")]
        role: Option<Role>,
        #[command(flatten)]
        password: PasswordFrom,
        /// Without a password, for persons that sign in with an external issuer or use tokens alone
        #[arg(long, conflicts_with = "password_stdin")]
        no_password: bool,
    },
    /// List persons
    List {
        #[command(flatten)]
        organization: InOrganization,
    },
    /// Switch a person off: they cannot sign in, and none of their tokens counts from the next request on
    Disable {
        /// E-mail address or UUID
        person: String,
    },
    /// Switch a person on again
    Enable {
        /// E-mail address or UUID
        person: String,
    },
    /// Set a person's password, and sign out their sessions and connected programs; tokens for scripts stay
    SetPassword {
        /// E-mail address or UUID
        person: String,
        #[command(flatten)]
        password: PasswordFrom,
    },
    /// End a person's sessions and sign out the programs that they let in; tokens for scripts stay
    SignOut {
        /// E-mail address or UUID
        person: String,
    },
    /// Say which subject of an external issuer a person is
    Link {
        /// E-mail address or UUID
        person: String,
        /// The issuer's URL, exactly as it calls itself [default: the setting issuer.url]
        #[arg(long, value_name = "URL")]
        issuer: Option<String>,
        /// The issuer's name for the person (`sub`)
        #[arg(long)]
        subject: String,
    },
    /// Forget which person a subject of an external issuer is
    Unlink {
        /// The issuer's URL [default: the setting issuer.url]
        #[arg(long, value_name = "URL")]
        issuer: Option<String>,
        /// The issuer's name for the person (`sub`)
        #[arg(long)]
        subject: String,
    },
}

/// A person in a workspace.
#[derive(Debug, Args)]
pub(super) struct Membership {
    /// E-mail address or UUID of the person
    pub(super) person: String,
    /// external_id or UUID of the workspace, which is of the person's organization
    pub(super) workspace: String,
}

#[derive(Debug, Subcommand)]
pub(super) enum MemberCommand {
    /// Make a person a member of a workspace
    #[command(visible_alias = "add")]
    Create {
        #[command(flatten)]
        of: Membership,
        /// What they are in it
        #[arg(long, value_parser = roles())]
        role: Role,
    },
    /// List memberships
    List {
        /// Of this person only, by e-mail address or UUID
        #[arg(long)]
        person: Option<String>,
        /// In this workspace only, by external_id or UUID
        #[arg(long)]
        workspace: Option<String>,
    },
    /// Change what a member is
    Role {
        #[command(flatten)]
        of: Membership,
        /// What they are from now on
        #[arg(value_parser = roles())]
        role: Role,
    },
    /// End a membership
    #[command(visible_alias = "disable")]
    Remove {
        #[command(flatten)]
        of: Membership,
    },
}

#[derive(Debug, Subcommand)]
pub(super) enum TokenCommand {
    /// Make a token for a script and write it to standard output; it is shown this once
    Mint(Mint),
    /// List tokens, never their secrets
    List {
        /// Of this person only, by e-mail address or UUID
        #[arg(long)]
        person: Option<String>,
    },
    /// Revoke a token: it is refused from the next request on
    Revoke {
        /// UUID of the token, as the list shows it
        id: String,
    },
}

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("may").required(true).multiple(false))]
pub(super) struct Mint {
    /// The person that it speaks for, by e-mail address or UUID
    #[arg(long)]
    pub(super) person: String,
    /// What it is for, so that it is known again in the list
    #[arg(long)]
    pub(super) name: String,
    /// The resource that takes it; the other one refuses it
    #[arg(long, value_parser = ["mcp", "rest"], default_value = "mcp", value_name = "RESOURCE")]
    pub(super) audience: String,
    /// What it may be used for; may stand several times
    #[arg(long = "scope", value_parser = scopes(), value_delimiter = ',', value_name = "SCOPE", group = "may", hide_possible_values = true)]
    pub(super) scopes: Vec<Scope>,
    /// Every scope that reads
    #[arg(long, group = "may")]
    pub(super) read_only: bool,
    /// Every scope
    #[arg(long, group = "may")]
    pub(super) all_scopes: bool,
    /// Limit it to this workspace, by external_id or UUID
    #[arg(long, value_name = "NAME")]
    pub(super) workspace: Option<String>,
    /// Days until it ends, 1 to 3650
    #[arg(long, default_value_t = 90, value_parser = clap::value_parser!(u16).range(1..=3650))]
    pub(super) days: u16,
    /// It never ends by itself
    #[arg(long, conflicts_with = "days")]
    pub(super) no_expiry: bool,
}

/// Reads a role by its name in the contract.
fn roles() -> impl TypedValueParser<Value = Role> {
    let about = |role: &Role| match role {
        Role::Owner | Role::Admin => "everything",
        Role::Integrator => "reads, and runs webhooks",
        Role::Operator => "reads, and reprocesses e-mails",
        Role::Viewer => "reads, but no webhooks",
    };
    let values = Role::ALL.iter().map(move |role| PossibleValue::new(role.as_str()).help(about(role)));
    PossibleValuesParser::new(values).try_map(|name| Role::parse(&name).ok_or("no such role"))
}

/// Reads a scope by its name.
fn scopes() -> impl TypedValueParser<Value = Scope> {
    let values = Scope::ALL.iter().map(|scope| PossibleValue::new(scope.as_str()));
    PossibleValuesParser::new(values).try_map(|name| Scope::parse(&name).ok_or("no such scope"))
}
