//! Every text that a person reads on the pages, in each language.

use kobana_contract::Scope;

use crate::language::Language;
use crate::redirect::Destination;
use crate::{consent, login};

/// The texts of one language.
#[derive(Debug)]
pub(crate) struct Texts {
    language: Language,
    /// What `lang` says of the page.
    pub(crate) lang: &'static str,
    pub(crate) product: &'static str,
    pub(crate) close: &'static str,

    pub(crate) login_title: &'static str,
    pub(crate) login_for: &'static str,
    pub(crate) email: &'static str,
    pub(crate) password: &'static str,
    pub(crate) login_button: &'static str,

    pub(crate) consent_title: &'static str,
    pub(crate) wants: &'static str,
    pub(crate) unnamed_client: &'static str,
    pub(crate) goes_to: &'static str,
    pub(crate) published_by: &'static str,
    pub(crate) unproven: &'static str,
    pub(crate) impersonable: &'static str,
    pub(crate) you: &'static str,
    pub(crate) someone_else: &'static str,
    pub(crate) workspaces: &'static str,
    pub(crate) every_workspace: &'static str,
    pub(crate) every_workspace_note: &'static str,
    pub(crate) no_workspace: &'static str,
    pub(crate) reading: &'static str,
    pub(crate) writing: &'static str,
    pub(crate) step_up: &'static str,
    pub(crate) known: &'static str,
    pub(crate) fresh: &'static str,
    pub(crate) no_more_than_you: &'static str,
    pub(crate) lasts_an_hour: &'static str,
    pub(crate) allow: &'static str,
    pub(crate) deny: &'static str,

    pub(crate) app_title: &'static str,
    pub(crate) app_lead: &'static str,
    pub(crate) app_button: &'static str,

    pub(crate) signed_out_title: &'static str,
    pub(crate) sign_out_title: &'static str,
    pub(crate) sign_out_button: &'static str,

    pub(crate) error_title: &'static str,
    pub(crate) error_for_developers: &'static str,
    pub(crate) not_found_title: &'static str,
    pub(crate) not_found: &'static str,
    pub(crate) stale_title: &'static str,
    pub(crate) stale: &'static str,
    pub(crate) unavailable_title: &'static str,
    pub(crate) unavailable: &'static str,
    pub(crate) bad_request: &'static str,
    pub(crate) unknown_client: &'static str,
    pub(crate) unreadable_client: &'static str,
    pub(crate) foreign_redirect: &'static str,
    pub(crate) too_many_title: &'static str,
}

impl Language {
    pub(crate) const fn texts(self) -> &'static Texts {
        match self {
            Self::Portuguese => &PORTUGUESE,
            Self::English => &ENGLISH,
        }
    }
}

const ENGLISH: Texts = Texts {
    language: Language::English,
    lang: Language::English.tag(),
    product: "Autonomous Inbox",
    close: "You can close this window.",

    login_title: "Sign in",
    login_for: "to go on to",
    email: "E-mail address",
    password: "Password",
    login_button: "Sign in",

    consent_title: "Allow access",
    wants: "wants to use Kobana for you",
    unnamed_client: "A program without a name",
    goes_to: "You will be sent to",
    published_by: "It is published by",
    unproven: "The name is what the program says of itself. Go on only if it was you who started this.",
    impersonable: "Another program on this computer could pretend to be it. Go on only if it was you who started this.",
    you: "You are signed in as",
    someone_else: "Sign in as someone else",
    workspaces: "Where",
    every_workspace: "Every workspace that I reach",
    every_workspace_note: "those that are added later, too",
    no_workspace: "You are in no workspace yet.",
    reading: "It may see",
    writing: "It may change",
    step_up: "You have let this program in before. What it asks for in addition is marked.",
    known: "You have let this program in before.",
    fresh: "new",
    no_more_than_you: "It can never do more than you may do yourself.",
    lasts_an_hour: "Access ends after one hour.",
    allow: "Allow",
    deny: "Deny",

    app_title: "Back to the app",
    app_lead: "Your browser opens the app now. If nothing happens, open it yourself.",
    app_button: "Open the app",

    signed_out_title: "You are signed out",
    sign_out_title: "Sign out",
    sign_out_button: "Sign out",

    error_title: "This does not work",
    error_for_developers: "For whoever makes the program:",
    not_found_title: "There is no such page",
    not_found: "Start again from the program that you want to connect.",
    stale_title: "Please try again",
    stale: "This form is too old, or your browser takes no cookies from this site. Go back, reload the page and try again.",
    unavailable_title: "Not available right now",
    unavailable: "Something is wrong on our side. Nothing was changed. Try again in a moment.",
    bad_request: "The program that sent you here asked for access in a way that cannot be answered. Nothing was granted.",
    unknown_client: "The program that sent you here is not known to this server. If it was connected before, connect it again: programs that nobody uses are forgotten.",
    unreadable_client: "Nothing could be learned about the program that sent you here. Nothing was granted.",
    foreign_redirect: "The program that sent you here wants the answer sent to an address that is not its own. Nothing was granted.",
    too_many_title: "Too many tries",
};

