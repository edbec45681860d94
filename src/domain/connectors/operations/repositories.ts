import { randomBytes } from 'node:crypto';
import type { SecretBox } from '../../../auth/secret-box.js';
import { AppError } from '../../../base/errors.js';
import { defineCollection, type Collections } from '../../../stores/collections.js';
import { insertOnce } from '../../../stores/insert-once.js';
import { epochSeconds } from '../../../base/time.js';

/** `_id` is `<repository>|<project id>` in lower case, because several projects of one organization may follow a repository. */
export interface RepositoryBindingDocument {
  _id: string;
  repository: string;
  branch: string | null;
  project_id: string;
  organization_id: string;
  bound_by: string;
  bound_at: number;
  /** The secret with which the code host signs pushes. */
  secret_sealed: string;
  /** True after the first push that was signed with the secret. From then on, unsigned pushes are refused. */
  secret_confirmed?: boolean;
}

/** `_id` is the repository, which at most one organization may follow. */
interface RepositoryOwnerDocument {
  _id: string;
  organization_id: string;
  since: number;
}

export type RepositoryCollections = Pick<Collections, 'repository_bindings' | 'repository_owners'>;

interface NewBinding {
  repository: string;
  branch: string | null;
  projectId: string;
  organizationId: string;
  userId: string;
}

const purpose = (id: string) => `repository-binding/${id}`;

/** Binds a repository to a project and issues its webhook secret. Binding again replaces the secret. @throws AppError `conflict` if another organization follows the repository */
export async function bindRepository(
  collections: RepositoryCollections,
  box: SecretBox,
  binding: NewBinding,
): Promise<{ secret: string; bound_at: number }> {
  const { repository, branch, projectId, organizationId, userId } = binding;
  const _id = `${repository}|${projectId}`;
  await claim(collections, repository, organizationId);
  const [secret, bound_at] = [randomBytes(32).toString('base64url'), epochSeconds()];
  const fields = {
    repository,
    branch,
    project_id: projectId,
    organization_id: organizationId,
    bound_by: userId,
    bound_at,
    secret_sealed: box.seal(secret, purpose(_id)),
  };
  await collections.repository_bindings.updateOne({ _id }, { $set: fields }, { upsert: true });
  // A concurrent unbind may have removed the claim.
  await claim(collections, repository, organizationId);
  return { secret, bound_at };
}

async function claim(
  { repository_owners }: RepositoryCollections,
  repository: string,
  organization_id: string,
): Promise<void> {
  const owner = await insertOnce(repository_owners, { _id: repository, organization_id, since: epochSeconds() });
  if (owner.organization_id !== organization_id) throw boundElsewhere(repository);
}

/** @throws AppError `conflict` if another organization follows the repository */
export async function refuseOtherOwner(
  collections: RepositoryCollections,
  repository: string,
  organizationId: string,
): Promise<void> {
  const owner = await ownerOf(collections, repository);
  if (owner !== undefined && owner !== organizationId) throw boundElsewhere(repository);
}

function boundElsewhere(repository: string): AppError {
  return new AppError(
    'conflict',
    `another organization follows ${repository}; an administrator of the installation can reassign it`,
  );
}

async function ownerOf({ repository_owners }: RepositoryCollections, repository: string): Promise<string | undefined> {
  return (await repository_owners.findOne({ _id: repository }))?.organization_id;
}

/** The bindings of the organization that owns the repository. */
export async function bindingsOf(
  collections: RepositoryCollections,
  repository: string,
): Promise<RepositoryBindingDocument[]> {
  const organization_id = await ownerOf(collections, repository);
  return organization_id === undefined
    ? []
    : collections.repository_bindings.find({ repository, organization_id }).toArray();
}

/** Undefined if this process cannot decrypt it. */
export function secretOf(box: SecretBox, { _id, secret_sealed }: RepositoryBindingDocument): string | undefined {
  try {
    return box.open(secret_sealed, purpose(_id));
  } catch {
    return undefined;
  }
}

export async function confirmSecret(
  { repository_bindings }: RepositoryCollections,
  { _id, secret_confirmed }: RepositoryBindingDocument,
): Promise<void> {
  if (secret_confirmed !== true) await repository_bindings.updateOne({ _id }, { $set: { secret_confirmed: true } });
}

export async function unbindProject(collections: RepositoryCollections, projectId: string): Promise<void> {
  for (const binding of await collections.repository_bindings.find({ project_id: projectId }).toArray())
    await unbind(collections, binding);
}

/** Deletes one binding of a project. @returns false if the project does not follow the repository */
export async function unbindRepository(
  collections: RepositoryCollections,
  projectId: string,
  repository: string,
): Promise<boolean> {
  const binding = await collections.repository_bindings.findOne({ _id: `${repository}|${projectId}` });
  if (binding) await unbind(collections, binding);
  return binding !== null;
}

/** Releases the repository if no project follows it anymore. */
async function unbind(
  { repository_bindings, repository_owners }: RepositoryCollections,
  { _id, repository, organization_id }: RepositoryBindingDocument,
): Promise<void> {
  await repository_bindings.deleteOne({ _id });
  if ((await repository_bindings.countDocuments({ repository, organization_id })) === 0)
    await repository_owners.deleteOne({ _id: repository, organization_id });
}

/** Assigns a repository to another organization. @returns the number of deleted bindings of other organizations */
export async function moveRepository(
  { repository_bindings, repository_owners }: RepositoryCollections,
  repository: string,
  organizationId: string,
): Promise<number> {
  await repository_owners.updateOne(
    { _id: repository },
    { $set: { organization_id: organizationId, since: epochSeconds() } },
    { upsert: true },
  );
  const { deletedCount } = await repository_bindings.deleteMany({
    repository,
    organization_id: { $ne: organizationId },
  });
  return deletedCount;
}

export const repositoryBindingsCollection = defineCollection('repository_bindings', {
  indexes: [{ keys: { repository: 1 } }, { keys: { project_id: 1 } }],
});
export const repositoryOwnersCollection = defineCollection('repository_owners', { majorityRead: true });

declare module '../../../stores/collections.js' {
  interface Documents {
    repository_bindings: RepositoryBindingDocument;
    repository_owners: RepositoryOwnerDocument;
  }
}
