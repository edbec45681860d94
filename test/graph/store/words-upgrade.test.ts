import { beforeAll, describe, expect, test } from '@jest/globals';
import { queryContextTool } from '../../../src/domain/tools/query-context.js';
import { saveContextTool } from '../../../src/domain/tools/save-context.js';
import { indexNext, projectsToIndex } from '../../../src/graph/language/index-next.js';
import { prepareGraph } from '../../../src/graph/store/schema.js';
import { useDeps } from '../../support/fixture.js';
import { verifies } from '../../support/verifies.js';
import { call, contextFor, contextOf } from '../tool-call.js';

const deps = useDeps();
const save = saveContextTool.create(deps);
const query = queryContextTool.create({ graph: deps.graph, redact: deps.redact, collections: deps.mongo.collections });
const ctx = contextOf();
const { projectId } = ctx;
const run = (text: string) => deps.graph.driver.executeQuery(text, { projectId });
const ask = async (text: string) =>
  (await call(query, ctx, { query: text, timeout_ms: 30_000 })).entities.map(({ id }: any) => id);

/** Makes the project look as an earlier release left it. */
async function asEarlier() {
  await run(`MATCH (n:_Scoped {project_id: $projectId}) REMOVE n._words, n._title, n._title_key
             SET n._names = CASE WHEN n:Entity THEN [toLower(n.name)] END`);
  await run('MATCH (s:ProjectState {key: $projectId}) REMOVE s.words_version, s.words_cursor');
  await run(`CREATE FULLTEXT INDEX context_text IF NOT EXISTS FOR (n:Entity|Fact) ON EACH [n.name, n._search, n._scope]
             OPTIONS {indexConfig: {\`fulltext.analyzer\`: 'english'}}`);
  await run('CALL db.awaitIndexes(120)');
  await run('CALL db.index.fulltext.awaitEventuallyConsistentIndexRefresh()');
}

beforeAll(async () => {
  await prepareGraph(deps.graph);
  await call(save, ctx, {
    entities: [
      { id: 'zoe', type: 'Person', name: 'Zoë Müller', properties: { about: 'Repairs café machines' } },
      { id: 'file', type: 'File', name: 'README.md', properties: {} },
      ...Array.from({ length: 700 }, (_, at) => ({ id: `f${at}`, type: 'Filler', name: `filler ${at}` })),
    ],
    facts: [{ subject: 'zoe', predicate: 'city', object: 'Zürich', valid_from: 10 }],
  });
  await call(save, contextFor(ctx.principal), {
    facts: [{ subject: 'zoe', predicate: 'city', object: 'Genève', valid_from: 10 }],
  });
});

describe('a project of an earlier release', () => {
  test('is found at once, and by its stored words after the workflow of the first start', async () => {
    verifies('graph.search.upgrade');
    await asEarlier();
    expect(await ask('Müller')).toEqual(['zoe']);
    expect(await ask('café machines')).toEqual(['zoe']);
    await prepareGraph(deps.graph);
    expect(await projectsToIndex(deps.graph)).toContain(projectId);
    expect(await ask('Müller')).toEqual(['zoe']);
    for (let pages = 1; !(await indexNext(deps.graph, projectId)); pages += 1) expect(pages).toBeLessThan(10);
    expect(await projectsToIndex(deps.graph)).not.toContain(projectId);
    expect((await ask('muller'))[0]).toBe('zoe');
    expect((await ask('README.md'))[0]).toBe('file');
    expect(await ask('cafe machine')).toEqual(['zoe']);
    expect(await ask('geneve')).toEqual(['zoe']);
    const { records } = await run(
      'MATCH (f:Fact {project_id: $projectId}) WHERE f.superseded_at IS NOT NULL RETURN count(f) AS gone, count(f._words) AS searched',
    );
    expect(records[0]?.toObject()).toEqual({ gone: 1, searched: 0 });
  });

  test('loses its earlier index at the start after the last project', async () => {
    const { records } = await run('MATCH (s:ProjectState) WHERE s.words_cursor IS NOT NULL RETURN s.key AS id');
    for (const record of records)
      for (let done = false; !done;) done = await indexNext(deps.graph, record.get('id') as string);
    await prepareGraph(deps.graph);
    const { records: indexes } = await run('SHOW INDEXES YIELD name');
    const names = indexes.map((each) => String(each.get('name')));
    expect(names).toContain('context_words');
    expect(names).not.toContain('context_text');
  });
});
