#!/usr/bin/env node
// People sign in, in a real browser, for clients with the OAuth of their own libraries: run.mjs KOBANA OUT. A line for each
// thing that is judged; pictures of every page are left in OUT/out/login.
import { spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { ANA, LOOKS, MARCOS, choose, faults, launch, open, picture, scopes, signIn, visitor } from './browser.mjs';
import { Callback, Denied, Person } from './client.mjs';
import { judge, serve as start, status } from './referee.mjs';

const [kobana, out] = process.argv.slice(2);
const pictures = `${out}/out/login`;
const log = createWriteStream(`${out}/out/login.kobana.log`);

function same(found, wanted, what = '') {
  const [one, other] = [JSON.stringify(found), JSON.stringify(wanted)];
  if (one !== other) throw new Error(`${what} ${one}, expected ${other}`);
}

/** A demo server with fresh data. */
async function serve(settings = {}) {
  // One person signs in here more often than anybody does in ten minutes.
  const often = { KOBANA_LOGIN__ATTEMPTS: '1000', KOBANA_LOGIN__ATTEMPTS_PER_ADDRESS: '1000' };
  const server = await start(kobana, log, { settings: { ...often, ...settings } });
  if (!server.base) throw new Error(`the server did not start: exit ${server.code}`);
  return server;
}

const server = await serve();
const callback = await new Callback().listen();
const browser = await launch();

const READING = ['inbox.emails', 'inbox.inboxes'];

/** What a person sees and does who signs in for the first time, in one language. */
async function firstTime(locale, words, options = {}) {
  const page = await open(browser, { locale, ...options });
  const person = new Person(server, callback, { name: `Referee ${locale}` });
  await person.connect(async (url) => {
    await page.goto(url);
    same(await page.textContent('h1'), words.login);
    await signIn(page, { ...ANA, password: 'wrong' });
    await page.waitForSelector('#problem');
    same(await page.inputValue('#email'), ANA.email, 'what was typed is gone:');
    same(await page.inputValue('#password'), '', 'the password came back:');
    await signIn(page, ANA);
    await page.waitForSelector('#consent');
    const text = await page.innerText('main');
    for (const word of [`Referee ${locale}`, 'Ana Souza', ANA.email, 'Acme', ...words.consent]) {
      if (!text.includes(word)) throw new Error(`the page does not say ${word}: ${text}`);
    }
    await choose(page, READING);
    await page.click('#allow');
    await page.waitForURL(/\/callback\?/);
  });
  same(person.scopes, READING);
  same((await person.call('me_get')).data.person.email, ANA.email);
  const tools = await person.tools();
  if (!tools.includes('emails_list') || tools.includes('agents_list')) throw new Error(`the tools are ${tools}`);
  await person.close();
  // A wrong password is answered as 4xx, which the console of the browser reports; nothing else is said there.
  const complaints = page.complaints.filter((text) => !/status of (401|403|422|400)/.test(text));
  same(complaints, []);
  await page.context().close();
}

await judge('english', () => firstTime('en-US', { login: 'Sign in', consent: ['a program on this computer'] }));
await judge('portuguese', () => firstTime('pt-BR', { login: 'Entrar', consent: ['um programa neste computador'] }));
await judge('without-scripts', () => firstTime('en-US', { login: 'Sign in', consent: ['a program on this computer'] }, { javaScriptEnabled: false }));

await judge('keyboard-only', async () => {
  const page = await open(browser);
  const focused = () => page.evaluate(() => document.activeElement.id || document.activeElement.value || '');
  const visible = () => page.evaluate(() => {
    const style = getComputedStyle(document.activeElement);
    return style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 1;
  });
  /** Goes on with the Tab key to what is wanted. Where one is has to be seen. */
  const reach = async (wanted) => {
    for (let steps = 0; steps < 40; steps += 1) {
      if ((await focused()) === wanted) return;
      await page.keyboard.press('Tab');
      if (!(await visible())) throw new Error(`nothing shows that ${await focused()} has the focus`);
    }
    throw new Error(`the Tab key does not lead to ${wanted}`);
  };
  const person = new Person(server, callback);
  await person.connect(async (url) => {
    await page.goto(url);
    await reach('email');
    await page.keyboard.type(ANA.email);
    await reach('password');
    await page.keyboard.type(ANA.password);
    await page.keyboard.press('Enter');
    await page.waitForSelector('#consent');
    await reach('inbox.webhooks');
    await page.keyboard.press('Space');
    await reach('allow');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/callback\?/);
  });
  same(person.scopes.includes('inbox.webhooks'), false, 'a scope that was taken away is there:');
  await person.call('me_get');
  await person.close();
  await page.context().close();
});

