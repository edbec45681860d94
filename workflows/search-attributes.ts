import { defineSearchAttributeKey, type SearchAttributePair } from '@temporalio/common';

/**
 * Every search attribute that our workflows set, with its type. The stack registers missing ones. The status of an execution
 * is `AgentflowStatus`, because `ExecutionStatus` belongs to Temporal and cannot be set.
 */
export const searchAttributeTypes = {
  ProjectId: 'KEYWORD',
  OrganizationId: 'KEYWORD',
  AgentflowId: 'KEYWORD',
  AgentflowStatus: 'KEYWORD',
  ExecutedBy: 'KEYWORD',
  LifecycleId: 'KEYWORD',
} as const;

/** The attributes as typed keys of the SDK. */
export const searchAttributes = {
  projectId: defineSearchAttributeKey('ProjectId', searchAttributeTypes.ProjectId),
  organizationId: defineSearchAttributeKey('OrganizationId', searchAttributeTypes.OrganizationId),
  agentflowId: defineSearchAttributeKey('AgentflowId', searchAttributeTypes.AgentflowId),
  agentflowStatus: defineSearchAttributeKey('AgentflowStatus', searchAttributeTypes.AgentflowStatus),
  executedBy: defineSearchAttributeKey('ExecutedBy', searchAttributeTypes.ExecutedBy),
  lifecycleId: defineSearchAttributeKey('LifecycleId', searchAttributeTypes.LifecycleId),
} as const;

/** Values by the names above, as plain JSON. */
export type AttributeValues = Partial<Record<keyof typeof searchAttributes, string>>;

export function attributePairs(values: AttributeValues): SearchAttributePair[] {
  return Object.entries(values).map(([name, value]) => ({
    key: searchAttributes[name as keyof AttributeValues],
    value,
  }));
}
