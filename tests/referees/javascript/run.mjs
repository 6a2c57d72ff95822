#!/usr/bin/env node
// Builds the example in JavaScript and uses it through the server, with a client of the official SDK: run.mjs KOBANA OUT. A
// line for each thing that is judged.
import { execFileSync } from 'node:child_process';
import { createWriteStream, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect, judge, serve as start, status } from './referee.mjs';

const [kobana, out] = process.argv.slice(2);
const here = dirname(fileURLToPath(import.meta.url));
const sdk = `${out}/npm/node_modules/@modelcontextprotocol/client/dist/index.mjs`;
const { Client, StreamableHTTPClientTransport } = await import(pathToFileURL(sdk));
const BILL = '00000000-0000-7000-8000-00000000000a';

/** The command line, which says what it did. */
const run = (...options) => execFileSync(kobana, options, { encoding: 'utf8', cwd: here });

async function serve(data) {
  const log = createWriteStream(`${out}/out/extension-javascript.kobana.log`);
  const server = await start(kobana, log, { options: ['--data', data] });
  if (!server.base) throw new Error(`the server did not start: exit ${server.code}`);
  return { ...server, url: `${server.base}/mcp` };
}

async function connect(server, token, mode = 'auto') {
  const client = new Client({ name: 'referee', version: '1.0.0' }, { versionNegotiation: { mode } });
  const requestInit = { headers: { Authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(server.url), { requestInit }));
  return client;
}

const data = mkdtempSync(`${tmpdir()}/kobana-javascript-`);
const server = await serve(data);
try {
  await judge('it-builds', async () => {
    mkdirSync(`${here}/wit`, { recursive: true });
    writeFileSync(`${here}/wit/extension.wit`, run('extension', 'wit'));
    execFileSync(process.execPath, ['build.mjs'], { cwd: here, stdio: ['ignore', 'ignore', 'inherit'] });
  });
  await judge('it-passes-its-cases', async () => {
    try {
      const table = run('extension', 'test', 'reply-hint.wasm', '--cases', 'cases.yaml');
      // Indented, since these lines are the product's and not this referee's.
      console.log(table.replaceAll(/^/gm, '      '));
    } catch (error) {
      throw new Error(`exit ${error.status}\n${error.stdout}`);
    }
  });
  await judge('it-is-enabled-beside-the-server', async () => {
    run('extension', 'add', 'reply-hint.wasm', '--enable', '--workspace', 'acme', '--data', data);
  });
  for (const mode of ['auto', 'legacy']) {
    await judge(`${mode}-client-uses-it`, async () => {
      const client = await connect(server, 'demo-owner', mode);
      const { tools } = await client.listTools();
      expect(tools.some(({ name }) => name === 'ext.reply-hint.hint'), tools.map(({ name }) => name));
      const result = await client.callTool({ name: 'ext.reply-hint.hint', arguments: { email_id: BILL } });
      expect(result.structuredContent?.kind === 'bill' && result.structuredContent.language === 'pt', result);
      expect(result.content[0].text === 'It is of the kind bill; answer in Portuguese.', result);
      const { contents } = await client.readResource({ uri: 'reply-hint://kinds' });
      expect(JSON.parse(contents[0].text).bill.includes('boleto'), contents);
      const { messages } = await client.getPrompt({ name: 'ext.reply-hint.reply', arguments: { tone: 'formal' } });
      expect(messages[0].content.text.includes('formal reply'), messages);
      const argument = { name: 'tone', value: 'f' };
      const { completion } = await client.complete({ ref: { type: 'ref/prompt', name: 'ext.reply-hint.reply' }, argument });
      expect(JSON.stringify(completion.values) === '["friendly","formal"]', completion);
      await client.close();
    });
  }
  await judge('bad-arguments-are-refused', async () => {
    const client = await connect(server, 'demo-owner');
    const result = await client.callTool({ name: 'ext.reply-hint.hint', arguments: { email_id: 1 } });
    expect(result.isError && result.content[0].text.includes('validation_failed'), result);
    await client.close();
  });
  await judge('another-workspace-has-it-not', async () => {
    const client = await connect(server, 'demo-globex');
    const { tools } = await client.listTools();
    expect(tools.length > 0 && !tools.some(({ name }) => name.startsWith('ext.')), tools.map(({ name }) => name));
    await client.close();
  });
} finally {
  await server.stop();
  rmSync(data, { recursive: true });
}
process.exit(status());
