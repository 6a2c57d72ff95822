//! The engine without a model: finds what Brazilian invoices, slips and fiscal notes say, by their form and their check
//! digits. It needs no network, costs nothing, and answers the same for the same message.
//!
//! What it finds, each member only if there is something in it:
//!
//! * `engine`: `rules`; `kind`: `boleto`, `nota_fiscal`, `fatura`, `cobranca` or `other`
//! * `sender`: address and domain; `attachments`: name, media type and bytes of each
//! * `amount`, `amounts`: amounts in reais as decimal texts, the first and all; `due_date`, `due_dates`: as `yyyy-mm-dd`
//! * `boletos`: payment lines whose check digits are right, with what they hold
//! * `nfe_keys`: access keys of electronic fiscal documents whose check digit is right, with what they hold

mod amounts;
mod boleto;
mod dates;
mod digits;
mod nfe;

use async_trait::async_trait;
use kobana_store::rows::AgentRow;
use kobana_store::text::fold;
use serde_json::{Map, Value, json};
use time::{Date, OffsetDateTime};

use super::{Cost, Engine, EngineError, Mail, Outcome, RULES};

/// The most findings of one sort.
const MOST: usize = 50;

/// The engine, its expressions compiled.
pub(super) struct Rules {
    amounts: amounts::Amounts,
    dates: dates::Dates,
    digits: digits::Digits,
}

impl Rules {
    /// # Errors
    /// When an expression does not compile.
    pub(super) fn new() -> Result<Self, regex::Error> {
        Ok(Self { amounts: amounts::Amounts::new()?, dates: dates::Dates::new()?, digits: digits::Digits::new()? })
    }

    fn read(&self, mail: &Mail<'_>) -> Map<String, Value> {
        let text = format!("{}\n{}", mail.subject.unwrap_or_default(), mail.text);
        let day = day_of(mail);
        let names = mail.attachments.iter().filter_map(|file| file.name.as_deref());
        let numbers = self.digits.runs(&text).chain(names.flat_map(|name| self.digits.runs(name))).collect::<Vec<_>>();
        let boletos = boleto::find(&numbers, day);
        let keys = nfe::find(&numbers);
        let amounts = first_of(self.amounts.find(&text), boletos.iter().filter_map(|slip| slip.amount.clone()));
        let due = self.dates.due(&text).into_iter().map(|date| date.to_string());
        let due = first_of(due.collect(), boletos.iter().filter_map(|slip| slip.due_date.map(|date| date.to_string())));
        let kind = kind(&text, !boletos.is_empty(), !keys.is_empty());
        let mut found = Findings::default();
        found.put("engine", json!(RULES));
        found.put("kind", json!(kind));
        found.put("sender", sender(mail.from));
        found.put("amount", json!(amounts.first()));
        found.put("amounts", json!(amounts));
        found.put("due_date", json!(due.first()));
        found.put("due_dates", json!(due));
        found.put("boletos", json!(boletos.iter().map(boleto::Boleto::show).collect::<Vec<_>>()));
        found.put("nfe_keys", json!(keys.iter().map(nfe::Key::show).collect::<Vec<_>>()));
        found.put("attachments", attachments(mail));
        found.0
    }
}

#[async_trait]
impl Engine for Rules {
    async fn run(&self, mail: &Mail<'_>, _: Option<&AgentRow>) -> Result<Outcome, EngineError> {
        Ok(Outcome { metadata: self.read(mail), cost: Cost::default() })
    }

    fn knows(&self, model: &str) -> bool {
        model == RULES
    }
}

/// Members with something in them.
#[derive(Default)]
struct Findings(Map<String, Value>);

impl Findings {
    fn put(&mut self, name: &str, value: Value) {
        let is_empty = value.is_null() || value.as_array().is_some_and(Vec::is_empty);
        if !is_empty {
            self.0.insert(name.to_owned(), value);
        }
    }
}

/// When it was sent, or came, as a day.
fn day_of(mail: &Mail<'_>) -> Date {
    let seconds = mail.received_at.unix_seconds();
    OffsetDateTime::from_unix_timestamp(seconds).unwrap_or(OffsetDateTime::UNIX_EPOCH).date()
}

fn first_of(mut found: Vec<String>, more: impl Iterator<Item = String>) -> Vec<String> {
    for text in more {
        if !found.contains(&text) {
            found.push(text);
        }
    }
    found.truncate(MOST);
    found
}

fn kind(text: &str, has_boleto: bool, has_key: bool) -> &'static str {
    let text = fold(text);
    let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
    match () {
        () if has_boleto => "boleto",
        () if has_key || says(&["nota fiscal", "nf-e", "nfs-e", "danfe"]) => "nota_fiscal",
        () if says(&["boleto", "linha digitável"]) => "boleto",
        () if says(&["fatura"]) => "fatura",
        () if says(&["cobrança", "cobranca"]) => "cobranca",
        () => "other",
    }
}

fn sender(address: &str) -> Value {
    json!({ "address": address, "domain": address.rsplit_once('@').map(|(_, domain)| fold(domain)) })
}

fn attachments(mail: &Mail<'_>) -> Value {
    let show = |file: &crate::intake::content::Attachment| json!({ "name": file.name, "media_type": file.media_type, "size": file.size, "embedded": file.embedded });
    mail.attachments.iter().take(MOST).map(show).collect()
}
