import { IngestInput } from '../../graph/save/input.js';
import type { Graph } from '../../stores/neo4j.js';
import { defineTool, type Tool, type ToolContext } from '../tool.js';
import { SaveAnswer, savingInto } from './save-context.js';

/** Writes what a data catalog knows (contract, `POST /v1/catalog/ingest`). */
export function createCatalogIngestTool({ graph }: { graph: Graph }): Tool {
  const { prepare, dryRun, execute } = savingInto(graph);
  return defineTool({
    name: 'catalog-ingest',
    title: 'Ingest from a data catalog',
    description: 'Creates and updates entities and relationships of one source, by id or by type and name.',
    rest: { method: 'post', path: '/v1/catalog/ingest' },
    grant: 'svc:ontology.write',
    input: IngestInput,
    output: SaveAnswer,
    hints: { readOnly: false, destructive: false, idempotent: true },
    resource: ({ source }) => ({ type: 'catalog', id: source }),
    prepare: (input, ctx: ToolContext) => prepare({ ...input, facts: [] }, ctx),
    dryRun,
    execute,
  });
}
