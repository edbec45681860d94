import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { environmentVariables, loadConfig } from '../../src/config.js';
import { giveUpMs } from '../../src/shutdown.js';
import { findOnPath } from '../../stack/prerequisites.js';
import { searchAttributeTypes } from '../../workflows/search-attributes.js';
import { verifies } from '../support/verifies.js';
import { composeFile, interpolated, reference, text } from './files.js';

const source = text('docker-compose.yml');
const file = composeFile(interpolated(source, { MONGODB_PASSWORD: 'mongopass', NEO4J_PASSWORD: 'neo4jpass' }));
const services = Object.entries(file.services);
/** Started only when asked for. */
const optional = ['grafana', 'prometheus'];
const ours = services.filter(([, service]) => service.build !== undefined);
const oneShots = ['temporal-schema', 'temporal-setup'];
const serviceOf = (name: string) => file.services[name] ?? { image: '', restart: '', networks: [] };
const environmentOf = (name: string, { services: all } = file) =>
  Object.fromEntries(Object.entries(all[name]?.environment ?? {}).map(([key, value]) => [key, String(value ?? '')]));

/** The reference implementation of the Compose specification, which Docker Compose uses. */
const loader = 'github.com/compose-spec/compose-go/v2/cmd@v2.16.2';
const go = findOnPath('go', process.env);

