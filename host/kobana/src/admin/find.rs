//! Finds what a person names on the command line, and says what there is where it is not found.

use kobana_store::directory::{self, Organization, Person, Workspace};
use kobana_store::text::fold;
use uuid::Uuid;

use super::args::InOrganization;
use super::{Desk, database};
use crate::failure::Failure;

/// How alike a name must be to be offered (Jaro-Winkler, 0 to 1).
const ALIKE: f64 = 0.8;
/// Names that are offered where none is alike.
const OFFERED: usize = 5;

/// The organization of this name or UUID.
pub(super) async fn organization(desk: &Desk, name: &str) -> Result<Organization, Failure> {
    let all = directory::organizations(desk.store.reads()).await.map_err(database)?;
    one("organization", name, all, |row| (row.id, row.name.clone()))
}

/// The organization that is named, or the only one.
pub(super) async fn organization_or_only(desk: &Desk, named: &InOrganization) -> Result<Organization, Failure> {
    if let Some(name) = &named.organization {
        return organization(desk, name).await;
    }
    let mut all = directory::organizations(desk.store.reads()).await.map_err(database)?;
    match (all.pop(), all.is_empty()) {
        (Some(only), true) => Ok(only),
        (None, _) => Err(Failure::Admin(
            "there is no organization yet; make one with `kobana admin organization create NAME`".to_owned(),
        )),
        (Some(last), false) => {
            let names: Vec<_> = all.iter().chain([&last]).map(|row| row.name.clone()).collect();
            Err(Failure::Admin(format!("--organization: there are several, so name one: {}", listed(&names))))
        }
    }
}

/// The person with this e-mail address or UUID.
pub(super) async fn person(desk: &Desk, name: &str) -> Result<Person, Failure> {
    let all = directory::persons(desk.store.reads()).await.map_err(database)?;
    one("person", name, all, |row| (row.id, row.email.clone()))
}

/// The workspace of this external_id or UUID, in one organization or in all.
pub(crate) async fn workspace(desk: &Desk, name: &str, organization: Option<Uuid>) -> Result<Workspace, Failure> {
    let mut all = directory::workspaces(desk.store.reads()).await.map_err(database)?;
    all.retain(|row| organization.is_none_or(|id| id == row.organization_id));
    one("workspace", name, all, |row| (row.id, row.external_id.clone()))
}

/// The workspace that is named, or the only one.
pub(crate) async fn workspace_or_only(desk: &Desk, named: Option<&str>) -> Result<Workspace, Failure> {
    if let Some(name) = named {
        return workspace(desk, name, None).await;
    }
    let mut all = directory::workspaces(desk.store.reads()).await.map_err(database)?;
    match (all.pop(), all.is_empty()) {
        (Some(only), true) => Ok(only),
        (None, _) => Err(Failure::Admin(
            "there is no workspace yet; make one with `kobana admin workspace create NAME`".to_owned(),
        )),
        (Some(last), false) => {
            let names: Vec<_> = all.iter().chain([&last]).map(|row| row.external_id.clone()).collect();
            Err(Failure::Admin(format!("--workspace: there are several, so name one: {}", listed(&names))))
        }
    }
}

/// The one that is meant, by UUID first, then by its name in any letter case.
fn one<T>(kind: &str, wanted: &str, rows: Vec<T>, names: impl Fn(&T) -> (Uuid, String)) -> Result<T, Failure> {
    let id = Uuid::try_parse(wanted).ok();
    let known: Vec<_> = rows.iter().map(|row| names(row).1).collect();
    let mut meant: Vec<T> = Vec::new();
    for row in rows {
        let (row_id, name) = names(&row);
        if id == Some(row_id) {
            return Ok(row);
        }
        if fold(&name) == fold(wanted) {
            meant.push(row);
        }
    }
    let several = meant.len() > 1;
    match meant.pop() {
        Some(_) if several => Err(Failure::Admin(format!("{kind} {wanted}: there are several; name it by its UUID"))),
        Some(row) => Ok(row),
        None => {
            let instead = instead(wanted, &known, &format!("kobana admin {kind} create"));
            Err(Failure::Admin(format!("{kind} {wanted}: there is none; {instead}")))
        }
    }
}

/// What may have been meant, or what there is, or the command that makes the first one.
pub(crate) fn instead(wanted: &str, known: &[String], make: &str) -> String {
    let alike = |name: &&String| strsim::jaro_winkler(&fold(name), &fold(wanted)) >= ALIKE;
    let close: Vec<_> = known.iter().filter(alike).cloned().collect();
    match (known.is_empty(), close.is_empty()) {
        (true, _) => format!("make one with `{make}`"),
        (false, false) => format!("did you mean {}?", listed(&close)),
        (false, true) => format!("there is {}", listed(known)),
    }
}

fn listed(names: &[String]) -> String {
    let more = names.len().saturating_sub(OFFERED);
    let shown = names.iter().take(OFFERED).cloned().collect::<Vec<_>>().join(", ");
    if more == 0 { shown } else { format!("{shown} and {more} more") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(wanted: &str, names: &[(u128, &str)]) -> Result<u128, String> {
        let rows = names.iter().map(|(id, name)| (Uuid::from_u128(*id), (*name).to_owned())).collect();
        let found = one("workspace", wanted, rows, |row: &(Uuid, String)| row.clone());
        found.map(|(id, _)| id.as_u128()).map_err(|failure| failure.to_string())
    }

    #[test]
    fn a_name_in_any_case_or_a_uuid_is_enough() {
        let rows = [(1, "acme"), (2, "Globex")];
        assert_eq!(find("ACME", &rows), Ok(1));
        assert_eq!(find(&Uuid::from_u128(2).to_string(), &rows), Ok(2));
    }

    #[test]
    fn what_is_not_there_is_said_with_what_is() {
        let rows = [(1, "acme"), (2, "globex")];
        assert_eq!(find("acmee", &rows), Err("workspace acmee: there is none; did you mean acme?".to_owned()));
        assert_eq!(find("zz", &rows), Err("workspace zz: there is none; there is acme, globex".to_owned()));
        assert!(find("zz", &[]).unwrap_err().contains("kobana admin workspace create"));
        let many: Vec<_> = (1..=7).map(|id| (id, "acme")).collect();
        assert!(find("zz", &many).unwrap_err().ends_with("and 2 more"));
    }

    #[test]
    fn of_several_with_one_name_none_is_taken() {
        assert!(find("acme", &[(1, "acme"), (2, "acme")]).unwrap_err().contains("by its UUID"));
    }
}
