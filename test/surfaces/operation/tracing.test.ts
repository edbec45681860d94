import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { loadConfig } from '../../../src/config.js';
import { newId } from '../../../src/base/ids.js';
import { eventually } from '../../support/eventually.js';
import { untilExecution } from '../../support/executions.js';
import { useDeps } from '../../support/fixture.js';
import { flowThatCalls } from '../../support/flows.js';
import { bearerClient, createGatewayWorkspace } from '../../support/gateway.js';
import { ownProduct } from '../../support/own-product.js';
import type { Api } from '../../support/processes.js';
import { testRun } from '../../support/run.js';
import { startTraceCollector, type CollectedSpan, type TraceCollector } from '../../support/trace-collector.js';
import { useHttpSink } from '../../support/use-http-sink.js';
import { verifies } from '../../support/verifies.js';

const variables: Record<string, string> = { LOG_LEVEL: 'debug', OTEL_BSP_SCHEDULE_DELAY: '100' };
const product = ownProduct(variables);
const deps = useDeps();
let collector: TraceCollector;
const sink = await useHttpSink();
let api: Api;

beforeAll(async () => {
  collector = await startTraceCollector();
  variables.OTEL_EXPORTER_OTLP_ENDPOINT = collector.url;
  [api] = await Promise.all([product.api(), product.worker()]);
});
afterAll(() => collector.close());

const queue = () => product.env.TEMPORAL_TASK_QUEUE ?? '';

/** Lines of this file's own processes that name the trace; `part` is `api` or `worker`. */
function logLines(part: string, traceId: string): any[] {
  const file = readdirSync(testRun().logs).find((name) => name === `${queue()}-${part}.log`);
  const lines = readFileSync(path.join(testRun().logs, file ?? ''), 'utf8')
    .split('\n')
    .slice(0, -1);
  return lines.filter((line) => line.includes(traceId)).map((line) => JSON.parse(line));
}

async function spansWith(traceId: string, ...names: (string | RegExp)[]): Promise<CollectedSpan[]> {
  return eventually(() => {
    const spans = collector.spansOf(traceId);
    for (const name of names)
      expect(spans.map((span) => span.name)).toContainEqual(
        typeof name === 'string' ? name : expect.stringMatching(name),
      );
    return spans;
  });
}

