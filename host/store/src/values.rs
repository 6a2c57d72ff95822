//! Column types of our own: JSON lists and maps, and words from a fixed list.

use kobana_contract::Role;
use kobana_contract::fields::ActiveStatus;
use kobana_contract::operations::agent_runs::RunStatus;
use kobana_contract::operations::deliveries::DeliveryStatus;
use kobana_contract::operations::emails::EmailStatus;
use kobana_contract::operations::webhooks::WebhookAuth;
use kobana_contract::operations::workspaces::WorkspaceSource;
use sea_orm::sea_query::{ArrayType, ColumnType, Nullable, ValueType, ValueTypeErr};
use sea_orm::{ColIdx, DbErr, DeriveValueType, FromJsonQueryResult, QueryResult, TryGetError, TryGetable, Value};
use serde::{Deserialize, Serialize};
use serde_json::Map;

/// A JSON object of free form.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, FromJsonQueryResult)]
pub struct Object(pub Map<String, serde_json::Value>);

/// A list of texts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, FromJsonQueryResult)]
pub struct Texts(pub Vec<String>);

/// A list of JSON objects of free form.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, FromJsonQueryResult)]
pub struct Objects(pub Vec<Map<String, serde_json::Value>>);

/// Another column's text, folded for comparing (see [`crate::text::fold`]). [`crate::Scope`] fills it in whenever that
/// text is written, so whoever makes a row leaves it empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, DeriveValueType)]
pub struct Folded(String);

/// A word from a fixed list, stored as its name in the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Word<T>(pub T);

/// A fixed list of words.
pub trait Vocabulary: Copy + Send + Sync + 'static {
    /// The name in the contract.
    fn name(self) -> &'static str;
    /// The word of a name.
    fn named(name: &str) -> Option<Self>;
}

macro_rules! vocabulary {
    ($($name:ty),+ $(,)?) => { $(
        impl Vocabulary for $name {
            fn name(self) -> &'static str {
                self.as_str()
            }
            fn named(name: &str) -> Option<Self> {
                Self::parse(name)
            }
        }
    )+ };
}
vocabulary!(ActiveStatus, DeliveryStatus, EmailStatus, Role, RunStatus, WebhookAuth, WorkspaceSource);

impl<T: Vocabulary> From<Word<T>> for Value {
    fn from(word: Word<T>) -> Self {
        word.0.name().into()
    }
}

impl<T: Vocabulary> TryGetable for Word<T> {
    fn try_get_by<I: ColIdx>(row: &QueryResult, index: I) -> Result<Self, TryGetError> {
        let name = String::try_get_by(row, index)?;
        let unknown = || DbErr::Type("a word that is not in its list".to_owned());
        T::named(&name).map(Self).ok_or_else(|| TryGetError::DbErr(unknown()))
    }
}

impl<T: Vocabulary> ValueType for Word<T> {
    fn try_from(value: Value) -> Result<Self, ValueTypeErr> {
        let name = <String as ValueType>::try_from(value)?;
        T::named(&name).map(Self).ok_or(ValueTypeErr)
    }
    fn type_name() -> String {
        String::type_name()
    }
    fn array_type() -> ArrayType {
        String::array_type()
    }
    fn column_type() -> ColumnType {
        String::column_type()
    }
}

impl<T: Vocabulary> Nullable for Word<T> {
    fn null() -> Value {
        String::null()
    }
}
