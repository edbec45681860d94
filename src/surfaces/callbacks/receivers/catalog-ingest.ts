import type { z } from 'zod';
import { memberOf } from '../../../auth/principal.js';
import { findActiveProject } from '../../../auth/project-roles.js';
import { AppError, isAppError, notFound } from '../../../base/errors.js';
import type { Call } from '../../../governance/kernel/call.js';
import { callAs } from '../../../governance/kernel/call-as.js';
import type { Kernel } from '../../../governance/kernel/perform.js';
import { ingestCatalog } from '../../../domain/tools/catalog-ingest.js';
import type { IngestInput } from '../../../graph/save/input.js';
import { save } from '../../../graph/save/save.js';
import type { Mongo } from '../../../stores/mongo.js';
import type { Graph } from '../../../stores/neo4j.js';
import { epochSeconds } from '../../../base/time.js';
import type { ReadBody } from '../read-body.js';
import type { Receiver } from '../receiver.js';
import { isSameSecret } from '../signature.js';

/** As for `POST /v1/catalog/ingest`: it is one write to the graph, and its input is recorded as a governed call. */
const bodyLimit = 1024 * 1024;

interface CatalogIngestOptions {
  serverKey: string | undefined;
  read: ReadBody;
  mongo: Mongo;
  graph: Graph;
  kernel: Kernel;
}

export function catalogIngest({ serverKey, read, mongo, graph, kernel }: CatalogIngestOptions): Receiver {
  return {
    path: '/v1/internal/catalog/ingest',
    summary: 'Entities and relationships from another service, by its server key',
    bodyLimit,
    admit(header) {
      if (!isSameSecret(header('x-server-key'), serverKey))
        throw new AppError('unauthorized', 'a valid server key is required');
    },
    async handOver({ body }) {
      const { project_id, ...input } = await read('readIngest', { body, contentType: undefined, maxBytes: bodyLimit });
      const project = await findActiveProject(mongo.collections, project_id);
      if (!project) throw notFound('project');
      const performed = await kernel.perform(
        callOf(graph, { projectId: project_id, organizationId: project.organization_id }, input),
      );
      const { lifecycleId } = performed;
      if (!('error' in performed))
        return {
          status: 200,
          body: { status: 'accepted', lifecycle_id: lifecycleId, ...(performed.ending.body as { saved: object }) },
        };
      const { error } = performed;
      if (!isAppError(error)) throw error;
      throw new AppError(error.code, error.message, {
        ...(lifecycleId !== undefined && { lifecycleId }),
        cause: error,
      });
    },
  };
}

/** The same operation as the tool, so that governed mode and every rule about catalog-ingest apply. */
function callOf(
  graph: Graph,
  place: { projectId: string; organizationId: string },
  input: z.output<typeof IngestInput>,
): Call {
  const { source, entities, relationships } = input;
  const startedAt = epochSeconds();
  return callAs(async () => memberOf({ userId: 'catalog-ingest', ...place }, ['svc:ontology.write']), {
    startedAt,
    operation: ingestCatalog,
    entrance: 'ingest',
    validate: async () => ({
      input,
      resource: { type: 'catalog', id: source },
      dryRun: false,
      async run({ lifecycleId: lifecycle_id }) {
        const stamp = { saved_by: 'service:catalog-ingest', source, recorded_at: startedAt, lifecycle_id };
        const { saved } = await save(graph, place.projectId, { entities, relationships, facts: [] }, stamp);
        return { body: { saved } };
      },
    }),
  });
}
