#!/usr/bin/env node
// Judges how kobana takes the tokens of a foreign issuer, a real one: run.mjs KOBANA OUT. A line for each thing that is judged.
import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { SignJWT, exportSPKI, generateKeyPair, exportJWK, importJWK } from 'jose';
import { Issuer, signIn } from './provider.mjs';
import { expect, judge, serve as start, status } from './referee.mjs';

const [kobana, out] = process.argv.slice(2);
const PERSON = 'ana.souza@acme.example';
const log = createWriteStream(`${out}/out/issuer.kobana.log`);

const sleep = (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000));

/** Something that has to come true, at the latest when kobana may ask for keys again. */
async function eventually(what, check) {
  for (let tries = 0; tries < 60; tries += 1) {
    if (await check()) return;
    await sleep(0.5);
  }
  throw new Error(`it did not happen: ${what}`);
}

async function key(alg, kid) {
  const { privateKey } = await generateKeyPair(alg, { extractable: true });
  return { ...(await exportJWK(privateKey)), alg, kid, use: 'sig' };
}

/** A demo server that takes this issuer's tokens; or what it said instead of starting. */
async function serve(issuer, settings = {}) {
  const server = await start(kobana, log, { settings: { KOBANA_ISSUER__URL: issuer, KOBANA_ISSUER__CLOCK_SKEW: '0', ...settings } });
  return { ...server, resource: `${server.base}/mcp` };
}

async function call(server, token) {
  const response = await fetch(server.resource, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'me_get' } }),
  });
  return { status: response.status, challenge: response.headers.get('www-authenticate') ?? '', body: await response.text() };
}

async function accepted(server, token) {
  const answer = await call(server, token);
  expect(answer.status === 200 && answer.body.includes(PERSON), `${answer.status} ${answer.challenge} ${answer.body}`);
}

async function refused(server, token, words = '') {
  const answer = await call(server, token);
  const good = answer.status === 401 && answer.challenge.includes('error="invalid_token"') && answer.challenge.includes(words);
  expect(good, `${answer.status} ${answer.challenge} ${answer.body}`);
}

const encode = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** The same claims under another header, signed in another way. */
function resigned(token, header, sign) {
  const signed = `${encode(header)}.${token.split('.')[1]}`;
  return `${signed}.${sign(signed)}`;
}

const first = await key('ES256', 'first');
const claims = { email: PERSON, email_verified: true };
const issuer = await new Issuer({ keys: [first], claims }).start();
const server = await serve(issuer.url);
const good = await signIn(issuer, 'ana', server.resource);

await judge('metadata-names-the-issuer', async () => {
  for (const path of ['/.well-known/oauth-protected-resource/mcp', '/.well-known/oauth-protected-resource']) {
    const document = await (await fetch(server.base + path)).json();
    expect(JSON.stringify(document.authorization_servers) === JSON.stringify([issuer.url]), JSON.stringify(document));
  }
});
await judge('no-authorization-server-of-its-own', async () => {
  for (const path of ['/.well-known/oauth-authorization-server', '/oauth/authorize', '/oauth/token', '/oauth/jwks']) {
    const { status } = await fetch(server.base + path);
    expect(status === 404, `${path}: ${status}`);
  }
});
await judge('good-token', () => accepted(server, good));
await judge('scopes-are-the-tokens', async () => {
  const body = JSON.parse(JSON.parse((await call(server, good)).body).result.content[0].text);
  expect(JSON.stringify(body.data.credential.scopes) === '["inbox.emails","inbox.inboxes"]', JSON.stringify(body.data.credential));
});
await judge('rest-refuses-it', async () => {
  const { status } = await fetch(`${server.base}/api/v1/me`, { headers: { authorization: `Bearer ${good}` } });
  expect(status === 401, `${status}`);
});
await judge('foreign-audience', async () => {
  await refused(server, await signIn(issuer, 'ana', 'https://elsewhere.example/mcp'), 'another resource');
});
await judge('expired', async () => {
  issuer.lifetime = 1;
  issuer.configure();
  const short = await signIn(issuer, 'ana', server.resource);
  issuer.lifetime = 3600;
  issuer.configure();
  await sleep(2.1);
  await refused(server, short, 'expired');
});
for (const [name, wrong] of [
  ['unverified-address', { email: PERSON, email_verified: false }],
  ['address-without-a-word-about-it', { email: PERSON }],
  ['unknown-person', { email: 'nobody@acme.example', email_verified: true }],
  ['disabled-person', { email: 'rui.braga@acme.example', email_verified: true }],
  ['no-address', {}],
]) {
  await judge(name, async () => {
    issuer.claims = wrong;
    await refused(server, await signIn(issuer, 'somebody', server.resource));
  });
}
issuer.claims = claims;

