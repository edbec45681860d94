import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { packageRoot } from '../../src/base/packages.js';
import { apiClient } from '../../test/support/client.js';
import { startEmbeddingServer } from '../../test/support/embedding-server.js';
import { startEnvironment } from '../environment.js';
import { createFigures, depths } from './figures.js';
import { readDataSet } from './format.js';
import { loadProject, projectsOf } from './load.js';
import { bm25Method, productMethod, reciprocalRankMethod, vectorMethod, type Method } from './methods.js';

/**
 * `npm run retrieval-quality [-- file.json …]` measures how well the search finds the evidence of questions
 * (README.md).
 */
const files = process.argv.slice(2);
const defaultFile = path.join(packageRoot, 'bench/retrieval-quality/data.json');
const folder = mkdtempSync(path.join(tmpdir(), 'retrieval-quality-'));
const server = await startEmbeddingServer();
const { EMBEDDING_BASE_URL: url = '', EMBEDDING_MODEL: model = '' } = server.env;
const { RERANK_BASE_URL = url, RERANK_API_KEY = '', RERANK_MODEL = model } = process.env;
const bench = await startEnvironment(folder, { ...server.env, RERANK_BASE_URL, RERANK_API_KEY, RERANK_MODEL });
const { graph, nearestByText } = bench.deps;
try {
  for (const file of files.length > 0 ? files : [defaultFile]) {
    const data = readDataSet(file);
    const projects = new Map<string, string>();
    for (const [name, elements] of projectsOf(data)) {
      const { apiKey, projectID } = await bench.workspace();
      const api = apiClient(bench.api.url, { authorization: `Bearer ${apiKey}` });
      await loadProject(api, elements);
      projects.set(name, projectID);
    }
    await graph.driver.executeQuery('CALL db.index.fulltext.awaitEventuallyConsistentIndexRefresh()');
    for (const projectId of projects.values()) await untilEmbedded(projectId);
    const [bm25, vectors] = [bm25Method(graph), vectorMethod(graph, nearestByText)];
    const methods: Record<string, Method> = {
      'BM25 alone': bm25,
      'vectors alone': vectors,
      'baseline: BM25 and vectors by reciprocal rank (Graphiti)': reciprocalRankMethod([bm25, vectors]),
      'the product: text': productMethod(graph, {}),
      'the product: text and vectors': productMethod(graph, { nearest: nearestByText }),
      ...(bench.deps.reranker && {
        'the product: text and vectors, reranked': productMethod(graph, {
          nearest: nearestByText,
          reranker: bench.deps.reranker,
        }),
      }),
    };
    console.log(`\n## ${data.name}: ${data.elements.length} elements, ${data.questions.length} questions`);
    for (const [name, method] of Object.entries(methods)) {
      const figures = createFigures();
      const start = performance.now();
      for (const { question, project, category, evidence } of data.questions)
        figures.add(category, evidence, await method(projects.get(project) ?? '', question));
      const ms = (performance.now() - start) / data.questions.length;
      console.log(`\n### ${name} (${ms.toFixed(0)} ms a question)\n`);
      console.log(`| category | questions | ${depths.map((depth) => `recall@${depth}`).join(' | ')} | MRR |`);
      console.log(`|---|---|${depths.map(() => '---|').join('')}---|`);
      for (const row of figures.rows()) console.log(`| ${row} |`);
    }
  }
} finally {
  await bench.stop();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}

/** The workers embed elements some time after the save. */
async function untilEmbedded(projectId: string): Promise<void> {
  for (;;) {
    const { records } = await graph.driver.executeQuery(
      `RETURN COUNT { MATCH (n:Entity {project_id: $projectId}) } <=
         COUNT { MATCH (v:_Vector {project: $projectId}) WHERE v.kind = 'entity' } AS done`,
      { projectId },
    );
    const answer = await nearestByText(projectId, 'test', 1);
    if (records[0]?.get('done') === true && 'hits' in answer) return;
    await delay(1000);
  }
}
