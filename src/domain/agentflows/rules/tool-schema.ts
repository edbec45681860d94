import { isJsonObject, type JsonObject } from '../../../base/json.js';

const goalField = { type: 'string', description: 'What the agent has to do, with all that it has to know.' };

/** The JSON Schema of the arguments of an agentflow that is a tool: its inputs, and the goal. */
export function argumentsSchema({ $schema: _dialect, properties, required, ...rest }: JsonObject) {
  const names = Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
  return {
    ...rest,
    type: 'object' as const,
    properties: { goal: goalField, ...(isJsonObject(properties) && properties) },
    required: [...new Set(['goal', ...names])],
  };
}

const maxNameLength = 64;
/** No tool of the service begins with it, so that no new one takes the name of an agentflow. */
export const toolPrefix = 'flow_';

/** The name of the MCP tool: letters, digits and underscores. Undefined for a name without Latin letters and digits. */
export function toolNameOf(name: string): string | undefined {
  const words = name
    .normalize('NFKD')
    .toLowerCase()
    .match(/[a-z0-9]+/g);
  return words ? `${toolPrefix}${words.join('_')}`.slice(0, maxNameLength).replace(/_$/, '') : undefined;
}
