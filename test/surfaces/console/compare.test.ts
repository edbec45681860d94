import { expect, test } from '@jest/globals';
import { createPerson } from '../../auth/auth-server.js';
import { shot } from '../../support/browser.js';
import { startExecution, untilExecution } from '../../support/executions.js';
import { useDeps } from '../../support/fixture.js';
import { verifies } from '../../support/verifies.js';
import { consoleUrl, signIn, violations, withPage } from './chromium.js';

const deps = useDeps();

const flow = {
  name: 'Totals',
  initialAgent: 'size',
  agents: [
    {
      _id: 'writer',
      title: 'Writer',
      prompt: { template: 'Tell of {{ goal }} and {{ previous }}' },
      next_agent: 'twice',
    },
  ],
  steps: [
    {
      ...{ _id: 'size', type: 'branch', title: 'By size', otherwise: 'writer' },
      cases: [{ name: 'large', when: 'inputs.amount > 10', next: 'check' }],
    },
    {
      _id: 'check',
      type: 'code',
      title: 'Check',
      source: 'return inputs.amount;',
      inputs: { amount: 'inputs.amount' },
      next: 'writer',
    },
    { _id: 'twice', type: 'set', title: 'Twice', values: { total: 'inputs.amount * 2' }, next: null },
  ],
};

test('two runs are chosen and compared side by side, with what differs', async () => {
  verifies('console.runs.compare', 'console.accessible');
  const person = await createPerson(deps);
  const { workspace } = person;
  const small = await startExecution(workspace, flow, { goal: 'the small order', input_variables: { amount: 1 } });
  const { agentflow_id } = await untilExecution(workspace, small, 'completed');
  const made = await workspace.api.post('/execute_flow?execute=true', {
    ...{ agentflow_id, draft: true, goal: 'the large order', input_variables: { amount: 20 } },
  });
  const large = made.body.execution_id as string;
  await untilExecution(workspace, large, 'completed');
  await withPage(
    async (page) => {
      await signIn(page, person, consoleUrl(person, '/runs'));
      const compare = page.getByRole('button', { name: 'Compare two' });
      await page.getByRole('checkbox', { name: 'Select the small order' }).check();
      expect(await compare.isDisabled()).toBe(true);
      await page.getByRole('checkbox', { name: 'Select the large order' }).check();
      await compare.click();
      // The earlier run is the first.
      await page.waitForURL(`**/runs/compare?left=${small}&right=${large}`);
      const overview = page.getByRole('region', { name: 'Overview' });
      await overview.getByRole('row', { name: /^Goal differs the small order the large order/ }).waitFor();
      await overview.getByRole('row', { name: /^State Completed Completed/ }).waitFor();
      const inputs = page.getByRole('region', { name: 'Inputs' });
      expect(await inputs.locator('del').allTextContents()).toEqual([expect.stringContaining('"amount": 1')]);
      const steps = page.getByRole('region', { name: 'Steps of both runs' });
      await steps.getByRole('row', { name: /^Check .*only in the second run/ }).waitFor();
      const twice = steps.getByRole('row', { name: /^Twice .*differs in output/ });
      await twice.getByRole('button', { name: 'Compare the outputs of Twice' }).click();
      await steps.locator('ins', { hasText: '"total": 40' }).waitFor();
      await page.getByRole('checkbox', { name: 'Only steps that differ' }).check();
      await shot(page, 'compare-runs');
      expect(await violations(page)).toEqual([]);
      await page.getByRole('link', { name: 'Open the second run' }).click();
      await page.getByRole('button', { name: 'Compare with' }).click();
      const window = page.getByRole('dialog', { name: 'Compare with' });
      await window.getByRole('searchbox').fill('small');
      await window.getByRole('link', { name: 'the small order' }).click();
      await page.waitForURL(`**/runs/compare?left=${large}&right=${small}`);
      await page.getByRole('row', { name: /^Goal differs the large order the small order/ }).waitFor();
    },
    { width: 1440, height: 900 },
  );
  await withPage(
    async (page) => {
      await signIn(page, person, consoleUrl(person, `/runs/compare?left=${small}&right=${large}`));
      await page.getByRole('row', { name: /^Check .*only in the second run/ }).waitFor();
      await shot(page, 'compare-runs-phone');
      expect(await violations(page)).toEqual([]);
      await page.goto(consoleUrl(person, '/runs/compare'));
      await page.getByText('Select two runs in the list').waitFor();
      // Another project's run, or none, is said to be missing.
      await page.goto(consoleUrl(person, `/runs/compare?left=${small}&right=0199a6f0-8b1e-7d02-9c3a-52f1f0b6c2d4`));
      await page.getByRole('alert').getByText('not found').waitFor();
    },
    { width: 375, height: 812, dark: true },
  );
});
