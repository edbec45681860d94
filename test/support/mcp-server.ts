import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { spawn } from 'node:child_process';
import path from 'node:path';
import { json } from 'node:stream/consumers';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { eventually } from './eventually.js';
import { freePort, listen } from './ports.js';

export interface McpServer {
  url: string;
  /** The tools that it offers now. */
  tools: any[];
  /** The calls of its tools, in order. */
  calls: { name: string; arguments: unknown }[];
  headers: IncomingMessage['headers'][];
  /** The result of every call. */
  result: (name: string, signal: AbortSignal, report: (progress: object) => Promise<void>) => Promise<any>;
  /** The statuses with which it refuses its next calls, in order. */
  refusals: number[];
  /** Resets all connections. */
  dropConnections(): void;
  close(): Promise<void>;
}

/** An MCP server whose tools and results a test can change at any time. */
export async function startMcpServer(): Promise<McpServer> {
  const answer = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    running.headers.push(req.headers);
    const body: any = req.method === 'POST' ? await json(req) : undefined;
    const refusal = body?.method === 'tools/call' ? running.refusals.shift() : undefined;
    if (refusal !== undefined) return void res.writeHead(refusal).end();
    const server = new Server({ name: 'changing', version: '1' }, { capabilities: { tools: {} } });
    server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: running.tools }));
    server.setRequestHandler(CallToolRequestSchema, ({ params }, { signal, sendNotification, _meta }) => {
      running.calls.push({ name: params.name, arguments: params.arguments });
      const progressToken = _meta?.progressToken ?? '';
      return running.result(params.name, signal, (progress: any) =>
        sendNotification({ method: 'notifications/progress', params: { progressToken, ...progress } }),
      );
    });
    // Without sessions, and with one stream for each answer.
    const transport = new StreamableHTTPServerTransport({});
    res.on('close', () => void server.close());
    void server.connect(transport as never).then(() => transport.handleRequest(req, res, body));
  };
  const http = createServer((req, res) => void answer(req, res));
  const { url, close } = await listen(http);
  const running: McpServer = {
    url: `${url}/mcp`,
    tools: [],
    calls: [],
    headers: [],
    refusals: [],
    result: async (name) => ({ content: [{ type: 'text', text: `${name} did it` }] }),
    dropConnections: () => http.closeAllConnections(),
    close,
  };
  return running;
}

export function toolNamed(name: string, change: object = {}): any {
  const inputSchema = { type: 'object', properties: { word: { type: 'string' } } };
  return { name, description: `Does ${name}`, inputSchema, ...change };
}

const bins = {
  everything: 'server-everything/dist/index.js',
  filesystem: 'server-filesystem/dist/index.js',
  memory: 'server-memory/dist/index.js',
} as const;

/** The command line of a server from npm, without npx. */
export function npmServer(name: keyof typeof bins, ...args: string[]): string[] {
  return [process.execPath, path.resolve('node_modules/@modelcontextprotocol', bins[name]), ...args];
}

/** `server-everything` in its own process, over Streamable HTTP. */
export async function startEverything(): Promise<{ url: string; close(): void }> {
  const PORT = await freePort();
  const [command = '', ...args] = npmServer('everything', 'streamableHttp');
  const child = spawn(command, args, { env: { ...process.env, PORT }, stdio: 'ignore' });
  const url = `http://127.0.0.1:${PORT}/mcp`;
  await eventually(() => fetch(url));
  return { url, close: () => void child.kill('SIGKILL') };
}
