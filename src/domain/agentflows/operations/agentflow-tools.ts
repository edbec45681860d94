import type { ActionPlan, AgentPlan, SkillPlan } from '../../../../workflows/agentflow-execution/messages.js';
import { AppError } from '../../../base/errors.js';
import type { Collections } from '../../../stores/collections.js';
import type { AgentflowDocument } from '../record.js';
import { callId } from '../rules/call-id.js';
import { fieldsOfSchema } from '../rules/schema-fields.js';
import { argumentsSchema } from '../rules/tool-schema.js';

type Stores = Pick<Collections, 'agentflows' | 'agentflow_versions'>;

/**
 * Adds to each `agentflow` action of a plan what the model has to know of the agentflow: its description and its inputs.
 * `releases` has the releases that they start, by the step id of the action; without one, the call starts what is in production.
 * @throws AppError `validation_failed` for an agentflow that the project does not have
 */
export async function withAgentflowTools(
  stores: Stores,
  projectId: string,
  plan: readonly AgentPlan[],
  releases: ReadonlyMap<string, number>,
): Promise<AgentPlan[]> {
  const problems: string[] = [];
  const called = cached((id, version) => calledFlow(stores, projectId, id, version));
  const withTool = async (action: ActionPlan, stepId: string): Promise<ActionPlan> => {
    if (action.category !== 'agentflow') return action;
    const { name, endpoint } = action;
    const version = releases.get(stepId);
    const flow = await called(endpoint, version);
    if (flow) return { ...asTool(action, flow), ...(version !== undefined && { version }) };
    problems.push(`the action "${name}": the project has no agentflow ${endpoint}`);
    return action;
  };
  const withTools = (agent: AgentPlan) => async (skill: SkillPlan) => ({
    ...skill,
    actions: await Promise.all(skill.actions.map((action) => withTool(action, callId(agent, skill, action)))),
  });
  const agents = await Promise.all(
    plan.map(async (agent) => ({ ...agent, skills: await Promise.all(agent.skills.map(withTools(agent))) })),
  );
  if (problems.length > 0) throw new AppError('validation_failed', problems.join('; '));
  return agents;
}

/** Reads each release once, however many actions start it. */
function cached<T>(read: (id: string, version: number | undefined) => Promise<T>) {
  const known = new Map<string, Promise<T>>();
  return (id: string, version: number | undefined): Promise<T> => {
    const key = `${id}:${version ?? ''}`;
    const found = known.get(key) ?? read(id, version);
    known.set(key, found);
    return found;
  };
}

/** The release, or what is in production, or the saved agentflow if there is no release, as for a `flow` step. */
async function calledFlow(
  { agentflows, agentflow_versions }: Stores,
  projectID: string,
  id: string,
  release: number | undefined,
) {
  const saved = await agentflows.findOne({ _id: id, projectID, is_deleted: false });
  const version = release ?? saved?.promoted_version;
  if (!saved || version === undefined) return saved;
  return (await agentflow_versions.findOne({ _id: `${id}:${version}` }))?.agentflow ?? saved;
}

function asTool(action: ActionPlan, { description, name, input_schema }: AgentflowDocument): ActionPlan {
  const described = { ...action, description: action.description || description || `Runs the agentflow "${name}".` };
  const { fields } = action.input_schema;
  if (fields.length > 0) return described;
  const schema = argumentsSchema(input_schema ?? {});
  return { ...described, input_schema: { fields: fieldsOfSchema(schema) }, agentflow: { input_schema: schema } };
}
