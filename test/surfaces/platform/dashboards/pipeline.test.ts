import { describe, expect, test } from '@jest/globals';
import { checkPipeline, pipelineBounds } from '../../../../src/domain/dashboards/pipeline.js';
import { resultBounds, runPipeline } from '../../../../src/domain/dashboards/run.js';
import { taskManagerPipeline } from '../../../../src/domain/dashboards/task-manager.js';
import { newId } from '../../../../src/base/ids.js';
import { createWorkspace, useDeps } from '../../../support/fixture.js';
import { seedExecution } from '../../../support/seeded-executions.js';
import { createTable } from '../../../support/tables.js';
import { verifies } from '../../../support/verifies.js';

const deps = useDeps();
const nested = (depth: number): object => (depth === 0 ? { a: 1 } : { $and: [nested(depth - 1)] });
const many = (count: number, stage: object) => Array.from({ length: count }, () => stage);

const forbidden: [string, object[]][] = [
  ['$lookup', [{ $lookup: { from: 'api_keys', localField: '_id', foreignField: '_id', as: 'x' } }]],
  [
    '$graphLookup',
    [
      {
        $graphLookup: {
          from: 'executions',
          startWith: '$_id',
          connectFromField: '_id',
          connectToField: '_id',
          as: 'x',
        },
      },
    ],
  ],
  ['$unionWith', [{ $unionWith: 'executions' }]],
  ['$out', [{ $match: {} }, { $out: 'tags' }]],
  ['$merge', [{ $merge: { into: 'tags' } }]],
  ['$documents', [{ $documents: [{ a: 1 }] }]],
  ['$collStats', [{ $collStats: { storageStats: {} } }]],
  ['$currentOp', [{ $currentOp: {} }]],
  ['$geoNear', [{ $geoNear: {} }]],
  ['$search', [{ $search: {} }]],
  ['$redact', [{ $redact: '$$KEEP' }]],
  ['$setWindowFields', [{ $setWindowFields: {} }]],
  ['match', [{ match: {} }]],
  ['one stage', [{ $match: {}, $limit: 1 }]],
  ['one stage', [{}]],
  ['$lookup', [{ $facet: { a: [{ $lookup: { from: 'users', as: 'x' } }] } }]],
  ['without $facet', [{ $facet: { a: [{ $facet: { b: [] } }] } }]],
  ['must be a pipeline', [{ $facet: { a: { $out: 'x' } } }]],
  ['$where', [{ $match: { $where: 'sleep(1000) || true' } }]],
  ['$where', [{ $match: { $or: [{ a: 1 }, { $and: [{ $nor: [{ $where: '1' }] }] }] } }]],
  ['$function', [{ $addFields: { x: { $function: { body: 'function() {}', args: [], lang: 'js' } } } }]],
  ['$function', [{ $group: { _id: { $cond: [{ $function: {} }, 1, 2] } } }]],
  ['$function', [{ $match: { $expr: { $eq: [1, { $function: {} }] } } }]],
  ['$accumulator', [{ $group: { _id: null, x: { $accumulator: { init: 'function() {}' } } } }]],
  ['$regex', [{ $match: { name: { $regex: '^(a+)+$' } } }]],
  ['$regex', [{ $match: { name: { $not: { $regex: 'x', $options: 'i' } } } }]],
  ['$regularExpression', [{ $match: { name: { $regularExpression: { pattern: 'x', options: '' } } } }]],
  ['$regexMatch', [{ $project: { x: { $regexMatch: { input: '$name', regex: '(a+)+' } } } }]],
  ['$text', [{ $match: { $text: { $search: 'x' } } }]],
  ['$jsonSchema', [{ $match: { $jsonSchema: {} } }]],
  ['$range', [{ $project: { x: { $range: [0, 1_000_000_000] } } }]],
  ['$reduce', [{ $project: { x: { $reduce: { input: '$a', initialValue: '', in: '$$value' } } } }]],
  ['$concatArrays', [{ $addFields: { a: { $concatArrays: ['$a', '$a'] } } }]],
  ['$meta', [{ $sort: { x: { $meta: 'textScore' } } }]],
  ['$getField', [{ $project: { x: { $getField: 'secret' } } }]],
  ['$arrayToObject', [{ $project: { x: { $arrayToObject: [[['$a', 1]]] } } }]],
  ['$notYetInvented', [{ $project: { x: { $notYetInvented: 1 } } }]],
  ['a single value', [{ $project: { x: { $literal: { $sum: 1 } } } }]],
  ['$$USER_ROLES', [{ $project: { x: '$$USER_ROLES' } }]],
  ['$$SEARCH_META', [{ $project: { x: ['$$SEARCH_META.count'] } }]],
  [
    'another $map or $filter',
    [{ $project: { x: { $map: { input: '$a', in: { $filter: { input: '$b', cond: true } } } } } }],
  ],
  ['more than 1 $unwind', [{ $unwind: '$a' }, { $facet: { x: [{ $unwind: '$b' }] } }]],
  ['20 stages', many(pipelineBounds.stages + 1, { $limit: 1 })],
  ['20 stages', [{ $facet: { a: many(12, { $limit: 1 }), b: many(12, { $limit: 1 }) } }]],
  ['$limit: must be an integer of at least 1', [{ $limit: 0 }]],
  ['$limit: must be an integer of at least 1', [{ $limit: 'x' }]],
  ['$limit: must be an integer of at least 1', [{ $facet: { a: [{ $limit: 1.5 }] } }]],
  ['$skip: must be an integer of at least 0', [{ $skip: 1e20 }]],
  ['$skip: must be an integer of at least 0', [{ $skip: -1 }]],
  ['nested deeper', [{ $match: nested(12) }]],
  ['$split', [{ $project: { x: { $split: ['a,b', ','] } } }]],
  ['more than 50 values', [{ $addFields: { x: many(51, { a: 1 }) } }]],
  ['bytes', [{ $match: { x: { $in: Array.from({ length: 5000 }, (_, at) => at) } } }]],
];

