import { expressionProblem, type ExpressionType } from '../../../workflows/agentflow-execution/flow/expressions.js';
import {
  namesInPart,
  partsOf,
  successorsOf,
  type AskStep,
  type BranchStep,
} from '../../../workflows/agentflow-execution/flow/flow-steps.js';
import { actionProblems, connectorProblems, templateProblems } from './action-problems.js';
import { cyclesIn, repeated } from './pointers.js';
import type { Agent } from './record.js';
import type { ActionStep, FlowStep } from './record/steps.js';

/** How deeply parts of a flow can lie in each other. */
const maxDepth = 10;

interface Flow {
  initialAgent: string;
  agents: readonly Pick<Agent, '_id' | 'next_agent'>[];
  steps: readonly FlowStep[];
}

/** A pointer of a node, with its place in the agentflow. */
interface Pointer {
  where: string;
  to: string;
}

/** An agent or a step, with the nodes that can follow it and the first nodes of its parts. */
interface FlowNode {
  id: string;
  successors: Pointer[];
  parts: Pointer[];
  step?: FlowStep;
}

/** Lists what is wrong with the steps of an agentflow: ids, pointers, parts and expressions. */
export function flowProblems(flow: Flow): string[] {
  if (flow.steps.length === 0) return [];
  const nodes = nodesOf(flow);
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const dangling = nodes
    .flatMap(({ successors, parts }) => [...successors, ...parts])
    .filter(({ to }) => !byId.has(to))
    .map(({ where, to }) => `${where}: the agent or step ${JSON.stringify(to)} does not exist`);
  const problems = [...sharedIds(flow), ...flow.steps.flatMap(fieldProblems), ...dangling, ...cycleProblems(nodes)];
  // Parts can be compared only in a flow whose pointers lead somewhere and end.
  const divided =
    problems.length === 0
      ? partProblems(flow.initialAgent, byId)
      : { problems: [], names: new Map<string, string[]>() };
  return [...problems, ...divided.problems, ...expressionProblems(flow, divided.names)];
}

function nodesOf({ agents, steps }: Flow): FlowNode[] {
  return [
    ...agents.map(({ _id, next_agent }) => ({
      id: _id,
      successors: next_agent === null ? [] : [{ where: `agents.${_id}.next_agent`, to: next_agent }],
      parts: [],
    })),
    ...steps.map((step) => ({
      id: step._id,
      successors: successorsOf(step).flatMap(({ field, to }) =>
        to === null ? [] : [{ where: `steps.${step._id}.${field}`, to }],
      ),
      parts: partsOf(step).map(({ name, first }) => ({
        where: `steps.${step._id}.${name === '' ? '' : `branches.${name}.`}first`,
        to: first,
      })),
      step,
    })),
  ];
}

function sharedIds({ agents, steps }: Flow): string[] {
  const agentIds = new Set(agents.map(({ _id }) => _id));
  const stepIds = steps.map(({ _id }) => _id);
  const shared = new Set([...repeated(stepIds), ...stepIds.filter((id) => agentIds.has(id))]);
  return [...shared].map((id) => `steps: the _id ${JSON.stringify(id)} must be unique among agents and steps`);
}

/** What the schema of a step cannot express. */
function fieldProblems(step: FlowStep): string[] {
  const where = `steps.${step._id}`;
  if (step.type === 'branch') return branchProblems(where, step);
  if (step.type === 'action') return callProblems(where, step);
  if (step.type === 'ask') return questionProblems(where, step);
  if (step.type === 'wait') {
    const given = [step.seconds, step.until, step.event].filter((each) => each !== undefined);
    return given.length === 1 ? [] : [`${where}: requires one of seconds, until and event`];
  }
  if (step.type !== 'parallel') return [];
  const { branches, join } = step;
  const count = typeof join === 'object' ? join.count : 0;
  return [
    ...repeatedNames(`${where}.branches`, branches),
    ...(count > branches.length
      ? [`${where}.join.count: must be at most ${branches.length}, the number of branches`]
      : []),
  ];
}