await judge('reading-is-proposed', async () => {
  const page = await open(browser);
  const person = new Person(server, callback);
  await person.connect(async (url) => {
    await page.goto(url);
    await signIn(page, ANA);
    await page.waitForSelector('#consent');
    const proposed = await scopes(page);
    same(proposed.filter(([scope]) => scope.endsWith('.write')), [], 'writing is proposed:');
    same(proposed.every(([, ticked]) => ticked) && proposed.length > 0, true);
    await page.click('#allow');
    await page.waitForURL(/\/callback\?/);
  });
  await person.close();
  await page.context().close();
});

await judge('step-up', async () => {
  const page = await open(browser);
  const person = new Person(server, callback);
  await person.connect(visitor(page, ANA, ['inbox.emails']));
  same(person.scopes, ['inbox.emails']);
  const steps = async (url) => {
    await page.goto(url);
    // Still signed in: straight to what is new.
    await page.waitForSelector('#consent');
    same(await page.isVisible('#step-up'), true);
    await picture(page, pictures, 'step-up');
    same(await page.$$eval('.choice:has(.badge) input', (boxes) => boxes.map((box) => box.value)), ['inbox.inboxes.write']);
    await page.click('#allow');
    await page.waitForURL(/\/callback\?/);
  };
  const made = await person.call('inboxes_create', { label: 'Balcão' }, steps);
  same(made.data.label, 'Balcão');
  same(person.scopes, ['inbox.emails', 'inbox.inboxes.write']);
  same(person.visits, 2, 'visits to the browser:');
  await person.close();
  await page.context().close();
});

await judge('refresh', async () => {
  const brief = await serve({ KOBANA_LOGIN__ACCESS_LIFETIME: '2' });
  const page = await open(browser);
  const person = new Person(brief, callback);
  await person.connect(visitor(page));
  const first = { ...person.provider.kept };
  same(first.expires_in, 2);
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  same((await person.call('me_get')).data.person.email, ANA.email);
  same(person.visits, 1, 'visits to the browser:');
  const second = person.provider.kept;
  same([second.access_token !== first.access_token, second.refresh_token !== first.refresh_token], [true, true], 'new tokens:');
  same(second.scope, first.scope);
  await person.close();
  brief.stop();
  await page.context().close();
});

await judge('revocation', async () => {
  const page = await open(browser);
  const person = new Person(server, callback);
  await person.connect(visitor(page));
  const body = new URLSearchParams({ token: person.provider.kept.refresh_token, client_id: person.provider.information.client_id });
  const answer = await fetch(`${server.base}/oauth/revoke`, { method: 'POST', body });
  same(answer.status, 200);
  // The access token ends with it, refreshing is over too, and the library goes back to the browser by itself.
  await person.call('me_get', {}, visitor(page));
  same(person.visits, 2, 'visits to the browser:');
  await person.close();
  await page.context().close();
});

await judge('deny', async () => {
  const page = await open(browser);
  const person = new Person(server, callback);
  const refusing = async (url) => {
    await page.goto(url);
    await signIn(page, ANA);
    await page.click('#deny');
    await page.waitForURL(/\/callback\?/);
  };
  const error = await person.connect(refusing).then(() => undefined, (error) => error);
  same(error instanceof Denied, true, String(error));
  same([error.parameters.get('error'), error.parameters.get('iss'), error.parameters.get('code')], ['access_denied', server.base, null]);
  await page.context().close();
});

