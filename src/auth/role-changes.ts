import { defineCollection, type Collections } from '../stores/collections.js';
import { newId } from '../base/ids.js';
import { epochSeconds } from '../base/time.js';

/**
 * Somebody changes or removes the role of a person. A sweep then looks at the open runs of the person, several times,
 * because the role changes shortly after this record is stored.
 */
export interface RoleChangeDocument {
  _id: string;
  user_id: string;
  organization_id: string;
  /** Null for a role on the whole organization. */
  project_id: string | null;
  /** When the sweep looks next, in epoch seconds. */
  next_at: number;
  attempts: number;
  /** When the sweep has looked for the last time, in epoch seconds. */
  until: number;
}

/** Longer than a change of a role takes, with its repeats. */
const watchedSeconds = 600;

/** Stores that a role changes. Called before the change, so that a crash after the change loses nothing. */
export async function noteRoleChange(
  { role_changes }: Pick<Collections, 'role_changes'>,
  { user_id, organization_id, project_id }: Pick<RoleChangeDocument, 'user_id' | 'organization_id' | 'project_id'>,
): Promise<void> {
  const now = epochSeconds();
  const watched = { next_at: now, attempts: 0, until: now + watchedSeconds };
  await role_changes.insertOne({ _id: newId(), user_id, organization_id, project_id, ...watched });
}

export const roleChangesCollection = defineCollection('role_changes', {
  indexes: [{ keys: { next_at: 1 } }],
  majorityRead: true,
});

declare module '../stores/collections.js' {
  interface Documents {
    role_changes: RoleChangeDocument;
  }
}