function branchProblems(where: string, { cases, decide, otherwise }: BranchStep): string[] {
  const names = repeatedNames(`${where}.cases`, cases);
  if (!decide) {
    const missing = cases.filter(({ when }) => when === undefined);
    return [...names, ...missing.map(({ name }) => `${where}.cases.${name}.when: is required without decide`)];
  }
  const given = cases.filter(({ when }) => when !== undefined);
  return [
    ...names,
    ...given.map(({ name }) => `${where}.cases.${name}.when: is not used with decide; use description`),
    ...(cases.length < 2 ? [`${where}.cases: a model needs at least two cases`] : []),
    ...(otherwise === null
      ? []
      : [`${where}.otherwise: is not used with decide, because a model always chooses a case`]),
    ...templateProblems(`${where}.decide.instructions`, decide.instructions),
  ];
}

function questionProblems(where: string, { question, form, to }: AskStep): string[] {
  return [
    ...templateProblems(`${where}.question`, question),
    ...(form.type === 'object' ? [] : [`${where}.form.type: must be "object", because a form has fields`]),
    ...(to && to.roles.length + to.people.length === 0 ? [`${where}.to: requires roles or people`] : []),
  ];
}

function callProblems(where: string, { _id, action, connector_id, inputs }: ActionStep): string[] {
  const fields = new Set(action.input_schema.fields.map(({ field_id }) => field_id));
  // An `mcp` action without fields gets those of its tool.
  const isOpen = action.category === 'mcp' && fields.size === 0;
  const unknown = isOpen ? [] : Object.keys(inputs).filter((name) => !fields.has(name));
  const call = { ...action, _id };
  if (action.category === 'agentflow') return [`${where}.action.category: use a flow step to start another agentflow`];
  return [
    ...actionProblems(`${where}.action`, call),
    ...connectorProblems(`${where}.action`, call, { connector_id }),
    ...unknown.map((name) => `${where}.inputs.${name}: the action has no field with this id`),
  ];
}

function repeatedNames(where: string, list: readonly { name: string }[]): string[] {
  return repeated(list.map(({ name }) => name)).map(
    (name) => `${where}: the name ${JSON.stringify(name)} must be unique`,
  );
}

/** A flow repeats nodes only through a `loop`, whose rounds end where a pointer is null. */
function cycleProblems(nodes: readonly FlowNode[]): string[] {
  const next = new Map(
    nodes.map(({ id, successors, parts }) => [id, [...successors, ...parts].map(({ to }) => to)] as const),
  );
  return cyclesIn(next).map(
    (cycle) => `steps: the pointers form a cycle, which only a loop step can do: ${cycle.join(' → ')}`,
  );
}

interface Division {
  problems: string[];
  /** For each reachable node, the names that the parts around it add to expressions. */
  names: ReadonlyMap<string, readonly string[]>;
}

/** Finds nodes that two parts share: a pointer leads out of one of them. */
function partProblems(first: string, byId: ReadonlyMap<string, FlowNode>): Division {
  const problems = new Set<string>();
  const partOf = new Map<string, string>();
  const names = new Map<string, readonly string[]>();
  const enter = (part: string, from: Pointer, inherited: readonly string[], depth: number): void => {
    if (depth > maxDepth) {
      problems.add(`${from.where}: parts of a flow can be nested at most ${maxDepth} deep`);
      return;
    }
    const open = [from];
    for (let pointer = open.pop(); pointer; pointer = open.pop()) {
      const { where, to } = pointer;
      const other = partOf.get(to);
      if (other !== undefined && other !== part)
        problems.add(`${where}: ${JSON.stringify(to)} belongs to ${other}, and a pointer must stay within its part`);
      if (other !== undefined) continue;
      partOf.set(to, part);
      names.set(to, inherited);
      const node = byId.get(to);
      open.push(...(node?.successors ?? []));
      const { step } = node ?? {};
      for (const inner of node?.parts ?? []) {
        const added = step && 'first' in step ? namesInPart(step) : [];
        enter(nameOfPart(inner.where), inner, [...new Set([...inherited, ...added])], depth + 1);
      }
    }
  };
  if (first !== '') enter('the main part of the flow', { where: 'initialAgent', to: first }, [], 0);
  return { problems: [...problems], names };
}

