//! Checking JSON against the contract's schemas, with messages in plain English that never repeat a value.

use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::{ValidationError, Validator};
use kobana_contract::Timestamp;
use kobana_contract::operation::properties;
use serde_json::Value;

use crate::problems::{Problems, is_harmless};

/// A compiled schema of what a caller sends.
pub(crate) struct Checker {
    schema: Value,
    validator: Validator,
}

impl Checker {
    /// Compiles a schema.
    ///
    /// # Errors
    /// When it is no JSON Schema.
    pub(crate) fn new(schema: Value) -> Result<Self, ValidationError<'static>> {
        let validator = jsonschema::draft202012::options()
            .should_validate_formats(true)
            // The same reading as the types', so that what passes here is read there.
            .with_format("date-time", |text| Timestamp::parse(text).is_some())
            .with_format("email", is_address)
            .build(&schema)?;
        Ok(Self { schema, validator })
    }

    /// The schema itself.
    pub(crate) const fn schema(&self) -> &Value {
        &self.schema
    }

    /// Notes everything that is wrong with the value. Integers written as `1.0` become `1`.
    pub(crate) fn check(&self, value: &mut Value, problems: &mut Problems) {
        self.settle_integers(value, problems);
        for error in self.validator.iter_errors(value) {
            problems.violation(&error, "the body");
        }
    }

    /// JSON Schema takes 1.0 for an integer and knows no largest one; the types behind the schema do.
    fn settle_integers(&self, value: &mut Value, problems: &mut Problems) {
        let (Some(members), Some(shapes)) = (value.as_object_mut(), properties(&self.schema)) else { return };
        for (name, member) in members {
            let Some(shape) = shapes.get(name).filter(|shape| is_integer(shape)) else { continue };
            let Some(float) = member.as_f64().filter(|float| float.fract() == 0.0 && member.as_i64().is_none()) else {
                continue;
            };
            // 2^53: up to here every integer has a float of its own.
            if float.abs() <= 9_007_199_254_740_992.0 {
                *member = Value::from(float as i64);
            } else if shape.get("maximum").is_none() {
                problems.field(name, "expected a smaller number");
            }
        }
    }
}

fn is_integer(shape: &Value) -> bool {
    match shape.get("type") {
        Some(Value::String(name)) => name == "integer",
        Some(Value::Array(names)) => names.iter().any(|name| name == "integer"),
        _ => false,
    }
}

/// One plain address, `local@domain`: no display name, no comments, no quoting, ASCII without spaces or controls, and
/// no longer than mail allows (RFC 5321 §4.5.3.1).
pub(crate) fn is_address(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else { return false };
    let atom = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~".contains(&byte);
    let local_fits = local.len() <= 64 && local.split('.').all(|part| !part.is_empty() && part.bytes().all(atom));
    let label = |part: &str| {
        (1..=63).contains(&part.len())
            && !part.starts_with('-')
            && !part.ends_with('-')
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    local_fits && domain.len() <= 253 && domain.split('.').all(label)
}

impl Problems {
    /// Notes what a schema forbids, for the field that it is about, or for the value as a whole, which is called `whole`. Nothing of
    /// the value is repeated, and names only where they are harmless.
    pub fn violation(&mut self, error: &ValidationError<'_>, whole: &str) {
        let path = error.instance_path().as_str();
        let mut steps = path.split('/').skip(1);
        match (error.kind(), steps.next()) {
            (Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected }, None) => {
                unexpected.iter().for_each(|name| self.unknown(name));
            }
            (Kind::Required { property }, None) => self.field(property.as_str().unwrap_or_default(), "is required"),
            (kind, Some(field)) => {
                let message = format!("{}{}", place(steps), message(kind));
                if is_harmless(field) { self.field(field, message) } else { self.form(format!("a part: {message}")) }
            }
            (kind, None) => self.form(format!("{whole}: {}", message(kind))),
        }
    }
}

/// Where in a field it is, from the outside in, with a colon behind each step.
fn place<'a>(steps: impl Iterator<Item = &'a str>) -> String {
    let step = |step: &str| match step.parse::<usize>() {
        Ok(item) => format!("item {}: ", item.saturating_add(1)),
        Err(_) if is_harmless(step) => format!("{step}: "),
        Err(_) => "a part: ".to_owned(),
    };
    steps.map(step).collect()
}

