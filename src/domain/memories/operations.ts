import { WorkflowUpdateFailedError } from '@temporalio/client';
import {
  decideMemoryUpdate,
  rememberType,
  rememberWorkflowId,
  type MemoryDecision,
  type RememberInput,
} from '../../../workflows/remember/messages.js';
import { attributePairs } from '../../../workflows/search-attributes.js';
import { authorityOf } from '../../auth/authority.js';
import { requireDecider } from '../../auth/decisions.js';
import type { Principal } from '../../auth/principal.js';
import { AppError, notFound } from '../../base/errors.js';
import { readerOf, type Reader } from '../../governance/approvals/view.js';
import type { SavedPart } from '../../graph/memory/part.js';
import { readOntology } from '../../graph/ontology/state.js';
import { inReadTransaction } from '../../graph/store/sessions.js';
import { offlineModelName } from '../../models/offline.js';
import { sha256Hex } from '../../base/hash.js';
import { insertOnce } from '../../stores/insert-once.js';
import { isWorkflowGone } from '../../temporal/client.js';
import { startOnce } from '../../temporal/start-once.js';
import { updateOnce } from '../../temporal/update-once.js';
import { epochSeconds } from '../../base/time.js';
import type { Deps } from '../deps.js';
import { sumOf } from './extract.js';
import { narrowed } from './extraction-schema.js';
import { foundIn, sums } from './operations/findings.js';
import { requireSeenReview, type ReviewDeps } from './operations/review.js';
import { nothingWritten, type MemoryDocument, type MemoryPartDocument, type MemoryView, type Turn } from './record.js';
import { askersOfMemory, partsOf } from './rules.js';
import { endReview } from './write.js';

/** A text to remember, after the validation of its surface. */
export interface NewMemory {
  turns: Turn[];
  is_conversation: boolean;
  source: string | null;
  entity_types: string[] | null;
  budget: number | null;
  review: boolean;
}

type Place = Pick<Principal, 'projectId' | 'organizationId'>;
type CheckDeps = Pick<Deps, 'config' | 'mongo' | 'graph' | 'customers'>;
type StartDeps = CheckDeps & Pick<Deps, 'auth' | 'temporal'>;

/**
 * Returns the model that will be asked.
 * @throws AppError `conflict` if no model is configured, `invalid_input` if the ontology cannot hold what is looked for,
 * `plan_limit` without credits
 */
export async function checkMemory(
  { config, mongo, graph, customers }: CheckDeps,
  { projectId, organizationId }: Place,
  { entity_types, turns }: Pick<NewMemory, 'entity_types' | 'turns'>,
): Promise<string> {
  if (!turns.some(({ text }) => /\S/.test(text))) throw new AppError('invalid_input', 'text: is empty');
  const settings = await mongo.collections.project_models.findOne({ _id: projectId });
  const model = settings?.model ?? config.llm.model;
  if (config.llm.baseUrl === undefined || model === undefined || model === offlineModelName)
    throw new AppError(
      'conflict',
      'unconfigured: extraction needs a language model; set LLM_BASE_URL, and LLM_MODEL or the model of the project',
    );
  const ontology = await inReadTransaction(graph, (tx) => readOntology(tx, projectId), { projectIds: [projectId] });
  if (!ontology) throw new AppError('invalid_input', 'the project has no ontology; define and commit one first');
  const unknown = entity_types?.find((type) => !Object.hasOwn(ontology.entity_types, type));
  if (unknown !== undefined)
    throw new AppError('invalid_input', `entity_types: ${unknown} is not a type of the ontology`);
  const { entity_types: types, relationship_types: between } = narrowed(ontology, entity_types);
  const hasProperties = Object.values(types).some(({ properties, open }) => open || Object.keys(properties).length > 0);
  if (Object.keys(types).length === 0 || (!hasProperties && Object.keys(between).length === 0))
    throw new AppError(
      'invalid_input',
      'the ontology cannot hold facts: it needs an entity type with a property, or a relationship type',
    );
  await customers.requireCredits(organizationId);
  return model;
}

/**
 * Stores the text and starts its workflow. Idempotent by `id`.
 * @throws as {@link checkMemory}; `conflict` if the id was used for another text
 */
export async function startMemory(
  deps: StartDeps,
  maker: Principal,
  id: string,
  given: NewMemory,
): Promise<MemoryView> {
  const { memories } = deps.mongo.collections;
  const digest = sha256Hex(
    JSON.stringify([given.turns.map(({ speaker, text }) => [speaker, text]), { ...given, turns: 0 }]),
  );
  const known = await memories.findOne({ _id: id });
  const memory = known ?? (await insertOnce(memories, await documentOf(deps, maker, { id, digest, given })));
  if (memory.digest !== digest || memory.project_id !== maker.projectId)
    throw new AppError('conflict', 'this Idempotency-Key was used with another text');
  if (memory.status === 'queued') await startWorkflow(deps, memory);
  return viewOf(deps, memory);
}

async function documentOf(
  deps: StartDeps,
  maker: Principal,
  { id, digest, given }: { id: string; digest: string; given: NewMemory },
): Promise<MemoryDocument> {
  const model = await checkMemory(deps, maker, given);
  await deps.customers.reserveCredits(maker.organizationId, { kind: 'memory', id });
  const { turns, is_conversation, source, entity_types, budget, review } = given;
  return {
    _id: id,
    project_id: maker.projectId,
    organization_id: maker.organizationId,
    user_id: maker.userId,
    authority: authorityOf(maker),
    digest,
    source,
    turns: { sealed: deps.auth.box.seal(JSON.stringify(turns), id) },
    is_conversation,
    parts: partsOf(turns, is_conversation),
    entity_types,
    model,
    budget,
    review: null,
    wants_review: review,
    status: 'queued',
    failure: null,
    decided_by: null,
    created_at: epochSeconds(),
    ended_at: null,
  };
}

