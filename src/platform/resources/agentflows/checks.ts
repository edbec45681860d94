import { syntaxProblem } from '../../../prompts/template.js';
import type { Action, Agent, Agentflow, Skill } from './schemas.js';

const maxBytes = 4 * 1024 * 1024;

/**
 * Everything that would keep the agentflow from running as drawn, each problem naming its place; empty when there is
 * none. Agents that `initialAgent` does not lead to are fine, circles among them are not.
 */
export function problemsOf(agentflow: Pick<Agentflow, 'initialAgent' | 'agents' | 'failover_goal'>): string[] {
  const { agents, initialAgent, failover_goal } = agentflow;
  const nodes = agents.map((agent) => ({ id: agent._id, next: agent.next_agent }));
  return [
    ...sizeProblems(agentflow),
    ...duplicateIds('agents', nodes),
    ...initialAgentProblems(initialAgent, nodes),
    ...danglingPointers('agents', 'next_agent', 'agent', nodes),
    ...circles('agents', 'next_agent', nodes),
    ...agents.flatMap(agentProblems),
    ...failoverProblems(failover_goal),
  ];
}

interface Node {
  id: string;
  next: string | null;
}

/** Agents are added one by one, so the size of a request does not bound the record; MongoDB's 16 MB would end in a 500. */
function sizeProblems(agentflow: unknown): string[] {
  const bytes = Buffer.byteLength(JSON.stringify(agentflow));
  return bytes > maxBytes ? [`agents: the agentflow is larger than ${maxBytes} bytes`] : [];
}

function initialAgentProblems(initialAgent: string, agents: readonly Node[]): string[] {
  if (initialAgent === '') return agents.length === 0 ? [] : ['initialAgent: is missing'];
  return hasNode(agents, initialAgent) ? [] : [pointsNowhere('initialAgent', 'agent', initialAgent)];
}

function failoverProblems(goal: unknown): string[] {
  const parsed = failoverGoalOf(goal);
  return typeof parsed === 'object' ? templateProblems('failover_goal.template', parsed.template) : [];
}

/** What of the field the engine uses; undefined where there is no goal in it. */
export function failoverGoalOf(value: unknown): string | { template: string } | undefined {
  if (typeof value === 'string') return value.trim() === '' ? undefined : value;
  if (typeof value !== 'object' || value === null || !('template' in value)) return undefined;
  return typeof value.template === 'string' && value.template.trim() !== '' ? { template: value.template } : undefined;
}

function agentProblems(agent: Agent): string[] {
  const where = `agents.${agent._id}`;
  return [
    ...templateProblems(`${where}.prompt.template`, agent.prompt.template),
    ...templateProblems(`${where}.prompt.display_template`, agent.prompt.display_template),
    ...duplicateIds(`${where}.skills`, agent.skills.map((skill) => ({ id: skill._id }))),
    ...agent.skills.flatMap((skill) => skillProblems(`${where}.skills.${skill._id}`, skill)),
  ];
}

export function skillProblems(where: string, skill: Skill): string[] {
  const list = `${where}.actions`;
  const nodes = skill.actions.map((action) => ({ id: action._id, next: action.next_action_id }));
  const back = skill.actions.map((action) => ({ id: action._id, next: action.previous_action_id }));
  const initial = skill.initial_action_id;
  return [
    ...duplicateIds(list, nodes),
    ...(initial === null || hasNode(nodes, initial) ? [] : [pointsNowhere(`${where}.initial_action_id`, 'action', initial)]),
    ...danglingPointers(list, 'next_action_id', 'action', nodes),
    ...danglingPointers(list, 'previous_action_id', 'action', back),
    ...circles(list, 'next_action_id', nodes),
    ...skill.actions.flatMap((action) => actionProblems(`${list}.${action._id}`, action)),
    ...skill.actions.flatMap((action) => connectorProblems(`${list}.${action._id}`, action, skill)),
  ];
}

export function actionProblems(where: string, action: Action): string[] {
  return templateProblems(`${where}.endpoint`, action.endpoint);
}

/** A path alone says nothing of whom to call. */
function connectorProblems(where: string, { category, endpoint }: Action, { connector_id }: Skill): string[] {
  const isPath = category === 'restful' && endpoint.startsWith('/');
  return isPath && connector_id === null ? [`${where}.endpoint: is a path, so the skill needs a connector_id`] : [];
}

function duplicateIds(list: string, nodes: readonly { id: string }[]): string[] {
  const seen = new Set<string>();
  const twice = new Set<string>();
  for (const { id } of nodes) (seen.has(id) ? twice : seen).add(id);
  return [...twice].map((id) => `${list}: more than one has the _id ${JSON.stringify(id)}`);
}

function danglingPointers(list: string, pointer: string, kind: string, nodes: readonly Node[]): string[] {
  const ids = new Set(nodes.map(({ id }) => id));
  return nodes.flatMap(({ id, next }) =>
    next === null || ids.has(next) ? [] : [pointsNowhere(`${list}.${id}.${pointer}`, kind, next)],
  );
}

/** Each node leads to at most one other, so every circle is met once by walking on from each node not yet seen. */
function circles(list: string, pointer: string, nodes: readonly Node[]): string[] {
  const nextOf = new Map(nodes.map(({ id, next }) => [id, next]));
  const seen = new Set<string>();
  const problems: string[] = [];
  for (const { id } of nodes) {
    const walked = new Map<string, number>();
    let at: string | null | undefined = id;
    while (typeof at === 'string' && nextOf.has(at) && !seen.has(at)) {
      seen.add(at);
      walked.set(at, walked.size);
      at = nextOf.get(at);
    }
    const start = typeof at === 'string' ? walked.get(at) : undefined;
    if (start === undefined) continue;
    const circle = [...walked.keys()].slice(start);
    problems.push(`${list}: ${pointer} leads in a circle: ${[...circle, circle[0]].join(' → ')}`);
  }
  return problems;
}

function templateProblems(where: string, template: string): string[] {
  const problem = syntaxProblem(template);
  return problem === undefined ? [] : [`${where}: is no Liquid template: ${problem}`];
}

function hasNode(nodes: readonly Node[], id: string): boolean {
  return nodes.some((node) => node.id === id);
}

function pointsNowhere(where: string, kind: string, id: string): string {
  return `${where}: there is no ${kind} ${JSON.stringify(id)}`;
}
