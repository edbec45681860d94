import { TypedSearchAttributes, type SearchAttributePair } from '@temporalio/common';
import type { ScheduleClientInterceptor, WorkflowClientInterceptor } from '@temporalio/client';
import { LRUCache } from 'lru-cache';
import { searchAttributes } from '../../workflows/search-attributes.js';

const maxRemembered = 10_000;

/** Reads the organization of a workflow from its record. Returns undefined if there is no record. */
export type ReadOrganization = (workflowId: string) => Promise<string | undefined>;

export type WorkflowOrganizations = ReturnType<typeof createWorkflowOrganizations>;

/**
 * Creates the map from workflow ids to organizations of a process. A process learns the organization from the workflows that it starts and the payloads
 * that it decodes. A worker decodes the input of a workflow before it encodes anything for it. `read` covers the other
 * cases: updates from another process, and child workflows.
 */
export function createWorkflowOrganizations(read: ReadOrganization) {
  const known = new LRUCache<string, string>({ max: maxRemembered });
  return {
    /** Returns '' if the organization is unknown. Payloads are then encrypted with the key of the installation. */
    async of(workflowId: string | undefined): Promise<string> {
      if (workflowId === undefined) return '';
      const organizationId = known.get(workflowId) ?? (await read(workflowId));
      if (organizationId !== undefined) known.set(workflowId, organizationId);
      return organizationId ?? '';
    },
    learn(workflowId: string | undefined, organizationId: string): void {
      if (workflowId !== undefined && organizationId !== '') known.set(workflowId, organizationId);
    },
  };
}

/**
 * Returns interceptors that learn the organization from the search attributes of each workflow or schedule that a
 * client starts.
 */
export function organizationInterceptors({ learn }: WorkflowOrganizations): {
  workflow: WorkflowClientInterceptor[];
  schedule: ScheduleClientInterceptor[];
} {
  const learnFrom = (options: Startable) =>
    learn(options.workflowId, organizationIn(options.typedSearchAttributes) ?? '');
  return {
    workflow: [
      {
        start(input, next) {
          learnFrom(input.options);
          return next(input);
        },
        signalWithStart(input, next) {
          learnFrom(input.options);
          return next(input);
        },
      },
    ],
    schedule: [
      {
        create(input, next) {
          learnFrom(input.options.action);
          return next(input);
        },
      },
    ],
  };
}

interface Startable {
  workflowId?: string;
  typedSearchAttributes?: TypedSearchAttributes | SearchAttributePair[];
}

export function organizationIn(attributes: Startable['typedSearchAttributes']): string | undefined {
  if (attributes === undefined) return undefined;
  const typed = attributes instanceof TypedSearchAttributes ? attributes : new TypedSearchAttributes(attributes);
  return typed.get(searchAttributes.organizationId);
}