/** Safe to repeat: a workflow that has ever run does not start again. */
export async function startWorkflow(
  { temporal }: Pick<Deps, 'temporal'>,
  {
    _id,
    project_id,
    organization_id,
    parts,
    wants_review,
  }: Pick<MemoryDocument, '_id' | 'project_id' | 'organization_id' | 'parts' | 'wants_review'>,
): Promise<void> {
  const input: RememberInput = {
    memory_id: _id,
    project_id,
    organization_id,
    parts: parts.length,
    review: wants_review,
  };
  await startOnce(temporal, rememberType, {
    workflowId: rememberWorkflowId(_id),
    args: [input],
    memo: { project: project_id },
    staticSummary: 'Memory',
    typedSearchAttributes: attributePairs({ projectId: project_id, organizationId: organization_id }),
  });
}

/** @throws AppError `not_found` for a memory of another project as well */
export async function findMemory(
  { mongo }: Pick<Deps, 'mongo'>,
  { projectId }: Pick<Principal, 'projectId'>,
  id: string,
): Promise<MemoryDocument> {
  const memory = await mongo.collections.memories.findOne({ _id: id });
  if (memory?.project_id !== projectId) throw notFound('the memory');
  return memory;
}

export async function viewOf(deps: Pick<Deps, 'mongo'>, memory: MemoryDocument): Promise<MemoryView> {
  return (await viewsOf(deps, [memory]))[0] as MemoryView;
}

export async function viewsOf(
  { mongo }: Pick<Deps, 'mongo'>,
  memories: readonly MemoryDocument[],
): Promise<MemoryView[]> {
  const parts = await mongo.collections.memory_parts
    .find({ memory_id: { $in: memories.map(({ _id }) => _id) } }, { projection: { found: 0 } })
    .sort({ memory_id: 1, part: 1 })
    .toArray();
  return memories.map((memory) =>
    toView(
      memory,
      parts.filter(({ memory_id }) => memory_id === memory._id),
    ),
  );
}

const maxMerges = 200;

function toView(memory: MemoryDocument, parts: readonly Omit<MemoryPartDocument, 'found'>[]): MemoryView {
  const { _id: memory_id, status, source, failure, budget, created_at, ended_at } = memory;
  const costs = parts.map(({ attempts }) => Object.values(attempts));
  const saved = parts.flatMap((part) => part.saved ?? []);
  const merges = [...new Map(saved.flatMap((part) => part.merges).map((merge) => [merge.merge_id, merge])).values()];
  return {
    memory_id,
    status,
    source,
    failure,
    parts: {
      total: memory.parts.length,
      extracted: parts.filter(({ is_extracted }) => is_extracted).length,
      written: saved.length,
    },
    found: foundIn(parts),
    written: writtenIn(saved),
    retries: parts.reduce(
      (sum, { attempts }) => sum + Math.max(0, ...Object.keys(attempts).map((at) => Number(at) - 1)),
      0,
    ),
    cost: { ...sumOf(costs.flat()), budget },
    merge_count: merges.length,
    merges: merges.slice(0, maxMerges),
    created_at,
    ended_at,
  };
}

function writtenIn(saved: readonly SavedPart[]): MemoryView['written'] {
  const names = Object.keys(nothingWritten) as (keyof typeof nothingWritten)[];
  return sums(saved, names);
}

interface GivenDecision {
  decision: MemoryDecision['decision'];
  /** The digest of the review that the caller saw. */
  payload_digest?: string | undefined;
  reader?: Reader | undefined;
}

/**
 * Approves, rejects or cancels through the workflow. Idempotent by `updateId`.
 * @throws AppError `scope_denied` by `whyNotDecide`, `conflict` if the memory does not wait for a review or has ended, or if
 * approving would write something else than the caller saw; `validation_failed` for a program without a digest
 */
export async function decideMemory(
  deps: Pick<Deps, 'temporal'> & ReviewDeps,
  principal: Principal,
  memory: MemoryDocument,
  { decision, payload_digest, reader = readerOf(principal) }: GivenDecision,
  updateId: string,
): Promise<MemoryView> {
  // Whoever may write may stop a memory. Only the review is a decision for a person.
  if (decision !== 'cancel') requireDecider(principal, 'memory', { askers: askersOfMemory(memory) });
  if (decision === 'approve' && memory.status === 'waiting')
    await requireSeenReview(deps, memory, { payload_digest, reader });
  try {
    const args: [MemoryDecision] = [{ decision, by: principal.userId }];
    const status = await updateOnce(deps.temporal, rememberWorkflowId(memory._id), decideMemoryUpdate, {
      args,
      updateId,
    });
    await endReview(deps.mongo.collections, memory._id, status);
    return { ...(await viewOf(deps, memory)), status };
  } catch (error) {
    if (!(error instanceof WorkflowUpdateFailedError) && !isWorkflowGone(error)) throw error;
    const { status } = (await deps.mongo.collections.memories.findOne({ _id: memory._id })) ?? memory;
    // The record shows the other decision a moment later.
    const why = status === 'waiting' ? 'another decision was made first' : `the memory is ${status}`;
    throw new AppError('conflict', `${why}: the memory cannot be ${participles[decision]}`);
  }
}

const participles = { approve: 'approved', reject: 'rejected', cancel: 'cancelled' } as const;

/** The turns of a text without speakers. */
export function turnsOfText(text: string, at: number): Turn[] {
  return [{ speaker: null, text, at }];
}
