import { graphWriteFacts } from './graph-write-facts.js';
import { IngestInput } from '../../graph/save/input.js';
import type { Graph } from '../../stores/neo4j.js';
import { defineTool, type ToolContext } from '../../governance/tools/tool.js';
import { SaveAnswer, savingInto } from './save-context.js';

/** Writes the metadata of a data catalog to the graph (contract, `POST /v1/catalog/ingest`). */
export const catalogIngestTool = defineTool(
  {
    name: 'catalog-ingest',
    grant: 'svc:ontology.write',
    effect: 'write',
    facts: graphWriteFacts,
    changesContext: true,
  },
  ({ graph }: { graph: Graph }) => {
    const { prepare, dryRun, execute } = savingInto(graph);
    return {
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
    };
  },
);
