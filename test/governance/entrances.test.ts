import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { checksAt, entrances } from '../../src/governance/kernel/entrances.js';
import { createWorkspace, useDeps } from '../support/fixture.js';
import { principalOf, storeRule } from '../support/governance/approvals.js';
import { kernelCall } from '../support/governance/kernel-call.js';
import { verifies } from '../support/verifies.js';

const deps = useDeps();

test('the architecture shows the checks of every way into the kernel', () => {
  verifies('operation.entrances');
  const [, section = ''] = readFileSync('docs/architecture.md', 'utf8').split('## One operation');
  const rows = [...section.matchAll(/^\| `(\w+)`[^|]* \|(.*)\|$/gm)].map(([, name, cells = '']) => [
    name,
    ...cells.split('|').map((cell) => cell.trim()),
  ]);
  const isDone = (value: boolean) => (value ? 'yes' : 'no');
  expect(rows).toEqual(
    entrances.map((name) => {
      const { channel, limit, policies, approval, dryRun, records } = checksAt(name);
      const held = typeof approval === 'object' ? 'refused' : approval;
      return [name, channel, 'yes', limit, isDone(policies), held, isDone(dryRun), records];
    }),
  );
});

test.each(entrances)(
  'a call by %s that a rule holds waits, is refused with the reason, or is not judged',
  async (entrance) => {
    verifies('operation.entrances');
    const workspace = await createWorkspace(deps);
    await storeRule(deps, workspace, 'require_approval', 'save-model');
    const principal = principalOf('OWNER', {
      organizationId: workspace.organizationId,
      projectId: workspace.projectID,
    });
    let ran = false;
    const performed = await deps.kernel.perform(
      kernelCall({ principal, entrance, run: async () => ((ran = true), { body: {} }) }),
    );
    const { policies, approval, records } = checksAt(entrance);
    expect(ran).toBe(!policies);
    if (!policies) expect(performed).toMatchObject({ ending: { status: 'completed' } });
    else if (typeof approval === 'object')
      expect(performed).toMatchObject({ error: { code: 'approval_refused', message: approval.refused } });
    else expect(performed).toMatchObject({ ending: { status: 'pending_approval' } });
    expect('lifecycleId' in performed).toBe(records !== 'none');
  },
);

test.each(entrances)('a call by %s without the grant is refused', async (entrance) => {
  verifies('operation.entrances');
  const stranger = principalOf('VIEWER', { grants: [] });
  const call = kernelCall({ principal: stranger, entrance, run: async () => ({ body: {} }) });
  expect(await deps.kernel.perform({ ...call, authenticate: async () => stranger })).toMatchObject({
    error: { code: 'scope_denied' },
    stage: 'S2:resolve-scope',
  });
});
