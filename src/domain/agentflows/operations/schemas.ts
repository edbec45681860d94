import { AppError } from '../../../base/errors.js';
import type { NamedSchema } from '../../../base/json-schema.js';
import type { Deps } from '../../deps.js';
import type { AgentflowDocument } from '../record.js';
import { agentflowProblems } from '../rules.js';
import { exposureProblems } from './exposed.js';
import { tableProblems } from './table-problems.js';

type Checked = Pick<AgentflowDocument, 'input_schema' | 'output_schema' | 'agents' | 'steps' | 'organization_id'>;

/**
 * Returns the agentflow if it can run.
 * @throws AppError `validation_failed` with all problems
 */
export async function checkedAgentflow<T extends AgentflowDocument>(
  deps: Pick<Deps, 'schemas' | 'mongo'>,
  agentflow: T,
): Promise<T> {
  const problems = [
    ...agentflowProblems(agentflow),
    ...inputSchemaProblems(agentflow),
    ...(await schemaProblems(deps, agentflow)),
    ...(await exposureProblems(deps.mongo.collections, agentflow)),
    ...(await tableProblems(deps.mongo.collections, agentflow)),
  ];
  if (problems.length > 0) throw new AppError('validation_failed', problems.join('; '));
  return agentflow;
}

async function schemaProblems({ schemas }: Pick<Deps, 'schemas'>, agentflow: Checked): Promise<string[]> {
  const { input_schema, output_schema, agents, steps = [], organization_id: owner } = agentflow;
  const all = [
    { name: 'input_schema', schema: input_schema },
    { name: 'output_schema', schema: output_schema },
    ...agents.map((agent) => ({ name: `agents.${agent._id}.output_schema`, schema: agent.output_schema })),
    ...steps.flatMap((step) => (step.type === 'ask' ? [{ name: `steps.${step._id}.form`, schema: step.form }] : [])),
  ];
  const given = all.flatMap(({ name, schema }): NamedSchema[] => (schema ? [{ name, schema }] : []));
  return given.length === 0 ? [] : schemas.problemsOfSchemas(given, { owner });
}

/** The inputs of a run are an object, so a schema that accepts none would refuse every start. */
function inputSchemaProblems({ input_schema }: Checked): string[] {
  const type = input_schema?.type;
  if (type === undefined || [type].flat().includes('object')) return [];
  return ['input_schema.type: must be "object", because inputs have names'];
}

/**
 * @param inputs what `inputs` is in expressions
 * @throws AppError `validation_failed` if the inputs of a run do not match the agentflow's schema
 */
export async function requireInputs(
  { schemas }: Pick<Deps, 'schemas'>,
  { input_schema, organization_id: owner }: Pick<AgentflowDocument, 'input_schema' | 'organization_id'>,
  { runtime_inputs = {}, input_variables }: { runtime_inputs?: object; input_variables: object },
): Promise<void> {
  if (!input_schema) return;
  await schemas.requireMatch(input_schema, { ...runtime_inputs, ...input_variables }, { name: 'inputs', owner });
}
