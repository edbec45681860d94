import { sha256Hex } from '../../../base/hash.js';
import { canonicalText } from '../../../base/json.js';
import { pick } from '../../../base/pick.js';
import { ownValue } from '../../agentflows/record/channels.js';
import type { Agent, Agentflow } from '../../agentflows/record.js';
import { callId } from '../../agentflows/rules.js';
import type { Action } from '../../agentflows/record/skills.js';
import type { FlowStep } from '../../agentflows/record/steps.js';
import type { DefaultModel, ReleaseContent, ReleasedFlow, ReleasedTool } from '../record.js';

/** A skill whose connector is named by its slot. */
export interface PlainSkill {
  _id: string;
  name: string;
  description: string;
  logo: string;
  slot: string | null;
  initial_action_id: string | null;
  actions: Action[];
}

export type PlainAgent = Omit<Agent, 'skills'> & { skills: PlainSkill[] };

/** What the digest of a release covers. It contains no ids of connectors, so that it is the same in every project. */
export interface PlainContent {
  agentflow: Record<string, unknown>;
  agents: PlainAgent[];
  steps: Record<string, unknown>[];
  slots: { name: string; category: string }[];
  tools: ReleasedTool[];
  default_model: DefaultModel | null;
}

/**
 * Whether a field of an agentflow decides what a run does, so that a release keeps it. Otherwise the field belongs to the
 * record, or it is a setting of the saved agentflow that applies to all of its releases. Agents and steps are compared apart.
 */
const isReleased: Record<Exclude<keyof Agentflow, 'agents' | 'steps'>, boolean> = {
  name: true,
  image: true,
  description: true,
  role: true,
  initialAgent: true,
  agentflow_type: true,
  goal_structure: true,
  conclusion: true,
  failover_goal: true,
  anomaly_detection: true,
  input_schema: true,
  output_schema: true,
  isActive: false,
  concurrency: false,
  expose_as_tool: false,
  _id: false,
  projectID: false,
  organization_id: false,
  is_deleted: false,
  is_cron_scheduled: false,
  created_at: false,
  updated_at: false,
  last_used: false,
  marketplace_id: false,
  parent_agentflow_id: false,
  promoted_version: false,
};

/** The released fields. An absent schema and null mean the same. */
function ownFieldsOf(agentflow: ReleaseContent['agentflow']): Record<string, unknown> {
  const { input_schema, output_schema, ...fields } = agentflow;
  return Object.fromEntries(
    Object.entries({
      ...fields,
      ...(input_schema && { input_schema }),
      ...(output_schema && { output_schema }),
    }).filter(([name]) => ownValue(isReleased, name) === true),
  );
}

export function plainContent({ agentflow, slots, tools, flows, default_model }: ReleaseContent): PlainContent {
  const slotOf = (connectorId: string | null) => slots.find((slot) => slot.connector_id === connectorId)?.name ?? null;
  const slotOfTable = (tableId: string) => slots.find((slot) => slot.table_id === tableId)?.name ?? null;
  const agents = agentflow.agents.map(({ skills, ...agent }) => ({
    ...agent,
    skills: skills.map((skill) => ({
      ...pick(skill, '_id', 'name', 'description', 'logo', 'initial_action_id'),
      actions: skill.actions.map((action) => plainAction(action, callId(agent, skill, action), flows)),
      slot: slotOf(skill.connector_id),
    })),
  }));
  return {
    agentflow: ownFieldsOf(agentflow),
    agents,
    steps: (agentflow.steps ?? []).map((step) => plainStep(step, { slotOf, slotOfTable, flows })),
    slots: slots.map(({ name, category }) => ({ name, category })),
    tools,
    default_model,
  };
}

/** Instead of the id of an agentflow that it starts, an action has the digest of its release. */
function plainAction(action: Action, stepId: string, flows: readonly ReleasedFlow[]): Action {
  if (action.category !== 'agentflow') return action;
  return { ...action, endpoint: flows.find(({ step_id }) => step_id === stepId)?.digest ?? action.endpoint };
}

interface PlainNames {
  slotOf: (connectorId: string | null) => string | null;
  slotOfTable: (tableId: string) => string | null;
  flows: readonly ReleasedFlow[];
}

function plainStep(step: FlowStep, { slotOf, slotOfTable, flows }: PlainNames): Record<string, unknown> {
  if (step.type === 'action') {
    const { connector_id, ...rest } = step;
    return { ...rest, slot: slotOf(connector_id) };
  }
  if (step.type === 'map' && typeof step.items !== 'string') {
    const { table_id, ...query } = step.items;
    return { ...step, items: { ...query, slot: slotOfTable(table_id) } };
  }
  if (step.type !== 'flow') return { ...step };
  const { agentflow_id: _id, version: _version, ...rest } = step;
  return { ...rest, release: flows.find(({ step_id }) => step_id === step._id)?.digest ?? null };
}

/** SHA-256 of the canonical JSON (RFC 8785) of the content. */
export function digestOf(content: ReleaseContent): string {
  const { tools, ...plain } = plainContent(content);
  // The hash of a tool covers its hints.
  return sha256Hex(canonicalText({ ...plain, tools: tools.map(({ slot, name, hash }) => ({ slot, name, hash })) }));
}

/** Names the slots of connectors by their names: lowercase words, with a number if two connectors have the same name. */
export function slotNames(connectorNames: readonly string[]): string[] {
  const taken = new Set<string>();
  return connectorNames.map((name) => {
    const words = name
      .toLowerCase()
      .normalize('NFKD')
      .match(/[a-z0-9]+/g) ?? ['connector'];
    const base = words.join('-').slice(0, 80);
    let slot = base;
    for (let n = 2; taken.has(slot); n += 1) slot = `${base}-${n}`;
    taken.add(slot);
    return slot;
  });
}

/** The ids of the tables whose rows are items of a `map`, in order. */
export function tableIdsOf({ steps = [] }: Pick<ReleaseContent['agentflow'], 'steps'>): string[] {
  const ids = steps.flatMap((step) =>
    step.type === 'map' && typeof step.items !== 'string' ? [step.items.table_id] : [],
  );
  return [...new Set(ids)];
}

/** The ids of the connectors that an agentflow uses, in order. */
export function connectorIdsOf({
  agents,
  steps = [],
}: Pick<ReleaseContent['agentflow'], 'agents' | 'steps'>): string[] {
  const ids = [
    ...agents.flatMap(({ skills }) => skills.map(({ connector_id }) => connector_id)),
    ...steps.map((step) => (step.type === 'action' ? step.connector_id : null)),
  ];
  return [...new Set(ids.filter((id) => id !== null))];
}
