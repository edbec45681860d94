import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse, parseAllDocuments } from 'yaml';
import { environmentVariables, loadConfig } from '../../src/config.js';
import { packageRoot } from '../../src/package-root.js';
import { giveUpMs } from '../../src/shutdown.js';
import { verifies } from '../support/verifies.js';
import { text } from './files.js';

const folder = 'deploy/kubernetes';
const kustomization = parse(text(folder, 'kustomization.yaml')) as { resources: string[]; images: { name: string; newTag: string }[] };
const manifests: any[] = kustomization.resources.flatMap((file) => parseAllDocuments(text(folder, file)).map((document) => document.toJS()));
const of = (kind: string, name: string) => manifests.find((manifest) => manifest.kind === kind && manifest.metadata.name === name);
const roles = ['api', 'worker'];
const podOf = (role: string) => of('Deployment', role).spec.template.spec;
const containerOf = (role: string) => podOf(role).containers[0];
const shared: Record<string, string> = of('ConfigMap', 'service-environment').data;
const secrets = text(folder, 'secrets.env.example').split('\n').flatMap((line) => /^([A-Z0-9_]+)=/.exec(line)?.[1] ?? []);
const environmentOf = (role: string) => ({
  ...shared,
  ...Object.fromEntries(containerOf(role).env.map(({ name, value }: { name: string; value: string }) => [name, value])),
  SECRETS_KEY: 'given',
});
const portOf = (role: string, name: string) => containerOf(role).ports.find((port: { name: string }) => port.name === name)?.containerPort;

const schemas = JSON.parse(text('test/packaging/schemas/kubernetes.json')) as { $defs: Record<string, { 'x-kubernetes-group-version-kind'?: { group: string; version: string; kind: string }[] }> };
const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
ajv.addSchema(schemas, 'kubernetes');
const definitionOf = ({ apiVersion, kind }: { apiVersion: string; kind: string }) =>
  Object.entries(schemas.$defs).find(([, schema]) =>
    schema['x-kubernetes-group-version-kind']?.some((it) => it.kind === kind && [it.group, it.version].filter(Boolean).join('/') === apiVersion),
  )?.[0];

/** What Kubernetes' own schemas, strict as kubectl is, find wrong with a manifest. */
function faultsOf(manifest: any): string[] {
  const name = definitionOf(manifest);
  if (name === undefined) return [`no schema of ${manifest.apiVersion} ${manifest.kind}`];
  const valid = ajv.validate(`kubernetes#/$defs/${name}`, manifest);
  return valid ? [] : (ajv.errors ?? []).map(({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`);
}

describe('the Kubernetes manifests', () => {
  test('validate against the schemas of Kubernetes, which refuse what is misspelled or missing', () => {
    verifies('scale.kubernetes');
    expect(manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`).sort()).toEqual([
      'ConfigMap service-environment', 'Deployment api', 'Deployment worker', 'HorizontalPodAutoscaler api', 'HorizontalPodAutoscaler worker',
      'NetworkPolicy api', 'NetworkPolicy worker', 'PodDisruptionBudget api', 'PodDisruptionBudget worker', 'Service api',
    ]);
    for (const manifest of manifests) expect([manifest.kind, manifest.metadata.name, faultsOf(manifest)]).toEqual([manifest.kind, manifest.metadata.name, []]);
    const wrong = structuredClone(of('Deployment', 'api'));
    wrong.spec.template.spec.containers[0].readinesProbe = {};
    delete wrong.spec.selector;
    expect(faultsOf(wrong).join()).toMatch(/required property 'selector'[\s\S]*readinesProbe|readinesProbe[\s\S]*required property 'selector'/);
  });

  test('are all listed, at the version of the product', () => {
    verifies('scale.kubernetes');
    const files = readdirSync(path.join(packageRoot, folder)).filter((file) => file.endsWith('.yaml') && file !== 'kustomization.yaml');
    expect([...kustomization.resources].sort()).toEqual(files.sort());
    const { version } = JSON.parse(text('package.json')) as { version: string };
    expect(kustomization.images).toEqual([{ name: 'governed-context-service', newTag: version }]);
    for (const role of roles) expect(containerOf(role).image).toBe('governed-context-service');
  });

  test('select what they make', () => {
    verifies('scale.kubernetes');
    for (const role of roles) {
      const labels = of('Deployment', role).spec.template.metadata.labels;
      for (const kind of ['Deployment', 'PodDisruptionBudget']) expect(of(kind, role).spec.selector.matchLabels).toEqual(labels);
      expect(of('NetworkPolicy', role).spec.podSelector.matchLabels).toEqual(labels);
      expect(of('HorizontalPodAutoscaler', role).spec.scaleTargetRef).toEqual({ apiVersion: 'apps/v1', kind: 'Deployment', name: role });
      expect(containerOf(role).envFrom).toEqual([{ configMapRef: { name: 'service-environment' } }, { secretRef: { name: 'service-secrets' } }]);
    }
    expect(of('Service', 'api').spec.selector).toEqual(of('Deployment', 'api').spec.template.metadata.labels);
  });
});

