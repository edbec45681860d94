import { BSON } from 'mongodb';
import type { AgentflowExecutionInput } from '../../../../workflows/agentflow-execution/messages.js';
import { maxRecordBytes } from '../../../../workflows/agentflow-execution/stored-size.js';
import { isOfflineModel } from '../../../models/offline.js';
import type { Deps } from '../../deps.js';
import { keptBefore } from '../kept.js';
import type { ExecutionDocument } from '../record.js';

/** Runs continue as new well below the server's limits, so that replays are fast. */
const maxHistoryEvents = 5000;

/** Setting the status at the start avoids an update of the search attribute. */
export const initialStatus = 'running';

/** What a rerun continues from. */
function keptInput(record: ExecutionDocument): Pick<AgentflowExecutionInput, 'kept' | 'kept_outputs'> {
  const { start_from_agent_id: place, execution_context, flow } = record;
  const { rerun_of } = execution_context;
  // A slice may continue wherever its items have ended.
  if (typeof rerun_of !== 'string' || (place === null && !flow.slice)) return {};
  const { paths, steps, outputs, items } = keptBefore(record, place);
  const ofEarlier = Object.entries(items).map(
    ([owner, kept]) => [owner, { execution_id: rerun_of, place: owner, ...kept }] as const,
  );
  return { kept: { paths, steps, items: Object.fromEntries(ofEarlier) }, kept_outputs: outputs };
}

/** What the workflow of a run gets. */
export function inputOf({ config }: Pick<Deps, 'config'>, record: ExecutionDocument): AgentflowExecutionInput {
  const models = [...new Set(record.plan.map(({ llm }) => llm.model))];
  return {
    execution_id: record._id,
    project_id: record.projectID,
    organization_id: record.organization_id,
    agentflow_id: record.agentflow_id,
    agentflow_name: record.agentflow.name,
    executed_by: record.executed_by._id,
    goal: record.goal,
    input_variables: record.input_variables,
    runtime_inputs: record.runtime_inputs,
    files: record.files,
    agents: record.plan,
    first_agent_id: record.start_from_agent_id ?? record.agentflow.initialAgent,
    ...record.flow,
    ...keptInput(record),
    max_history_events: maxHistoryEvents,
    status_indexed: initialStatus,
    step_patience_seconds: config.stepPatience,
    reads_at_once: true,
    light_steps: { models: models.filter((name) => isOfflineModel(config.llm, name)) },
    leaves_nothing_open: true,
    ends_acts: true,
    pauses_before_turn: true,
    divides_items: true,
    yields_locally: true,
    reads_iso_times: true,
    batches_light_steps: true,
    room_in_record: maxRecordBytes - BSON.calculateObjectSize(record),
  };
}
