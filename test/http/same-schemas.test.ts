import { beforeAll, describe, expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { Grant } from '../../src/auth/grants.js';
import { newId } from '../../src/base/ids.js';
import { apiClient } from '../support/client.js';
import { createWorkspace, useDeps, type Workspace } from '../support/fixture.js';
import { useOwnApp } from '../support/own-app.js';
import { testRun } from '../support/run.js';
import { verifies } from '../support/verifies.js';

const deps = useDeps();
// Without a quota, because every operation is called many times within a minute.
const app = useOwnApp({ QUOTA_PROJECT_MAX: '0', QUOTA_ORG_MAX: '0' });
const document = (await apiClient(testRun().url).get('/openapi.json')).body;
const ajv = new Ajv2020({ strict: false, validateFormats: false }).addSchema({ $id: 'document', ...document });

type Fields = Record<string, unknown>;
const withBody = Object.entries<any>(document.paths).flatMap(([at, item]) =>
  Object.entries<any>(item).flatMap(([method, operation]) => {
    const media = operation.requestBody?.content['application/json'];
    const needsProject = (operation.parameters ?? []).some(
      (parameter: any) => parameter.in === 'query' && parameter.required,
    );
    return media ? [{ name: `${method.toUpperCase()} ${at}`, at, method, media, needsProject }] : [];
  }),
);

/** Parameters of paths that are no ids. */
const words: Readonly<Record<string, string>> = { category: 'restful', channel: 'staging' };
/** Their body is any JSON value. */
const takesEverything = ['POST /resume/{address}'];

let workspace: Workspace;
let url: string;
beforeAll(async () => {
  workspace = await createWorkspace(deps, { grants: Grant.options });
  url = app.url();
});

function documentTakes({ at, method }: (typeof withBody)[number], body: unknown): boolean {
  const escaped = ['paths', at, method, 'requestBody', 'content', 'application/json', 'schema'].map((part) =>
    encodeURIComponent(part.replace(/\//g, '~1')),
  );
  return ajv.validate({ $ref: `document#/${escaped.join('/')}` }, body);
}

/** Only the project exists, so the worst answer to an accepted body is 404. */
async function routeTakes(
  { at, method, needsProject }: (typeof withBody)[number],
  body: unknown,
): Promise<{ taken: boolean; why: string }> {
  const target = at.replace(/\{(\w+)\}/g, (_, name: string) =>
    /^project_?id$/i.test(name) ? workspace.projectID : (words[name] ?? newId()),
  );
  const query = needsProject ? `?projectID=${workspace.projectID}` : '';
  const headers = {
    'content-type': 'application/json',
    'x-api-key': workspace.apiKey,
    authorization: `Bearer ${workspace.apiKey}`,
  };
  const answer = await fetch(url + target + query, {
    method: method.toUpperCase(),
    headers,
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  return { taken: answer.status !== 400, why: `${answer.status} ${text.slice(0, 300)}` };
}

/** The example with one problem: an additional field, a missing field, or a field of another type. */
function spoiled(example: unknown): unknown[] {
  const others = [[], 'text', 17];
  if (typeof example !== 'object' || example === null || Array.isArray(example)) return others;
  const fields = example as Fields;
  const perField = Object.keys(fields).flatMap((name) => {
    const { [name]: _, ...rest } = fields;
    return [rest, { ...fields, [name]: 17 }, { ...fields, [name]: { unforeseen: [] } }];
  });
  return [...others, { ...fields, unforeseen: true }, ...perField];
}

describe('the request schema in the document', () => {
  test.each(withBody.map((operation) => [operation.name, operation] as const))(
    'accepts and refuses the same bodies as %s',
    async (name, operation) => {
      verifies('reference.same-schemas');
      const { example } = operation.media;
      const bodies = [example, ...spoiled(example)];
      expect(documentTakes(operation, example)).toBe(true);
      const refused = bodies.filter((body) => !documentTakes(operation, body));
      expect([name, refused.length === 0]).toEqual([name, takesEverything.includes(name)]);
      expect({ example, ...(await routeTakes(operation, example)) }).toMatchObject({ taken: true });
      for (const body of refused)
        expect({ body, ...(await routeTakes(operation, body)) }).toMatchObject({ taken: false });
    },
  );
});