const PORTUGUESE: Texts = Texts {
    language: Language::Portuguese,
    lang: Language::Portuguese.tag(),
    product: "Caixa de Entrada Autônoma",
    close: "Você já pode fechar esta janela.",

    login_title: "Entrar",
    login_for: "para continuar em",
    email: "E-mail",
    password: "Senha",
    login_button: "Entrar",

    consent_title: "Permitir acesso",
    wants: "quer usar a Kobana em seu nome",
    unnamed_client: "Um programa sem nome",
    goes_to: "Você será levado para",
    published_by: "É publicado por",
    unproven: "O nome é o que o programa diz de si mesmo. Só continue se foi você quem começou isto.",
    impersonable: "Outro programa neste computador poderia se passar por ele. Só continue se foi você quem começou isto.",
    you: "Você entrou como",
    someone_else: "Entrar como outra pessoa",
    workspaces: "Onde",
    every_workspace: "Todos os espaços de trabalho que eu alcanço",
    every_workspace_note: "também os que vierem depois",
    no_workspace: "Você ainda não está em nenhum espaço de trabalho.",
    reading: "Ele poderá ver",
    writing: "Ele poderá alterar",
    step_up: "Você já deixou este programa entrar antes. O que ele pede a mais está marcado.",
    known: "Você já deixou este programa entrar antes.",
    fresh: "novo",
    no_more_than_you: "Ele nunca poderá fazer mais do que você mesmo pode.",
    lasts_an_hour: "O acesso termina depois de uma hora.",
    allow: "Permitir",
    deny: "Negar",

    app_title: "De volta ao aplicativo",
    app_lead: "Seu navegador abre o aplicativo agora. Se nada acontecer, abra-o você mesmo.",
    app_button: "Abrir o aplicativo",

    signed_out_title: "Você saiu",
    sign_out_title: "Sair",
    sign_out_button: "Sair",

    error_title: "Isto não funciona",
    error_for_developers: "Para quem faz o programa:",
    not_found_title: "Esta página não existe",
    not_found: "Comece de novo pelo programa que você quer conectar.",
    stale_title: "Tente de novo",
    stale: "Este formulário é antigo demais, ou seu navegador não aceita cookies deste site. Volte, recarregue a página e tente de novo.",
    unavailable_title: "Indisponível no momento",
    unavailable: "Algo deu errado do nosso lado. Nada foi alterado. Tente de novo daqui a pouco.",
    bad_request: "O programa que trouxe você até aqui pediu acesso de um jeito que não pode ser respondido. Nada foi concedido.",
    unknown_client: "Este servidor não conhece o programa que trouxe você até aqui. Se ele já esteve conectado, conecte-o de novo: programas que ninguém usa são esquecidos.",
    unreadable_client: "Não foi possível saber nada sobre o programa que trouxe você até aqui. Nada foi concedido.",
    foreign_redirect: "O programa que trouxe você até aqui quer a resposta em um endereço que não é dele. Nada foi concedido.",
    too_many_title: "Tentativas demais",
};

