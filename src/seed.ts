import { randomBytes, randomUUID } from 'node:crypto';
import { link, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { v5 } from 'uuid';
import { z } from 'zod';
import { createApiKey, newApiKeySecret } from './auth/api-keys.js';
import { createUser, grantRole } from './auth/users.js';
import { openAccount } from './customers/account-store.js';
import type { Config } from './config.js';
import type { Deps } from './deps.js';
import { hasCode } from './errors.js';
import { newId } from './ids.js';
import { createProject } from './platform/resources/projects.js';
import type { Collections } from './stores/collections.js';
import { insertOnce } from './stores/mongo.js';
import { epochSeconds } from './time.js';

/** `$DATA_DIR/workspace.json` (contract, Environment and first start). */
export const Workspace = z.object({
  base_url: z.string(),
  api_url: z.string(),
  downstream_url: z.string(),
  temporal_address: z.string(),
  temporal_ui_url: z.string(),
  organization_id: z.string(),
  department_id: z.string(),
  project_id: z.string(),
  workspace: z.string(),
  admin: z.object({ email: z.string(), password: z.string() }),
  api_key: z.string(),
});
export type Workspace = z.infer<typeof Workspace>;

export type Addresses = Pick<Workspace, 'base_url' | 'api_url' | 'downstream_url' | 'temporal_address' | 'temporal_ui_url'>;

export function addressesOf(config: Config, baseUrl: string): Addresses {
  return {
    base_url: baseUrl,
    api_url: baseUrl,
    downstream_url: `http://localhost:${config.downstreamPort}`,
    temporal_address: config.temporal.connection.address ?? '',
    temporal_ui_url: config.temporal.uiUrl,
  };
}

/**
 * The first start's organization, department, project, OWNER and API key. The file is made first, whole and by one
 * process only; its records follow from it by ids that it names, so any start completes what another began, and
 * a store that was emptied gets them back. Later starts refresh the file's addresses and nothing else.
 * @returns undefined where the environment asks for no seed
 */
export async function seed(deps: Pick<Deps, 'config' | 'mongo' | 'log'>, addresses: Addresses): Promise<Workspace | undefined> {
  const { config, mongo, log } = deps;
  if (!config.seed) return undefined;
  const present = await readWorkspace(config.dataDir);
  const workspace = present ?? (await claimWorkspace(config.dataDir, newWorkspace(addresses)));
  await createRecords(mongo.collections, workspace);
  const refreshed = { ...workspace, ...addresses };
  if (JSON.stringify(refreshed) !== JSON.stringify(workspace)) await replaceWorkspace(config.dataDir, refreshed);
  if (!present) log.info({ file: fileOf(config.dataDir), project: workspace.project_id }, 'seeded a workspace');
  return refreshed;
}

/**
 * @returns undefined when there is none
 * @throws Error when the file is there and is no workspace; it holds the only copy of its secrets, so it is never overwritten
 */
export async function readWorkspace(dataDir: string): Promise<Workspace | undefined> {
  const file = fileOf(dataDir);
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  const parsed = Workspace.safeParse(parseJson(text));
  if (!parsed.success) throw new Error(`${file} is not a workspace file; move it away to seed a new one`);
  return parsed.data;
}

function newWorkspace(addresses: Addresses): Workspace {
  const projectId = newId();
  return {
    ...addresses,
    organization_id: newId(),
    department_id: newId(),
    project_id: projectId,
    workspace: `ws_${projectId}`,
    // A store may be shared by several data folders, and an address belongs to one user.
    admin: { email: `admin-${randomBytes(3).toString('hex')}@example.com`, password: randomBytes(18).toString('base64url') },
    api_key: newApiKeySecret(),
  };
}

/** Links the complete file into place, which only the first of several processes can; all answer what is there then. */
async function claimWorkspace(dataDir: string, workspace: Workspace): Promise<Workspace> {
  await mkdir(dataDir, { recursive: true });
  const aside = await writeAside(dataDir, workspace);
  try {
    await link(aside, fileOf(dataDir));
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  } finally {
    await rm(aside, { force: true });
  }
  return (await readWorkspace(dataDir)) ?? workspace;
}

async function replaceWorkspace(dataDir: string, workspace: Workspace): Promise<void> {
  await rename(await writeAside(dataDir, workspace), fileOf(dataDir));
}

async function writeAside(dataDir: string, workspace: Workspace): Promise<string> {
  const aside = `${fileOf(dataDir)}.${randomUUID()}`;
  const handle = await open(aside, 'wx', 0o600);
  try {
    await handle.writeFile(`${JSON.stringify(workspace, null, 2)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  return aside;
}

/** Every insert is by an id that follows from the file, and leaves a record that is there. */
async function createRecords(collections: Collections, workspace: Workspace): Promise<void> {
  const { organization_id: organizationId, department_id: departmentId, project_id: projectId } = workspace;
  const userId = v5('owner', organizationId);
  await insertOnce(collections.organizations, { _id: organizationId, name: 'My organization', created_at: epochSeconds() });
  await insertOnce(collections.departments, { _id: departmentId, organization_id: organizationId, name: 'My department' });
  await createUser(collections, { id: userId, ...workspace.admin, name: 'Owner', organizationId });
  await openAccount(collections, organizationId, { organization_name: 'My organization', user_id: userId, email: workspace.admin.email });
  await grantRole(collections, { userId, organizationId, projectId: null, role: 'OWNER' });
  await createProject(collections, {
    _id: projectId,
    name: 'My project',
    organization_id: organizationId,
    department_id: departmentId,
    user_id: userId,
  });
  const scope = { org_id: organizationId, dept_id: departmentId, project_id: projectId, user_id: userId, role: 'OWNER' };
  await createApiKey(collections, { name: 'First key', createdBy: userId, scope }, workspace.api_key);
}

function fileOf(dataDir: string): string {
  return path.join(dataDir, 'workspace.json');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
