import { z } from 'zod';
import { livingProject } from '../../auth/standing.js';
import { AppError } from '../../errors.js';
import type { Collections } from '../../stores/collections.js';
import { epochSeconds } from '../../time.js';
import type { Push } from '../../../workflows/code-sync/messages.js';
import { checkShape, parseJson } from '../parse-body.js';
import { accepted, ignored, type Delivery, type Receiver } from '../receiver.js';
import { hubForm, sha256, verifySignature } from '../signature.js';
import type { StartCodeSync } from '../start-code-sync.js';

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
/** Of the code host's payload, what is brought into the graph. */
const PushPayload = z.object({
  ref: z.string().max(300),
  after: z.string().max(64).default(''),
  repository: z.object({ full_name: z.string().min(1).max(300) }),
  commits: z.array(Commit).default([]),
});

const deliveryForm = /^[A-Za-z0-9_-]{1,128}$/;
const branchPrefix = 'refs/heads/';

export interface GithubPushOptions {
  /** Undefined: unsigned deliveries are taken (specification, Authentication of callback receivers). */
  secret: string | undefined;
  collections: Pick<Collections, 'repository_bindings' | 'projects'>;
  startCodeSync: StartCodeSync;
}

export function githubPush({ secret, collections, startCodeSync }: GithubPushOptions): Receiver {
  return {
    path: '/v1/codesync/webhook/github',
    summary: 'Signed push deliveries of a code host',
    verify({ header, body }) {
      if (secret !== undefined) verifySignature(header('x-hub-signature-256'), hubForm, secret, body);
    },
    deliveryId: (delivery) => `codesync/${deliveryOf(delivery)}`,
    async handOver(delivery) {
      if (delivery.header('x-github-event') !== 'push') return ignored(200, 'not a push');
      const push = pushIn(delivery);
      const bindings = await bindingsOf(collections, push.repository);
      if (bindings.length === 0) throw new AppError('repo_not_bound', 'the repository is bound to no project');
      const following = bindings.filter(({ branch }) => branch === null || branch === push.branch);
      if (push.branch === '' || push.commits.length === 0 || following.length === 0) return ignored(200, 'nothing to follow in this push');
      await Promise.all(following.map((binding) => startCodeSync(binding, deliveryOf(delivery), push)));
      return accepted(200);
    },
  };
}

/** Those of projects that were not deleted. */
async function bindingsOf(collections: GithubPushOptions['collections'], repository: string) {
  const bindings = await collections.repository_bindings.find({ repository }).toArray();
  const projects = await Promise.all(bindings.map(({ project_id }) => livingProject(collections, project_id)));
  return bindings.filter((_binding, at) => projects[at] !== undefined);
}

/** Without a usable id of its own, a delivery is known by its content. */
function deliveryOf({ header, body }: Delivery): string {
  const given = header('x-github-delivery') ?? '';
  return deliveryForm.test(given) ? given : sha256(body).toString('hex');
}

function pushIn({ header, body }: Delivery): Push {
  const isForm = /^application\/x-www-form-urlencoded\b/i.test(header('content-type') ?? '');
  const json = isForm ? (new URLSearchParams(body.toString('utf8')).get('payload') ?? '') : body;
  const { ref, after, repository, commits } = checkShape(PushPayload, parseJson(json));
  const received_at = epochSeconds();
  return {
    repository: repository.full_name.toLowerCase(),
    branch: ref.startsWith(branchPrefix) ? ref.slice(branchPrefix.length) : '',
    head: after,
    received_at,
    commits: commits.map(({ id, message, timestamp, author, ...paths }) => ({
      id: id.toLowerCase(),
      message,
      at: timeOf(timestamp) ?? received_at,
      author: { name: author.name, email: author.email ?? '', username: author.username ?? null },
      ...paths,
    })),
  };
}

function timeOf(timestamp: string | undefined): number | undefined {
  const at = Date.parse(timestamp ?? '');
  return Number.isNaN(at) ? undefined : at / 1000;
}
