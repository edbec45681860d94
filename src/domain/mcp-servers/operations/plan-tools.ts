import type { ActionPlan, AgentPlan, SkillPlan } from '../../../../workflows/agentflow-execution/messages.js';
import { AppError } from '../../../base/errors.js';
import type { Collections } from '../../../stores/collections.js';
import { fieldsOfSchema } from '../../agentflows/rules/schema-fields.js';
import { mcpToolId, type McpToolDefinition, type McpToolDocument } from '../record.js';

type Tools = Pick<Collections, 'mcp_tools'>;
type Skills = readonly (Pick<SkillPlan, '_id' | 'connector_id'> & { actions: readonly Action[] })[];
type Action = Pick<ActionPlan, '_id' | 'category' | 'endpoint'>;

/**
 * Adds to each `mcp` action of a plan the definition that a person accepted, so that later changes do not affect the run.
 * @throws AppError `validation_failed` for a tool that is not accepted
 */
export async function withMcpTools(tools: Tools, projectId: string, plan: readonly AgentPlan[]): Promise<AgentPlan[]> {
  const skills = plan.flatMap((agent) => agent.skills);
  const { accepted, problems } = await acceptedTools(tools, projectId, skills);
  if (problems.length > 0) throw new AppError('validation_failed', problems.join('; '));
  return plan.map((agent) => ({
    ...agent,
    skills: agent.skills.map((skill) => ({
      ...skill,
      actions: skill.actions.map((action) => withTool(action, accepted.get(idOf(skill, action)))),
    })),
  }));
}

export async function mcpToolProblems(tools: Tools, projectId: string, skills: Skills): Promise<string[]> {
  return (await acceptedTools(tools, projectId, skills)).problems;
}

function idOf({ connector_id }: Skills[number], { endpoint }: Action): string {
  return mcpToolId(connector_id ?? '', endpoint);
}

/** The accepted tools by id, and the `mcp` actions whose tool is not accepted. */
async function acceptedTools({ mcp_tools }: Tools, projectId: string, skills: Skills) {
  const used = skills.flatMap((skill) =>
    skill.actions
      .filter(({ category }) => category === 'mcp')
      .map((action) => ({
        id: idOf(skill, action),
        problem: `skills.${skill._id}.actions.${action._id}.endpoint: the connector has no accepted tool ${JSON.stringify(action.endpoint)}`,
      })),
  );
  const ids = used.map(({ id }) => id);
  const found = ids.length === 0 ? [] : await mcp_tools.find({ _id: { $in: ids }, projectID: projectId }).toArray();
  const accepted = new Map(found.map((each) => [each._id, each]));
  return { accepted, problems: used.filter(({ id }) => !accepted.has(id)).map(({ problem }) => problem) };
}

function withTool(action: ActionPlan, accepted: McpToolDocument | undefined): ActionPlan {
  if (action.category !== 'mcp' || !accepted) return action;
  const { description = '', inputSchema, annotations } = JSON.parse(accepted.definition) as McpToolDefinition;
  const { fields } = action.input_schema;
  return {
    ...action,
    description: action.description === undefined || action.description === '' ? description : action.description,
    input_schema: { fields: fields.length > 0 ? fields : fieldsOfSchema(inputSchema) },
    tool: {
      name: accepted.name,
      hash: accepted.hash,
      input_schema: inputSchema,
      ...(annotations?.readOnlyHint === true && { read_only: true }),
    },
  };
}
