import { type Operation } from '../../governance/operations/operation.js';
import { graphWriteFacts } from './graph-write-facts.js';
import { IngestInput } from '../../graph/save/input.js';
import type { Graph } from '../../stores/neo4j.js';
import { defineTool, type Tool, type ToolContext } from '../../governance/tools/tool.js';
import { SaveAnswer, savingInto } from './save-context.js';

export const catalogIngestOperation: Operation = {
  name: 'catalog-ingest',
  grant: 'svc:ontology.write',
  effect: 'write',
  facts: graphWriteFacts,
};

/** Writes the metadata of a data catalog to the graph (contract, `POST /v1/catalog/ingest`). */
export function createCatalogIngestTool({ graph }: { graph: Graph }): Tool {
  const { prepare, dryRun, execute } = savingInto(graph);
  return defineTool({
    name: 'catalog-ingest',
    operation: catalogIngestOperation,
    title: 'Ingest from a data catalog',
    description: 'Creates and updates entities and relationships of one source, by id or by type and name.',
    rest: { method: 'post', path: '/v1/catalog/ingest' },
    input: IngestInput,
    output: SaveAnswer,
    hints: { readOnly: false, destructive: false, idempotent: true },
    resource: ({ source }) => ({ type: 'catalog', id: source }),
    prepare: (input, ctx: ToolContext) => prepare({ ...input, facts: [] }, ctx),
    dryRun,
    execute,
  });
}
