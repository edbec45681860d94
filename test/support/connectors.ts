import { expect } from '@jest/globals';
import { startExecution, untilExecution } from './executions.js';
import type { Workspace } from './fixture.js';

export async function connectorOf({ api, projectID }: Workspace, category: string, config: object) {
  const answer = await api.post(`/actions/${category}/config?projectID=${projectID}`, { name: 'Office', config });
  expect(answer).toMatchObject({ status: 200 });
  return answer.body;
}

export const field = (field_id: string, type = 'string', required = true) => ({ field_id, type, required });

export function flowOf(connector_id: string | null, ...actions: object[]) {
  const linked = actions.map((action, at) => ({
    _id: `action_${at}`,
    name: `Action ${at}`,
    next_action_id: at + 1 < actions.length ? `action_${at + 1}` : null,
    ...action,
  }));
  const skills = [{ _id: 'skill', name: 'Skill', connector_id, actions: linked }];
  return {
    name: 'Flow',
    agents: [{ _id: 'agent', title: 'Agent', prompt: { template: 'Tell of {{ goal }}' }, skills }],
  };
}

/** Runs the actions and returns the resulting execution. */
export async function run(
  workspace: Workspace,
  connectorId: string | null,
  actions: object[],
  input_variables: object = {},
  status = 'completed',
) {
  const id = await startExecution(workspace, flowOf(connectorId, ...actions), { input_variables });
  return untilExecution(workspace, id, status);
}

/** What the first agent's actions answered. */
export const outputsOf = (execution: any) => execution.agents_output[0].actions.map(({ output }: any) => output);
