import { describe, expect, test } from '@jest/globals';
import { projectModeTool, readProjectModeTool } from '../../../../src/domain/tools/project-mode.js';
import { readProjectMode } from '../../../../src/graph/project-mode.js';
import { useDeps } from '../../../support/fixture.js';
import { verifies } from '../../../support/verifies.js';
import { call, contextOf, dryRun } from '../../../graph/tool-call.js';

const { collections } = useDeps().mongo;
const read = readProjectModeTool.create({ collections });
const set = projectModeTool.create({ collections });

describe('/v1/projects/{projectId}/mode', () => {
  test('is simple until an admin sets it', async () => {
    verifies('gateway.mode.get', 'gateway.mode.put');
    const ctx = contextOf();
    const { projectId } = ctx;
    expect(await call(read, ctx, { projectId })).toMatchObject({ mode: 'simple' });
    expect(await dryRun(set, ctx, { projectId, mode: 'governed' })).toEqual({ from: 'simple', to: 'governed' });
    expect(await call(set, ctx, { projectId, mode: 'governed' })).toMatchObject({ mode: 'governed' });
    expect(await call(read, ctx, { projectId })).toMatchObject({ mode: 'governed' });
    expect(await readProjectMode(collections, projectId)).toBe('governed');
    expect([read.operation.adminOnly, set.operation.adminOnly]).toEqual([true, true]);
  });

  test('accepts only the two modes', () => {
    verifies('gateway.mode.put');
    expect(set.input.safeParse({ projectId: 'x', mode: 'chaotic' }).success).toBe(false);
  });
});