const allowed: [string, object[]][] = [
  ['the task board', taskManagerPipeline('p')],
  [
    'counts by day',
    [{ $group: { _id: { $floor: { $divide: ['$created_at', 86_400] } }, n: { $sum: 1 } } }, { $sort: { _id: 1 } }],
  ],
  [
    'conditions',
    [{ $set: { late: { $cond: [{ $gt: ['$created_at', 1] }, 'yes', 'no'] } } }, { $sortByCount: '$late' }],
  ],
  ['facets', [{ $facet: { all: [{ $count: 'n' }], few: [{ $set: { a: 1 } }, { $limit: 2 }] } }]],
  [
    'buckets',
    [{ $bucket: { groupBy: '$created_at', boundaries: [0, 10, 1e12], default: 'other', output: { n: { $sum: 1 } } } }],
  ],
  ['documents', [{ $group: { _id: '$status', newest: { $first: '$$ROOT' } } }, { $unset: 'newest' }]],
  ['texts', [{ $project: { x: { $concat: [{ $toUpper: '$status' }, ': ', '$name'] } } }]],
  [
    'lists',
    [
      { $project: { x: { $filter: { input: ['a', 'b'], as: 'each', cond: { $eq: ['$$each', 'b'] } } } } },
      { $unwind: '$x' },
    ],
  ],
  ['a long list to match', [{ $match: { status: { $in: Array.from({ length: 1000 }, (_, at) => `s${at}`) } } }]],
  ['dollar signs in text', [{ $match: { name: { $ne: '$5' } } }]],
];

describe('checkPipeline', () => {
  test.each(forbidden)('refuses %s', (reason, stages) => {
    verifies('dashboard.pipeline-allow-list');
    expect(() => checkPipeline(stages)).toThrow(
      expect.objectContaining({ code: 'validation_failed', message: expect.stringContaining(reason) }),
    );
  });

  test.each(allowed)('accepts %s', (_name, stages) => {
    expect(() => checkPipeline(stages)).not.toThrow();
  });
});

