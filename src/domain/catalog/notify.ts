import {
  catalogSyncType,
  catalogSyncWorkflowId,
  changedSignal,
  type CatalogChanges,
  type CatalogScope,
  type CatalogSyncInput,
} from '../../../workflows/catalog-sync/messages.js';
import { attributePairs } from '../../../workflows/search-attributes.js';
import type { Config } from '../../config.js';
import { createGroup, type Waiting } from '../../stores/group.js';
import { newId } from '../../base/ids.js';
import type { Temporal } from '../../temporal/client.js';

export interface CatalogEvents {
  events: number;
  entities: string[];
}

/** Resolves when Temporal has accepted the events. */
export type NotifyCatalog = (scope: CatalogScope, events: CatalogEvents) => Promise<void>;

const maxHistoryEvents = 5000;
const maxEntities = 5;

/**
 * Signals the sync workflow of a scope and starts it if necessary. Events that arrive while a signal is in flight share
 * the next one, so a burst needs few signals. Each delivery is answered only after its own signal was accepted.
 */
export function createCatalogNotifier({ temporal, config }: { temporal: Temporal; config: Config }): NotifyCatalog {
  const { quietWindowMs, longestWaitMs } = config.catalog;
  const groups = new Map<string, ReturnType<typeof createGroup<CatalogEvents, void>>>();

  function groupOf(scope: CatalogScope) {
    const present = groups.get(scope.project_id);
    if (present) return present;
    const input: CatalogSyncInput = {
      ...scope,
      quiet_ms: quietWindowMs,
      longest_wait_ms: longestWaitMs,
      max_history_events: maxHistoryEvents,
    };
    const group = createGroup<CatalogEvents, void>(async (batch: readonly Waiting<CatalogEvents, void>[]) => {
      await signal(temporal, input, merged(batch.map(({ item }) => item)));
      for (const { resolve } of batch) resolve();
    });
    groups.set(scope.project_id, group);
    return group;
  }

  return (scope, events) => groupOf(scope).add(events);
}

async function signal(temporal: Temporal, input: CatalogSyncInput, changes: CatalogChanges): Promise<void> {
  const { project_id, organization_id } = input;
  const options = {
    taskQueue: temporal.taskQueue,
    workflowId: catalogSyncWorkflowId(project_id),
    args: [input] as [CatalogSyncInput],
    signal: changedSignal,
    signalArgs: [changes] as [CatalogChanges],
    memo: { project: project_id },
    staticSummary: 'Bring the data catalog into the context graph',
    typedSearchAttributes: attributePairs({ projectId: project_id, organizationId: organization_id }),
  };
  await temporal.call((client) => client.workflow.signalWithStart(catalogSyncType, options));
}

function merged(batch: readonly CatalogEvents[]): CatalogChanges {
  const entities = [...new Set(batch.flatMap((each) => each.entities))].slice(0, maxEntities);
  return { run_id: newId(), events: batch.reduce((sum, each) => sum + each.events, 0), entities };
}
