import { beforeAll, describe, expect, test } from '@jest/globals';
import { Grant } from '../../src/auth/grants.js';
import { newId } from '../../src/base/ids.js';
import { apiClient } from '../support/client.js';
import { createKey, createWorkspace, useDeps, type Workspace } from '../support/fixture.js';
import { useOwnApp } from '../support/own-app.js';
import { plainParams } from '../support/tenancy-ids.js';
import { verifies } from '../support/verifies.js';
import { exampleOf, operationsOf, withField, type OpenApi, type Operation } from '../support/worst-inputs.js';
import { isReduced } from '../requirements/full-forms.js';

const app = useOwnApp({ QUOTA_PROJECT_MAX: '0', QUOTA_ORG_MAX: '0' });
const deps = useDeps();

let url: string;
let document: OpenApi;
let own: Workspace;
let foreign: Workspace;
let key: string;
const secretName = `foreign ${newId()}`;
let foreignId: string;

beforeAll(async () => {
  url = app.url();
  document = (await apiClient(url).get('/openapi.json')).body;
  [own, foreign] = await Promise.all([createWorkspace(deps), createWorkspace(deps)]);
  key = await createKey(deps, own, { grants: Grant.options });
  const made = await app.through(foreign).api.post(`/skill?projectID=${foreign.projectID}`, { name: secretName });
  foreignId = made.body._id;
}, 400_000);

const bigText = 'a'.repeat(1_000_000);
/** JSON texts, because some values cannot be written otherwise. */
const hostile: Record<string, string> = {
  NUL: '"a\\u0000b"',
  'half a character': '"\\ud800"',
  'a megabyte': JSON.stringify(bigText),
  'deep nesting': `${'['.repeat(5000)}${']'.repeat(5000)}`,
  'a prototype': '{"__proto__":{"isAdmin":true},"constructor":{"prototype":{"x":1}}}',
  operators: '{"$where":"sleep(1000)","$gt":"","$ne":null,"a.b":1}',
  'a type of the driver': '{"_bsontype":"ObjectId","id":"aaaaaaaaaaaa"}',
  'a huge number': '1e400',
};

/** The full form sends every hostile value in every field and path. */
const everyNth = isReduced('FUZZ_EXAMPLES') ? 4 : 1;

const hostileIdentifiers = ['%00', '__proto__', '%24where', '..%2f..', 'a'.repeat(5000)];

const leftOut = [
  'get /execute_flow/{execution_id}/events',
  'get /{projectID}/events',
  'delete /v1/project/{project_id}',
  'put /v1/policies',
  'post /v1/policies/rules',
];
const mark = 'the hostile value';

interface Documented {
  responses: Record<string, unknown>;
}

async function call(operation: Operation, body: string, pathId: string): Promise<{ status: number; text: string }> {
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) =>
    /^project_?id$/i.test(name) ? own.projectID : (plainParams[name] ?? pathId),
  );
  const headers = { 'x-api-key': key, authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const answer = await fetch(url + path, {
    method: operation.method.toUpperCase(),
    headers,
    ...(operation.method === 'get' ? {} : { body }),
  });
  return { status: answer.status, text: await answer.text() };
}

const served = () =>
  operationsOf(document).filter(
    ({ method, path, security }) =>
      security.length > 0 && !leftOut.includes(`${method} ${path}`) && !path.startsWith('/v1/apikeys'),
  );

function expectDocumented(name: string, operation: Operation, status: number): void {
  const { responses } = operation as unknown as Documented;
  expect([name, status, status < 500 && (String(status) in responses || 'default' in responses)]).toEqual([
    name,
    status,
    true,
  ]);
}

describe('no undocumented answer', () => {
  test('to hostile values in each field of a body', async () => {
    verifies('operations.fuzzed-values');
    let [calls, seen] = [0, 0];
    for (const operation of served()) {
      const example = exampleOf(operation);
      if (example === undefined) continue;
      for (const { field, body } of withField(example, { [mark]: 1 })) {
        for (const [name, value] of Object.entries(hostile)) {
          if ((seen += 1) % everyNth !== 0) continue;
          const text = JSON.stringify(body).replace(`{"${mark}":1}`, () => value);
          const { status } = await call(operation, text, newId());
          expectDocumented(`${operation.method} ${operation.path}: ${name} in ${field}`, operation, status);
          calls += 1;
        }
      }
    }
    expect(calls).toBeGreaterThan(100);
  }, 600_000);

  test('to identifiers of another tenant and hostile ones, anywhere', async () => {
    let seen = 0;
    for (const operation of served()) {
      const hostileIds = hostileIdentifiers.filter(() => (seen += 1) % everyNth === 0);
      for (const id of [foreignId, foreign.projectID, ...hostileIds]) {
        const example = exampleOf(operation) ?? {};
        const { status, text } = await call(operation, JSON.stringify(example), id);
        expectDocumented(`${operation.method} ${operation.path}: ${id.slice(0, 40)} in the path`, operation, status);
        expect(text).not.toContain(secretName);
        if (typeof example !== 'object' || id.startsWith('%')) continue;
        for (const { field, body } of withField(example, id)) {
          if (!/(_id|Id|ID)$/.test(field)) continue;
          const inBody = await call(operation, JSON.stringify(body), newId());
          expectDocumented(
            `${operation.method} ${operation.path}: ${id.slice(0, 40)} in ${field}`,
            operation,
            inBody.status,
          );
          expect(inBody.text).not.toContain(secretName);
        }
      }
    }
  }, 600_000);
});
