import { beforeAll, describe, expect, test } from '@jest/globals';
import { createWorkspace, useDeps, type Workspace } from '../support/fixture.js';
import { bearerClient } from '../support/gateway.js';
import { verifies } from '../support/verifies.js';

const deps = useDeps();
let workspace: Workspace;
beforeAll(async () => {
  workspace = await createWorkspace(deps);
});

describe('an unknown query parameter', () => {
  test.each(['/task?stauts=failed', '/inbox?Limit=3', '/schedule/coworker?limit=3&sort=name', '/agentflow?$where=1'])(
    'of the platform is refused with the known names: %s',
    async (path) => {
      verifies('conventions.unknown-query');
      const { status, body } = await workspace.api.get(`${path}&projectID=${workspace.projectID}`);
      const unknown = /[?&](stauts|Limit|sort|\$where)=/.exec(path)?.[1];
      expect([status, body.error]).toEqual([400, 'invalid_request']);
      expect(body.error_description).toContain(`unknown query parameter "${unknown}"; known are`);
      expect(body.error_description).toContain('limit');
    },
  );

  test.each(['/v1/lifecycles?tol=query-context', '/v1/audit?acter=me', '/v1/approvals?state=pending'])(
    'of the gateway is refused: %s',
    async (path) => {
      verifies('conventions.unknown-query');
      expect(await bearerClient(workspace.apiKey).get(path)).toMatchObject({
        status: 400,
        body: { error: 'invalid_request', error_description: expect.stringContaining('known are limit, cursor') },
      });
    },
  );

  test('does not include the project and the ids of the path, which every platform route accepts', async () => {
    verifies('conventions.unknown-query');
    const { projectID } = workspace;
    expect(
      await workspace.api.get(`/v1/project/${projectID}?project_id=${projectID}&projectId=${projectID}`),
    ).toMatchObject({ status: 200 });
  });
});
