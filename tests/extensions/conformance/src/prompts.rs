//! The prompts.

use crate::bindings::kobana::extension::types::{Block, Context, Message, PromptOutcome, PromptResult, Role};
use crate::{media, questions};

pub(crate) fn get(name: &str, arguments: &[(String, String)], context: &Context) -> PromptOutcome {
    let argument = |name: &str| arguments.iter().find(|(key, _)| key == name).map_or("", |(_, value)| value.as_str());
    let blocks = match name {
        "test_simple_prompt" => vec![media::text("This is a simple prompt for testing.")],
        "test_prompt_with_arguments" => {
            let (first, second) = (argument("arg1"), argument("arg2"));
            vec![media::text(&format!("Prompt with arguments: arg1='{first}', arg2='{second}'"))]
        }
        "test_prompt_with_embedded_resource" => vec![
            media::embedded(argument("resourceUri"), "text/plain", "Embedded resource content for testing."),
            media::text("Please process the embedded resource above."),
        ],
        "test_prompt_with_image" => vec![media::image(), media::text("Please analyze the image above.")],
        "test_input_required_result_prompt" => match questions::filled_in(context, "user_context", "context") {
            Some(context) => vec![media::text(&format!("Work in this context: {context}"))],
            None => {
                let form = questions::text_form("user_context", "What context should the prompt use?", "context");
                return PromptOutcome::InputRequired(questions::ask(vec![form], None));
            }
        },
        _ => return PromptOutcome::Error(format!("there is no prompt {name}")),
    };
    let messages = blocks.into_iter().map(said).collect();
    PromptOutcome::Complete(PromptResult { description: None, messages })
}

fn said(block: Block) -> Message {
    Message { role: Role::User, block }
}
