import { Context } from '@temporalio/activity';
import { createCatalogClient } from '../src/domain/catalog/client.js';
import {
  crawlLineage,
  crawlTables,
  lineageStart,
  removalStart,
  removeUnseen,
  tablesStart,
} from '../src/domain/catalog/crawl.js';
import { permitCatalogRun, recordCatalogRun } from '../src/domain/catalog/record-run.js';
import { recordCodeSync, saveCommits, saveStart } from '../src/domain/code-sync/save-push.js';
import { loadConnector, recordConnectorLoad, type ConnectorLoadDeps } from '../src/domain/connectors/load-connector.js';
import { createLoadSchedules } from '../src/domain/connectors/load-schedules.js';
import { verifyAccount } from '../src/domain/connectors/verify-account.js';
import type { Deps } from '../src/domain/deps.js';
import { embedNext, nothingToEmbed, recordEmbeddingFailure } from '../src/domain/embedding/embed-next.js';
import { startCoworker } from '../src/domain/executions/start-coworker.js';
import { listLiveTools, type McpServerDeps } from '../src/domain/mcp-servers/operations/live-tools.js';
import { extractMemoryPart } from '../src/domain/memories/extract.js';
import { askForReview, finishMemory, saveMemoryPart } from '../src/domain/memories/write.js';
import { closeProject } from '../src/domain/projects/removal.js';
import { cancelExecutions, removeContents, removeStarters } from '../src/domain/projects/remove-contents.js';
import { endRemoval, hideColumn, sweepRows } from '../src/domain/tables/remove-column.js';
import { createSavePartAsPerson } from '../src/domain/tools/save-part-as-person.js';
import { indexNext } from '../src/graph/language/index-next.js';
import { unlessDeleted } from '../src/graph/ontology/state.js';
import { createHttpClient } from '../src/outbound/http-client.js';
import type { BackgroundActivities } from '../workflows/activities.js';
import type { CatalogRunReference } from '../workflows/catalog-sync/activities.js';
import type { Progress } from '../src/temporal/progress.js';
import { withHeartbeat } from './with-heartbeat.js';

/** The work of services and of connectors. All of it is safe to repeat: a repeat completes it. */
export function createBackgroundActivities(
  deps: Deps,
  { callAction, ...mcpServers }: Pick<ConnectorLoadDeps, 'callAction'> & McpServerDeps,
): BackgroundActivities {
  const { collections } = deps.mongo;
  // The operator configures the catalog, which is usually in the operator's own network.
  const catalog = createCatalogClient(deps.config.catalog, createHttpClient({ allowPrivateTargets: true }));
  const memories = { ...deps, collections, box: deps.auth.box, save: createSavePartAsPerson(deps) };
  const loads = createLoadSchedules({ collections, temporal: deps.temporal });
  const beating =
    <R, T>(work: (request: R, signal: AbortSignal) => Promise<T>) =>
    (request: R) =>
      withHeartbeat(null, ({ signal }) => work(request, signal));
  /** Continues a sync of the catalog from its cursor, if the rules permit it. */
  const syncing =
    <C, T>(start: C, work: (run: CatalogRunReference, progress: Progress<C>) => Promise<T>) =>
    (run: CatalogRunReference & { cursor?: unknown }) =>
      withHeartbeat((run.cursor as C | undefined) ?? start, async (progress) => {
        await permitCatalogRun(deps.kernel, run);
        return work(run, progress);
      });
  return {
    syncCatalogTables: syncing(tablesStart, (run, progress) => crawlTables(catalog, deps, run, progress)),
    syncCatalogLineage: syncing(lineageStart, (run, progress) => crawlLineage(catalog, deps, run, progress)),
    removeFromCatalog: syncing(removalStart, (run, progress) => removeUnseen(deps, run, progress)),
    recordCatalogRun: (run) => recordCatalogRun(deps, run),

    saveCommits: (input) => withHeartbeat(saveStart, (progress) => saveCommits(deps, input, progress)),
    recordCodeSync: (sync) => recordCodeSync(deps, sync),

    verifyAccount: beating((request, signal) => verifyAccount(deps, loads, request, signal)),
    startCoworker: beating((request) => startCoworker(deps, request)),

    loadConnector: beating((load, signal) => loadConnector({ ...deps, callAction }, load, signal)),
    alignLoadSchedule: ({ connector_id }) => loads.align(connector_id),
    recordConnectorLoad: (load) => recordConnectorLoad(deps, load),

    embedNext: beating((request, signal) => unlessDeleted(embedNext(deps, request, signal), nothingToEmbed)),
    recordEmbeddingFailure: beating(({ project_id, message }) =>
      unlessDeleted(recordEmbeddingFailure(deps, project_id, message), undefined),
    ),
    buildTextIndex: beating(async ({ project_id }, signal) => {
      while (!(await indexNext(deps.graph, project_id))) signal.throwIfAborted();
    }),

    extractMemoryPart: beating(({ memory: { memory_id }, part }, signal) =>
      extractMemoryPart(memories, { memory_id, part }, { signal, attempt: Context.current().info.attempt }),
    ),
    saveMemoryPart: beating((request, signal) => saveMemoryPart(memories, request, signal)),
    askForReview: beating((request) => askForReview(collections, request)),
    finishMemory: beating((request) => finishMemory(collections, request, deps.config.memoryRetentionDays)),

    listMcpTools: beating((request, signal) =>
      listLiveTools({ ...mcpServers, mcpChecks: deps.mcpChecks, collections, box: deps.auth.box }, request, signal),
    ),

    closeProject: beating((project) => closeProject(deps, project)),
    removeStarters: beating((project) => removeStarters(deps, project)),
    removeKnowledgeOfProject: beating((project, signal) => removeContents(deps, project, signal)),
    cancelExecutions: beating((project) => cancelExecutions(deps, project)),

    async hideTableColumn({ table_id, column_id }) {
      const { last_row_id } = await hideColumn(deps.mongo, table_id, column_id);
      return { last_row_id };
    },
    sweepTableColumn: ({ table_id, column_id, from, to, batch_rows }) =>
      withHeartbeat({ reached: from, cleared: 0 }, async ({ cursor, reached, signal }) => {
        let at = cursor;
        while (at.reached < to) {
          signal.throwIfAborted();
          const end = Math.min(at.reached + batch_rows, to);
          const cleared = await sweepRows(deps.mongo, table_id, column_id, at.reached, end);
          at = { reached: end, cleared: at.cleared + cleared };
          reached(at);
        }
        return { cleared: at.cleared };
      }),
    endTableColumnRemoval: ({ table_id, column_id }) => endRemoval(deps.mongo, table_id, column_id),
  };
}
