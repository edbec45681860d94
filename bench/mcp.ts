import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { apiClient } from '../test/support/client.js';
import type { BenchEnvironment } from './environment.js';
import { figure, median, range, timed, type Figure } from './measure.js';

const rounds = 400;

/**
 * Compares a tool call over MCP, through the SDK's client in an open session, with the same call over REST (issue: at
 * most 1.5 times the median).
 */
export async function benchMcp(bench: BenchEnvironment): Promise<Figure[]> {
  const { apiKey } = await bench.workspace();
  const headers = { Authorization: `Bearer ${apiKey}` };
  const rest = apiClient(bench.api.url, headers);
  const client = new Client({ name: 'bench', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', bench.api.url), { requestInit: { headers } }));
  const calls = [
    { what: 'documentation', name: 'docs', route: '/v1/docs', input: { topic: 'errors' } },
    {
      what: 'governed query',
      name: 'query_context',
      route: '/v1/query-context',
      input: { query: 'MATCH (n) WHERE n.project_id = $project_id RETURN n.name LIMIT 10' },
    },
  ];
  const figures: Figure[] = [];
  for (const { what, name, route, input } of calls) {
    const overMcp = async () => {
      const { isError } = await client.callTool({ name, arguments: input });
      if (isError) throw new Error(`${name} was refused`);
    };
    const overRest = async () => {
      const { status } = await rest.post(route, input);
      if (status !== 200) throw new Error(`${route} answered ${status}`);
    };
    figures.push(await compare(`${what} over MCP against REST, median`, overMcp, overRest));
  }
  await client.close();
  return figures;
}

/** Alternates the two after each call, so that both have the same load. */
async function compare(what: string, overMcp: () => Promise<void>, overRest: () => Promise<void>): Promise<Figure> {
  const ours: number[] = [];
  const baseline: number[] = [];
  for (const round of range(rounds + 50)) {
    const [mcp, rest] = [await timed(overMcp), await timed(overRest)];
    // The first calls only warm up.
    if (round < 50) continue;
    ours.push(mcp);
    baseline.push(rest);
  }
  return figure(what, 'ms', median(ours), median(baseline), 'at most 1.5');
}
