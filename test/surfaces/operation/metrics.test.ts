import { createHmac } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { newId } from '../../../src/base/ids.js';
import { createMetrics } from '../../../src/observability/metrics.js';
import { catalogSyncType, catalogSyncWorkflowId, changedSignal } from '../../../workflows/catalog-sync/messages.js';
import { composeFile, interpolated, text } from '../../packaging/files.js';
import { eventually } from '../../support/eventually.js';
import { startExecution, untilExecution } from '../../support/executions.js';
import { createWorkspace, useDeps } from '../../support/fixture.js';
import { flowThatCalls } from '../../support/flows.js';
import { bearerClient, createGatewayWorkspace } from '../../support/gateway.js';
import { ownProduct } from '../../support/own-product.js';
import type { Api } from '../../support/processes.js';
import { metricsOf, type Samples } from '../../support/metrics.js';
import { useHttpSink } from '../../support/use-http-sink.js';
import { verifies } from '../../support/verifies.js';

const codesyncSecret = newId();
const product = ownProduct({
  WORKER_METRICS_PORT: '0',
  QUOTA_PROJECT_MAX: '3',
  CODESYNC_WEBHOOK_SECRET: codesyncSecret,
});
const deps = useDeps();
let api: Api;
let workerUrl = '';
const sink = await useHttpSink();
const ofApi = () => metricsOf(api.url);
const ofWorker = () => metricsOf(workerUrl);

beforeAll(async () => {
  const [own, worker] = await Promise.all([product.api(), product.worker()]);
  api = own;
  workerUrl = `http://127.0.0.1:${Number(worker.up.metricsPort)}`;
});

const compose = composeFile(interpolated(text('docker-compose.yml')));
const configOf = (service: string, target: string): string => {
  const name = compose.services[service]?.configs?.find((config) => config.target === target)?.source ?? '';
  const config = compose.configs[name];
  return config && 'file' in config ? text(config.file) : '';
};
const dashboard = JSON.parse(configOf('grafana', '/etc/grafana/dashboards/service.json'));
const queries: string[] = dashboard.panels.flatMap(({ targets = [] }: any) => targets.map(({ expr }: any) => expr));

/** The names in a PromQL expression that are not functions, keywords or labels. */
function metricsIn(query: string): string[] {
  const bare = query
    .replace(/\{[^}]*\}/g, '')
    .replace(/\[[^\]]*\]/g, '')
    .replace(/\b(by|without|on|ignoring)\s*\([^)]*\)/g, '');
  return [...bare.matchAll(/[a-zA-Z_:][\w:]*(?!\w|\s*\()/g)]
    .map(([name]) => name)
    .filter((name) => !['or', 'and', 'unless'].includes(name));
}

function total(samples: Samples, name: string, labels: Record<string, string> = {}): number {
  const fitting = samples.filter(
    (sample) =>
      sample.name === name && Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
  );
  return fitting.reduce((sum, { value }) => sum + value, 0);
}