await judge('alg-none', async () => {
  for (const alg of ['none', 'None', 'NONE']) {
    await refused(server, resigned(good, { alg, typ: 'at+jwt', kid: 'first' }, () => ''));
  }
});
await judge('public-key-as-shared-secret', async () => {
  const { d, ...jwk } = first;
  const secrets = [await exportSPKI(await importJWK(jwk, 'ES256')), JSON.stringify(jwk), Buffer.from(jwk.x, 'base64url')];
  for (const secret of secrets) {
    const sign = (signed) => createHmac('sha256', secret).update(signed).digest('base64url');
    await refused(server, resigned(good, { alg: 'HS256', typ: 'at+jwt', kid: 'first' }, sign));
  }
});
await judge('altered-claims', async () => {
  const [header, payload, signature] = good.split('.');
  const altered = { ...JSON.parse(Buffer.from(payload, 'base64url')), scope: 'inbox.emails.write' };
  await refused(server, [header, encode(altered), signature].join('.'));
});
await judge('foreign-issuer-with-the-same-key-id', async () => {
  const foreign = await new Issuer({ keys: [await key('ES256', 'first')], claims }).start();
  await refused(server, await signIn(foreign, 'ana', server.resource));
  await foreign.stop();
});
await judge('foreign-issuer-with-the-same-key', async () => {
  const foreign = await new Issuer({ keys: [first], claims }).start();
  await refused(server, await signIn(foreign, 'ana', server.resource));
  await foreign.stop();
});
await judge('other-types-of-token', async () => {
  const secret = await importJWK(first, 'ES256');
  const payload = JSON.parse(Buffer.from(good.split('.')[1], 'base64url'));
  const typed = (typ) => new SignJWT(payload).setProtectedHeader({ alg: 'ES256', kid: 'first', typ }).sign(secret);
  await accepted(server, await typed('at+jwt'));
  for (const typ of ['logout+jwt', 'secevent+jwt', 'dpop+jwt']) await refused(server, await typed(typ));
});

await judge('rotated-key-is-fetched', async () => {
  issuer.keys = [await key('EdDSA', 'second'), first];
  issuer.alg = 'EdDSA';
  issuer.configure();
  const rotated = await signIn(issuer, 'ana', server.resource);
  await eventually('the new key is known', async () => (await call(server, rotated)).status === 200);
  await accepted(server, good);
});
await judge('withdrawn-key-ends', async () => {
  issuer.keys = [await key('RS256', 'third')];
  issuer.alg = 'RS256';
  issuer.configure();
  const rotated = await signIn(issuer, 'ana', server.resource);
  await eventually('the new key is known', async () => (await call(server, rotated)).status === 200);
  await refused(server, good);
});
await judge('invented-keys-are-not-asked-for-without-end', async () => {
  const asked = issuer.asked.keys;
  const current = await signIn(issuer, 'ana', server.resource);
  for (let number = 0; number < 50; number += 1) {
    await refused(server, resigned(current, { alg: 'RS256', typ: 'at+jwt', kid: `invented-${number}` }, () => 'AAAA'));
  }
  expect(issuer.asked.keys - asked <= 2, `${issuer.asked.keys - asked} times`);
});
await judge('an-issuer-that-hangs-holds-up-nobody', async () => {
  const current = await signIn(issuer, 'ana', server.resource);
  const { handler } = issuer;
  const seen = { hung: false };
  issuer.handler = () => { seen.hung = true; };
  const invent = (number) => refused(server, resigned(current, { alg: 'RS256', typ: 'at+jwt', kid: `hung-${number}` }, () => 'AAAA'));
  await eventually('kobana asks for keys again', async () => { await invent('first'); return seen.hung; });
  // One after the other they would take minutes, and the runtime would cut them off by 503.
  await sleep(10);
  await Promise.all([...Array(40).keys()].map(invent).concat(Array.from({ length: 10 }, () => accepted(server, current))));
  issuer.handler = handler;
});
await judge('outage-is-survived-with-known-keys', async () => {
  const current = await signIn(issuer, 'ana', server.resource);
  await issuer.stop();
  await accepted(server, current);
  await refused(server, resigned(current, { alg: 'RS256', typ: 'at+jwt', kid: 'invented' }, () => 'AAAA'));
  await accepted(server, current);
});
await judge('start-during-an-outage', async () => {
  const late = await serve(issuer.url);
  expect(late.base, `it did not start: ${late.log()}`);
  expect(late.log().includes('keys cannot be fetched'), 'the log says nothing about it');
  await issuer.start();
  const current = await signIn(issuer, 'ana', late.resource);
  await issuer.stop();
  expect((await call(late, current)).status === 503, 'before any key was had, nobody can say whether a token is good');
  await issuer.start();
  await eventually('the keys are fetched', async () => (await call(late, current)).status === 200);
  await late.stop();
});
await judge('linked-subjects', async () => {
  const data = mkdtempSync(`${tmpdir()}/kobana-issuer-`);
  const linked = await serve(issuer.url, { KOBANA_DATA: data, KOBANA_ISSUER__PERSON_CLAIM: 'sub' });
  const admin = (...words) => execFileSync(kobana, ['admin', 'person', ...words, '--data', data, '--subject', 'ana', '--issuer', issuer.url]);
  const current = await signIn(issuer, 'ana', linked.resource);
  await refused(linked, current);
  admin('link', PERSON);
  await accepted(linked, current);
  await refused(linked, await signIn(issuer, 'rui', linked.resource));
  admin('unlink');
  await refused(linked, current);
  await linked.stop();
  rmSync(data, { recursive: true });
});
await judge('only-configured-algorithms', async () => {
  const strict = await serve(issuer.url, { KOBANA_ISSUER__ALGORITHMS: '["ES256","EdDSA"]' });
  await refused(strict, await signIn(issuer, 'ana', strict.resource));
  await strict.stop();
});
await judge('metadata-that-names-another-issuer', async () => {
  const liar = await new Issuer({ keys: [first], name: 'https://elsewhere.example' }).start();
  const never = await serve(liar.url);
  expect(never.code === 2 && /issuer\.url: it calls itself/.test(never.log()), `${never.code} ${never.log()}`);
  await liar.stop();
});
await judge('plain-http-off-this-machine', async () => {
  const never = await serve('http://issuer.example');
  expect(never.code === 2 && /issuer\.url: .*https/.test(never.log()), `${never.code} ${never.log()}`);
});

await server.stop();
await issuer.stop();
process.exit(status());
