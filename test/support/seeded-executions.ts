import type { Deps } from '../../src/domain/deps.js';
import { newId } from '../../src/base/ids.js';
import type { ExecutionDocument } from '../../src/domain/executions/record.js';
import { epochSeconds } from '../../src/base/time.js';
import type { Workspace } from './fixture.js';

/** The record of an execution as its workflow writes it, for tests that only read such records. */
export async function seedExecution(
  deps: Deps,
  { projectID, organizationId, userId }: Pick<Workspace, 'projectID' | 'organizationId' | 'userId'>,
  fields: Partial<ExecutionDocument> & { coworker?: { id: string; name: string } } = {},
): Promise<ExecutionDocument> {
  const id = newId();
  const { coworker = { id: newId(), name: 'Seeded flow' }, ...given } = fields;
  const record: ExecutionDocument = {
    _id: id,
    execution_id: id,
    projectID,
    organization_id: organizationId,
    agentflow_id: coworker.id,
    agentflow: {
      agentflow_id: coworker.id,
      agents: [],
      image: '',
      initialAgent: 'a',
      name: coworker.name,
      role: '',
      conclusion: null,
    },
    plan: [],
    flow: { started_by: 'person' },
    caused_by: [],
    directed_by: [],
    projected_at: null,
    task_id: newId(),
    parent_execution_id: null,
    goal: 'the goal',
    goal_template: null,
    schedule: null,
    start_from_agent_id: null,
    files: [],
    input_variables: {},
    runtime_inputs: {},
    execution_context: {},
    previews: {},
    agents_output: [],
    anomaly_detected: null,
    conclusion: null,
    created_at: epochSeconds(),
    started_at: null,
    end_time: null,
    executed_by: { _id: userId, metadata: null, name: userId, type: 'manual' },
    status: 'completed',
    steps: [],
    last_event_seq: 0,
    changed_at: Date.now(),
    ...given,
  };
  await deps.mongo.collections.executions.insertOne(record);
  return record;
}
