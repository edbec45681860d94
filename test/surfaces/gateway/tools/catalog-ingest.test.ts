import { placeOfTool } from '../../../../src/surfaces/gateway/routes/tools.js';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { ingestCatalog } from '../../../../src/domain/tools/catalog-ingest.js';
import { queryContext } from '../../../../src/domain/tools/query-context.js';
import { prepareGraph } from '../../../../src/graph/store/schema.js';
import { useDeps } from '../../../support/fixture.js';
import { verifies } from '../../../support/verifies.js';
import { call, contextOf, toolWith } from '../../../graph/tool-call.js';

const deps = useDeps();
const ingest = toolWith(deps, ingestCatalog);
const query = toolWith(deps, queryContext);
beforeAll(() => prepareGraph(deps.graph));

describe('POST /v1/catalog/ingest', () => {
  test('stores the elements of a catalog with their source', async () => {
    verifies('gateway.catalog-ingest');
    const ctx = contextOf();
    const table = { id: 't1', type: 'Table', name: 'orders', properties: { rows: 120 } };
    const input = {
      source: 'metadata',
      entities: [table, { id: 'd1', type: 'Database', name: 'shop' }],
      relationships: [{ from: 'd1', type: 'HAS', to: 't1' }],
    };
    expect(await call(ingest, ctx, input)).toMatchObject({
      saved: { entities: 2, relationships: 1, facts: 0 },
      ids: ['t1', 'd1'],
    });
    const { entities } = await call(query, ctx, {
      query: 'MATCH (d:Database)-[:HAS]->(t:Table) WHERE d.project_id = $project_id RETURN t',
    });
    expect(entities).toMatchObject([{ name: 'orders', provenance: { source: 'metadata' } }]);
    expect([placeOfTool(ingest), ingestCatalog.grant]).toEqual(['POST /v1/catalog/ingest', 'svc:ontology.write']);
    expect(ingest.input.safeParse({ entities: [table] }).success).toBe(false);
    expect(ingest.input.safeParse({ ...input, facts: [] }).success).toBe(false);
  });
});