describe('POST /dashboard/{projectID}/component', () => {
  test('refuses everything outside the allow-list, names it with its position, and adds nothing', async () => {
    verifies('dashboard.pipeline-allow-list');
    const { api, projectID } = await createWorkspace(deps);
    const path = `/dashboard/${projectID}`;
    const { body: before } = await api.get(path);
    for (const [reason, aggregation_code] of forbidden.filter(([text]) => text !== '20 stages')) {
      const answer = await api.post(`${path}/component`, { component_type: 'chart', query: { aggregation_code } });
      expect(answer).toMatchObject({
        status: 422,
        body: { error: 'validation_failed', error_description: expect.stringContaining(reason) },
      });
    }
    const deep = await api.post(`${path}/component`, {
      component_type: 'chart',
      query: { aggregation_code: [{ $match: { $or: [{ a: 1 }, { $where: '1' }] } }] },
    });
    expect(deep.body.error_description).toBe('query.aggregation_code.0.$match.$or.1: $where is not allowed');
    expect((await api.get(path)).body).toEqual(before);
  });

  test('runs everything on the allow-list on the project’s documents', async () => {
    const workspace = await createWorkspace(deps);
    const { api, projectID } = workspace;
    for (const status of ['ready', 'failed', 'failed'] as const) await seedExecution(deps, workspace, { status });
    for (const [name, aggregation_code] of allowed) {
      const answer = await api.post(`/dashboard/${projectID}/component`, {
        component_type: 'chart',
        title: name,
        query: { aggregation_code },
      });
      expect(answer).toMatchObject({ status: 201, body: { title: name, query: { aggregation_code }, error: null } });
    }
    const { body } = await api.get(`/dashboard/${projectID}`);
    const dataOf = (title: string) => body.components.find((component: any) => component.title === title).data;
    expect(dataOf('conditions')).toEqual([{ _id: 'yes', count: 3 }]);
    expect(dataOf('facets')).toMatchObject([{ all: [{ n: 3 }], few: [{ a: 1 }, { a: 1 }] }]);
    expect(dataOf('lists')).toMatchObject([{ x: 'b' }, { x: 'b' }, { x: 'b' }]);
  });

  test('refuses immediately what the database refuses, and results that are too large', async () => {
    const workspace = await createWorkspace(deps);
    const { api, projectID } = workspace;
    await Promise.all(Array.from({ length: 21 }, () => seedExecution(deps, workspace, { goal: 'x'.repeat(20_000) })));
    const add = (stages: object[], resource = 'executions') =>
      api.post(`/dashboard/${projectID}/component`, {
        component_type: 'chart',
        resource,
        query: { aggregation_code: stages },
      });
    for (const stage of [{ $unset: 1 }, { $sort: 5 }, { $facet: { a: [{ $group: 1 }] } }])
      expect([stage, await add([stage])]).toMatchObject([
        stage,
        {
          status: 422,
          body: {
            error_description: expect.stringMatching(/MongoDB refused the pipeline: (?!.*(java|Unknown error))/),
          },
        },
      ]);
    expect(await add([{ $project: { goal: 1 } }])).toMatchObject({
      status: 422,
      body: { error_description: expect.stringContaining('more than 400000 bytes') },
    });
    const list = Array.from({ length: 50 }, (_, at) => at);
    const rows = [{ $project: { x: list } }, { $unwind: '$x' }];
    expect(await add(rows)).toMatchObject({
      status: 422,
      body: { error_description: expect.stringContaining('more than 1000 documents') },
    });
    expect(await add([...rows, { $limit: 1000 }])).toMatchObject({ status: 201 });
    expect((await api.get(`/dashboard/${projectID}`)).body.components.at(-1).data).toHaveLength(1000);
  });
});

describe('runPipeline', () => {
  test('aborts a pipeline that takes too long, even if the database does not', async () => {
    const workspace = await createWorkspace(deps);
    await Promise.all(Array.from({ length: 200 }, () => seedExecution(deps, workspace)));
    const input = {
      component_type: 'chart',
      query: {
        aggregation_code: [
          { $set: { x: Array.from({ length: 50 }, (_, at) => at) } },
          { $unwind: '$x' },
          { $count: 'n' },
        ],
      },
    };
    const { status, body } = await workspace.api.post(`/dashboard/${workspace.projectID}/component`, input);
    expect({ status, data: body.data }).toEqual({ status: 201, data: [{ n: 10_000 }] });
    const slow = runPipeline(deps.mongo, workspace.projectID, body, { ...resultBounds, milliseconds: 1 });
    await expect(slow).rejects.toMatchObject({
      code: 'validation_failed',
      message: 'query.aggregation_code: must not take longer than 0.001 s',
    });
  });
});

