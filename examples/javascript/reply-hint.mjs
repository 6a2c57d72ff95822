// An extension that tells what an e-mail asks for and in which language to answer.
import { call } from 'kobana:extension/api@0.1.0';
import { write } from 'kobana:extension/log@0.1.0';

const UUID = '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$';
const KINDS = {
  bill: ['boleto', 'fatura', 'nota fiscal', 'nf-e', 'invoice'],
  complaint: ['não consigo', 'não recebi', 'a mais', 'cannot', 'did not'],
  question: ['?', 'dúvida', 'question'],
};
const PORTUGUESE = ['ção', 'ções', 'não', 'você', 'obrigad', 'prezad'];

export function describe() {
  const hints = { readOnly: true, destructive: false, idempotent: true, openWorld: false };
  return {
    name: 'reply-hint',
    version: '0.1.0',
    title: 'Reply hints',
    description: 'Tells what an e-mail asks for and in which language to answer.',
    scopes: ['inbox.emails'],
    tools: [{
      name: 'hint',
      title: 'Hint for a reply',
      description: 'Tells what an e-mail asks for and in which language to answer.',
      inputSchema: JSON.stringify({
        type: 'object',
        properties: { email_id: { type: 'string', pattern: UUID, description: "The e-mail's id, as emails_list shows it" } },
        required: ['email_id'],
        additionalProperties: false,
      }),
      outputSchema: JSON.stringify({
        type: 'object',
        properties: {
          kind: { enum: [...Object.keys(KINDS), 'other'] },
          language: { enum: ['pt', 'en'] },
        },
        required: ['kind', 'language'],
      }),
      hints,
    }],
    resources: [{ uri: 'reply-hint://kinds', name: 'kinds', description: 'The kinds and their words', mediaType: 'application/json' }],
    resourceTemplates: [],
    prompts: [{
      name: 'reply',
      title: 'Write a reply',
      arguments: [{ name: 'tone', description: 'How to sound', required: true, values: ['friendly', 'formal'] }],
    }],
  };
}

export function callTool(name, json, _context) {
  const { email_id: id } = JSON.parse(json);
  const { status, body } = call({ method: 'get', path: `/emails/${id}`, query: [] });
  const answer = JSON.parse(new TextDecoder().decode(body));
  if (status !== 200) return { tag: 'error', val: { content: [text(answer.error.message)] } };
  const { subject, body: parts } = answer.data;
  const hint = judge(`${subject ?? ''}\n${parts?.text ?? ''}`.toLowerCase());
  write('info', `${name}: ${id} is of the kind ${hint.kind}`);
  const said = `It is of the kind ${hint.kind}; answer in ${hint.language === 'pt' ? 'Portuguese' : 'English'}.`;
  return { tag: 'complete', val: { content: [text(said)], structured: JSON.stringify(hint) } };
}

export function readResource(uri, _context) {
  if (uri !== 'reply-hint://kinds') return { tag: 'missing' };
  const body = { tag: 'text', val: JSON.stringify(KINDS) };
  return { tag: 'complete', val: [{ uri, mediaType: 'application/json', body }] };
}

export function getPrompt(_name, given, _context) {
  const { tone } = Object.fromEntries(given);
  if (!['friendly', 'formal'].includes(tone)) return { tag: 'error', val: 'tone has to be friendly or formal.' };
  const block = text(`Ask the tool hint of the extension reply-hint about the e-mail, then draft a ${tone} reply. Send nothing.`);
  return { tag: 'complete', val: { messages: [{ role: 'user', block }] } };
}

function judge(lower) {
  const has = (words) => words.some((word) => lower.includes(word));
  const kind = Object.keys(KINDS).find((name) => has(KINDS[name])) ?? 'other';
  return { kind, language: has(PORTUGUESE) ? 'pt' : 'en' };
}

function text(words) {
  return { content: { tag: 'text', val: words } };
}
