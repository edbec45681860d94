import { describe, expect, test } from '@jest/globals';
import { decide, heldApproval, permit, useActs, type Governed } from '../../../support/acts.js';
import { startExecution, untilExecution } from '../../../support/executions.js';
import { flowThatCalls } from '../../../support/flows.js';
import { verifies } from '../../../support/verifies.js';

const { sink, governed } = await useActs();
const tools = ['execution.continue-after-anomaly'];
const look = { policy_id: 'look', description: 'Findings are looked at.', effect: 'require_approval', tools };

/** A run of two agents. The output of the first contains a word that the check finds. */
async function start(of: Governed): Promise<string> {
  const flow = {
    ...flowThatCalls([`${sink.url}${of.prefix}/one`], [`${sink.url}${of.prefix}/two`]),
    anomaly_detection: { is_enabled: true, instructions: 'The word "agent_1" must not occur.' },
  };
  return startExecution(of.workspace, flow);
}

describe('a run whose anomaly check has found something', () => {
  test('waits if a rule requires an approval, and continues once it is given', async () => {
    verifies('act.anomaly');
    // The second agent's output repeats the word.
    const of = await governed({ ...look, when: 'context.input.agent_id == "agent_1"' });
    const id = await start(of);
    const approval = await heldApproval(of, id);
    expect(of.seen('two')).toBe(0);
    const { body } = await of.approver.get(`/v1/approvals/${approval}`);
    expect(body).toMatchObject({
      tool: tools[0],
      editable_fields: null,
      payload: { input: { finding: expect.stringContaining('agent_1') } },
    });
    await decide(of.approver, approval, 'approve');
    await untilExecution(of.workspace, id, 'completed');
    expect(of.seen('two')).toBe(1);
  });

  test('fails if a person rejects it or a rule forbids it', async () => {
    verifies('act.anomaly');
    const of = await governed(look);
    const id = await start(of);
    await decide(of.approver, await heldApproval(of, id), 'reject', 'This is wrong');
    const rejected = await untilExecution(of.workspace, id, 'failed');
    expect(rejected.execution_context.failure).toMatchObject({ code: 'approval_rejected', message: 'This is wrong' });
    await of.policies(permit, { ...look, effect: 'forbid', when: 'context.input.finding like "*agent_1*"' });
    const other = await untilExecution(of.workspace, await start(of), 'failed');
    expect(other.execution_context.failure).toMatchObject({ code: 'policy_denied' });
    expect(of.seen('two')).toBe(0);
  });

  test('continues without such a rule', async () => {
    verifies('act.anomaly');
    const of = await governed();
    const ended = await untilExecution(of.workspace, await start(of), 'completed');
    expect(ended.anomaly_detected).not.toBeNull();
    expect(of.seen('two')).toBe(1);
  });
});