await judge('sign-out', async () => {
  const page = await open(browser);
  const person = new Person(server, callback);
  await person.connect(visitor(page));
  await page.goto(person.provider.authorization.href);
  await page.waitForSelector('#consent');
  await page.click('#someone-else');
  await page.waitForSelector('#login');
  await signIn(page, MARCOS);
  await page.waitForSelector('#consent');
  same(await page.textContent('#person'), 'Marcos Reis');
  await page.goto(`${server.base}/oauth/logout`);
  await page.click('#sign-out');
  await page.waitForLoadState();
  same(await page.context().cookies(server.base).then((all) => all.filter(({ name }) => /session/i.test(name))), []);
  await page.goto(person.provider.authorization.href);
  await page.waitForSelector('#login');
  // Who signs out of the pages takes nothing from the clients that were let in.
  await person.call('me_get');
  await person.close();
  await page.context().close();
});

await judge('one-workspace', async () => {
  const page = await open(browser);
  const person = new Person(server, callback);
  await person.connect(async (url) => {
    await page.goto(url);
    await signIn(page, MARCOS);
    await page.waitForSelector('#consent');
    await page.click('text=Acme Laboratório');
    await page.click('#allow');
    await page.waitForURL(/\/callback\?/);
  });
  const { data } = await person.call('inboxes_list');
  same(data.map((inbox) => inbox.external_id), ['labs-main']);
  await person.close();
  await page.context().close();
});

await judge('client-of-a-document', async () => {
  const page = await open(browser);
  const person = new Person(server, callback, { document: callback.document });
  await person.connect(async (url) => {
    await page.goto(url);
    await signIn(page, ANA);
    await page.waitForSelector('#consent');
    const text = await page.innerText('main');
    if (!text.includes('Documented client')) throw new Error(`the page does not say who asks: ${text}`);
    await page.click('#allow');
    await page.waitForURL(/\/callback\?/);
  });
  await person.call('me_get');
  await person.close();
  await page.context().close();
});

await judge('sdk-1', async () => {
  const page = await open(browser);
  const person = new Person(server, callback, { library: 'sdk1', name: 'Client of the old library' });
  await person.connect(visitor(page, ANA, READING));
  same((await person.call('me_get')).data.person.email, ANA.email);
  // It refreshes where it is told that scopes are missing, which gives none (in 1.32.2): whoever needs more signs in anew.
  same(person.visits, 1, 'visits to the browser:');
  await person.close();
  await page.context().close();
});

await judge('python', async () => {
  const page = await open(browser);
  const child = spawn(`${out}/py2/bin/python`, [fileURLToPath(new URL('py2.py', import.meta.url)), `${server.base}/mcp`, callback.url]);
  child.stderr.pipe(log, { end: false });
  const asked = [];
  let saw;
  for await (const line of createInterface(child.stdout)) {
    if (line.startsWith('saw ')) saw = JSON.parse(line.slice(4));
    if (!line.startsWith('visit ')) continue;
    const url = new URL(line.slice(6));
    asked.push(url.searchParams.get('scope').split(' ').length);
    const answer = callback.visit(url.searchParams.get('state'));
    await visitor(page, ANA, asked.length === 1 ? READING : undefined)(url.href);
    child.stdin.write(`${JSON.stringify(Object.fromEntries(await answer))}\n`);
  }
  // What was taken away the first time is asked for again, and granted here.
  same([saw.email, saw.first, saw.agents, saw.then.includes('inbox.agents')], [ANA.email, READING, 2, true], JSON.stringify(saw));
  same(asked.length, 2, 'visits to the browser:');
  await page.context().close();
});

