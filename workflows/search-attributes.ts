import { defineSearchAttributeKey, type SearchAttributePair } from '@temporalio/common';

/**
 * Every search attribute that our workflows set, by its type; the stack registers what is missing. Our own status of
 * an execution is `AgentflowStatus`: `ExecutionStatus` is Temporal's, and the server refuses to have it set.
 */
export const searchAttributeTypes = {
  ProjectId: 'KEYWORD',
  OrganizationId: 'KEYWORD',
  AgentflowId: 'KEYWORD',
  AgentflowStatus: 'KEYWORD',
  ExecutedBy: 'KEYWORD',
  LifecycleId: 'KEYWORD',
} as const;

/** The same attributes as the SDK's typed keys. */
export const searchAttributes = {
  projectId: defineSearchAttributeKey('ProjectId', searchAttributeTypes.ProjectId),
  organizationId: defineSearchAttributeKey('OrganizationId', searchAttributeTypes.OrganizationId),
  agentflowId: defineSearchAttributeKey('AgentflowId', searchAttributeTypes.AgentflowId),
  agentflowStatus: defineSearchAttributeKey('AgentflowStatus', searchAttributeTypes.AgentflowStatus),
  executedBy: defineSearchAttributeKey('ExecutedBy', searchAttributeTypes.ExecutedBy),
  lifecycleId: defineSearchAttributeKey('LifecycleId', searchAttributeTypes.LifecycleId),
} as const;

/** Values by our names, as plain JSON. */
export type AttributeValues = Partial<Record<keyof typeof searchAttributes, string>>;

export function attributePairs(values: AttributeValues): SearchAttributePair[] {
  return Object.entries(values).map(([name, value]) => ({ key: searchAttributes[name as keyof AttributeValues], value }));
}
