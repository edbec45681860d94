import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv';
import { isJsonObject } from '../base/json.js';

/**
 * The result of a tool of an MCP server, and the output schema of that tool. Without a value, only the schema is
 * checked.
 */
export interface McpOutput {
  schema: Record<string, unknown>;
  value?: unknown;
}

const maxLength = 200;

/**
 * Returns why the value does not match the schema. Runs in a thread, because the server wrote both and thereby decides
 * how long the check takes.
 */
export function problemOfOutput({ schema, value }: McpOutput): string | undefined {
  try {
    const check = new AjvJsonSchemaValidator().getValidator(schema);
    const { valid, errorMessage = '' } = value === undefined ? { valid: true } : check(value);
    if (valid) return undefined;
    return `the structured content does not match the output schema: ${errorMessage.slice(0, maxLength)}`;
  } catch (error) {
    return `the output schema is invalid: ${String(error instanceof Error ? error.message : error).slice(0, maxLength)}`;
  }
}

/** A schema of a tool. The product checks values only against output schemas. */
export interface ToolSchema {
  schema: Record<string, unknown>;
  isOutput: boolean;
}

/** What only a check of values needs: a dialect that the validator knows, and every schema that is referred to. */
const onlyForChecks = /unsupported dialect|can't resolve reference/;

/** Returns why each schema is invalid, by its position. Runs in a thread too. */
export function problemsOfSchemas(schemas: readonly ToolSchema[]): (string | undefined)[] {
  const shared = new AjvJsonSchemaValidator();
  return schemas.map(({ schema, isOutput }) => {
    try {
      // Two schemas with the same id would count as one.
      ('$id' in schema ? new AjvJsonSchemaValidator() : shared).getValidator(schema);
      return misplacedIn(schema);
    } catch (error) {
      const problem = String(error instanceof Error ? error.message : error);
      return onlyForChecks.test(problem) && !isOutput ? undefined : problem.slice(0, maxLength);
    }
  });
}

/** Names a property whose schema is none, such as a list of required names that stands among the properties. */
function misplacedIn(schema: unknown, path: readonly string[] = []): string | undefined {
  if (!isJsonObject(schema)) return typeof schema === 'boolean' ? undefined : `${path.join('.')} must be a schema`;
  for (const [name, property] of Object.entries(isJsonObject(schema.properties) ? schema.properties : {})) {
    const found = misplacedIn(property, [...path, 'properties', name]);
    if (found !== undefined) return found;
  }
  return undefined;
}