/** Every page that people meet, by how they get there. */
const PAGES = {
  async login(page, url) {
    await page.goto(url);
  },
  async 'login-wrong'(page, url) {
    await page.goto(url);
    await signIn(page, { ...ANA, password: 'wrong' });
    await page.waitForSelector('#problem');
  },
  async consent(page, url) {
    await page.goto(url);
    await signIn(page, MARCOS);
    await page.waitForSelector('#consent');
  },
  async 'consent-writing'(page, url) {
    const asking = new URL(url);
    asking.searchParams.set('scope', 'inbox.emails inbox.emails.write inbox.webhooks inbox.webhooks.write inbox.inboxes.write');
    await PAGES.consent(page, asking.href);
  },
  async 'foreign-redirect'(page, url) {
    const asking = new URL(url);
    asking.searchParams.set('redirect_uri', 'https://evil.example/callback');
    await page.goto(asking.href);
    await page.waitForSelector('#problem');
  },
  async 'unknown-client'(page, url) {
    const asking = new URL(url);
    asking.searchParams.set('client_id', 'nobody');
    await page.goto(asking.href);
    await page.waitForSelector('#problem');
  },
  async 'sign-out'(page, url) {
    await PAGES.consent(page, url);
    await page.goto(`${server.base}/oauth/logout`);
    await page.waitForSelector('#sign-out');
  },
  async 'signed-out'(page, url) {
    await PAGES['sign-out'](page, url);
    await page.click('#sign-out');
    await page.waitForSelector('#sign-out', { state: 'detached' });
  },
  async 'not-found'(page) {
    await page.goto(`${server.base}/oauth/nothing`);
  },
};

const asker = new Person(server, callback, { name: 'Assistente de cobrança da Acme Financeiro' });
await asker.connect((url) => { throw new Denied(new URL(url).searchParams); }).catch(() => undefined);
for (const [name, reach] of Object.entries(PAGES)) {
  for (const locale of ['en-US', 'pt-BR']) {
    await judge(`page-${name}-${locale}`, async () => {
      for (const [look, options] of LOOKS) {
        const page = await open(browser, { locale, ...options });
        await reach(page, asker.provider.authorization.href);
        // Before the picture, for which the browser is told to hide the caret.
        const found = (await faults(page)).filter((text) => !/the server responded with a status of 4\d\d/.test(text));
        await picture(page, pictures, `${name}-${locale}-${look}`);
        same(found, [], look);
        same(await page.evaluate(() => document.documentElement.lang.slice(0, 2)), locale.slice(0, 2));
        await page.context().close();
      }
    });
  }
}

/** The checks of the conformance suite for authorization servers; the browser does what it asks a person to do. */
async function conformance(revision) {
  const suite = fileURLToPath(new URL('node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url));
  const place = await new Callback().listen();
  const port = new URL(place.origin).port;
  place.close();
  const registration = await fetch(`${server.base}/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_name: 'Conformance', redirect_uris: [`http://127.0.0.1:${port}/callback`], token_endpoint_auth_method: 'none' }),
  });
  const { client_id: id } = await registration.json();
  const page = await open(browser);
  const child = spawn(process.execPath, [suite, 'authorization', '--url', server.base, '--client-id', id, '--resource', `${server.base}/mcp`,
    '--port', port, '--spec-version', revision]);
  const lines = [];
  child.stderr.pipe(log, { end: false });
  for await (const line of createInterface(child.stdout)) {
    lines.push(line);
    log.write(`${line}\n`);
    if (!line.startsWith(`${server.base}/oauth/authorize?`)) continue;
    await page.goto(line.trim());
    if (await page.$('#login')) await signIn(page, ANA);
    await page.click('#allow');
  }
  await page.context().close();
  return lines.join('\n');
}

for (const revision of ['2025-03-26', '2025-06-18', '2026-07-28']) {
  await judge(`conformance-${revision}`, async () => {
    const said = await conformance(revision);
    const sums = [...said.matchAll(/^. (\S+): (\d+) passed, (\d+) failed/gm)];
    same(sums.map(([, name]) => name), ['authorization-server-metadata-endpoint', 'authorization-code-grant'], said);
    same(sums.every(([, , passed, failed]) => passed > 0 && failed === '0'), true, said);
    if (/WARNING|SKIPPED/.test(said)) throw new Error(said);
  });
}

await browser.close();
callback.close();
server.stop();
process.exitCode = status();