describe('a component', () => {
  test('sees executions and tasks only of its own project, without hidden fields', async () => {
    verifies('dashboard.pipeline-own-project');
    const [mine, stranger] = await Promise.all([createWorkspace(deps), createWorkspace(deps)]);
    const [own, theirs] = [await seedExecution(deps, mine), await seedExecution(deps, stranger)];
    const add = async (resource: string, aggregation_code: object[]) => {
      const answer = await mine.api.post(`/dashboard/${mine.projectID}/component`, {
        component_type: 'chart',
        resource,
        query: { aggregation_code },
      });
      expect(answer).toMatchObject({ status: 201 });
      return answer.body.data;
    };
    const reaching = [
      [{ $match: { $or: [{ projectID: stranger.projectID }, { projectID: { $ne: mine.projectID } }] } }],
      [{ $match: { $expr: { $eq: [1, 1] }, projectID: { $exists: true } } }],
      [{ $match: { _id: { $in: [own._id, theirs._id, own.task_id, theirs.task_id] } } }],
      [{ $addFields: { projectID: stranger.projectID } }, { $match: { projectID: stranger.projectID } }],
    ];
    for (const resource of ['executions', 'tasks']) {
      const _id = resource === 'tasks' ? own.task_id : own._id;
      const [none, ...seen] = [
        await add(resource, reaching[0]!),
        await add(resource, reaching[1]!),
        await add(resource, reaching[2]!),
        await add(resource, reaching[3]!),
      ];
      expect(none).toEqual([]);
      for (const data of seen) expect(data).toMatchObject([{ _id }]);
      expect(Object.keys(seen[0][0])).toEqual(expect.not.arrayContaining(['plan', 'organization_id', 'steps']));
    }
    expect(await add('executions', [{ $match: { organization_id: mine.organizationId } }])).toEqual([]);
  });

  test('sees rows only of tables of its own project', async () => {
    verifies('dashboard.pipeline-own-project');
    const [mine, stranger] = await Promise.all([createWorkspace(deps), createWorkspace(deps)]);
    const tableOf = async (workspace: typeof mine) => {
      const table = await createTable(workspace, [{ column_name: 'Price', column_type: 'number' }]);
      await table.insert([10, 20].map((price) => ({ price, coworker_user_id: 'u' })));
      // Simulates a deleted column whose data the workflow has not removed yet.
      await deps.mongo.db.collection(`table_${table._id}`).updateMany({}, { $set: { removed: 'secret' } });
      return table._id;
    };
    const [own, theirs] = [await tableOf(mine), await tableOf(stranger)];
    const add = (table_id: string, aggregation_code: object[], more: object = {}) =>
      mine.api.post(`/dashboard/${mine.projectID}/component`, {
        component_type: 'table',
        table_id,
        query: { aggregation_code },
        ...more,
      });
    expect(
      await add(own, [{ $match: { projectID: mine.projectID } }, { $group: { _id: null, sum: { $sum: '$price' } } }]),
    ).toMatchObject({ status: 201, body: { resource: 'table', table_id: own, data: [{ sum: 30 }] } });
    const { body: rows } = await add(own, [{ $sort: { row_id: 1 } }, { $limit: 1 }]);
    expect(rows.data).toEqual([
      { _id: expect.any(String), row_id: 1, coworker_user_id: 'u', price: 10, projectID: mine.projectID },
    ]);
    for (const id of [theirs, newId(), 'x', `${own}/../api_keys`]) {
      expect(await add(id, [{ $limit: 1 }])).toMatchObject({ status: 404, body: { error: 'not_found' } });
    }
    expect(await add(own, [], { resource: 'tasks' })).toMatchObject({ status: 422 });
    expect(
      await mine.api.post(`/dashboard/${mine.projectID}/component`, {
        component_type: 'table',
        resource: 'table',
        query: { aggregation_code: [] },
      }),
    ).toMatchObject({ status: 422 });
    expect(
      await mine.api.post(`/dashboard/${mine.projectID}/component`, {
        component_type: 'table',
        resource: 'api_keys',
        query: { aggregation_code: [] },
      }),
    ).toMatchObject({ status: 400 });
  });
});
