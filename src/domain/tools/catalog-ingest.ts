import { IngestInput } from '../../graph/save/input.js';
import { summaryOf } from '../../graph/save/save.js';
import { defineOperation } from '../operation.js';
import { graphWriteFacts } from './graph-write-facts.js';
import { planWrite, SaveAnswer, write } from './save-context.js';

/** Writes the metadata of a data catalog to the graph (docs/specification.md, `POST /v1/catalog/ingest`). */
export const ingestCatalog = defineOperation({
  name: 'catalog-ingest',
  grant: 'svc:ontology.write',
  effect: 'write',
  facts: graphWriteFacts,
  changesContext: true,
  tool: {
    title: 'Ingest from a data catalog',
    description: 'Creates and updates entities and relationships of one source, by id or by type and name.',
    hints: { readOnly: false, destructive: false, idempotent: true },
  },
  input: IngestInput,
  output: SaveAnswer,
  resource: ({ input }) => ({ type: 'catalog', id: input.source }),
  prepare: (call) => planWrite(call, { ...call.input, facts: [] }),
  dryRun: async ({ prepared }) => summaryOf(prepared),
  run: (call) => write(call, { ...call.input, facts: [] }),
});
