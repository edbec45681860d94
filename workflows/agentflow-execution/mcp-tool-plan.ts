/** A tool of an MCP server as a person accepted it. The call is refused if the server offers another definition. */
export interface McpToolPlan {
  name: string;
  /** The SHA-256 of the accepted definition. */
  hash: string;
  /** The accepted definition says that the tool changes nothing (`readOnlyHint`). */
  read_only?: true;
  /** The JSON Schema of the arguments, which the model gets. */
  input_schema: Record<string, unknown>;
}
