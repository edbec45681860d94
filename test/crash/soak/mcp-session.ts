import { setTimeout as delay } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { newId } from '../../../src/base/ids.js';
import { bearer, textOf } from '../../surfaces/mcp/clients.js';
import { isBroken } from './balanced.js';
import type { Stage } from './loads.js';

interface Session {
  call(name: string, input: Record<string, unknown>): Promise<any>;
  close(): Promise<void>;
}

/** The silence after which a session is abandoned: its process may have died during the answer. */
const callMs = 10_000;

/** One session with six tool calls. When its process dies, the call is repeated in a new session. */
export async function holdSession(stage: Stage, load: string): Promise<void> {
  const { ledger } = stage;
  const ids = [newId(), newId()];
  const saves = ids.map((id) => ({
    name: 'save_context',
    input: { source: 'soak', entities: [{ id, type: 'Customer', name: `Customer ${id}`, properties: {} }] },
  }));
  const query = {
    name: 'query_context',
    input: { query: 'MATCH (c:Customer) WHERE c.project_id = $project_id RETURN c LIMIT 10' },
  };
  const docs = { name: 'docs', input: { topic: 'errors' } };
  let session = await open(stage, load);
  for (const { name, input } of [docs, ...saves, query, docs, query]) {
    let answer = await session.call(name, input).catch(whenLost);
    while (answer === undefined) {
      stage.tally.broken(load);
      await session.close();
      session = await open(stage, load);
      answer = await session.call(name, input).catch(whenLost);
    }
    ledger.note('lifecycle', answer.lifecycle_id as string);
    for (const { id } of (input as { entities?: { id: string }[] }).entities ?? []) ledger.note('entity', id);
  }
  await session.close();
  ledger.note('MCP session', newId());
}

async function open({ ground, balanced, tally }: Stage, load: string): Promise<Session> {
  for (let attempt = 0; ; attempt += 1) {
    const counted: typeof fetch = async (url, init) => {
      const answer = await fetch(url, init);
      tally.answer(load, answer.status, answer.status < 400 ? undefined : labelOf(answer.status));
      return answer;
    };
    const client = new Client({ name: 'soak', version: '1' });
    const transport = new StreamableHTTPClientTransport(new URL('/mcp', balanced.next()), {
      requestInit: { headers: bearer(ground.mcp.apiKey) },
      fetch: counted,
    });
    try {
      await client.connect(transport, { timeout: callMs });
      return sessionOf(client, transport);
    } catch (error) {
      await client.close();
      whenLost(error);
      tally.broken(load);
      await delay(Math.random() * Math.min(2 ** attempt, 60) * 100);
    }
  }
}

function sessionOf(client: Client, transport: StreamableHTTPClientTransport): Session {
  return {
    async call(name, input) {
      for (;;) {
        const result = await client.callTool({ name, arguments: input }, undefined, { timeout: callMs });
        const body = textOf(result);
        if (!result.isError) return { ...body, ...(result.structuredContent as object | undefined) };
        if (body.error !== 'S3:rate-quota') throw new Error(`${name} was refused: ${JSON.stringify(body)}`);
        await delay(Number(body.retry_after) * 1000 + Math.random() * 250);
      }
    },
    async close() {
      await transport.terminateSession().catch(whenLost);
      await client.close();
    },
  };
}

/** The one MCP answer that a client must handle: a session that its process does not know. */
function labelOf(status: number): string {
  return status === 404 ? 'unknown session' : 'of MCP';
}

const requestTimeout = -32001;

/** Undefined if the process died or never knew the session. */
function whenLost(error: unknown): undefined {
  const { code } = error as { code?: unknown };
  if (!isBroken(error) && code !== 404 && code !== requestTimeout) throw error;
}
