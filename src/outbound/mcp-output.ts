import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv';

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