describe('the compose file', () => {
  test('contains every server and process of the product, each with a health check', () => {
    verifies('stack.compose.services');
    expect(Object.keys(file.services).sort()).toEqual([
      'api',
      'grafana',
      'mongodb',
      'neo4j',
      'postgresql',
      'prometheus',
      'temporal',
      'temporal-schema',
      'temporal-setup',
      'temporal-ui',
      'worker',
    ]);
    for (const [name, { profiles }] of services)
      expect([name, profiles]).toEqual([name, optional.includes(name) ? ['observability'] : undefined]);
    expect(serviceOf('temporal').environment).toMatchObject({ DB: 'postgres12', POSTGRES_SEEDS: 'postgresql' });
    for (const [name, { healthcheck, restart }] of services) {
      if (oneShots.includes(name)) expect([name, restart]).toEqual([name, 'on-failure:5']);
      else expect([name, restart, healthcheck?.test.length]).toEqual([name, 'unless-stopped', expect.any(Number)]);
    }
  });

  test('validates against the schema of the specification, which refuses unknown keys', () => {
    verifies('stack.compose.valid');
    const validate = new Ajv2020({ strict: false, allErrors: true, validateFormats: false }).compile(
      JSON.parse(text('test/packaging/schemas/compose.json')) as object,
    );
    expect([validate(file), validate.errors]).toEqual([true, null]);
    const { api } = file.services;
    expect(validate({ ...file, services: { api: { ...api, helthcheck: {} } } })).toBe(false);
    expect(validate({ ...file, services: { api: { ...api, ports: 8080 } } })).toBe(false);
  });

  (go ? test : test.skip)(
    'is taken by the reference loader of the specification',
    () => {
      const folder = mkdtempSync(path.join(tmpdir(), 'compose-test-'));
      try {
        writeFileSync(path.join(folder, 'docker-compose.yml'), interpolated(source));
        const loaded = execFileSync(go ?? '', ['run', loader, 'docker-compose.yml'], {
          cwd: folder,
          encoding: 'utf8',
          env: { ...process.env, GOFLAGS: '' },
        });
        expect(Object.keys(composeFile(loaded).services).sort()).toEqual(Object.keys(file.services).sort());
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    },
    300_000,
  );

  test('waits for the health of a required service or for the end of a one-shot', () => {
    const edges = services.flatMap(([name, { depends_on = {} }]) =>
      Object.entries(depends_on).map(([on, { condition }]) => ({ name, on, condition })),
    );
    for (const { name, on, condition } of edges) {
      const expected = oneShots.includes(on) ? 'service_completed_successfully' : 'service_healthy';
      expect([name, on, condition]).toEqual([name, on, expected]);
    }
    const needed = (name: string) =>
      edges
        .filter((edge) => edge.name === name)
        .map(({ on }) => on)
        .sort();
    expect(needed('api')).toEqual(['mongodb', 'neo4j', 'temporal', 'temporal-setup']);
    expect(needed('worker')).toEqual(needed('api'));
    expect(needed('temporal')).toEqual(['temporal-schema']);
  });

  test('uses exactly the networks, volumes and configs that it defines', () => {
    const used = (pick: (service: (typeof services)[number][1]) => string[]) =>
      [...new Set(services.flatMap(([, service]) => pick(service)))].sort();
    expect(used(({ networks }) => networks)).toEqual(Object.keys(file.networks).sort());
    expect(used(({ volumes = [] }) => volumes.map((volume) => volume.split(':')[0] ?? ''))).toEqual(
      Object.keys(file.volumes).sort(),
    );
    expect(used(({ configs = [] }) => configs.map((config) => config.source))).toEqual(
      Object.keys(file.configs).sort(),
    );
  });

  test('pins every image to one version and digest, with MongoDB 7 or later and the Neo4j that the stack builds', () => {
    verifies('stack.compose.valid', 'stack.pinned');
    const others = services.filter(([name]) => !ours.some(([own]) => own === name));
    for (const [name, { image }] of others)
      expect([name, image]).toEqual([
        name,
        expect.stringMatching(/:v?\d+\.\d+(\.\d+)?(-[a-z]+)?@sha256:[0-9a-f]{64}$/),
      ]);
    expect(Number(/^mongo:(\d+)/.exec(serviceOf('mongodb').image)?.[1])).toBeGreaterThanOrEqual(7);
    const neo4j = /<neo4j\.version>(.+?)</.exec(text('stack/neo4j/pom.xml'))?.[1] ?? '';
    expect(neo4j).toMatch(/^5\.26\./);
    expect(serviceOf('neo4j').image).toContain(`neo4j:${neo4j}-community@`);
    const [setup, schema, server] = ['temporal-setup', 'temporal-schema', 'temporal'].map(
      (name) => /:([^@]+)@/.exec(serviceOf(name).image)?.[1],
    );
    expect([setup, schema]).toEqual([server, server]);
    const { version } = JSON.parse(text('package.json')) as { version: string };
    expect(ours.map(([, { image }]) => image)).toEqual([
      `governed-context-service:${version}`,
      `governed-context-service:${version}`,
    ]);
  });

  test('has no default for a password or key', () => {
    const secret = /PASSWORD|KEY$|SECRET|TOKEN/;
    const references = [...source.matchAll(reference)].filter(([, name = '']) => secret.test(name));
    const required = references.filter(([, , kind]) => kind === '?').map(([, name]) => name);
    expect(new Set(required)).toEqual(
      new Set(['MONGODB_PASSWORD', 'MONGODB_ROOT_PASSWORD', 'NEO4J_PASSWORD', 'POSTGRES_PASSWORD', 'SECRETS_KEY']),
    );
    // The other variables belong to features that are off by default.
    for (const [all, name = ''] of references) if (!required.includes(name)) expect(all).toBe(`\${${name}:-}`);
    for (const [name, { environment = {} }] of Object.entries(composeFile(source).services)) {
      const literal = Object.entries(environment).filter(
        ([key, value]) => secret.test(key) && !String(value).includes('${'),
      );
      expect([name, literal]).toEqual([name, []]);
    }
  });

  test('publishes on the loopback address only, and never the internal listener', () => {
    const published = services.flatMap(([name, { ports = [] }]) => ports.map((port) => `${name} ${port}`));
    expect(published).toEqual([
      'api 127.0.0.1:8080:8080',
      'temporal-ui 127.0.0.1:8233:8080',
      'grafana 127.0.0.1:3000:3000',
    ]);
    expect(file.networks.inside?.internal).toBe(true);
    for (const name of ['mongodb', 'neo4j', 'postgresql', 'prometheus', 'temporal', ...oneShots])
      expect([name, serviceOf(name).networks]).toEqual([name, ['inside']]);
  });

  test.each(services.map(([name]) => name))('takes the capabilities of %s', (name) => {
    expect(serviceOf(name)).toMatchObject({ cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] });
  });

  test.each(ours.map(([name]) => name))('runs %s with minimal privileges', (name) => {
    expect(serviceOf(name)).toMatchObject({
      read_only: true,
      init: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      tmpfs: ['/tmp'],
    });
  });
});

test('the table of the README names every variable', () => {
  // The README names the variables of Temporal and OpenTelemetry as groups.
  const own = environmentVariables.filter((name) => !/^(TEMPORAL_TLS|OTEL_)/.test(name));
  const table = text('README.md');
  expect(own.filter((name) => !table.includes(`\`${name}\``))).toEqual([]);
});

