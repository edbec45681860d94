import type { WorkflowClientInterceptor } from '@temporalio/client';
import type { Priority, SearchAttributePair, TypedSearchAttributes } from '@temporalio/common';
import { organizationIn } from './workflow-organizations.js';

/**
 * The priorities from 1 (first) to 5 (last). Other workflows have Temporal's default, 3. Activities and child workflows
 * inherit the priority.
 */
const keys: Readonly<Record<string, number>> = {
  approval: 1,
  mcpTools: 2,
  scheduleChange: 1,
  catalogSync: 5,
  codeSync: 5,
  columnRemoval: 5,
  connectorLoad: 5,
  embedding: 5,
  textIndex: 5,
  knowledgeUpload: 5,
  projectRemoval: 5,
  remember: 5,
};

/**
 * Returns the priority and the fairness key. With a server that supports them, the tasks of one organization do not
 * wait behind the backlog of another.
 */
export function priorityOf(workflowType: string, organizationId: string | undefined): Priority {
  const priorityKey = keys[workflowType];
  // The server refuses keys of more than 64 characters.
  return {
    ...(priorityKey !== undefined && { priorityKey }),
    ...(organizationId !== undefined && { fairnessKey: organizationId.slice(0, 64) }),
  };
}

interface Start {
  workflowType: string;
  options: { typedSearchAttributes?: SearchAttributePair[] | TypedSearchAttributes; priority?: Priority };
}

/** Sets the priority and the fairness key of each workflow that a client starts. */
export const priorities: WorkflowClientInterceptor = {
  startWithDetails: (input, next) => next(withPriority(input)),
  signalWithStart: (input, next) => next(withPriority(input)),
};

function withPriority<T extends Start>(input: T): T {
  const organizationId = organizationIn(input.options.typedSearchAttributes);
  const priority = { ...priorityOf(input.workflowType, organizationId), ...input.options.priority };
  return { ...input, options: { ...input.options, priority } };
}