fn message(kind: &Kind) -> String {
    match kind {
        Kind::Type { kind } => format!("expected {}", types(kind)),
        Kind::Enum { options } => format!("expected one of {}", words(options)),
        Kind::MinLength { limit: 1 } => "must not be empty".to_owned(),
        Kind::MinLength { limit } => format!("expected at least {limit} characters"),
        Kind::MaxLength { limit } => format!("expected at most {limit} characters"),
        Kind::Minimum { limit } => format!("expected {limit} or more"),
        Kind::Maximum { limit } => format!("expected {limit} or less"),
        Kind::ExclusiveMinimum { limit } => format!("expected more than {limit}"),
        Kind::ExclusiveMaximum { limit } => format!("expected less than {limit}"),
        Kind::MultipleOf { multiple_of } => format!("expected a multiple of {multiple_of}"),
        Kind::MinItems { limit } => format!("expected at least {limit} items"),
        Kind::MaxItems { limit } => format!("expected at most {limit} items"),
        Kind::UniqueItems => "expected no item twice".to_owned(),
        Kind::MinProperties { limit } => format!("expected at least {limit} members"),
        Kind::MaxProperties { limit } => format!("expected at most {limit} members"),
        Kind::Required { property } => format!("{} is required", property.as_str().unwrap_or_default()),
        Kind::AdditionalProperties { .. } | Kind::UnevaluatedProperties { .. } => {
            "holds a name that is not accepted here".to_owned()
        }
        Kind::Pattern { pattern } => format!("expected a text of the form {pattern}"),
        Kind::Format { format } => format!("expected {}", form(format)),
        _ => "expected something else; see the schema".to_owned(),
    }
}

fn types(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(one) => with_article(&one.to_string()),
        TypeKind::Multiple(set) => {
            set.iter().map(|one| with_article(&one.to_string())).collect::<Vec<_>>().join(" or ")
        }
    }
}

fn with_article(name: &str) -> String {
    match name {
        "null" => name.to_owned(),
        name if name.starts_with(['a', 'e', 'i', 'o']) => format!("an {name}"),
        name => format!("a {name}"),
    }
}

fn words(options: &Value) -> String {
    let words = options.as_array().into_iter().flatten().filter_map(Value::as_str);
    words.collect::<Vec<_>>().join(", ")
}

fn form(format: &str) -> &str {
    match format {
        "email" => "an e-mail address",
        "date-time" => "a time such as 2026-07-28T09:00:00Z",
        "uri" => "an absolute URL",
        "uuid" => "a UUID",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kobana_contract::operation::schema_of;
    use kobana_contract::operations::inboxes::InboxUpsert;
    use serde_json::json;

    fn check(mut value: Value) -> Value {
        let mut schema = schema_of::<InboxUpsert>();
        schema["additionalProperties"] = json!(false);
        let mut problems = Problems::default();
        Checker::new(schema).unwrap().check(&mut value, &mut problems);
        serde_json::to_value(problems).unwrap()
    }

    #[test]
    fn every_problem_is_told_and_no_value_is_repeated() {
        let problems = check(json!({
            "external_id": "-geheim", "label": "", "status": "geheim", "attachments_allow": "geheim",
            "attachments_max_file_number": 0, "attachments_max_file_size": 1.5, "attachments_max_total_size": 1e30,
            "email": "geheim", "allowed_recipients": ["a@b.example", "geheim"], "filters": [{}, 1], "colour": 1,
        }));
        let fields = problems["field_errors"].as_object().unwrap();
        assert_eq!(fields.len(), 11, "{problems}");
        assert_eq!(fields["allowed_recipients"], json!(["item 2: expected an e-mail address"]));
        assert_eq!(fields["attachments_max_file_number"], json!(["expected more than 0"]));
        assert_eq!(fields["attachments_max_total_size"], json!(["expected a smaller number"]));
        assert_eq!(fields["label"], json!(["must not be empty"]));
        assert!(!problems.to_string().contains("geheim"));
        assert_eq!(check(json!({}))["field_errors"], json!({ "external_id": ["is required"] }));
        assert_eq!(check(json!([]))["form_errors"], json!(["the body: expected an object"]));
    }

    #[test]
    fn whole_numbers_may_be_written_with_a_point() {
        let mut value = json!({ "external_id": "x", "attachments_max_file_number": 3.0, "agent_id": null });
        let mut problems = Problems::default();
        Checker::new(schema_of::<InboxUpsert>()).unwrap().check(&mut value, &mut problems);
        assert!(problems.is_empty(), "{problems:?}");
        assert_eq!(value["attachments_max_file_number"].as_i64(), Some(3));
    }

    #[test]
    fn addresses_are_plain() {
        for good in ["a@b.example", "A.b+c@x-y.example", "nfe@supplier.example"] {
            assert!(is_address(good), "{good}");
        }
        let long = format!("{}@b.example", "x".repeat(65));
        for bad in [
            "",
            "a",
            "@b",
            "a@",
            "a@b..c",
            ".a@b.c",
            "a b@c.d",
            "Ana <a@b.c>",
            "a@[1.2.3.4]",
            "a@-b.c",
            "a@b\r\n.c",
            &long,
        ] {
            assert!(!is_address(bad), "{bad}");
        }
    }
}