function nameOfPart(where: string): string {
  return `the part of ${where.replace(/[.]first$/, '')}`;
}

/** Names that a `map` cannot give to its items: they mean something else in CEL (its language definition, Syntax) or here. */
const reservedNames = new Set(
  [
    'as break const continue else false for function if import in let loop namespace null package return true var void while',
    'bool bytes double int list map null_type string type uint dyn duration timestamp optional',
    'inputs outputs goal execution index carry',
    // Namespaces of functions.
    'cel google math',
    // Names of templates.
    'runtime documents outputs_by_id previous actions',
  ].flatMap((line) => line.split(' ')),
);

function expressionProblems({ agents, steps }: Flow, namesOf: ReadonlyMap<string, readonly string[]>): string[] {
  const ids = new Set([...agents, ...steps].map(({ _id }) => _id));
  // The names of a step that cannot be reached are unknown, so it may use those of all parts.
  const aliases = steps.flatMap((step) => (step.type === 'map' && !reservedNames.has(step.as) ? [step.as] : []));
  const all = [...new Set(['item', 'index', 'carry', ...aliases])];
  return steps.flatMap((step) => {
    const around = namesOf.get(step._id) ?? all;
    const where = `steps.${step._id}`;
    if (step.type === 'map' && reservedNames.has(step.as))
      return [`${where}.as: ${JSON.stringify(step.as)} is a reserved name`];
    return expressionsOf(step).flatMap(({ field, text, type, isInPart, names: own = [] }) => {
      const ofPart = isInPart && 'first' in step ? namesInPart(step) : [];
      const names = [...new Set([...around, ...ofPart, ...own])];
      const outputs = new Set<string>();
      const problem = expressionProblem(text, { type, names }, outputs);
      const unknown = [...outputs].filter((id) => !ids.has(id));
      return [
        ...(problem === undefined ? [] : [`${where}.${field}: is not a valid CEL expression: ${problem}`]),
        ...unknown.map((id) => `${where}.${field}: outputs.${id}: the flow has no agent or step with this id`),
      ];
    });
  });
}

interface PlacedExpression {
  field: string;
  text: string;
  type: ExpressionType;
  /** Names that only this expression knows. */
  names?: readonly string[];
  /** Whether it is evaluated within the part of its step, after a round of a loop. */
  isInPart?: true;
}

function expressionsOf(step: FlowStep): PlacedExpression[] {
  switch (step.type) {
    case 'branch':
      return step.cases.flatMap(({ name, when }): PlacedExpression[] =>
        when === undefined ? [] : [{ field: `cases.${name}.when`, text: when, type: 'bool' }],
      );
    case 'map':
      return typeof step.items === 'string' ? [{ field: 'items', text: step.items, type: 'list' }] : [];
    case 'loop':
      return [
        { field: 'until', text: step.until, type: 'bool', isInPart: true },
        ...(step.carry === null ? [] : [{ field: 'carry', text: step.carry, type: 'any', isInPart: true } as const]),
      ];
    case 'wait':
      return [
        ...(step.until === undefined ? [] : [{ field: 'until', text: step.until, type: 'time' } as const]),
        ...(step.event?.match === undefined
          ? []
          : [{ field: 'event.match', text: step.event.match, type: 'bool', names: ['event'] } as const]),
      ];
    case 'flow':
      return [
        ...(step.goal === undefined ? [] : [{ field: 'goal', text: step.goal, type: 'any' } as const]),
        ...inputsOf(step),
      ];
    case 'action':
    case 'code':
      return inputsOf(step);
    case 'set':
      return Object.entries(step.values).map(([name, text]) => ({ field: `values.${name}`, text, type: 'any' }));
    case 'parallel':
    case 'ask':
      return [];
  }
}

function inputsOf({ inputs }: { inputs: Record<string, string> }): PlacedExpression[] {
  return Object.entries(inputs).map(([name, text]) => ({ field: `inputs.${name}`, text, type: 'any' }));
}
