import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse, parseAllDocuments } from 'yaml';
import { environmentVariables, loadConfig } from '../../src/config.js';
import { packageRoot } from '../../src/base/packages.js';
import { giveUpMs } from '../../src/shutdown.js';
import { verifies } from '../support/verifies.js';
import { text } from './files.js';

const folder = 'deploy/kubernetes';
const kustomization = parse(text(folder, 'kustomization.yaml')) as {
  resources: string[];
  images: { name: string; newTag: string }[];
};
const manifests: any[] = kustomization.resources.flatMap((file) =>
  parseAllDocuments(text(folder, file)).map((document) => document.toJS()),
);
const of = (kind: string, name: string) =>
  manifests.find((manifest) => manifest.kind === kind && manifest.metadata.name === name);
const roles = ['api', 'worker'];
const podOf = (role: string) => of('Deployment', role).spec.template.spec;
const containerOf = (role: string) => podOf(role).containers[0];
const shared: Record<string, string> = of('ConfigMap', 'service-environment').data;
const namesIn = (file: string) =>
  text(folder, file)
    .split('\n')
    .flatMap((line) => /^([A-Z0-9_]+)=/.exec(line)?.[1] ?? []);
const apiSecrets = namesIn('api-secrets.env.example');
const secrets = [...namesIn('secrets.env.example'), ...apiSecrets];
const environmentOf = (role: string) => ({
  ...shared,
  ...Object.fromEntries(containerOf(role).env.map(({ name, value }: { name: string; value: string }) => [name, value])),
  SECRETS_KEY: 'given',
});
const portOf = (role: string, name: string) =>
  containerOf(role).ports.find((port: { name: string }) => port.name === name)?.containerPort;

const schemas = JSON.parse(text('test/packaging/schemas/kubernetes.json')) as {
  $defs: Record<string, { 'x-kubernetes-group-version-kind'?: { group: string; version: string; kind: string }[] }>;
};
const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
ajv.addSchema(schemas, 'kubernetes');
const definitionOf = ({ apiVersion, kind }: { apiVersion: string; kind: string }) =>
  Object.entries(schemas.$defs).find(([, schema]) =>
    schema['x-kubernetes-group-version-kind']?.some(
      (it) => it.kind === kind && [it.group, it.version].filter(Boolean).join('/') === apiVersion,
    ),
  )?.[0];

/** The errors of a manifest by Kubernetes' own schemas, as strict as kubectl. */
function faultsOf(manifest: any): string[] {
  const name = definitionOf(manifest);
  if (name === undefined) return [`no schema of ${manifest.apiVersion} ${manifest.kind}`];
  const valid = ajv.validate(`kubernetes#/$defs/${name}`, manifest);
  return valid
    ? []
    : (ajv.errors ?? []).map(
        ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
      );
}

