import { randomBytes } from 'node:crypto';
import { v5 } from 'uuid';
import { createApiKey, newApiKeySecret } from '../../auth/api-keys.js';
import { createUser, grantRole } from '../../auth/users.js';
import { openAccount } from '../customers/operations/account.js';
import type { Config } from '../../config.js';
import type { Deps } from '../deps.js';
import { newId } from '../../base/ids.js';

import { storeProject } from '../projects/operations.js';
import type { Collections } from '../../stores/collections.js';
import { insertOnce } from '../../stores/insert-once.js';
import { epochSeconds } from '../../base/time.js';
import { claimWorkspace, fileOf, readWorkspace, replaceWorkspace, type Workspace } from './record.js';

export type Addresses = Pick<
  Workspace,
  'base_url' | 'api_url' | 'downstream_url' | 'temporal_address' | 'temporal_ui_url'
>;

export function addressesOf(config: Config, baseUrl: string, downstreamPort = config.downstreamPort): Addresses {
  return {
    base_url: baseUrl,
    api_url: baseUrl,
    downstream_url: `http://localhost:${downstreamPort}`,
    temporal_address: config.temporal.connection.address ?? '',
    temporal_ui_url: config.temporal.uiUrl,
  };
}

/**
 * Creates the organization, department, project, OWNER and API key on the first start. A single process creates the
 * complete file first. The records have the ids in the file, so any start completes an interrupted one, and restores the
 * records of an emptied database. Later starts only update the addresses in the file.
 * @returns undefined if seeding is disabled
 */
export async function seed(
  deps: Pick<Deps, 'config' | 'mongo' | 'log'>,
  addresses: Addresses,
): Promise<Workspace | undefined> {
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

function newWorkspace(addresses: Addresses): Workspace {
  const projectId = newId();
  return {
    ...addresses,
    organization_id: newId(),
    department_id: newId(),
    project_id: projectId,
    workspace: `ws_${projectId}`,
    // The address must be unique, because several data folders may share a database.
    admin: {
      email: `admin-${randomBytes(3).toString('hex')}@example.com`,
      password: randomBytes(18).toString('base64url'),
    },
    api_key: newApiKeySecret(),
  };
}

/** Inserts the records with ids derived from the file. Does not change existing records. */
async function createRecords(collections: Collections, workspace: Workspace): Promise<void> {
  const { organization_id: organizationId, department_id: departmentId, project_id: projectId } = workspace;
  const userId = v5('owner', organizationId);
  await insertOnce(collections.organizations, {
    _id: organizationId,
    name: 'My organization',
    created_at: epochSeconds(),
  });
  await insertOnce(collections.departments, {
    _id: departmentId,
    organization_id: organizationId,
    name: 'My department',
  });
  await createUser(collections, { id: userId, ...workspace.admin, name: 'Owner', organizationId });
  await openAccount(collections, organizationId, {
    organization_name: 'My organization',
    user_id: userId,
    email: workspace.admin.email,
  });
  await grantRole(collections, { userId, organizationId, projectId: null, role: 'OWNER' });
  await storeProject(collections, {
    _id: projectId,
    name: 'My project',
    organization_id: organizationId,
    department_id: departmentId,
    user_id: userId,
  });
  const scope = {
    org_id: organizationId,
    dept_id: departmentId,
    project_id: projectId,
    user_id: userId,
    role: 'OWNER',
  };
  await createApiKey(collections, { name: 'First key', createdBy: userId, scope }, workspace.api_key);
}
