import type { PolicyJson } from '@cedar-policy/cedar-wasm/nodejs';
import { isJsonObject, type JsonObject } from '../../base/json.js';
import { operationsWithOwnRules } from '../operations/catalog.js';

/** Represents every attribute, because the analysis does not follow values through branches and records. */
const anyAttribute = '';

/**
 * The attributes that the rules for one operation can read, such as `context.input.entities`, or `context` if a rule
 * uses it as a whole. May contain attributes that a condition names but never evaluates.
 */
export function attributesRead(policies: Readonly<Record<string, PolicyJson>>, operation: string): Set<string> {
  const found = new Set<string>();
  for (const policy of Object.values(policies))
    if (mayApply(policy, operation)) for (const { body } of policy.conditions) collect(body, found);
  return found;
}

/** Whether a rule reads one of the unknown attributes. */
export function readsUnknown(read: ReadonlySet<string>, unknown: readonly string[]): boolean {
  return unknown.some((path) => mayRead(read, path));
}

/** Whether a rule reads the attribute or something that contains it. */
export function mayRead(read: ReadonlySet<string>, path: string): boolean {
  return read.has(path) || path.split('.').some((_, at, parts) => read.has(parts.slice(0, at).join('.')));
}

/** Whether the operations of a policy include this one. Its conditions are not evaluated. */
export function mayApply({ action }: PolicyJson, operation: string): boolean {
  if (action.op === 'All') return !(operationsWithOwnRules as readonly string[]).includes(operation);
  return !('entities' in action) || action.entities.some((entity) => 'id' in entity && entity.id === operation);
}

/** The only field of an expression is its kind. The fields of a record have any names, such as "Value" or ".". */
function collect(expression: JsonObject, found: Set<string>): void {
  if ('Value' in expression) return;
  const path = pathOf(expression);
  if (path) {
    // A principal or an action as a whole is compared by its id, which every lifecycle contains.
    if (path !== 'principal' && path !== 'action') found.add(path);
    return;
  }
  if ('.' in expression || 'has' in expression) found.add(anyAttribute);
  for (const parts of Object.values(expression))
    for (const part of Object.values(parts as object)) if (isJsonObject(part)) collect(part, found);
}

/** `context.input.entities` for the tree of that expression, or of `context.input has entities`. */
function pathOf(node: JsonObject): string | undefined {
  if (typeof node.Var === 'string') return node.Var;
  const access = (node['.'] ?? node.has) as { left: JsonObject; attr: string | string[] } | undefined;
  const left = access && pathOf(access.left);
  return left === undefined ? undefined : [left, ...[access?.attr ?? []].flat()].join('.');
}
