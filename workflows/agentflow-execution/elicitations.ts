import { defineSignal, setHandler } from '@temporalio/workflow';
import { epochSeconds } from '../time.js';
import type { Elicitation } from './act-messages.js';
import type { ExecutionState } from './messages.js';
import type { Change } from './projection.js';
import type { PathState } from './path-state.js';
import { pathsOf } from './paths.js';
import type { StepRecord } from './step-record.js';
import { addEvent, shownPath } from './state.js';

/** Sent by the step that calls a tool whose MCP server asks a person, and again when the question is settled. */
export const elicitationAskedSignal = defineSignal<[Elicitation]>('elicitationAsked');
export const elicitationSettledSignal = defineSignal<[string]>('elicitationSettled');

/** A call that runs with others of its turn has a path of its own. */
function pathOfStep(state: ExecutionState, record: StepRecord | undefined): PathState | undefined {
  return pathsOf(state).find(({ call }) => call && call.step_id === record?.step_id) ?? state.paths[record?.path ?? ''];
}

/** Shows that the step waits for a person. The activity itself waits for the answer, so a forged signal is harmless. */
export function handleElicitations(state: ExecutionState, changed: (change: Change) => void): void {
  const stepOf = (id: unknown) => state.steps.findLast((step) => step.step_id === id && step.ended_at === null);
  setHandler(
    elicitationAskedSignal,
    (asked: Elicitation) => {
      const record = stepOf(asked?.step_id);
      const path = pathOfStep(state, record);
      if (!record || !path || path.held || path.elicitation?.elicitation_id === asked.elicitation_id) return;
      const { elicitation_id, requested_at, expires_at } = asked;
      record.status = 'waiting';
      const { step_id, agent_id, name } = record;
      state.has_waited = true;
      path.elicitation = {
        elicitation_id: String(elicitation_id),
        ...{ step_id, agent_id },
        requested_at: Number(requested_at),
        expires_at: Number(expires_at),
      };
      const shown = { step_id, name, elicitation_id, expires_at, ...shownPath(path) };
      addEvent(state, 'elicitation_requested', epochSeconds(), shown);
      changed('person');
    },
    { description: 'The MCP server of a tool asks a person' },
  );
  setHandler(
    elicitationSettledSignal,
    (elicitationId: string) => {
      const path = pathsOf(state).find(({ elicitation }) => elicitation?.elicitation_id === elicitationId);
      if (!path?.elicitation) return;
      const record = stepOf(path.elicitation.step_id);
      if (record) record.status = 'running';
      path.elicitation = null;
      addEvent(state, 'elicitation_settled', epochSeconds(), {
        step_id: record?.step_id ?? null,
        elicitation_id: elicitationId,
        ...shownPath(path),
      });
      changed('person');
    },
    { description: 'A person answered the MCP server, or the time was over' },
  );
}