/** Every span except the first has a parent in the same trace, once the parents have ended. */
function expectOneTree(traceId: string, rootParent = ''): Promise<void> {
  return eventually(() => {
    const spans = collector.spansOf(traceId);
    const ids = new Set(spans.map(({ spanId }) => spanId));
    const roots = spans.filter(({ parentSpanId }) => !ids.has(parentSpanId));
    expect(roots.map(({ name, parentSpanId }) => [name, parentSpanId])).toEqual([
      [expect.stringMatching(/^(GET|POST) \//), rootParent],
    ]);
  });
}

async function lifecycleTrace(id: string): Promise<string | undefined> {
  return (await deps.mongo.collections.lifecycles.findOne({ _id: id }))?.trace_id;
}

describe('with export configured', () => {
  test('a governed query is one trace: request, stages, record store, graph, lifecycle and log line', async () => {
    verifies('tracing.one-trace', 'env.opentelemetry');
    const workspace = await createGatewayWorkspace(deps);
    const gateway = bearerClient(workspace.apiKey, api.url);
    const secret = `unseen-${newId()}`;
    const answer = await gateway.post('/v1/query-context', {
      query: 'MATCH (n:Entity) WHERE n.project_id = $project_id AND n.name = $name RETURN n',
      params: { name: secret },
    });
    expect(answer.status).toBe(200);
    const traceId = answer.headers.get('x-trace-id') ?? '';
    const spans = await spansWith(
      traceId,
      'POST /v1/query-context',
      'S1:authenticate',
      'S8:execute',
      'mongodb insert lifecycles',
      'neo4j MATCH',
    );
    await expectOneTree(traceId);
    expect(collector.paths).toEqual(new Set(['/v1/traces']));
    expect(new Set(spans.map(({ service }) => service))).toEqual(new Set(['governed-context-service-api']));
    const byName = (name: string) => spans.find((span) => span.name === name);
    expect(byName('neo4j MATCH')?.parentSpanId).toBe(byName('S8:execute')?.spanId);
    expect(byName('POST /v1/query-context')?.attributes).toMatchObject({
      'http.route': '/v1/query-context',
      'http.response.status_code': 200,
    });
    expect(await lifecycleTrace(answer.body.lifecycle_id)).toBe(traceId);
    const lines = await eventually(() => {
      const found = logLines('api', traceId);
      expect(found.map(({ msg }) => msg)).toContain('request completed');
      return found;
    });
    expect(lines[0]).toMatchObject({ trace_id: traceId, req: { id: answer.headers.get('x-request-id') } });
    for (const hidden of [secret, workspace.apiKey]) expect(collector.text()).not.toContain(hidden);
  });

  test('an agent run is one trace through workflow and activities of the worker', async () => {
    verifies('tracing.one-trace');
    const workspace = product.through(api, await createGatewayWorkspace(deps));
    const gateway = bearerClient(workspace.apiKey, api.url);
    const { body: flow } = await workspace.api.post(
      `/agentflow?projectID=${workspace.projectID}`,
      flowThatCalls([`${sink.url}/traced`]),
    );
    await workspace.api.post(`/agentflow/${flow._id}/promote`);
    const started = await gateway.post('/v1/run-agent', { agentflow_id: flow._id, goal: 'be followed' });
    expect(started.status).toBe(200);
    await untilExecution(workspace, started.body.execution_id, 'completed');
    const traceId = started.headers.get('x-trace-id') ?? '';
    await spansWith(
      traceId,
      'POST /v1/run-agent',
      'S8:execute',
      'RunWorkflow:agentflowExecution',
      'RunActivity:callAction',
      'RunActivity:publishExecution',
      /^StartWorkflow:agentflowExecution|^SignalWithStartWorkflow|UpdateWithStart/,
      /^mongodb \w+ executions$/,
    );
    await expectOneTree(traceId);
    await eventually(() => {
      const ofWorker = collector
        .spansOf(traceId)
        .filter(({ service }) => service === 'governed-context-service-worker')
        .map(({ name }) => name);
      expect(ofWorker).toEqual(
        expect.arrayContaining([
          'RunWorkflow:agentflowExecution',
          'RunActivity:callAction',
          expect.stringMatching(/^mongodb \w+ executions$/),
        ]),
      );
    });
    expect(await lifecycleTrace(started.body.lifecycle_id)).toBe(traceId);
    await eventually(() => expect(logLines('worker', traceId).map(({ trace_id }) => trace_id)).toContain(traceId));
  });

  test('writes to the graph are spans that name only the kind of statement', async () => {
    verifies('tracing.one-trace');
    const { apiKey } = await createGatewayWorkspace(deps);
    const name = `kept-out-${newId()}`;
    const saved = await bearerClient(apiKey, api.url).post('/v1/save-context', {
      source: 'test',
      entities: [{ id: 'one', type: 'Customer', name }],
    });
    expect(saved.status).toBe(200);
    const spans = await spansWith(saved.headers.get('x-trace-id') ?? '', 'neo4j executeWrite', 'POST /v1/save-context');
    const write = spans.find((span) => span.name === 'neo4j executeWrite');
    expect(write?.events.length).toBeGreaterThan(0);
    for (const event of write?.events ?? []) expect(event).toMatch(/^[A-Z ]+$|^statement$/);
    expect(collector.text()).not.toContain(name);
  });

  test('answers have both trace headers, including refusals, and continue a trace of the caller', async () => {
    verifies('errors.header.trace-id.export', 'env.opentelemetry');
    const { apiKey } = await createGatewayWorkspace(deps);
    const client = bearerClient(apiKey, api.url);
    const fresh = [
      await client.get('/v1/lifecycles'),
      await client.get('/nowhere'),
      await bearerClient('none', api.url).get('/v1/lifecycles'),
    ];
    expect(fresh.map(({ status }) => status)).toEqual([200, 404, 401]);
    const ids = fresh.map(({ headers }) => headers.get('x-trace-id') ?? '');
    expect(new Set(ids).size).toBe(3);
    for (const [at, { headers }] of fresh.entries())
      expect(headers.get('server-timing')).toMatch(new RegExp(`^traceparent;desc="00-${ids[at]}-[0-9a-f]{16}-01"$`));

    const mine = newId().replaceAll('-', '');
    const caller = '00f067aa0ba902b7';
    const continued = await client.get('/v1/lifecycles', { traceparent: `00-${mine}-${caller}-01` });
    expect(continued.headers.get('x-trace-id')).toBe(mine);
    await spansWith(mine, 'GET /v1/lifecycles');
    await expectOneTree(mine, caller);

    const unsampled = newId().replaceAll('-', '');
    const silent = await client.get('/v1/lifecycles', { traceparent: `00-${unsampled}-${caller}-00` });
    expect(silent.headers.get('server-timing')).toMatch(/-00"$/);
    const later = await client.get('/v1/lifecycles');
    await spansWith(later.headers.get('x-trace-id') ?? '', 'GET /v1/lifecycles');
    expect(collector.spansOf(unsampled)).toEqual([]);
  });
});

describe('the standard variables', () => {
  const tracingOf = (variables: Record<string, string>) => loadConfig(variables).tracing;

  test('set the target of traces, and nothing is exported without an address', () => {
    verifies('env.opentelemetry');
    expect(tracingOf({})).toBeUndefined();
    expect(tracingOf({ OTEL_EXPORTER_OTLP_ENDPOINT: '' })).toBeUndefined();
    expect(tracingOf({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/base/' })?.url).toBe(
      'http://collector:4318/base/v1/traces',
    );
    const both = {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318',
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://traces.example/in',
    };
    expect(tracingOf(both)?.url).toBe('https://traces.example/in');
    const offs: Record<string, string>[] = [{ OTEL_SDK_DISABLED: 'TRUE' }, { OTEL_TRACES_EXPORTER: 'none' }];
    for (const off of offs) expect(tracingOf({ ...both, ...off })).toBeUndefined();
  });

  test('set the name of the service and the sampling ratio, and are refused if they are invalid', () => {
    verifies('env.opentelemetry');
    const to = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };
    const named = {
      OTEL_SERVICE_NAME: 'mine',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment=live, owner=a%20team',
      OTEL_TRACES_SAMPLER: 'traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.25',
    };
    expect(tracingOf({ ...to, ...named })).toMatchObject({
      serviceName: 'mine',
      resourceAttributes: { 'deployment.environment': 'live', owner: 'a team' },
      sampler: 'traceidratio',
      samplerRatio: 0.25,
    });
    expect(() => tracingOf({ ...to, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' })).toThrow(
      /OTEL_EXPORTER_OTLP_PROTOCOL: .*gRPC/,
    );
    expect(() => tracingOf({ ...to, OTEL_TRACES_SAMPLER: 'sometimes' })).toThrow(/OTEL_TRACES_SAMPLER/);
  });
});

describe('without export', () => {
  test('answers contain no trace that the caller did not request', async () => {
    const answer = await fetch(`${testRun().url}/healthz`);
    expect([answer.headers.get('x-trace-id'), answer.headers.get('server-timing')]).toEqual([null, null]);
  });
});
