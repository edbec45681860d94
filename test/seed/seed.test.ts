import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { authenticateApiKey } from '../../src/auth/api-keys.js';
import { verifyPassword } from '../../src/auth/passwords.js';
import { findUserByEmail, rolesOn } from '../../src/auth/users.js';
import { readWorkspace } from '../../src/domain/workspace/record.js';
import { seed, type Addresses } from '../../src/domain/workspace/seed.js';
import { useDeps } from '../support/fixture.js';
import { verifies } from '../support/verifies.js';

const addresses: Addresses = {
  base_url: 'http://localhost:8080',
  api_url: 'http://localhost:8080',
  downstream_url: 'http://localhost:8081',
  temporal_address: 'localhost:7233',
  temporal_ui_url: 'http://localhost:8233',
};

const deps = useDeps();
const { collections } = deps.mongo;
let dataDir: string;
let file: string;

beforeEach(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), 'seed-test-'));
  file = path.join(dataDir, 'workspace.json');
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

function start(changes: Partial<Addresses> = {}, wanted = true) {
  return seed({ ...deps, config: { ...deps.config, dataDir, seed: wanted } }, { ...addresses, ...changes });
}

describe('the first start', () => {
  test('creates an organization, department, project, OWNER and key, and a private file that names them', async () => {
    verifies('first-start.seeds', 'first-start.workspace-file');
    const workspace = await start();
    const stored = JSON.parse(await readFile(file, 'utf8'));
    expect(stored).toEqual(workspace);
    expect(Object.keys(stored).sort()).toEqual(
      [
        ...Object.keys(addresses),
        'organization_id',
        'department_id',
        'project_id',
        'workspace',
        'admin',
        'api_key',
      ].sort(),
    );
    expect(stored).toMatchObject({ ...addresses, workspace: `ws_${stored.project_id}` });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readdir(dataDir)).toEqual(['workspace.json']);

    const owner = await findUserByEmail(collections, stored.admin.email.toUpperCase());
    expect(owner?.password_hash).toMatch(/^\$argon2id\$/);
    expect(await verifyPassword(owner?.password_hash, stored.admin.password)).toBe(true);
    const account = { organization_name: 'My organization', email: stored.admin.email, user_id: owner?._id };
    expect(await collections.customers.findOne({ _id: stored.organization_id })).toMatchObject(account);
    const project = await collections.projects.findOne({ _id: stored.project_id });
    expect(project).toMatchObject({ organization_id: stored.organization_id, department_id: stored.department_id });
    expect(await rolesOn(collections, owner?._id ?? '', project!)).toEqual({ role: 'OWNER', roles: ['OWNER'] });
    const principal = await authenticateApiKey(deps.auth, stored.api_key);
    expect(principal).toMatchObject({ role: 'OWNER', projectId: stored.project_id, userId: owner?._id });
    expect(principal.grants).toHaveLength(8);
  });

  test('of several concurrent processes seeds once', async () => {
    const started = await Promise.all(Array.from({ length: 8 }, () => start()));
    expect(new Set(started.map((workspace) => JSON.stringify(workspace))).size).toBe(1);
    const [workspace] = started;
    const organization_id = workspace?.organization_id ?? '';
    expect(await collections.projects.countDocuments({ organization_id })).toBe(1);
    expect(await collections.users.countDocuments({ organization_id })).toBe(1);
    expect(await collections.api_keys.countDocuments({ 'scope.org_id': organization_id })).toBe(1);
    expect(await readdir(dataDir)).toEqual(['workspace.json']);
  });

  test('creates nothing if no seed is requested', async () => {
    verifies('first-start.production');
    expect(await start({}, false)).toBeUndefined();
    expect(await readWorkspace(dataDir)).toBeUndefined();
    expect(await readdir(dataDir)).toEqual([]);
  });

  test('in two data folders on one store creates two workspaces', async () => {
    const first = await start();
    await rm(file);
    const second = await start();
    expect(second?.organization_id).not.toBe(first?.organization_id);
    expect(second?.admin.email).not.toBe(first?.admin.email);
  });
});

describe('a later start', () => {
  test('keeps the workspace and refreshes the addresses', async () => {
    verifies('first-start.later-starts-keep');
    const first = await start();
    await chmod(file, 0o600);
    const later = await start({ temporal_address: 'localhost:7999' });
    expect(later).toEqual({ ...first, temporal_address: 'localhost:7999' });
    expect(await readWorkspace(dataDir)).toEqual(later);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  test('on an emptied store creates the records of the file again', async () => {
    const first = await start();
    const organization_id = first?.organization_id ?? '';
    await collections.api_keys.deleteMany({ 'scope.org_id': organization_id });
    await collections.users.deleteMany({ organization_id });
    await collections.memberships.deleteMany({ organization_id });
    await collections.projects.deleteMany({ organization_id });
    await start();
    expect(await authenticateApiKey(deps.auth, first?.api_key ?? '')).toMatchObject({ projectId: first?.project_id });
    const owner = await findUserByEmail(collections, first?.admin.email ?? '');
    expect(await verifyPassword(owner?.password_hash, first?.admin.password ?? '')).toBe(true);
  });

  test('does not restore a revoked key', async () => {
    const first = await start();
    await collections.api_keys.updateOne({ 'scope.org_id': first?.organization_id ?? '' }, { $set: { revoked_at: 1 } });
    await start();
    await expect(authenticateApiKey(deps.auth, first?.api_key ?? '')).rejects.toThrow('api key invalid or revoked');
  });

  test('never overwrites a file that it cannot read', async () => {
    await writeFile(file, '{"api_key": "svc_');
    await expect(start()).rejects.toThrow(/not a workspace file/);
    expect(await readFile(file, 'utf8')).toBe('{"api_key": "svc_');
  });
});