describe('the Kubernetes manifests and the code', () => {
  test('agree on the variables, and leave every secret to the Secret', () => {
    verifies('scale.kubernetes');
    const named = [...Object.keys(shared), ...secrets, ...roles.flatMap((role) => containerOf(role).env.map(({ name }: { name: string }) => name))];
    expect(named.filter((name) => !environmentVariables.includes(name))).toEqual([]);
    expect(Object.keys(shared).filter((name) => /PASSWORD|SECRET|KEY|TOKEN/.test(name))).toEqual([]);
    expect(secrets).toEqual(expect.arrayContaining(['SECRETS_KEY', 'MONGODB_URI', 'NEO4J_PASSWORD', 'TEMPORAL_API_KEY']));
    // Pods share no disk.
    expect(loadConfig(environmentOf('api'))).toMatchObject({ environment: 'production', seed: false, dataDir: '/data', s3: { bucket: shared.S3_BUCKET } });
  });

  test('agree on ports, probes and programs; the internal listener has no port', () => {
    verifies('scale.kubernetes');
    const { port, host, downstreamPort, callbacks } = loadConfig(environmentOf('api'));
    expect([portOf('api', 'http'), host]).toEqual([port, '0.0.0.0']);
    expect(containerOf('api').livenessProbe.httpGet).toEqual({ path: '/healthz', port: 'http' });
    expect(containerOf('api').readinessProbe.httpGet).toEqual({ path: '/readyz', port: 'http' });
    expect(of('Service', 'api').spec.ports).toEqual([{ name: 'http', port: 80, targetPort: 'http' }]);
    expect(of('NetworkPolicy', 'api').spec.ingress).toEqual([{ ports: [{ port: 'http' }] }]);
    expect(containerOf('api').ports.map(({ containerPort }: { containerPort: number }) => containerPort)).not.toContain(downstreamPort);
    expect(callbacks.downstreamHost).toBe('127.0.0.1');

    const { workerMetricsPort } = loadConfig(environmentOf('worker'));
    expect(portOf('worker', 'metrics')).toBe(workerMetricsPort);
    expect(containerOf('worker').livenessProbe.httpGet).toEqual({ path: '/healthz', port: 'metrics' });
    for (const [role, scraped] of [['api', port], ['worker', workerMetricsPort]] as const) {
      expect(of('Deployment', role).spec.template.metadata.annotations['prometheus.io/port']).toBe(String(scraped));
    }
    for (const program of [containerOf('worker').command, containerOf('worker').startupProbe.exec.command]) {
      expect(text(program.at(-1).replace(/^dist\/(.*)\.js$/, '$1.ts'))).toContain('loadConfig(process.env)');
    }
  });

  test('give a process the time that it takes to stop', () => {
    verifies('scale.kubernetes');
    for (const role of roles) {
      const before = containerOf(role).lifecycle?.preStop.sleep.seconds ?? 0;
      expect(podOf(role).terminationGracePeriodSeconds * 1000).toBeGreaterThan(before * 1000 + giveUpMs);
    }
  });

  test.each(roles)('run %s as the image’s user, with nothing that it does not need, on folders that it may write', (role) => {
    verifies('scale.kubernetes');
    expect(podOf(role)).toMatchObject({ automountServiceAccountToken: false, securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } } });
    expect(containerOf(role).securityContext).toEqual({ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } });
    expect(containerOf(role).volumeMounts.map(({ mountPath }: { mountPath: string }) => mountPath)).toEqual([shared.DATA_DIR, '/tmp']);
    expect(podOf(role).volumes.map(({ name }: { name: string }) => name)).toEqual(containerOf(role).volumeMounts.map(({ name }: { name: string }) => name));
    expect(Object.keys(containerOf(role).resources)).toEqual(['requests', 'limits']);
  });
});
