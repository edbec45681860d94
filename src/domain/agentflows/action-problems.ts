import { syntaxProblem } from '../../prompts/template.js';
import { fieldProblems } from './field-problems.js';
import type { Action, Skill } from './record/skills.js';

type Call = Pick<Action, '_id' | 'category' | 'method' | 'endpoint' | 'summary' | 'input_schema' | 'output_schema'>;

export function actionProblems(where: string, action: Call): string[] {
  return [
    ...(action.category === 'mcp' || action.category === 'agentflow'
      ? []
      : templateProblems(`${where}.endpoint`, action.endpoint)),
    ...templateProblems(`${where}.summary`, action.summary ?? ''),
    ...markProblems(`${where}.input_schema`, action),
    ...fieldProblems(where, action),
  ];
}

function markProblems(where: string, { input_schema: { fields } }: Pick<Call, 'input_schema'>): string[] {
  return (['amount', 'currency'] as const)
    .filter((mark) => fields.filter((field) => field.mark === mark).length > 1)
    .map((mark) => `${where}: at most one field can have the mark ${mark}`);
}

/** A relative path needs a connector, which provides the base URL. A tool needs the connector of its server. */
export function connectorProblems(
  where: string,
  { category, endpoint }: Pick<Call, 'category' | 'endpoint'>,
  { connector_id }: Pick<Skill, 'connector_id'>,
): string[] {
  if (category === 'mcp' && connector_id === null)
    return [`${where}.category: an mcp action requires the skill to have a connector_id`];
  const isPath = category === 'restful' && endpoint.startsWith('/');
  return isPath && connector_id === null
    ? [`${where}.endpoint: a relative path requires the skill to have a connector_id`]
    : [];
}

export function templateProblems(where: string, template: string): string[] {
  const problem = syntaxProblem(template);
  return problem === undefined ? [] : [`${where}: is not a valid Liquid template: ${problem}`];
}
