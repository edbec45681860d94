import { findActiveProject } from '../../../auth/project-roles.js';
import {
  bindingsOf,
  confirmSecret,
  type RepositoryCollections,
} from '../../../domain/connectors/operations/repositories.js';
import { AppError } from '../../../base/errors.js';
import type { Collections } from '../../../stores/collections.js';
import type { ReadBody } from '../read-body.js';
import { accepted, ignored, type Receiver } from '../receiver.js';
import { sha256Hex } from '../../../base/hash.js';
import { mismatch } from '../signature.js';
import type { StartCodeSync } from '../../../domain/code-sync/start-code-sync.js';
import type { PushSignature } from './push-signature.js';

interface GithubPushOptions {
  signature: PushSignature;
  read: ReadBody;
  collections: RepositoryCollections & Pick<Collections, 'projects'>;
  startCodeSync: StartCodeSync;
}

export function githubPush({ signature, read, collections, startCodeSync }: GithubPushOptions): Receiver {
  return {
    path: '/v1/codesync/webhook/github',
    summary: 'Signed push deliveries of a code host',
    verify: (delivery) => signature.verify(delivery),
    // By the body, because the signature does not cover the id in the header.
    deliveryId: ({ body }) => `codesync/${sha256Hex(body)}`,
    async handOver(delivery) {
      if (delivery.header('x-github-event') !== 'push') return ignored('not a push');
      const { header, body } = delivery;
      const reading = await read('readPush', { body, contentType: header('content-type') });
      const { push, commits } = reading;
      const bindings = await livingBindingsOf(collections, push.repository);
      if (bindings.length === 0) throw new AppError('repo_not_bound', 'the repository is bound to no project');
      const reached = await signature.reached(bindings, delivery);
      if (reached.all.length === 0) throw mismatch();
      for (const binding of reached.own) await confirmSecret(collections, binding);
      const following = reached.all.filter(({ branch }) => branch === null || branch === push.branch);
      if (push.branch === '' || commits === 0 || following.length === 0)
        return ignored('nothing to follow in this push');
      const deliveryId = sha256Hex(body);
      // Start them one by one, because the commits of a large push are encrypted for each project.
      for (const binding of following) await startCodeSync(binding, deliveryId, reading);
      return accepted(200);
    },
  };
}

/** Returns the bindings of projects that have not been deleted. */
async function livingBindingsOf(collections: GithubPushOptions['collections'], repository: string) {
  const bindings = await bindingsOf(collections, repository);
  const projects = await Promise.all(bindings.map(({ project_id }) => findActiveProject(collections, project_id)));
  return bindings.filter((_binding, at) => projects[at] !== undefined);
}
