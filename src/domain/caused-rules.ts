import {
  flag,
  freeText,
  text,
  textFacts,
  texts,
  type Cause,
  type CausedCall,
  type Operation,
} from '../governance/operations/operation.js';

/**
 * Rules treat preparing, rerunning and starting an execution as one operation, whether a route, `run-agent`, a schedule
 * or an event requests it. A rule can distinguish them by `step`.
 */
export const startRules: Operation = {
  name: 'execution.start',
  alias: 'run-agent',
  grant: 'svc:agent.run',
  effect: 'act',
  facts: {
    ...textFacts('agentflow_id', 'execution_id', 'step', 'release_channel'),
    draft: flag('draft'),
    parent_agentflows: texts('parent_agentflows'),
  },
};

/** Rules treat storing an action by its route and inside a skill as one operation. */
export const createActionRules: Operation = {
  name: 'action.create',
  grant: 'svc:skill.write',
  effect: 'write',
  facts: { name: freeText('name'), category: text('category') },
};

/** Rules treat creating a skill as one operation: by the route, by `save-skill`, and inside an agent. */
export const createSkillRules: Operation = {
  name: 'skill.create',
  alias: 'save-skill',
  grant: 'svc:skill.write',
  effect: 'write',
  facts: { name: freeText('name') },
  causes: [{ operation: createActionRules, when: 'if it has `actions`', calls: (skill) => actionsIn([skill]) }],
};

/** Rules treat creating a connector as one operation, for both routes and for a change that could make another one of it. */
export const createConnectorRules: Operation = {
  name: 'connector.create',
  effect: 'write',
  grant: 'svc:skill.write',
  facts: textFacts('category'),
};

/** The start of runs of an agentflow later, for a schedule or a trigger. */
export function startsOf(agentflowIds: readonly unknown[]): CausedCall[] {
  const ids = agentflowIds.filter((id) => typeof id === 'string');
  return [...new Set(ids)].map((id) => ({
    input: { agentflow_id: id, step: 'start' },
    resource: { type: 'agentflow', id },
  }));
}

/** Rules treat deleting an execution and storing when executions are deleted as one operation. */
export const deleteExecutionRules: Operation = {
  name: 'execution.delete',
  effect: 'write',
  grant: 'svc:orchestrate.write',
  facts: textFacts('execution_id'),
};

/** The start of the coworker of a schedule, which is the subject of the operation. */
export const startOfCoworker: Cause = { operation: startRules, calls: (_input, coworkerId) => startsOf([coworkerId]) };

/**
 * What storing agents causes: skills and actions that they contain.
 * @param agentsOf the agents that the call stores
 */
export function causesOfAgents(agentsOf: Agents): readonly Cause[] {
  const skillsOf = (...call: Parameters<Agents>) => objectsIn(agentsOf(...call), 'skills');
  return [
    { operation: createSkillRules, when: 'if an agent has `skills`', calls: (...call) => callsOf(skillsOf(...call)) },
    {
      operation: createActionRules,
      when: 'if a skill has `actions`',
      calls: (...call) => actionsIn(skillsOf(...call)),
    },
  ];
}

/**
 * What storing an agentflow causes: what its agents cause, and the actions of its steps.
 * @param flowOf the agentflow that the call stores
 */
export function causesOfFlow(flowOf: Agents): readonly Cause[] {
  const listOf = (list: 'agents' | 'steps', ...call: Parameters<Agents>) => objectsIn([flowOf(...call)], list);
  return [
    ...causesOfAgents((...call) => listOf('agents', ...call)),
    {
      operation: createActionRules,
      when: 'if `steps` have an `action`',
      calls: (...call) => callsOf(listOf('steps', ...call).flatMap(({ action }) => objects([action]))),
    },
  ];
}

type Agents = (...call: Parameters<Cause['calls']>) => unknown;
type Fields = Readonly<Record<string, unknown>>;

const actionsIn = (skills: unknown): CausedCall[] => callsOf(objectsIn(skills, 'actions'));

/** One call for each different name and category, which are what rules read. */
function callsOf(records: readonly Fields[]): CausedCall[] {
  const inputs = records.map(({ name, category }) => JSON.stringify({ name, category }));
  return [...new Set(inputs)].map((input) => ({ input: JSON.parse(input) as Fields }));
}

/** The objects in the field `list` of all `owners`. */
function objectsIn(owners: unknown, list: string): Fields[] {
  return objects(owners).flatMap((owner) => objects(owner[list]));
}

function objects(values: unknown): Fields[] {
  const list: unknown[] = Array.isArray(values) ? values : [];
  return list.filter((value): value is Fields => typeof value === 'object' && value !== null);
}
