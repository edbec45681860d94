import { functionName } from '../../../workflows/agentflow-execution/tools.js';
import { canonicalText, isJsonObject } from '../../base/json.js';
import { pick } from '../../base/pick.js';
import { sha256Hex } from '../../base/hash.js';
import { mcpToolName } from '../connectors/rules/provider-operations.js';
import type { LiveTool, McpToolDefinition } from './record.js';
import { hiddenCharacterIn } from './rules/hidden-characters.js';

export const maxTools = 256;
const maxTitleLength = 200;
const maxDescriptionLength = 4096;
const maxDefinitionLength = 64 * 1024;

/** Keeps the fields that are accepted and hashed. Icons, execution hints and `_meta` do not reach an agent. */
export function definitionOf(tool: McpToolDefinition): McpToolDefinition {
  return pick(tool, 'name', 'inputSchema', 'title', 'description', 'outputSchema', 'annotations');
}

export function hashOf(definition: McpToolDefinition): string {
  return sha256Hex(canonicalText(definitionOf(definition)));
}

/** The hash of a whole list, which does not depend on its order. */
export function hashOfAll(definitions: readonly McpToolDefinition[]): string {
  return sha256Hex(canonicalText(definitions.map(hashOf).sort()));
}

/** Why each tool of a server cannot be accepted, by its position in the list. */
export function problemsOf(definitions: readonly LiveTool[]): string[][] {
  const names = definitions.map(({ name }) => functionName(name).toLowerCase());
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return definitions.map(({ problems = [], ...definition }, at) => [
    ...problems,
    ...(mcpToolName.test(definition.name)
      ? []
      : ['the name must consist of 1 to 128 letters, digits, "_", ".", "/" or "-"']),
    ...((counts.get(names[at] ?? '') ?? 0) > 1
      ? ['the name collides with another tool of the server, which models could not tell apart']
      : []),
    ...textProblems(definition),
  ]);
}

function textProblems(definition: McpToolDefinition): string[] {
  const { title = '', description = '' } = definition;
  const tooLong = (what: string, size: number, max: number) =>
    size > max ? [`the ${what} has ${size} characters; at most ${max} are allowed`] : [];
  const hidden = hiddenCharacterIn(definition, []);
  return [
    ...tooLong('title', title.length, maxTitleLength),
    ...tooLong('description', description.length, maxDescriptionLength),
    ...tooLong('definition', canonicalText(definition).length, maxDefinitionLength),
    ...(hidden === undefined ? [] : [hidden]),
  ];
}

interface Difference {
  /** The path in the definition, such as `inputSchema.properties.path`. */
  path: string;
  pinned: unknown;
  live: unknown;
}

const maxDifferences = 100;

/** The differences of two definitions. A member that only one of them has is null in the other. */
export function differenceOf(pinned: McpToolDefinition, live: McpToolDefinition): Difference[] {
  return differences(pinned, live, []).slice(0, maxDifferences);
}

function differences(pinned: unknown, live: unknown, path: readonly string[]): Difference[] {
  if (!isJsonObject(pinned) || !isJsonObject(live))
    return canonicalText(pinned) === canonicalText(live)
      ? []
      : [{ path: path.join('.'), pinned: pinned ?? null, live: live ?? null }];
  const names = [...new Set([...Object.keys(pinned), ...Object.keys(live)])];
  return names.flatMap((name) => differences(own(pinned, name), own(live, name), [...path, name]));
}

function own(object: Record<string, unknown>, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}
