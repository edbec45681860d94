import type { Connector } from '../api.js';

export const categoryNames: Readonly<Record<Connector['category'], string>> = {
  restful: 'HTTP API',
  mcp: 'MCP server',
  mail: 'Mail',
  messaging: 'Messaging',
  professional_network: 'Professional network',
  content_creator: 'Content creator',
};
export const statuses = [
  'active',
  'pending',
  'awaiting_verification',
  'paused',
  'failed',
] as const satisfies readonly Connector['status'][];

/** The states that a person can set, by the current state. The API decides whether the person may. */
export const movesFrom: Readonly<Record<Connector['status'], readonly Connector['status'][]>> = {
  pending: ['active'],
  awaiting_verification: ['active', 'failed', 'pending'],
  active: ['paused'],
  paused: ['active'],
  failed: ['pending'],
};
