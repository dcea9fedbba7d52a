//! What a rule asks, what a violation costs and how to fix it, with its section of the protocol's description. Pure.

use super::protocol_pages::section;
use super::role::AgentRole;
use super::rule::Rule;
use super::{manager, player, referee};
use matchday_terminal::suggest::nearest;
use std::fmt::Write;

/// Every rule with this id, or which id was meant.
pub fn explain(id: &str) -> Result<String, String> {
    let found = of_all_roles().filter(|(rule, _)| rule.id == id);
    let texts: Vec<_> = found.map(|(rule, roles)| text(rule, &roles)).collect();
    if texts.is_empty() {
        let hint = nearest(id, of_all_roles().map(|(rule, _)| rule.id));
        let hint = hint.map_or_else(String::new, |id| format!(" - did you mean {id:?}?"));
        return Err(format!(
            "there is no rule {id:?}: a report of `matchday check` names them{hint}"
        ));
    }
    Ok(texts.join("\n\n"))
}

/// Every rule, with the roles that it is for.
fn of_all_roles() -> impl Iterator<Item = (&'static Rule, Vec<AgentRole>)> {
    let by_role = [
        (AgentRole::Player, player::rules::OWN.to_vec()),
        (AgentRole::Referee, referee::rules::all().collect()),
        (AgentRole::Manager, manager::rules::all().collect()),
    ];
    let mut rules: Vec<(&'static Rule, Vec<AgentRole>)> = Vec::new();
    for (role, own) in by_role {
        for rule in own {
            match rules
                .iter_mut()
                .find(|(known, _)| std::ptr::eq(*known, rule))
            {
                Some((_, roles)) => roles.push(role),
                None => rules.push((rule, vec![role])),
            }
        }
    }
    rules.into_iter()
}

fn text(rule: &Rule, roles: &[AgentRole]) -> String {
    let roles: Vec<_> = roles.iter().map(|role| role.name()).collect();
    let costs = if rule.is_mandatory() {
        "A violation loses matches: in every league, or in a strict one if a lenient one accepts it."
    } else {
        "A violation loses no match; without it the agent would be cleaner."
    };
    let mut text = format!(
        "{} ({})\n{}\n\n{costs}\nFix: {}\n",
        rule.id,
        roles.join(", "),
        rule.title,
        rule.fix
    );
    if let Some(section) = section(rule.anchor) {
        // Writing to a String does not fail.
        let _ = write!(text, "\nFrom {}:\n\n{}", rule.doc_link(), section.text);
    }
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_a_section_of_a_page() {
        for (rule, _) in of_all_roles() {
            let section = section(rule.anchor);
            let length = section.as_ref().map_or(0, |section| section.text.len());
            assert!(length > 60, "{}: {section:?}", rule.id);
            assert!(length < 16_000, "{}: {length} bytes", rule.id);
        }
    }

    #[test]
    fn a_rule_is_explained_for_each_role_that_has_one_of_that_name() {
        let explained = explain("envelope.conversation").unwrap();
        for role in ["(player)", "(referee)", "(manager)"] {
            assert!(
                explained.contains(&format!("envelope.conversation {role}")),
                "{explained}"
            );
        }
        let shared = explain("rpc.id").unwrap();
        assert!(
            shared.starts_with("rpc.id (player, referee, manager)\n"),
            "{shared}"
        );
    }

    #[test]
    fn a_rule_that_there_is_not_is_told_with_the_one_that_was_meant() {
        let wrong = explain("choice.party").unwrap_err();
        assert!(wrong.contains("did you mean \"choice.parity\"?"), "{wrong}");
    }
}