describe('the compose file and the code', () => {
  /** Only OpenTelemetry's own packages read some of them. */
  const isKnown = (variable: string) => environmentVariables.includes(variable) || /^OTEL_[A-Z_]+$/.test(variable);

  test.each(ours.map(([name]) => name))('agree on the variables of %s', (name) => {
    verifies('stack.compose.valid');
    expect(Object.keys(environmentOf(name)).filter((variable) => !isKnown(variable))).toEqual([]);
  });

  test('use all variables, except those that the file itself sets', () => {
    verifies('stack.compose.valid');
    const settled = /^(SURFACES|DOWNSTREAM_HOST|TEMPORAL_TASK_QUEUE|TEMPORAL_API_KEY|TEMPORAL_TLS\w*|OTEL_\w+)$/;
    const handedOn = ours.flatMap(([name]) => Object.keys(environmentOf(name)));
    expect(environmentVariables.filter((name) => !handedOn.includes(name) && !settled.test(name))).toEqual([]);
    const asked = composeFile(
      interpolated(source, {
        OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318',
        S3_BUCKET: 'b',
        AWS_REGION: 'r',
        TRUST_PROXY: '1',
      }),
    );
    for (const [name] of ours) {
      const config = loadConfig(environmentOf(name, asked));
      expect(config).toMatchObject({
        trustProxy: 1,
        s3: { bucket: 'b', region: 'r' },
        tracing: { url: 'http://collector:4318/v1/traces' },
      });
    }
  });

  test('agree on the shutdown time of a process', () => {
    verifies('stack.compose.valid');
    for (const [name, { stop_grace_period }] of ours)
      expect([name, Number.parseInt(String(stop_grace_period), 10) * 1000 > giveUpMs]).toEqual([name, true]);
  });

  test('agree on the addresses of the servers', () => {
    verifies('stack.compose.valid');
    const config = loadConfig(environmentOf('api'));
    expect(config).toMatchObject({
      environment: 'production',
      host: '0.0.0.0',
      dataDir: '/data',
      seed: false,
      baseUrl: 'http://localhost:8080',
    });
    expect(config.temporal).toMatchObject({
      connection: { address: 'temporal:7233' },
      namespace: 'default',
      uiUrl: 'http://localhost:8233',
    });
    expect(config.mongodb.uri).toBe('mongodb://service:mongopass@mongodb:27017/service');
    expect(serviceOf('mongodb').environment).toMatchObject({ SERVICE_PASSWORD: 'mongopass' });
    expect(config.neo4j).toEqual({ uri: 'bolt://neo4j:7687', user: 'neo4j', password: 'neo4jpass' });
    expect(serviceOf('neo4j').environment).toMatchObject({ NEO4J_AUTH: 'neo4j/neo4jpass' });
    const { temporal, mongodb, neo4j } = loadConfig(environmentOf('worker'));
    expect({ temporal, mongodb, neo4j }).toEqual({
      temporal: config.temporal,
      mongodb: config.mongodb,
      neo4j: config.neo4j,
    });
  });

  test('agree on the port, the data folder and the programs', () => {
    verifies('stack.compose.valid');
    const { port, dataDir } = loadConfig(environmentOf('api'));
    expect(serviceOf('api').ports).toEqual([expect.stringMatching(new RegExp(`:${port}$`))]);
    expect(serviceOf('api').healthcheck?.test.join(' ')).toContain(`http://127.0.0.1:${port}/readyz`);
    for (const [, { volumes }] of ours) expect(volumes).toEqual([`service-data:${dataDir}`]);
    const programs = [serviceOf('worker').command?.at(-1), serviceOf('worker').healthcheck?.test.at(-1)];
    for (const program of programs)
      expect(text((program ?? '').replace(/^dist\/(.*)\.js$/, '$1.ts'))).toContain('loadConfig(process.env)');
  });

  test('agree on the search attributes', () => {
    const script = serviceOf('temporal-setup').command?.[0] ?? '';
    const registered = /for name in (.+?); do/.exec(script)?.[1]?.split(' ');
    expect(registered).toEqual(Object.keys(searchAttributeTypes));
    expect(script).toContain('--type Keyword');
    expect(new Set(Object.values(searchAttributeTypes))).toEqual(new Set(['KEYWORD']));
  });
});
