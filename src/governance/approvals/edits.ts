import { z } from 'zod';
import type { SecretBox } from '../../auth/secret-box.js';
import { canonicalText, hasType, type JsonObject } from '../../base/json.js';
import { defineCollection, type Collections } from '../../stores/collections.js';
import { insertOnce } from '../../stores/insert-once.js';

/** What approvers changed in a call: the digest of the original call, and the new values of its fields. */
export interface CallEdits {
  asked_digest: string;
  edits: JsonObject;
}

/**
 * `_id` is `<approval id>/<digest of the edited call>` for edits that approvers made. For a call that had been edited
 * before its approval was requested, it is the approval id. Sealed.
 */
interface ActEditsDocument {
  _id: string;
  sealed: string;
  project_id: string;
}

/** New values for fields of a held act. The fields and their types are in `editable_fields` of the approval. */
export const Edits = z
  .record(z.string().max(200), z.unknown())
  .describe(
    'New values for fields of the act that waits (`editable_fields`): the call is sent with them, and has a new digest. At most 50 fields and 64 KiB.',
  )
  .meta({ example: { text: 'Your claim is complete.' } });

/** The digest of an edited call covers this instead of the input of the call. */
export function editedInput({ asked_digest, edits }: CallEdits): JsonObject {
  return { edited: asked_digest, edits };
}

export function editsId(approvalId: string, editedDigest: string): string {
  return `${approvalId}/${editedDigest}`;
}

const maxFields = 50;
const maxLength = 64 * 1024;

/** Why these edits cannot be made; undefined if they can. `editable` maps the names of the fields to their types. */
export function editsProblem(editable: Readonly<Record<string, string>> | undefined, edits: JsonObject) {
  if (!editable) return 'edits: only an act of a run can be edited';
  const names = Object.keys(edits);
  if (names.length === 0 || names.length > maxFields) return `edits: name 1 to ${maxFields} fields`;
  for (const [name, value] of Object.entries(edits)) {
    if (!Object.hasOwn(editable, name)) return `edits: the call has no field ${JSON.stringify(name)}`;
    if (value === null || value === undefined) return `edits.${name}: needs a value`;
    const type = editable[name] ?? '';
    if (!hasType(value, type)) return `edits.${name}: must be of type ${type}`;
  }
  return canonicalText(edits).length > maxLength ? `edits: must be at most ${maxLength} characters` : undefined;
}

export interface EditsDeps {
  collections: Pick<Collections, 'act_edits'>;
  secrets: Pick<SecretBox, 'seal' | 'open'>;
}

const sealedFor = (id: string) => `act-edits:${id}`;

/** Keeps what was approved for as long as what was asked for. Safe to repeat with the same edits. */
export async function keepEdits(
  { collections, secrets }: EditsDeps,
  project_id: string,
  _id: string,
  edits: CallEdits,
): Promise<void> {
  const sealed = secrets.seal(JSON.stringify(edits), sealedFor(_id));
  await insertOnce(collections.act_edits, { _id, project_id, sealed });
}

export async function readEdits({ collections, secrets }: EditsDeps, _id: string): Promise<CallEdits | undefined> {
  const kept = await collections.act_edits.findOne({ _id });
  return kept ? (JSON.parse(secrets.open(kept.sealed, sealedFor(_id))) as CallEdits) : undefined;
}

export const actEditsCollection = defineCollection('act_edits', {
  indexes: [{ keys: { project_id: 1 } }],
  majorityRead: true,
});

declare module '../../stores/collections.js' {
  interface Documents {
    act_edits: ActEditsDocument;
  }
}
