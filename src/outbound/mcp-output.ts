import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv';

/** What a tool of an MCP server answered, and the output schema of that tool. Without a value, only the schema is read. */
export interface McpOutput {
  schema: Record<string, unknown>;
  value?: unknown;
}

const maxLength = 200;

/** Why the value does not fit the schema. The server wrote both, and decides how long this takes: it runs in a thread. */
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
