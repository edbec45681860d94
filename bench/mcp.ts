import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { apiClient } from '../test/support/client.js';
import type { BenchEnvironment } from './environment.js';
import { inTurns, medians, timed, type Figure } from './measure.js';

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
    const times = await inTurns(
      rounds,
      () => timed(overMcp),
      () => timed(overRest),
      50,
    );
    figures.push(medians(`${what} over MCP against REST, median`, 'ms', times, 'at most 1.5'));
  }
  await client.close();
  return figures;
}
