//! What extensions answer, dressed for the revision that the client speaks (protocol.md §9.3, §10, §11, §22).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kobana_wire::extension::{Annotations, Block, Content, Document, DocumentBody, Media, Message, Resource, Role};
use serde_json::value::RawValue;

use super::address;
use super::check::is_media_type;
use super::list::is_foreign;
use crate::era::Version;
use crate::json;
use crate::prompts::is_time;

/// What is wrong with an answer: one sentence without any of the extension's own words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Flaw(pub(super) &'static str);

/// The members of a tool's result.
///
/// # Errors
/// [`Flaw`].
pub(super) fn tool(
    version: Version,
    content: &[Block],
    structured: Option<&str>,
    is_error: bool,
) -> Result<String, Flaw> {
    let mut blocks = content.iter().map(|content| block(version, content)).collect::<Result<Vec<_>, _>>()?;
    if structured.is_some_and(|structured| serde_json::from_str::<&RawValue>(structured).is_err()) {
        return Err(Flaw("the structured result is no JSON"));
    }
    // Clients without structured results, and assistants, read the text.
    if let (Some(structured), true) = (structured, blocks.is_empty()) {
        blocks.push(text(structured));
    }
    let mut out = format!(r#""content":[{}]"#, blocks.join(","));
    let known = match version {
        Version::V2026_07_28 => structured,
        Version::V2025_06_18 => structured.filter(|structured| structured.trim_start().starts_with('{')),
        Version::V2025_03_26 => None,
    };
    if let Some(structured) = known {
        out.push_str(r#","structuredContent":"#);
        out.push_str(structured);
    }
    if is_error {
        out.push_str(r#","isError":true"#);
    }
    Ok(out)
}

/// The members of a resource's result.
///
/// # Errors
/// [`Flaw`].
pub(super) fn documents(documents: &[Document]) -> Result<String, Flaw> {
    if documents.is_empty() {
        return Err(Flaw("there is no document in it"));
    }
    if documents.iter().any(|document| !is_foreign(&document.uri)) {
        return Err(Flaw("a document has the URI of a built-in one"));
    }
    let entries = documents.iter().map(entry).collect::<Result<Vec<_>, _>>()?;
    Ok(format!(r#""contents":[{}]"#, entries.join(",")))
}

/// The members of a prompt's result.
///
/// # Errors
/// [`Flaw`].
pub(super) fn prompt(version: Version, description: Option<&str>, messages: &[Message]) -> Result<String, Flaw> {
    let messages = messages.iter().map(|message| {
        let content = block(version, &message.block)?;
        Ok(format!(r#"{{"role":"{}","content":{content}}}"#, role(message.role)))
    });
    let messages = messages.collect::<Result<Vec<_>, _>>()?.join(",");
    let description = description.map(|text| format!(r#""description":{},"#, json::quoted(text))).unwrap_or_default();
    Ok(format!(r#"{description}"messages":[{messages}]"#))
}

const fn role(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::Assistant => "assistant",
    }
}

fn text(text: &str) -> String {
    format!(r#"{{"type":"text","text":{}}}"#, json::quoted(text))
}

fn block(version: Version, block: &Block) -> Result<String, Flaw> {
    let mut out = match &block.content {
        Content::Text(words) => text(words),
        Content::Image(media) => bytes("image", media)?,
        Content::Audio(media) => bytes("audio", media)?,
        Content::Link(link) => resource_link(version, link)?,
        Content::Document(document) => format!(r#"{{"type":"resource","resource":{}}}"#, entry(document)?),
    };
    if let Some(annotations) = &block.annotations {
        let annotations = dressed(version, annotations)?;
        out.pop();
        out.push_str(r#","annotations":{"#);
        out.push_str(&annotations);
        out.push_str("}}");
    }
    Ok(out)
}

fn bytes(kind: &str, media: &Media) -> Result<String, Flaw> {
    check_media_type(Some(&media.media_type))?;
    let data = STANDARD.encode(&media.data);
    Ok(format!(r#"{{"type":"{kind}","data":"{data}","mimeType":{}}}"#, json::quoted(&media.media_type)))
}

/// A link, or its text where links are unknown (protocol.md §22).
fn resource_link(version: Version, link: &Resource) -> Result<String, Flaw> {
    check_uri(&link.uri)?;
    check_media_type(link.media_type.as_deref())?;
    if version == Version::V2025_03_26 {
        return Ok(text(&format!("{}: {}", link.title.as_deref().unwrap_or(&link.name), link.uri)));
    }
    let mut out =
        format!(r#"{{"type":"resource_link","uri":{},"name":{}"#, json::quoted(&link.uri), json::quoted(&link.name));
    let others = [("title", &link.title), ("description", &link.description), ("mimeType", &link.media_type)];
    for (name, value) in others {
        if let Some(value) = value {
            out.push_str(&format!(r#","{name}":{}"#, json::quoted(value)));
        }
    }
    Ok(out + "}")
}

/// A document as an entry of `contents`.
fn entry(document: &Document) -> Result<String, Flaw> {
    check_uri(&document.uri)?;
    check_media_type(document.media_type.as_deref())?;
    let mut out = format!(r#"{{"uri":{}"#, json::quoted(&document.uri));
    if let Some(media_type) = &document.media_type {
        out.push_str(&format!(r#","mimeType":{}"#, json::quoted(media_type)));
    }
    match &document.body {
        DocumentBody::Text(text) => {
            out.push_str(r#","text":"#);
            json::push_string(&mut out, text);
        }
        DocumentBody::Blob(bytes) => {
            out.push_str(r#","blob":""#);
            STANDARD.encode_string(bytes, &mut out);
            out.push('"');
        }
    }
    Ok(out + "}")
}

/// The members of annotations. The first revision has no time in them.
fn dressed(version: Version, annotations: &Annotations) -> Result<String, Flaw> {
    let mut members = Vec::new();
    if !annotations.audience.is_empty() {
        let audience: Vec<_> = annotations.audience.iter().map(|one| format!("\"{}\"", role(*one))).collect();
        members.push(format!(r#""audience":[{}]"#, audience.join(",")));
    }
    if let Some(priority) = annotations.priority {
        if !(0.0..=1.0).contains(&priority) {
            return Err(Flaw("the priority of an annotation is not from 0 to 1"));
        }
        members.push(format!(r#""priority":{priority}"#));
    }
    if let Some(time) = &annotations.last_modified {
        if !is_time(time) {
            return Err(Flaw("the last-modified of an annotation is no time of RFC 3339"));
        }
        if version != Version::V2025_03_26 {
            members.push(format!(r#""lastModified":{}"#, json::quoted(time)));
        }
    }
    Ok(members.join(","))
}

fn check_uri(uri: &str) -> Result<(), Flaw> {
    if address::is_absolute(uri) { Ok(()) } else { Err(Flaw("a URI in it is not absolute, or longer than 512 bytes")) }
}

fn check_media_type(media_type: Option<&str>) -> Result<(), Flaw> {
    if media_type.is_none_or(is_media_type) { Ok(()) } else { Err(Flaw("a media type in it is none")) }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn plain(content: Content) -> Block {
        Block { content, annotations: None }
    }

    fn link() -> Resource {
        Resource {
            uri: "risk://policy".into(),
            name: "policy".into(),
            title: Some("The policy".into()),
            description: None,
            media_type: Some("text/plain".into()),
        }
    }

    fn read(members: Result<String, Flaw>) -> Value {
        serde_json::from_str(&format!("{{{}}}", members.unwrap())).unwrap()
    }

    #[test]
    fn every_kind_of_content_has_its_shape() {
        let media = |media_type: &str| Media { data: vec![0, 255], media_type: media_type.into() };
        let blob = Document { uri: "risk://b".into(), media_type: None, body: DocumentBody::Blob(b"hi".to_vec()) };
        let annotations = Annotations {
            audience: vec![Role::User, Role::Assistant],
            priority: Some(0.5),
            last_modified: Some("2026-07-28T09:00:00Z".into()),
        };
        let content = [
            Block { content: Content::Text("a \"b\"\u{7}".into()), annotations: Some(annotations) },
            plain(Content::Image(media("image/png"))),
            plain(Content::Audio(media("audio/wav"))),
            plain(Content::Link(link())),
            plain(Content::Document(blob)),
        ];
        let result = read(tool(Version::V2026_07_28, &content, None, true));
        assert_eq!(
            result,
            json!({"content": [
                {"type": "text", "text": "a \"b\"\u{7}", "annotations":
                    {"audience": ["user", "assistant"], "priority": 0.5, "lastModified": "2026-07-28T09:00:00Z"}},
                {"type": "image", "data": "AP8=", "mimeType": "image/png"},
                {"type": "audio", "data": "AP8=", "mimeType": "audio/wav"},
                {"type": "resource_link", "uri": "risk://policy", "name": "policy", "title": "The policy", "mimeType": "text/plain"},
                {"type": "resource", "resource": {"uri": "risk://b", "blob": "aGk="}},
            ], "isError": true})
        );
        assert_eq!(
            read(tool(Version::V2025_06_18, &content, None, true)),
            result,
            "the second revision knows all of it"
        );
        let oldest = read(tool(Version::V2025_03_26, &content, None, false));
        assert_eq!(oldest["content"][3], json!({"type": "text", "text": "The policy: risk://policy"}));
        assert_eq!(oldest["content"][0]["annotations"], json!({"audience": ["user", "assistant"], "priority": 0.5}));
        assert!(oldest.get("isError").is_none());
    }

    #[test]
    fn structured_results_are_for_those_who_know_them() {
        let dress = |version, structured| read(tool(version, &[], Some(structured), false));
        let object = r#"{"score":0.7}"#;
        assert_eq!(dress(Version::V2026_07_28, object)["structuredContent"], json!({"score": 0.7}));
        assert_eq!(dress(Version::V2025_06_18, object)["structuredContent"], json!({"score": 0.7}));
        assert_eq!(dress(Version::V2025_03_26, object).get("structuredContent"), None);
        assert_eq!(dress(Version::V2026_07_28, "[1]")["structuredContent"], json!([1]));
        assert_eq!(dress(Version::V2025_06_18, "[1]").get("structuredContent"), None);
        assert_eq!(dress(Version::V2026_07_28, "null")["structuredContent"], Value::Null);
        for version in Version::ALL {
            assert_eq!(dress(*version, object)["content"], json!([{"type": "text", "text": object}]));
        }
        let said = [plain(Content::Text("high".into()))];
        let both = read(tool(Version::V2026_07_28, &said, Some(object), false));
        assert_eq!(both["content"], json!([{"type": "text", "text": "high"}]));
    }

    #[test]
    fn documents_and_prompts_have_their_shape() {
        let document = Document {
            uri: "risk://policy".into(),
            media_type: Some("text/plain".into()),
            body: DocumentBody::Text("be careful".into()),
        };
        assert_eq!(
            read(documents(std::slice::from_ref(&document))),
            json!({"contents": [{"uri": "risk://policy", "mimeType": "text/plain", "text": "be careful"}]})
        );
        let message = Message { role: Role::Assistant, block: plain(Content::Link(link())) };
        let filled = read(prompt(Version::V2025_06_18, Some("d"), std::slice::from_ref(&message)));
        assert_eq!(filled["description"], "d");
        assert_eq!(filled["messages"][0]["role"], "assistant");
        assert_eq!(filled["messages"][0]["content"]["type"], "resource_link");
        assert_eq!(
            read(prompt(Version::V2025_03_26, None, &[message])),
            json!({"messages": [{"role": "assistant", "content": {"type": "text", "text": "The policy: risk://policy"}}]})
        );
    }

    #[test]
    fn what_no_client_could_read_is_a_flaw() {
        let with = |content| tool(Version::V2026_07_28, &[plain(content)], None, false);
        let of = |uri: &str, media_type: &str| Document {
            uri: uri.into(),
            media_type: Some(media_type.into()),
            body: DocumentBody::Text(String::new()),
        };
        assert!(with(Content::Image(Media { data: Vec::new(), media_type: "png".into() })).is_err());
        assert!(with(Content::Audio(Media { data: Vec::new(), media_type: "a/b\n".into() })).is_err());
        assert!(with(Content::Link(Resource { uri: "policy".into(), ..link() })).is_err());
        assert!(with(Content::Document(of("x y:", "text/plain"))).is_err());
        assert!(documents(&[]).is_err());
        assert!(documents(&[of("kobana://inbox/me", "text/plain")]).is_err(), "it looks like a built-in one");
        assert!(documents(&[of("KOBANA://inbox/me", "text/plain")]).is_err());
        assert!(with(Content::Document(of("kobana://inbox/me", "application/json"))).is_ok(), "it may pass one on");
        for (priority, time) in [(Some(1.5), None), (Some(f64::NAN), None), (None, Some("yesterday".to_owned()))] {
            let annotations = Some(Annotations { audience: Vec::new(), priority, last_modified: time });
            assert!(
                tool(
                    Version::V2026_07_28,
                    &[Block { content: Content::Text(String::new()), annotations }],
                    None,
                    false
                )
                .is_err()
            );
        }
        assert!(tool(Version::V2026_07_28, &[], Some("{"), false).is_err());
    }
}