describe('GET /metrics', () => {
  test('answers in the Prometheus text format, on the API and on a worker', async () => {
    verifies('metrics.prometheus');
    for (const url of [api.url, workerUrl]) {
      const answer = await fetch(`${url}/metrics`);
      expect([answer.status, answer.headers.get('content-type')]).toEqual([
        200,
        'text/plain; version=0.0.4; charset=utf-8',
      ]);
      const samples = await metricsOf(url);
      expect(total(samples, 'process_resident_memory_bytes')).toBeGreaterThan(1e6);
    }
    expect((await fetch(`${api.url}/metrics`, { method: 'POST' })).status).toBe(405);
    expect((await fetch(`${workerUrl}/else`)).status).toBe(404);
  });

  test('counts requests by template, stages, refusals and quota, without ids', async () => {
    verifies('metrics.named');
    const { projectID, organizationId, apiKey } = await createGatewayWorkspace(deps);
    const gateway = bearerClient(apiKey, api.url);
    const before = await ofApi();
    const statuses: number[] = [];
    for (const query of ['what is there?', 'MATCH (n) RETURN n', 'what else?', 'one too many'])
      statuses.push((await gateway.post('/v1/query-context', { query })).status);
    expect(statuses).toEqual([200, 422, 200, 429]);
    const ghost = newId();
    expect((await gateway.get(`/v1/lifecycles/${ghost}`)).status).toBe(404);
    expect((await gateway.get(`/nowhere/${ghost}`)).status).toBe(404);
    await eventually(async () => {
      const after = await ofApi();
      const grew = (name: string, labels: Record<string, string>) =>
        total(after, name, labels) - total(before, name, labels);
      const requests = 'http_server_request_duration_seconds_count';
      expect(grew(requests, { method: 'POST', route: '/v1/query-context', status: '200' })).toBe(2);
      expect(grew(requests, { route: '/v1/query-context', status: '429' })).toBe(1);
      expect(grew(requests, { method: 'GET', route: '/v1/lifecycles/{id}', status: '404' })).toBe(1);
      expect(grew(requests, { route: 'unmatched', status: '404' })).toBe(1);
      const tool = 'query-context';
      expect(grew('gateway_stage_duration_seconds_count', { tool, stage: 'S1:authenticate' })).toBe(4);
      expect(grew('gateway_stage_duration_seconds_count', { tool, stage: 'S8:execute' })).toBe(2);
      expect(grew('gateway_refusals_total', { tool, stage: 'S3:rate-quota', code: 'quota_exceeded' })).toBe(1);
      expect(grew('gateway_refusals_total', { tool, code: 'invalid_input' })).toBe(1);
      expect(grew('quota_decisions_total', { result: 'admitted' })).toBe(3);
      expect(grew('quota_decisions_total', { result: 'refused', scope: 'project' })).toBe(1);
    });
    const shown = await (await fetch(`${api.url}/metrics`)).text();
    for (const hidden of [projectID, organizationId, ghost, apiKey]) expect(shown).not.toContain(hidden);
  });

  test('counts executions by state, and includes the metrics of the Temporal SDK', async () => {
    verifies('metrics.named');
    const workspace = product.through(api, await createWorkspace(deps));
    const before = await ofWorker();
    const release = sink.hold('/counted');
    const id = await startExecution(workspace, flowThatCalls([`${sink.url}/counted`]));
    await untilExecution(workspace, id, 'running');
    await eventually(async () =>
      expect(total(await ofApi(), 'executions_open', { status: 'running' })).toBeGreaterThanOrEqual(1),
    );
    release();
    await untilExecution(workspace, id, 'completed');
    await eventually(async () => {
      const after = await ofWorker();
      const completed = (samples: Samples) => total(samples, 'execution_transitions_total', { to: 'completed' });
      expect(completed(after) - completed(before)).toBe(1);
      expect(total(after, 'temporal_workflow_completed_total')).toBeGreaterThanOrEqual(1);
      expect(total(after, 'temporal_activity_execution_latency_seconds_count')).toBeGreaterThanOrEqual(1);
    });
  });

  test('counts callbacks by receiver and answer', async () => {
    verifies('metrics.named');
    const body = JSON.stringify({ zen: 'x' });
    const signature = (secret: string) => `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
    const path = '/v1/codesync/webhook/github';
    const send = (secret: string) =>
      fetch(`${api.url}${path}`, {
        method: 'POST',
        body,
        headers: {
          'content-type': 'application/json',
          'x-github-event': 'ping',
          'x-github-delivery': newId(),
          'x-hub-signature-256': signature(secret),
        },
      });
    const known = await send(codesyncSecret);
    const unknown = await send('another');
    expect([known.ok, unknown.ok]).toEqual([true, false]);
    await eventually(async () => {
      const samples = await ofApi();
      for (const { status } of [known, unknown])
        expect(total(samples, 'callbacks_total', { receiver: path, status: String(status) })).toBe(1);
    });
  });

  test('measures a catalog sync from its first event to the end of its run', async () => {
    verifies('metrics.named');
    const scope = newId();
    const { projectID: project_id, organizationId: organization_id } = await createWorkspace(deps);
    const quietMs = 1500;
    await deps.temporal.client.workflow.signalWithStart(catalogSyncType, {
      workflowId: catalogSyncWorkflowId(scope),
      taskQueue: product.env.TEMPORAL_TASK_QUEUE ?? '',
      args: [{ project_id, organization_id, quiet_ms: quietMs, longest_wait_ms: 60_000, max_history_events: 1000 }],
      signal: changedSignal,
      signalArgs: [{ run_id: newId(), events: 1, entities: [] }],
    });
    await eventually(async () => {
      const samples = await ofWorker();
      expect(total(samples, 'catalog_sync_lag_seconds_count')).toBe(1);
      expect(total(samples, 'catalog_sync_lag_seconds_sum')).toBeGreaterThanOrEqual(quietMs / 1000);
    });
  });
});

describe('the Grafana dashboard', () => {
  // Counters of Temporal and counters with labels appear only after the first event of their kind, which the tests above cause.
  test('queries only metrics that API and workers serve', async () => {
    verifies('dashboard.grafana');
    const served = new Set([...(await ofApi()), ...(await ofWorker())].map(({ name }) => name));
    expect(queries.length).toBeGreaterThan(15);
    const asked = new Set(queries.flatMap(metricsIn));
    expect([...asked].filter((name) => !served.has(name))).toEqual([]);
    for (const named of [
      'http_server_request_duration_seconds_count',
      'gateway_stage_duration_seconds_bucket',
      'gateway_refusals_total',
      'quota_decisions_total',
      'executions_open',
      'schedule_delay_seconds_bucket',
      'catalog_sync_lag_seconds_bucket',
      'callbacks_total',
    ]) {
      expect(asked).toContain(named);
    }
    expect([...asked].filter((name) => name.startsWith('temporal_')).length).toBeGreaterThan(3);
  });

  test('is in the optional profile, with the data source that its panels name', () => {
    verifies('dashboard.grafana');
    expect([compose.services.grafana?.profiles, compose.services.prometheus?.profiles]).toEqual([
      ['observability'],
      ['observability'],
    ]);
    const [source] = parse(configOf('grafana', '/etc/grafana/provisioning/datasources/prometheus.yml')).datasources;
    const [provider] = parse(configOf('grafana', '/etc/grafana/provisioning/dashboards/service.yml')).providers;
    expect(provider.options.path).toBe('/etc/grafana/dashboards');
    expect(source.url).toBe('http://prometheus:9090');
    const named = dashboard.panels.flatMap(({ targets = [] }: any) =>
      targets.map(({ datasource }: any) => datasource.uid),
    );
    expect(new Set(named)).toEqual(new Set([source.uid]));
    expect(compose.services.grafana?.environment).toMatchObject({
      GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH: '/etc/grafana/dashboards/service.json',
    });
  });

  test('uses a Prometheus that reads the ports of API and worker', () => {
    verifies('dashboard.grafana');
    const { scrape_configs } = parse(configOf('prometheus', '/etc/prometheus/prometheus.yml'));
    const scraped = scrape_configs.map(({ dns_sd_configs: [{ names, port }] }: any) => [...names, String(port)]);
    const portOf = (service: string, variable: string) => String(compose.services[service]?.environment?.[variable]);
    expect(scraped).toEqual([
      ['api', portOf('api', 'PORT')],
      ['worker', portOf('worker', 'WORKER_METRICS_PORT')],
    ]);
    for (const service of ['api', 'worker', 'prometheus'])
      expect(compose.services[service]?.networks).toContain('inside');
  });
});

describe('the metrics of a process', () => {
  test('record the delay of a scheduled run in seconds, never below zero', async () => {
    verifies('metrics.named');
    const metrics = createMetrics();
    metrics.scheduleDelay(1.5);
    metrics.scheduleDelay(-0.2);
    const shown = await metrics.registry.metrics();
    expect(shown).toContain('schedule_delay_seconds_sum 1.5\n');
    expect(shown).toContain('schedule_delay_seconds_bucket{le="0.1"} 1\n');
    expect(shown).toContain('schedule_delay_seconds_count 2\n');
  });

  test('omit a number while it cannot be counted', async () => {
    const metrics = createMetrics();
    let answer: () => Promise<Record<string, number>> = async () => ({ running: 4 });
    metrics.openExecutions(() => answer());
    expect(await metrics.registry.metrics()).toContain('executions_open{status="running"} 4\n');
    answer = () => Promise.reject(new Error('away'));
    expect(await metrics.registry.metrics()).not.toContain('executions_open{');
  });
});
