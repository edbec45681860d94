import { expect, test } from '@jest/globals';
import { createQuestions, decideElicitation } from '../../../src/domain/mcp-servers/operations/elicitations.js';
import { isOpen, openQuestions } from '../../../src/domain/mcp-servers/record/elicitations.js';
import { newId } from '../../../src/base/ids.js';
import { epochSeconds } from '../../../src/base/time.js';
import { eventually } from '../../support/eventually.js';
import { createWorkspace, useDeps } from '../../support/fixture.js';
import { seedExecution } from '../../support/seeded-executions.js';
import { verifies } from '../../support/verifies.js';

const deps = useDeps();

test('a question of a paused run continues to wait while the store briefly does not answer', async () => {
  verifies('mcp-client.elicitation');
  const workspace = await createWorkspace(deps);
  const { _id: execution_id } = await seedExecution(deps, workspace, { status: 'paused' });
  const { mcp_elicitations } = deps.mongo.collections;
  let failures = 0;
  const failing = new Proxy(mcp_elicitations, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]): unknown => {
        if (name !== 'findOne' || failures === 0) return value.apply(target, args);
        failures -= 1;
        return Promise.reject(new Error('the store does not answer'));
      };
    },
  });
  const collections = { ...deps.mongo.collections, mcp_elicitations: failing };
  // The time limit is 0, but the clock is stopped while the run is paused.
  const ask = createQuestions({ collections, box: deps.auth.box, temporal: deps.temporal, waitSeconds: 0 })({
    ...{ project_id: workspace.projectID, organization_id: workspace.organizationId, execution_id },
    ...{
      agent_id: 'agent',
      step_id: newId(),
      connector_id: newId(),
      server: 'server',
      tool: 'tool',
      agentflow: 'flow',
    },
    step_ends_at: epochSeconds() + 600,
  });
  const answer = ask({ message: 'Go on?', schema: { type: 'object', properties: {} } }, new AbortController().signal);
  const asked = await eventually(async () => {
    const found = await mcp_elicitations.findOne({ execution_id, clock_stopped_at: { $gt: 0 } });
    if (!found) throw new Error('its clock runs');
    return found;
  });
  // Nobody can answer after the end of the step of the call, for example if its worker was lost.
  expect(isOpen(asked, epochSeconds())).toBe(true);
  expect(isOpen(asked, epochSeconds() + 600)).toBe(false);
  const open = (now: number) => mcp_elicitations.countDocuments({ _id: asked._id, ...openQuestions(now) });
  expect([await open(epochSeconds()), await open(epochSeconds() + 600)]).toEqual([1, 0]);
  failures = 1;
  await eventually(() => expect(failures).toBe(0));
  const decided = { status: 'accepted' as const, values: {}, decisionId: newId() };
  await decideElicitation({ collections: deps.mongo.collections, box: deps.auth.box }, asked, workspace, decided);
  expect(await answer).toMatchObject({ action: 'accept' });
});
