//! What a person is asked before a destructive operation runs. The words are the server's; of the row it names only its
//! label, which `component/protocol` clips and cleans, and its id.

/// The question for one operation.
#[derive(Debug, Clone, Copy)]
pub struct Question {
    /// The `operationId`.
    pub operation: &'static str,
    /// The question; `{row}` stands for the row's label and id, `{email}` for the argument of that name.
    pub text: &'static str,
    /// What ticking the box means.
    pub title: &'static str,
}

/// The questions of all destructive operations.
pub const QUESTIONS: &[Question] = &[
    Question {
        operation: "delete-workspace",
        text: "Delete the workspace {row}? Its inboxes, agents, webhooks and e-mails all stop answering. This cannot be undone.",
        title: "Delete the workspace",
    },
    Question {
        operation: "delete-inbox",
        text: "Delete the inbox {row}? Its address stops receiving mail and stays taken for ever. This cannot be undone.",
        title: "Delete the inbox",
    },
    Question {
        operation: "add-allowed-recipient",
        text: "Allow {email} to send to the inbox {row}? The first address on the list closes an inbox that was open to anyone.",
        title: "Allow the address",
    },
    Question {
        operation: "remove-allowed-recipient",
        text: "Stop allowing {email} to send to the inbox {row}? Taking off the last address opens the inbox to anyone.",
        title: "Stop allowing the address",
    },
    Question {
        operation: "delete-agent",
        text: "Delete the agent {row}? Inboxes that use it are left without one. This cannot be undone.",
        title: "Delete the agent",
    },
    Question {
        operation: "delete-webhook",
        text: "Delete the webhook {row}? It receives nothing more. This cannot be undone.",
        title: "Delete the webhook",
    },
    Question {
        operation: "send-a-webhook-test-event",
        text: "Send a test event to the address of the webhook {row} now?",
        title: "Send the test event",
    },
    Question {
        operation: "regenerate-the-signing-secret",
        text: "Replace the signing secret of the webhook {row}? The present one is void at once, and the new one is shown to the assistant.",
        title: "Replace the secret",
    },
    Question {
        operation: "replay-a-webhook-delivery",
        text: "Send the event of the delivery {row} to its webhook again?",
        title: "Send it again",
    },
    Question {
        operation: "reprocess-email",
        text: "Process the e-mail {row} again from the start? That may cost money and send webhooks.",
        title: "Process it again",
    },
];

/// The question of an operation, if it is asked.
#[must_use]
pub fn question(operation: &str) -> Option<&'static Question> {
    QUESTIONS.iter().find(|question| question.operation == operation)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operations;

    #[test]
    fn every_destructive_tool_has_a_question_and_no_other_has() {
        for operation in operations::all().iter().filter(|operation| operation.spec.tool.is_ok()) {
            let spec = &operation.spec;
            assert_eq!(question(spec.id).is_some(), spec.hints.destructive, "{}", spec.id);
        }
    }
}
