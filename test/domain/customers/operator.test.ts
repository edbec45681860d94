import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { verifyPassword } from '../../../src/auth/passwords.js';
import { newId } from '../../../src/base/ids.js';
import { packageRoot } from '../../../src/base/packages.js';
import { createWorkspace, useDeps } from '../../support/fixture.js';
import { testRun } from '../../support/run.js';

const deps = useDeps();
const { collections } = deps.mongo;
const run = promisify(execFile);

/** Runs an operator command: the built file with the product's environment. */
async function command(name: string, ...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const env = { PATH: process.env.PATH ?? '', ...testRun().env };
  try {
    return {
      code: 0,
      ...(await run(process.execPath, [path.join(packageRoot, `dist/src/cli/${name}.js`), ...args], { env })),
    };
  } catch (error) {
    return error as { code: number; stdout: string; stderr: string };
  }
}

describe('set-plan', () => {
  test('changes the given parts of a plan immediately', async () => {
    const { api, organizationId } = await createWorkspace(deps);
    const before = (await api.get('/customer')).body;
    const change = {
      plan: 'team',
      number_of_coworkers: 0,
      access_controls: { triggers: false },
      number_of_credits: { top_up_credits: 7 },
    };
    expect(await command('set-plan', organizationId, JSON.stringify(change))).toMatchObject({ code: 0 });
    const { body } = await api.get('/customer');
    expect(body).toMatchObject({ plan: 'team' });
    expect(body.quota).toEqual({
      ...before.quota,
      number_of_coworkers: 0,
      access_controls: { ...before.quota.access_controls, triggers: false },
      number_of_credits: { ...before.quota.number_of_credits, top_up_credits: 7 },
    });
    expect(await api.post('/agentflow', { name: 'F' })).toMatchObject({
      status: 403,
      body: { error_description: 'number_of_coworkers: the plan allows 0, 0 are in use' },
    });
  });

  test('refuses an invalid plan, names the fault and changes nothing', async () => {
    const organization = newId();
    const bad: [string, string][] = [
      ['{"number_of_coworkers":-1}', 'number_of_coworkers'],
      ['{"colour":"red"}', 'colour'],
      ['{', 'plan'],
      ['{"access_controls":{"x":true}}', 'access_controls'],
    ];
    for (const [json, named] of bad) {
      expect(await command('set-plan', organization, json)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(named),
      });
    }
    expect(await collections.customers.findOne({ _id: organization })).toBeNull();
  });

  test('does not create an account for an unknown organization', async () => {
    const organization = newId();
    expect(await command('set-plan', organization, '{"plan":"team"}')).toMatchObject({
      code: 1,
      stderr: `There is no organization ${organization}.\n`,
    });
    expect(await collections.customers.findOne({ _id: organization })).toBeNull();
  });
});

describe('add-user', () => {
  test('creates a user of the organization with a password, once for an address', async () => {
    const organizationId = newId();
    await collections.organizations.insertOne({ _id: organizationId, name: 'O', created_at: 1 });
    const email = `Grace-${organizationId}@Example.com`;
    const made = await command('add-user', organizationId, email, 'Grace');
    expect(made).toMatchObject({ code: 0 });
    const { user_id, password } = JSON.parse(made.stdout) as { user_id: string; password: string };
    const user = await collections.users.findOne({ _id: user_id });
    expect(user).toMatchObject({ email: email.toLowerCase(), name: 'Grace', organization_id: organizationId });
    expect(await verifyPassword(user?.password_hash, password)).toBe(true);
    expect(await command('add-user', organizationId, email)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('already'),
    });
    expect(await command('add-user', newId(), `x${email}`)).toMatchObject({ code: 1 });
    expect(await command('add-user', organizationId, 'no address')).toMatchObject({ code: 2 });
  });
});
