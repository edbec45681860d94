import { beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { composeFile, interpolated, text } from '../../packaging/files.js';
import { startExecution, untilExecution } from '../../support/executions.js';
import { createWorkspace, useDeps } from '../../support/fixture.js';
import { flowThatCalls } from '../../support/flows.js';
import { bearerClient } from '../../support/gateway.js';
import { metricsOf } from '../../support/metrics.js';
import { ownProduct } from '../../support/own-product.js';
import { verifies } from '../../support/verifies.js';

const product = ownProduct({ WORKER_METRICS_PORT: '0' });
const deps = useDeps();
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

describe('the Grafana dashboard', () => {
  const served = new Set<string>();

  beforeAll(async () => {
    const [api, worker] = await Promise.all([product.api(), product.worker()]);
    const workspace = product.through(api, await createWorkspace(deps));
    // Counters of Temporal and counters with labels appear only after the first event of their kind.
    await untilExecution(workspace, await startExecution(workspace, flowThatCalls([])), 'completed');
    await bearerClient(workspace.apiKey, api.url).post('/v1/query-context', { query: 'MATCH (n) RETURN n' });
    await fetch(`${api.url}/v1/codesync/webhook/github`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-github-event': 'ping' },
      body: '{}',
    });
    for (const url of [api.url, `http://127.0.0.1:${Number(worker.up.metricsPort)}`])
      for (const { name } of await metricsOf(url)) served.add(name);
  });

  test('queries only metrics that API and workers serve', () => {
    verifies('dashboard.grafana');
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
