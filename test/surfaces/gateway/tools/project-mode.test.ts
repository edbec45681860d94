import { describe, expect, test } from '@jest/globals';
import { readMode, setMode } from '../../../../src/domain/tools/project-mode.js';
import { readProjectMode } from '../../../../src/graph/project-mode.js';
import { useDeps } from '../../../support/fixture.js';
import { verifies } from '../../../support/verifies.js';
import { call, contextOf, dryRun, toolWith } from '../../../graph/tool-call.js';

const deps = useDeps();
const { collections } = deps.mongo;
const read = toolWith(deps, readMode);
const set = toolWith(deps, setMode);

describe('/v1/projects/{projectId}/mode', () => {
  test('is simple until an admin sets it', async () => {
    verifies('gateway.mode.get', 'gateway.mode.put');
    const ctx = contextOf();
    const { projectId } = ctx;
    expect(await call(read, ctx, {})).toMatchObject({ mode: 'simple' });
    expect(await dryRun(set, ctx, { mode: 'governed' })).toEqual({ from: 'simple', to: 'governed' });
    expect(await call(set, ctx, { mode: 'governed' })).toMatchObject({ mode: 'governed' });
    expect(await call(read, ctx, {})).toMatchObject({ mode: 'governed' });
    expect(await readProjectMode(collections, projectId)).toBe('governed');
    expect([readMode.adminOnly, setMode.adminOnly]).toEqual([true, true]);
  });

  test('accepts only the two modes', () => {
    verifies('gateway.mode.put');
    expect(set.input.safeParse({ mode: 'chaotic' }).success).toBe(false);
  });
});