impl Texts {
    /// What a scope allows, after "It may see" or "It may change".
    pub(crate) const fn scope(&self, scope: Scope) -> &'static str {
        let (portuguese, english) = match scope {
            Scope::Workspaces => ("espaços de trabalho e seus limites", "workspaces and their limits"),
            Scope::WorkspacesWrite => {
                ("espaços de trabalho: criar, alterar, excluir", "workspaces: create, change, delete")
            }
            Scope::Inboxes => ("caixas de entrada e quem pode escrever para elas", "inboxes and who may write to them"),
            Scope::InboxesWrite => (
                "caixas de entrada: criar, alterar, excluir, dizer quem pode escrever para elas",
                "inboxes: create, change, delete, say who may write to them",
            ),
            Scope::Agents => ("agentes e suas instruções", "agents and their instructions"),
            Scope::AgentsWrite => ("agentes: criar, alterar, excluir", "agents: create, change, delete"),
            Scope::Webhooks => ("webhooks e suas entregas", "webhooks and their deliveries"),
            Scope::WebhooksWrite => (
                "webhooks: criar, alterar, excluir, testar, reenviar entregas, renovar o segredo",
                "webhooks: create, change, delete, test, send deliveries again, renew the secret",
            ),
            Scope::Emails => ("e-mails recebidos e seus anexos", "received e-mails and their attachments"),
            Scope::EmailsWrite => ("e-mails: entregar, processar de novo", "e-mails: hand in, process again"),
            Scope::AgentRuns => ("execuções de agentes e seus custos", "runs of agents and their costs"),
            Scope::AgentRunsWrite => ("execuções de agentes (ainda sem uso)", "runs of agents (of no use yet)"),
            Scope::SystemEvents => ("eventos: o que aconteceu e quando", "events: what happened and when"),
            Scope::SystemEventsWrite => ("eventos (ainda sem uso)", "events (of no use yet)"),
        };
        match self.language {
            Language::Portuguese => portuguese,
            Language::English => english,
        }
    }

    /// Where somebody is sent, after "You will be sent to".
    pub(crate) fn destination(&self, to: &Destination) -> String {
        match (self.language, to) {
            (Language::English, Destination::Loopback) => "a program on this computer".to_owned(),
            (Language::Portuguese, Destination::Loopback) => "um programa neste computador".to_owned(),
            (_, Destination::Site(host)) => host.clone(),
            (Language::English, Destination::App(scheme)) => format!("the app that opens “{scheme}:” links"),
            (Language::Portuguese, Destination::App(scheme)) => format!("o aplicativo que abre links “{scheme}:”"),
        }
    }

    /// When access ends.
    pub(crate) fn lasts_days(&self, days: i64) -> String {
        match (self.language, days) {
            (Language::English, ..=1) => "Access ends after one day.".to_owned(),
            (Language::Portuguese, ..=1) => "O acesso termina depois de um dia.".to_owned(),
            (Language::English, days) => format!("Access ends after {days} days at the latest."),
            (Language::Portuguese, days) => format!("O acesso termina no máximo depois de {days} dias."),
        }
    }

    /// Why somebody has not been let in.
    pub(crate) fn login_problem(&self, problem: login::Problem) -> String {
        use login::Problem;
        match (self.language, problem) {
            (Language::English, Problem::Empty) => "Enter your e-mail address and your password.".to_owned(),
            (Language::Portuguese, Problem::Empty) => "Informe seu e-mail e sua senha.".to_owned(),
            (Language::English, Problem::Wrong) => "The e-mail address or the password is wrong.".to_owned(),
            (Language::Portuguese, Problem::Wrong) => "O e-mail ou a senha não confere.".to_owned(),
            (_, Problem::TooMany(seconds)) => self.too_many(seconds),
        }
    }

    /// When it may be tried again.
    pub(crate) fn too_many(&self, seconds: u64) -> String {
        let minutes = seconds.div_ceil(60);
        match (self.language, minutes) {
            (Language::English, ..=1) => "There were too many tries. Try again in a minute.".to_owned(),
            (Language::Portuguese, ..=1) => "Foram tentativas demais. Tente de novo em um minuto.".to_owned(),
            (Language::English, minutes) => format!("There were too many tries. Try again in {minutes} minutes."),
            (Language::Portuguese, minutes) => {
                format!("Foram tentativas demais. Tente de novo em {minutes} minutos.")
            }
        }
    }

    /// What is wrong with somebody's choice.
    pub(crate) const fn consent_problem(&self, problem: consent::Problem) -> &'static str {
        use consent::Problem;
        match (self.language, problem) {
            (Language::English, Problem::NoScope) => "Choose at least one thing that the program may do, or deny.",
            (Language::Portuguese, Problem::NoScope) => {
                "Escolha ao menos uma coisa que o programa possa fazer, ou negue."
            }
            (Language::English, Problem::NoWorkspace) => "Choose where the program may do it.",
            (Language::Portuguese, Problem::NoWorkspace) => "Escolha onde o programa poderá fazê-lo.",
        }
    }
}
