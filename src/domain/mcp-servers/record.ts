import { defineCollection } from '../../stores/collections.js';
import { z } from 'zod';

const AnyJson = z.record(z.string(), z.unknown());

/** What a person accepts of a tool, and what its hash covers. */
export const McpToolDefinition = z.object({
  name: z.string(),
  title: z.string().optional(),
  description: z.string().optional(),
  inputSchema: AnyJson,
  outputSchema: AnyJson.optional(),
  annotations: AnyJson.optional(),
});
export type McpToolDefinition = z.infer<typeof McpToolDefinition>;

/** A tool that a server offers now. */
export interface LiveTool extends McpToolDefinition {
  /** Why the worker that read the tool found it unusable. The other members then show what it could read. */
  problems?: string[];
}

/** An accepted tool of a connector. `_id` is `<connector id>/<tool name>`. Times are epoch seconds. */
export interface McpToolDocument {
  _id: string;
  connector_id: string;
  projectID: string;
  name: string;
  /** The accepted definition as canonical JSON, whose SHA-256 is `hash`. */
  definition: string;
  hash: string;
  /** The URL or command of the server when the tool was accepted. */
  server: string;
  accepted_by: string;
  accepted_at: number;
  /** Set when the server was found to offer another definition. Agents cannot call the tool until it is accepted again. */
  suspended: { at: number; reason: string } | null;
}

export function mcpToolId(connectorId: string, toolName: string): string {
  return `${connectorId}/${toolName}`;
}

export const mcpToolsCollection = defineCollection('mcp_tools', { indexes: [{ keys: { connector_id: 1, name: 1 } }] });

declare module '../../stores/collections.js' {
  interface Documents {
    mcp_tools: McpToolDocument;
  }
}
