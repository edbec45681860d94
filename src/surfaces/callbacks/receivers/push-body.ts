import type { ReadPush } from '../../../domain/code-sync/read-push.js';
import { z } from 'zod';
import { epochSeconds } from '../../../base/time.js';
import type { Push, PushedCommit } from '../../../../workflows/code-sync/messages.js';
import { checkShape, parseCallbackJson } from '../parse-body.js';
import type { RawBody } from '../callback-body.js';

const Paths = z.array(z.string()).default([]);
const Commit = z.object({
  id: z.string().regex(/^[0-9a-f]{7,64}$/i),
  message: z.string().default(''),
  timestamp: z.string().optional(),
  author: z.object({ name: z.string().default(''), email: z.string().nullish(), username: z.string().nullish() }),
  added: Paths,
  modified: Paths,
  removed: Paths,
});
/** The fields of the code host's payload that are written to the graph. */
const PushPayload = z.object({
  ref: z.string().max(300),
  before: z.string().max(64).default(''),
  after: z.string().max(64).default(''),
  head_commit: z.object({ timestamp: z.string().optional() }).nullish(),
  repository: z.object({
    full_name: z.string().min(1).max(300),
    pushed_at: z.union([z.number(), z.string()]).nullish(),
  }),
  commits: z.array(Commit).default([]),
});

const branchPrefix = 'refs/heads/';
/** Longer JSON is stored instead of being passed in the input of a workflow. */
const maxStartLength = 128 * 1024;

/** @throws AppError `invalid_request` */
export function readPush({ contentType, body }: RawBody): ReadPush {
  const isForm = /^application\/x-www-form-urlencoded\b/i.test(contentType ?? '');
  const push = pushOf(checkShape(PushPayload, parseCallbackJson(isForm ? payloadOf(body) : body)));
  const commits = push.commits.length;
  const json = JSON.stringify(push.commits);
  if (json.length <= maxStartLength) return { push, commits, stored: null };
  return { push: { ...push, commits: [] }, commits, stored: Buffer.from(json) };
}

/** Matches the repository name in JSON or in a form. The payload's own name comes first. */
const fullName =
  /(?:"|%22)full_name(?:"|%22)[\s+]{0,8}(?::|%3A)[\s+]{0,8}(?:"|%22)([\w.-]{1,100})(?:\\?\/|%5C%2F|%2F)([\w.-]{1,100})(?:"|%22)/i;

/** Finds the name of the repository without parsing the body, whose sender is not yet verified. */
export function readRepository({ body }: RawBody): string | undefined {
  const found = fullName.exec(Buffer.from(body).toString('latin1'));
  return found ? `${found[1]}/${found[2]}`.toLowerCase() : undefined;
}

/** Decodes only the field `payload`, because a form may contain millions of fields. */
function payloadOf(body: Uint8Array): string {
  const [, payload = ''] = /(?:^|&)payload=([^&]*)/.exec(Buffer.from(body).toString('latin1')) ?? [];
  return new URLSearchParams(`payload=${payload}`).get('payload') ?? '';
}

function pushOf({ ref, before, after, head_commit, repository, commits }: z.output<typeof PushPayload>): Push {
  const received_at = epochSeconds();
  const pushed_at =
    pushTime(repository.pushed_at) ??
    timeOf(head_commit?.timestamp) ??
    timeOf(commits.at(-1)?.timestamp) ??
    received_at;
  return {
    repository: repository.full_name.toLowerCase(),
    branch: ref.startsWith(branchPrefix) ? ref.slice(branchPrefix.length) : '',
    before,
    head: after,
    pushed_at: Math.min(pushed_at, received_at),
    received_at,
    commits: commits.map((commit) => commitOf(commit, received_at)),
  };
}

function commitOf(
  { id, message, timestamp, author, ...paths }: z.output<typeof Commit>,
  received_at: number,
): PushedCommit {
  return {
    id: id.toLowerCase(),
    message,
    at: timeOf(timestamp) ?? received_at,
    author: { name: author.name, email: author.email ?? '', username: author.username ?? null },
    ...paths,
  };
}

/** Reads the time of a push. Push payloads contain epoch seconds, other payloads text. */
function pushTime(at: number | string | null | undefined): number | undefined {
  return typeof at === 'string' ? timeOf(at) : (at ?? undefined);
}

function timeOf(timestamp: string | undefined): number | undefined {
  const at = Date.parse(timestamp ?? '');
  return Number.isNaN(at) ? undefined : at / 1000;
}
