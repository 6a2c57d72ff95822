// The official TypeScript SDK with one tool, which answers with the text that it was started with: server.mjs PORT ROWS
// Stateless, answers in JSON, one process. A server and a transport for each request, as the SDK's guide has it; its
// other entry, createMcpHandler, answers the 2025 era in event streams only.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { NodeStreamableHTTPServerTransport } from '@modelcontextprotocol/node';
import { McpServer } from '@modelcontextprotocol/server';
import * as z from 'zod/v4';

const [port, file] = process.argv.slice(2);
const text = readFileSync(file, 'utf8');
const inputSchema = z.object({ payload: z.string().optional() });

createServer(async (request, response) => {
  const server = new McpServer({ name: 'peer', version: '0' });
  server.registerTool('rows', { description: 'Ten rows', inputSchema }, () => ({ content: [{ type: 'text', text }] }));
  const transport = new NodeStreamableHTTPServerTransport({ sessionIdGenerator: undefined, enableJsonResponse: true });
  response.on('close', () => server.close());
  await server.connect(transport);
  await transport.handleRequest(request, response);
}).listen(Number(port), '127.0.0.1');
