import type { ActAwaitingApproval, Elicitation, UnsettledAnomaly } from './act-messages.js';
import type { AgentflowExecutionInput, ExecutionState } from './messages.js';
import type { CurrentAgent } from './path-state.js';
import { newMainPath } from './paths.js';

/** The state of a run of release 0.2, whose flow was a chain of agents. */
interface ChainState {
  current: CurrentAgent | null;
  unsettled_anomaly?: UnsettledAnomaly | null;
  checked: number;
  round_start: number;
  held?: ActAwaitingApproval | null;
  elicitation?: Elicitation | null;
}

type Plan = Pick<AgentflowExecutionInput, 'agents' | 'first_agent_id' | 'failover' | 'anomaly_detection'>;

/** Gives a state that a run of release 0.2 passed on its main path. Others stay as they are. */
export function withPaths(state: ExecutionState, plan: Plan): ExecutionState {
  if ('paths' in state) return state;
  const { current, unsettled_anomaly, checked, round_start, held, elicitation, ...rest } = state as Omit<
    ExecutionState,
    'paths'
  > &
    ChainState;
  const last = rest.agents_output.slice(round_start).at(-1);
  const first = rest.failover && plan.failover ? plan.failover.first_agent_id : plan.first_agent_id;
  const following = last ? (plan.agents.find(({ _id }) => _id === last.agent_id)?.next_agent ?? null) : first;
  const main = {
    ...newMainPath(current?.agent_id ?? following),
    last: last?.agent_id ?? null,
    current,
    unchecked: checked < rest.agents_output.length ? checked : null,
    unsettled_anomaly: unsettled_anomaly ?? null,
    held: held ?? null,
    elicitation: elicitation ?? null,
  };
  const has_waited = held !== undefined || elicitation !== undefined || Object.keys(rest.previews).length > 0;
  return { ...rest, paths: { [main.path]: main }, has_waited };
}
