import { z } from 'zod';
import { livingProject } from '../../auth/standing.js';
import { AppError, isAppError, notFound } from '../../errors.js';
import { IngestInput } from '../../graph/save/input.js';
import { save } from '../../graph/save/save.js';
import { newId } from '../../ids.js';
import type { Mongo } from '../../stores/mongo.js';
import type { Graph } from '../../stores/neo4j.js';
import { epochSeconds } from '../../time.js';
import { checkShape, parseJson } from '../parse-body.js';
import type { Receiver } from '../receiver.js';
import type { RecordServiceRun } from '../service-record.js';
import { isSameSecret } from '../signature.js';

/** As `POST /v1/catalog/ingest`, with the project beside it, since no credential names one. */
const Body = IngestInput.safeExtend({ project_id: z.string().min(1).max(128) });

export interface CatalogIngestOptions {
  serverKey: string | undefined;
  mongo: Mongo;
  graph: Graph;
  record: RecordServiceRun;
}

export function catalogIngest({ serverKey, mongo, graph, record }: CatalogIngestOptions): Receiver {
  return {
    path: '/v1/internal/catalog/ingest',
    summary: 'Entities and relationships from another service, by its server key',
    admit(header) {
      if (!isSameSecret(header('x-server-key'), serverKey)) throw new AppError('unauthorized', 'a valid server key is required');
    },
    async handOver({ body }) {
      const { project_id, source, entities, relationships } = checkShape(Body, parseJson(body));
      const project = await livingProject(mongo.collections, project_id);
      if (!project) throw notFound('project');
      const lifecycle_id = newId();
      const created_at = epochSeconds();
      const recordAs = (status: 'completed' | 'denied' | 'failed', detail: string) =>
        record({
          lifecycle_id,
          tool: 'catalog-ingest',
          status,
          ...{ project_id, organization_id: project.organization_id, resource: `catalog:${source}`, created_at, ended_at: epochSeconds() },
          stages: [
            { stage: 'S1:authenticate', status: 'ok', detail: 'server key' },
            { stage: 'S8:execute', status: status === 'completed' ? 'ok' : 'failed', detail },
          ],
        });
      const stamp = { saved_by: 'service:catalog-ingest', source, recorded_at: created_at, lifecycle_id };
      try {
        const { saved } = await save(graph, project_id, { entities, relationships, facts: [] }, stamp);
        await recordAs('completed', `${saved.entities} entities, ${saved.relationships} relationships`);
        return { status: 200, body: { status: 'accepted', lifecycle_id, saved } };
      } catch (error) {
        if (!isAppError(error)) throw error;
        await recordAs(error.status < 500 ? 'denied' : 'failed', error.message);
        throw new AppError(error.code, error.message, { status: error.status, lifecycleId: lifecycle_id, cause: error });
      }
    },
  };
}