describe('the Kubernetes manifests', () => {
  test('validate against the schemas of Kubernetes, which refuse misspelled and missing keys', () => {
    verifies('scale.kubernetes');
    expect(manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`).sort()).toEqual([
      'ConfigMap service-environment',
      'Deployment api',
      'Deployment worker',
      'HorizontalPodAutoscaler api',
      'HorizontalPodAutoscaler worker',
      'NetworkPolicy api',
      'NetworkPolicy default-deny',
      'NetworkPolicy egress',
      'NetworkPolicy worker',
      'PersistentVolumeClaim audit-checkpoints',
      'PodDisruptionBudget api',
      'PodDisruptionBudget worker',
      'Service api',
    ]);
    for (const manifest of manifests)
      expect([manifest.kind, manifest.metadata.name, faultsOf(manifest)]).toEqual([
        manifest.kind,
        manifest.metadata.name,
        [],
      ]);
    const wrong = structuredClone(of('Deployment', 'api'));
    wrong.spec.template.spec.containers[0].readinesProbe = {};
    delete wrong.spec.selector;
    expect(faultsOf(wrong).join()).toMatch(
      /required property 'selector'[\s\S]*readinesProbe|readinesProbe[\s\S]*required property 'selector'/,
    );
  });

  test('are all listed, at the version of the product', () => {
    verifies('scale.kubernetes');
    const files = readdirSync(path.join(packageRoot, folder)).filter(
      (file) => file.endsWith('.yaml') && file !== 'kustomization.yaml',
    );
    expect([...kustomization.resources].sort()).toEqual(files.sort());
    const { version } = JSON.parse(text('package.json')) as { version: string };
    expect(kustomization.images).toEqual([{ name: 'governed-context-service', newTag: version }]);
    for (const role of roles) expect(containerOf(role).image).toBe('governed-context-service');
  });

  test('select only what they create', () => {
    verifies('scale.kubernetes');
    for (const role of roles) {
      const labels = of('Deployment', role).spec.template.metadata.labels;
      for (const kind of ['Deployment', 'PodDisruptionBudget'])
        expect(of(kind, role).spec.selector.matchLabels).toEqual(labels);
      expect(of('NetworkPolicy', role).spec.podSelector.matchLabels).toEqual(labels);
      expect(of('HorizontalPodAutoscaler', role).spec.scaleTargetRef).toEqual({
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        name: role,
      });
    }
    const common = [{ configMapRef: { name: 'service-environment' } }, { secretRef: { name: 'service-secrets' } }];
    expect(containerOf('worker').envFrom).toEqual(common);
    expect(containerOf('api').envFrom).toEqual([...common, { secretRef: { name: 'service-api-secrets' } }]);
    expect(of('Service', 'api').spec.selector).toEqual(of('Deployment', 'api').spec.template.metadata.labels);
  });
});

describe('the Kubernetes manifests and the code', () => {
  test('agree on the variables, and leave every secret to the Secret', () => {
    verifies('scale.kubernetes');
    const named = [
      ...Object.keys(shared),
      ...secrets,
      ...roles.flatMap((role) => containerOf(role).env.map(({ name }: { name: string }) => name)),
    ];
    expect(named.filter((name) => !environmentVariables.includes(name))).toEqual([]);
    expect(Object.keys(shared).filter((name) => /PASSWORD|SECRET|KEY|TOKEN/.test(name))).toEqual([]);
    // A worker verifies no callbacks, so it does not get the secrets with which senders sign.
    expect(apiSecrets).toEqual(['CODESYNC_WEBHOOK_SECRET', 'CATALOG_WEBHOOK_SECRET', 'CATALOG_SERVER_KEY']);
    expect(secrets).toEqual(
      expect.arrayContaining(['SECRETS_KEY', 'MONGODB_URI', 'NEO4J_PASSWORD', 'TEMPORAL_API_KEY']),
    );
    // Pods share no disk.
    expect(loadConfig(environmentOf('api'))).toMatchObject({
      environment: 'production',
      seed: false,
      dataDir: '/data',
      s3: { bucket: shared.S3_BUCKET },
    });
  });

  test('agree on ports, probes and programs; the internal listener has no port', () => {
    verifies('scale.kubernetes');
    const { port, host, downstreamPort, callbacks } = loadConfig(environmentOf('api'));
    expect([portOf('api', 'http'), host]).toEqual([port, '0.0.0.0']);
    expect(containerOf('api').livenessProbe.httpGet).toEqual({ path: '/healthz', port: 'http' });
    expect(containerOf('api').readinessProbe.httpGet).toEqual({ path: '/readyz', port: 'http' });
    expect(of('Service', 'api').spec.ports).toEqual([{ name: 'http', port: 80, targetPort: 'http' }]);
    const sources = of('NetworkPolicy', 'api').spec.ingress[0].from.map(
      (from: any) => from.namespaceSelector.matchLabels['kubernetes.io/metadata.name'],
    );
    expect([sources, of('NetworkPolicy', 'api').spec.ingress[0].ports]).toEqual([
      ['ingress-nginx', 'monitoring'],
      [{ port: 'http' }],
    ]);
    const out = of('NetworkPolicy', 'egress')
      .spec.egress.flatMap(({ to }: any) => to)
      .flatMap(({ ipBlock }: any) => ipBlock?.except ?? []);
    expect(out).toEqual(
      expect.arrayContaining(['10.0.0.0/8', '169.254.0.0/16', '198.18.0.0/15', 'fc00::/7', '64:ff9b::/96']),
    );
    expect(of('NetworkPolicy', 'default-deny').spec).toEqual({ podSelector: {}, policyTypes: ['Ingress', 'Egress'] });
    // Every other destination names its ports.
    for (const { to, ports } of of('NetworkPolicy', 'egress').spec.egress)
      if (!to.some(({ ipBlock }: any) => ipBlock)) expect(ports.length).toBeGreaterThan(0);
    expect(containerOf('api').ports.map(({ containerPort }: { containerPort: number }) => containerPort)).not.toContain(
      downstreamPort,
    );
    expect(callbacks.downstreamHost).toBe('127.0.0.1');

    const { workerMetricsPort } = loadConfig(environmentOf('worker'));
    expect(portOf('worker', 'metrics')).toBe(workerMetricsPort);
    expect(containerOf('worker').livenessProbe.httpGet).toEqual({ path: '/healthz', port: 'metrics' });
    for (const [role, scraped] of [
      ['api', port],
      ['worker', workerMetricsPort],
    ] as const) {
      expect(of('Deployment', role).spec.template.metadata.annotations['prometheus.io/port']).toBe(String(scraped));
    }
    for (const program of [containerOf('worker').command, containerOf('worker').startupProbe.exec.command]) {
      expect(text(program.at(-1).replace(/^dist\/(.*)\.js$/, '$1.ts'))).toContain('loadConfig(process.env)');
    }
  });

  test('give a process its shutdown time', () => {
    verifies('scale.kubernetes');
    for (const role of roles) {
      const before = containerOf(role).lifecycle?.preStop.sleep.seconds ?? 0;
      expect(podOf(role).terminationGracePeriodSeconds * 1000).toBeGreaterThan(before * 1000 + giveUpMs);
    }
  });

  test.each(roles)('run %s as the image’s user with minimal privileges on writable folders', (role) => {
    verifies('scale.kubernetes');
    expect(podOf(role)).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
    });
    expect(containerOf(role).securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(containerOf(role).volumeMounts.map(({ mountPath }: { mountPath: string }) => mountPath)).toEqual([
      shared.DATA_DIR,
      `${shared.DATA_DIR}/audit-checkpoints`,
      '/tmp',
    ]);
    expect(podOf(role).volumes.map(({ name }: { name: string }) => name)).toEqual(
      containerOf(role).volumeMounts.map(({ name }: { name: string }) => name),
    );
    expect(Object.keys(containerOf(role).resources)).toEqual(['requests', 'limits']);
  });
});
