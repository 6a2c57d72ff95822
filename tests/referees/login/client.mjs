// A client that signs in by the OAuth of its own library, and the place on this computer where the browser brings it the code.
import { createServer } from 'node:http';
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { UnauthorizedError as OldUnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';

/** Takes what the browser is sent back with. Serves the document about the client too, for those that are known by one. */
export class Callback {
  #server = createServer((request, response) => this.#answer(new URL(request.url, this.origin), response));
  #waiting = new Map();

  async listen() {
    await new Promise((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    this.origin = `http://127.0.0.1:${this.#server.address().port}`;
    this.url = `${this.origin}/callback`;
    this.document = `${this.origin}/client.json`;
    return this;
  }

  /** The parameters of the visit that brings this state back. */
  visit(state) {
    return new Promise((resolve) => this.#waiting.set(state, resolve));
  }

  close() {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #answer(url, response) {
    if (url.pathname === '/client.json') {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ client_id: this.document, ...metadata(this, 'Documented client') }));
    } else if (url.pathname === '/callback') {
      response.setHeader('content-type', 'text/html');
      response.end('<!doctype html><title>Done</title><p>You can close this window.</p>');
      this.#waiting.get(url.searchParams.get('state'))?.(url.searchParams);
    } else {
      response.writeHead(204).end();
    }
  }
}

const metadata = (callback, name) => ({
  client_name: name,
  redirect_uris: [callback.url],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
});

/** What the library wants to have kept, in memory. */
class Provider {
  /** `document` is the address of the document about the client, which then needs no registration. */
  constructor(callback, name, document, issuer) {
    Object.assign(this, { callback, name });
    // The library takes https addresses only, from which it would make just this.
    this.information = document && { client_id: document, issuer };
  }

  get redirectUrl() { return this.callback.url; }
  get clientMetadata() { return metadata(this.callback, this.name); }
  state() { return crypto.randomUUID(); }
  clientInformation() { return this.information; }
  saveClientInformation(information) { this.information = information; }
  tokens() { return this.kept; }
  saveTokens(tokens) { this.kept = tokens; this.saved = (this.saved ?? 0) + 1; }
  redirectToAuthorization(url) { this.authorization = url; }
  saveCodeVerifier(verifier) { this.verifier = verifier; }
  codeVerifier() { return this.verifier; }
  saveDiscoveryState(state) { this.discovery = state; }
  discoveryState() { return this.discovery; }

  invalidateCredentials(what) {
    if (what === 'all' || what === 'tokens') this.kept = undefined;
    if (what === 'all' || what === 'client') this.information = undefined;
    if (what === 'all' || what === 'verifier') this.verifier = undefined;
    if (what === 'all' || what === 'discovery') this.discovery = undefined;
  }
}

const LIBRARIES = {
  ts2: {
    client: (identity) => new Client(identity, { versionNegotiation: { mode: 'auto' } }),
    transport: (url, authProvider) => new StreamableHTTPClientTransport(url, { authProvider }),
    finish: (transport, parameters) => transport.finishAuth(parameters),
    Unauthorized: UnauthorizedError,
    call: (client, name, args) => client.callTool({ name, arguments: args }),
  },
  sdk1: {
    client: (identity) => new OldClient(identity),
    transport: (url, authProvider) => new OldTransport(url, { authProvider }),
    finish: (transport, parameters) => transport.finishAuth(parameters.get('code')),
    Unauthorized: OldUnauthorizedError,
    call: (client, name, args) => client.callTool({ name, arguments: args }),
  },
};

/** Somebody's client, from the paste of a URL on. `visit` is what the person does in the browser. */
export class Person {
  constructor(server, callback, { library = 'ts2', name = 'Referee client', document } = {}) {
    this.library = LIBRARIES[library];
    this.url = new URL(`${server.base}/mcp`);
    this.callback = callback;
    this.provider = new Provider(callback, name, document, server.base);
    this.visits = 0;
  }

  /** Does something that may need signing in, once or again; signs in with `visit` whenever the library asks for it. */
  async #authorized(transport, action, visit) {
    for (let left = 2; ; left -= 1) {
      try {
        return await action();
      } catch (error) {
        if (!(error instanceof this.library.Unauthorized) || !left) throw error;
        this.visits += 1;
        const { authorization } = this.provider;
        const answer = this.callback.visit(authorization.searchParams.get('state'));
        await visit(authorization.href);
        const parameters = await answer;
        if (parameters.get('error')) throw new Denied(parameters);
        await this.library.finish(transport(), parameters);
      }
    }
  }

  async connect(visit) {
    let transport;
    await this.#authorized(() => transport, async () => {
      this.client = this.library.client({ name: 'referee', version: '1' });
      transport = this.library.transport(this.url, this.provider);
      await this.client.connect(transport);
    }, visit);
    this.transport = transport;
  }

  async tools() {
    const { tools } = await this.client.listTools();
    return tools.map((tool) => tool.name);
  }

  async call(name, args = {}, visit = unexpected) {
    const result = await this.#authorized(() => this.transport, () => this.library.call(this.client, name, args), visit);
    if (result.isError) throw new Error(`${name}: ${result.content[0].text}`);
    return JSON.parse(result.content[0].text);
  }

  get scopes() { return (this.provider.kept?.scope ?? '').split(' ').filter(Boolean).sort(); }

  close() { return this.client.close(); }
}

export class Denied extends Error {
  constructor(parameters) {
    super(parameters.get('error'));
    this.parameters = parameters;
  }
}

export function unexpected(url) {
  throw new Error(`nobody should have to sign in here: ${url}`);
}
