import type { RememberActivities } from '../../../workflows/remember/activities.js';
import type { MemoryStatus } from '../../../workflows/remember/messages.js';
import type { SecretBox } from '../../auth/secret-box.js';
import type { FoundPart, SavedPart } from '../../graph/memory/part.js';
import type { Collections } from '../../stores/collections.js';
import { memoryOf, partId } from './extract.js';
import { nothingWritten, type SavePartAsPerson } from './record.js';

interface WriteDeps {
  collections: Pick<Collections, 'memories' | 'memory_parts'>;
  box: Pick<SecretBox, 'open'>;
  save: SavePartAsPerson;
}

type Request<Name extends keyof RememberActivities> = Parameters<RememberActivities[Name]>[0];

/** Writes what was found in one part, unless it was written before. @throws the refusal of the governed save */
export async function saveMemoryPart(
  { collections, box, save }: WriteDeps,
  { memory: { memory_id }, part }: Request<'saveMemoryPart'>,
  signal: AbortSignal,
): Promise<void> {
  const memory = await memoryOf(collections, memory_id);
  if (memory.status === 'waiting') await endReview(collections, memory_id, 'running');
  const _id = partId(memory_id, part);
  const stored = await collections.memory_parts.findOne({ _id });
  if (!stored?.found || stored.saved) return;
  const found = JSON.parse(box.open(stored.found.sealed, _id)) as FoundPart;
  const { user_id: userId, organization_id: organizationId, project_id: projectId, source } = memory;
  const maker = { userId, organizationId, projectId, authority: memory.authority };
  const nothing: SavedPart = { ...nothingWritten, merges: [] };
  const saved =
    found.entities.length === 0 ? nothing : await save(maker, { memoryId: memory_id, part, source, found }, signal);
  await collections.memory_parts.updateOne({ _id }, { $set: { saved } });
}

export async function askForReview(
  { memories }: Pick<Collections, 'memories'>,
  { memory: { memory_id }, asked_at, until }: Request<'askForReview'>,
): Promise<void> {
  const isOpen = { $in: ['queued' as const, 'running' as const] };
  await memories.updateOne(
    { _id: memory_id, status: isOpen },
    { $set: { status: 'waiting', review: { asked_at, until }, changed_at: Date.now() } },
  );
}

/** Records what was decided, so that nobody reads or decides the review afterwards. Safe to repeat. */
export async function endReview(
  { memories }: Pick<Collections, 'memories'>,
  _id: string,
  status: MemoryStatus,
): Promise<void> {
  await memories.updateOne({ _id, status: 'waiting' }, { $set: { status, changed_at: Date.now() } });
}

/** The parts expire first, because nothing would find them after the memory. */
export async function finishMemory(
  { memories, memory_parts }: Pick<Collections, 'memories' | 'memory_parts'>,
  { memory: { memory_id }, status, failure, decided_by, ended_at }: Request<'finishMemory'>,
  retentionDays: number,
): Promise<void> {
  const expires_at = new Date((ended_at + retentionDays * secondsPerDay) * 1000);
  const expiry = retentionDays > 0 ? { expires_at } : {};
  if (retentionDays > 0) await memory_parts.updateMany({ memory_id }, { $set: expiry });
  const { matchedCount } = await memories.updateOne(
    { _id: memory_id },
    { $set: { status, failure, decided_by, ended_at, changed_at: Date.now(), ...expiry } },
  );
  // The project was deleted while a model answered.
  if (matchedCount === 0) await memory_parts.deleteMany({ memory_id });
}

const secondsPerDay = 86_400;
