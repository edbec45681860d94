import { afterAll, beforeAll } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import { newId } from '../../../../src/base/ids.js';
import type { Deps } from '../../../../src/domain/deps.js';
import { sendJson, startFakeModel, type FakeModel, type FakeRequest } from '../../../support/fake-model.js';
import { eventually } from '../../../support/eventually.js';
import { createWorkspace, type Workspace } from '../../../support/fixture.js';
import { bearerClient } from '../../../support/gateway.js';
import { ownProduct } from '../../../support/own-product.js';
import type { Api, ProductProcess } from '../../../support/processes.js';
import type { ApiClient } from '../../../support/client.js';

export const ontology = {
  entity_types: {
    Person: { properties: { city: { type: 'string' }, employer: { type: 'string' } } },
    Company: { properties: { sector: { type: 'string' } } },
  },
  relationship_types: { WORKS_AT: { from: ['Person'], to: ['Company'] } },
};

export const retentionDays = 30;

export interface Remembering extends Workspace {
  gateway: ApiClient;
  model: string;
}

/** An API, a worker and a model endpoint for one file. */
export function useMemoryProduct(deps: Deps) {
  const environment: Record<string, string> = {
    MEMORY_RETENTION_DAYS: `${retentionDays}`,
    // Tests read a memory until it is complete.
    QUOTA_PROJECT_MAX: '0',
    // No result depends on the time zone of a process.
    TZ: 'Asia/Tokyo',
  };
  const product = ownProduct(environment);
  const running = {} as { api: Api; worker: ProductProcess; model: FakeModel };
  beforeAll(async () => {
    running.model = await startFakeModel();
    environment.LLM_BASE_URL = running.model.url;
    [running.api, running.worker] = await Promise.all([product.api(), product.worker()]);
  });
  afterAll(() => running.model.close());
  return Object.assign(running, {
    product,
    /** A project with the ontology and its own model, which gives these answers, one for each part. */
    async workspace(
      answer: (asked: string) => object,
      options: { ontology?: object | null } = {},
    ): Promise<Remembering> {
      const workspace = await createWorkspace(deps, { url: running.api.url });
      const gateway = bearerClient(workspace.apiKey, running.api.url);
      const model = newId();
      await gateway.post('/v1/save-model', { model });
      const { ontology: defined = ontology } = options;
      if (defined) {
        await gateway.post('/v1/ontology', { define: defined });
        await gateway.post('/v1/ontology', { commit: true });
      }
      running.model.on(model, (res, asked) => sendFacts(res, answer(textOf(asked))));
      return { ...workspace, gateway, model };
    },
  });
}

export function textOf({ body }: FakeRequest): string {
  return (body as { messages: { content: string }[] }).messages[1]?.content ?? '';
}

/** The model calls the tool with these arguments, for 1000 tokens. */
export function sendFacts(res: ServerResponse, facts: object): void {
  const call = { id: 'c1', type: 'function', function: { name: 'record_facts', arguments: JSON.stringify(facts) } };
  sendJson(res, 200, {
    model: 'served',
    choices: [
      { index: 0, finish_reason: 'tool_calls', message: { role: 'assistant', content: null, tool_calls: [call] } },
    ],
    usage: { prompt_tokens: 800, completion_tokens: 200 },
  });
}

/** A person who lives in a city, as the model reports it. */
export const livesIn = (name: string, city: string, quote: string, more: object = {}) => ({
  entities: [{ type: 'Person', name, quote: name, ...more }],
  facts: [{ subject: name, predicate: 'city', object: city, quote }],
});

export async function remember({ gateway }: Remembering, input: object, headers: Record<string, string> = {}) {
  const { status, body } = await gateway.post('/v1/remember', input, headers);
  if (status !== 202) throw new Error(`remember answered ${status}: ${JSON.stringify(body)}`);
  return body.memory as { memory_id: string; status: string };
}

export async function memoryOf({ gateway }: Remembering, memory_id: string): Promise<any> {
  return (await gateway.post('/v1/memory', { operation: 'get', memory_id })).body.memory;
}

/** The memory once it has this status. */
export function reached(workspace: Remembering, id: string, status: string): Promise<any> {
  return eventually(async () => {
    const memory = await memoryOf(workspace, id);
    if (memory.status !== status) throw new Error(`the memory is ${memory.status}: ${memory.failure}`);
    return memory;
  });
}

export async function remembered(workspace: Remembering, input: object): Promise<any> {
  return reached(workspace, (await remember(workspace, input)).memory_id, 'completed');
}

/** The facts that are valid at a time, as `name predicate object`. */
export async function facts({ gateway }: Remembering, as_of?: string): Promise<any[]> {
  const query = `MATCH (e) WHERE e.project_id = $project_id MATCH (e)-[:HAS_FACT]->(f:Fact)
    RETURN e.id AS id, e.name AS name, f AS fact, f.predicate AS predicate, f.object AS object ORDER BY name, object`;
  const { status, body } = await gateway.post('/v1/query-context', { query, ...(as_of !== undefined && { as_of }) });
  if (status !== 200) throw new Error(JSON.stringify(body));
  const factOf = ({ id, predicate, object }: any) =>
    body.facts.find((fact: any) => fact.subject === id && fact.predicate === predicate && fact.object === object);
  return body.rows.map((row: any) => ({ ...row, fact: factOf(row) }));
}

export const said = (rows: any[]) => rows.map(({ name, predicate, object }) => `${name} ${predicate} ${object}`);
