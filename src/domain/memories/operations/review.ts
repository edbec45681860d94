import { AppError } from '../../../base/errors.js';
import { bounded } from '../../../governance/bounded.js';
import { differ } from '../../../governance/approvals/payload.js';
import type { Reader } from '../../../governance/approvals/view.js';
import { rehearseParts } from '../../../graph/memory/rehearse.js';
import { canonicalText } from '../../../base/json.js';
import { sha256Hex } from '../../../base/hash.js';
import { decodePosition, encodePosition, type ListQuery } from '../../../stores/lists.js';
import { epochSeconds } from '../../../base/time.js';
import type { Deps } from '../../deps.js';
import type { MemoryDocument, Turn } from '../record.js';
import type { MemoryReview, ReviewStatement } from '../record/review.js';
import { statementsOf, summaryOfReview, withoutPersonal } from '../review-statements.js';
import { foundIn, foundParts } from './findings.js';

export type ReviewDeps = Pick<Deps, 'mongo' | 'auth' | 'graph' | 'redact' | 'governance'>;

interface WholeReview {
  statements: ReviewStatement[];
  personal: ReadonlySet<string>;
  digest: string;
}

/**
 * Everything that approving the memory would write into the graph as it is now.
 * @throws AppError `conflict` unless the memory waits for a review, and the refusals of the save
 */
async function reviewOf(deps: Pick<ReviewDeps, 'mongo' | 'auth' | 'graph'>, memory: MemoryDocument) {
  const { _id: memoryId, project_id: projectId, user_id: saved_by, source, status } = memory;
  if (status !== 'waiting')
    throw new AppError('conflict', `the memory is ${status}: only a memory that waits has a review`);
  const parts = [];
  // A part without entities writes nothing.
  for await (const each of foundParts(deps, memoryId)) if (each.found.entities.length > 0) parts.push(each);
  const stamp = { saved_by, source, recorded_at: epochSeconds(), lifecycle_id: '' };
  const { parts: rehearsed, personal } = await rehearseParts(deps.graph, { projectId, memoryId }, parts, stamp);
  const turns = JSON.parse(deps.auth.box.open(memory.turns.sealed, memoryId)) as Turn[];
  const statements = statementsOf(rehearsed, { turns, personal });
  return { statements, personal, digest: sha256Hex(canonicalText({ memoryId, statements })) } satisfies WholeReview;
}

/**
 * One page of a review: whole for people who may decide, and redacted and shortened for programs. Secrets are hidden from
 * everybody.
 * @throws AppError as {@link reviewOf}; `conflict` if the graph changed since the page before, so that the pages do not fit
 */
export async function pageOfReview(
  deps: ReviewDeps,
  memory: MemoryDocument,
  { limit, cursor }: ListQuery,
  seesWhole: boolean,
): Promise<MemoryReview> {
  const { _id: memory_id, source, organization_id } = memory;
  const { statements, personal, digest } = await reviewOf(deps, memory);
  const from = cursor === undefined ? { at: 0, id: digest } : decodePosition(cursor);
  if (from.id !== digest) throw changed();
  const start = from.at ?? 0;
  const rows = statements.slice(start, start + limit);
  const end = start + rows.length;
  const { approvals } = deps.governance;
  const visible = seesWhole ? rows : rows.map(withoutPersonal(statements, personal));
  const short = seesWhole ? visible : visible.map((row) => bounded(row));
  const shown = await (seesWhole
    ? approvals.hideSecrets(short, organization_id)
    : approvals.redact(short, organization_id));
  const parts = await deps.mongo.collections.memory_parts.find({ memory_id }, { projection: { counts: 1 } }).toArray();
  return {
    ...{ memory_id, source, summary: summaryOfReview(statements), found: foundIn(parts), payload_digest: digest },
    payload_view: {
      is_redacted: !seesWhole,
      has_hidden: differ(shown, short) || differ(visible, rows),
      is_shortened: differ(short, visible),
    },
    data: shown as ReviewStatement[],
    total_count: statements.length,
    next_cursor: end < statements.length ? encodePosition({ at: end, id: digest }) : null,
  };
}

/**
 * A program names the review that it approves, because it does not see all of it. A person may name it.
 * @throws AppError `validation_failed`, `conflict`
 */
export async function requireSeenReview(
  deps: ReviewDeps,
  memory: MemoryDocument,
  { payload_digest, reader }: { payload_digest: string | undefined; reader: Reader },
): Promise<void> {
  if (payload_digest === undefined) {
    if (reader === 'person') return;
    throw new AppError(
      'validation_failed',
      `payload_digest: required: read GET /v1/memories/${memory._id}/review, and send the payload_digest of what you approve`,
    );
  }
  if ((await reviewOf(deps, memory)).digest !== payload_digest) throw changed();
}

function changed(): AppError {
  return new AppError('conflict', 'what approving would write changed since you read the review: read it again');
}
