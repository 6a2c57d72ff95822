// A real authorization server, oidc-provider, with what a test wants to turn: its keys, the claims of its tokens, its hours.
import { createServer } from 'node:http';
import Provider from 'oidc-provider';

const CLIENT = { client_id: 'referee', token_endpoint_auth_method: 'none', redirect_uris: ['http://127.0.0.1:1/callback'] };

export class Issuer {
  /** Keys as private JWKs, the algorithm that signs, seconds that tokens last, claims that they hold beside the usual ones. */
  constructor({ keys, alg = 'ES256', lifetime = 3600, claims = {}, name, at }) {
    Object.assign(this, { keys, alg, lifetime, claims, name, port: at ?? 0, asked: { keys: 0 } });
  }

  /** Listens, on the port of before if there was one. */
  async start() {
    this.server = createServer((request, response) => {
      if (request.url === '/jwks') this.asked.keys += 1;
      this.handler(request, response);
    });
    await new Promise((resolve) => this.server.listen(this.port, '127.0.0.1', resolve));
    this.port = this.server.address().port;
    this.url = `http://127.0.0.1:${this.port}`;
    this.configure();
    return this;
  }

  /** Begins anew, with what was changed meanwhile; its persons have to sign in again. */
  configure() {
    this.handler = new Provider(this.name ?? this.url, this.configuration()).callback();
  }

  configuration() {
    return {
      clients: [CLIENT],
      clientDefaults: { id_token_signed_response_alg: this.alg },
      enabledJWA: { idTokenSigningAlgValues: ['ES256', 'EdDSA', 'RS256'] },
      jwks: { keys: this.keys },
      scopes: ['openid', 'inbox.emails', 'inbox.inboxes'],
      findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
      extraTokenClaims: () => this.claims,
      cookies: { keys: ['referee'] },
      ttl: { AccessToken: this.lifetime },
      features: {
        devInteractions: { enabled: true },
        resourceIndicators: {
          enabled: true,
          getResourceServerInfo: (_, audience) => ({
            audience,
            scope: 'inbox.emails inbox.inboxes',
            accessTokenFormat: 'jwt',
            jwt: { sign: { alg: this.alg } },
          }),
        },
      },
    };
  }

  async stop() {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

/** Signs in as `subject` in the issuer's own pages and lets the referee's client have a token for `resource`. */
export async function signIn(issuer, subject, resource) {
  const base = issuer.url;
  const cookies = new Map();
  const ask = async (url, form) => {
    const headers = { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') };
    const body = form && new URLSearchParams(form);
    const response = await fetch(url, { method: form ? 'POST' : 'GET', headers, body, redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line);
      if (value) cookies.set(name, value); else cookies.delete(name);
    }
    return response;
  };
  const { createHash, randomBytes } = await import('node:crypto');
  const verifier = randomBytes(32).toString('base64url');
  const query = new URLSearchParams({
    client_id: CLIENT.client_id, response_type: 'code', redirect_uri: CLIENT.redirect_uris[0], resource,
    scope: 'openid inbox.emails inbox.inboxes', code_challenge_method: 'S256',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
  });
  let response = await ask(`${base}/auth?${query}`);
  for (let step = 0; step < 12; step += 1) {
    const to = response.headers.get('location');
    if (!to) throw new Error(`the issuer answered ${response.status}: ${(await response.text()).replace(/<style>.*<\/style>/s, '').replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ')}`);
    const url = new URL(to, base);
    if (url.pathname === '/callback') {
      const code = url.searchParams.get('code');
      if (!code) throw new Error(`the issuer granted nothing: ${url.search}`);
      const answer = await ask(`${base}/token`, {
        grant_type: 'authorization_code', client_id: CLIENT.client_id, redirect_uri: CLIENT.redirect_uris[0], code,
        code_verifier: verifier, resource,
      });
      const token = (await answer.json()).access_token;
      if (!token) throw new Error(`the issuer gave no token: ${answer.status}`);
      return token;
    }
    if (url.pathname.startsWith('/interaction/')) {
      const prompt = /name="prompt" value="(\w+)"/.exec(await (await ask(url)).text())[1];
      response = await ask(url, prompt === 'login' ? { prompt, login: subject, password: 'any' } : { prompt });
    } else {
      response = await ask(url);
    }
  }
  throw new Error('the issuer goes round in circles');
}
