import type { Connector } from '../api.js';

export const categories = [
  'restful',
  'mcp',
  'mail',
  'messaging',
  'professional_network',
  'content_creator',
] as const satisfies readonly Connector['category'][];
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
