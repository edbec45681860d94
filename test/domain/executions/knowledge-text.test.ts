import { expect, test } from '@jest/globals';
import { knowledgeText } from '../../../src/domain/executions/knowledge-text.js';
import { verifies } from '../../support/verifies.js';

const entity = (id: string, text: string) => ({
  ...{ id, type: 'Note', name: id, score: 1, project_id: 'p' },
  properties: { text },
  provenance: {
    ...{ saved_by: null, source: null, recorded_at: null },
    consumed: { lifecycle_id: 'l', run: null, at: 0 },
  },
});
const textOf = (...entities: ReturnType<typeof entity>[]) => knowledgeText({ entities, relationships: [], facts: [] });

test('the text from the knowledge base is cut after a line, or within a line that is too long', () => {
  verifies('agent.knowledge-base');
  expect(textOf(entity('a', 'x'.repeat(30_000)), entity('b', 'y'.repeat(30_000)))).toMatch(
    /^- a .*x\n\[cut: 2 lines in all\]$/,
  );
  const cut = textOf(entity('a', 'x'.repeat(300_000)), entity('b', 'y'));
  expect(cut.length).toBeLessThan(41_000);
  expect(cut).toMatch(/^- a .*x\n\[cut: 2 lines in all\]$/);
});
