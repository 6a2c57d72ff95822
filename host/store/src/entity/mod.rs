//! The tables for SeaORM. They are private so that rows of tenants are reached through [`crate::Scope`] only.

// SeaORM generates public enums and change types without documentation for every table, exported or not.
#![allow(missing_docs, unreachable_pub)]

pub(crate) mod agent_runs;
pub(crate) mod agents;
pub(crate) mod api_tokens;
pub(crate) mod email_bodies;
pub(crate) mod emails;
pub(crate) mod extension_texts;
pub(crate) mod extension_versions;
pub(crate) mod extensions;
pub(crate) mod idempotency;
pub(crate) mod inboxes;
pub(crate) mod issuer_subjects;
pub(crate) mod jobs;
pub(crate) mod login_sessions;
pub(crate) mod memberships;
pub(crate) mod oauth_clients;
pub(crate) mod oauth_codes;
pub(crate) mod oauth_grants;
pub(crate) mod oauth_refresh_tokens;
pub(crate) mod organizations;
pub(crate) mod persons;
pub(crate) mod settings;
pub(crate) mod spent_confirmations;
pub(crate) mod system_events;
pub(crate) mod webhook_deliveries;
pub(crate) mod webhooks;
pub(crate) mod workspaces;
