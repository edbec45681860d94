import type { SaveInput } from '../../graph/save/input.js';
import { derivedId } from '../../graph/store/names.js';
import { graphName, graphText } from '../../graph/graph-text.js';
import type { Push, PushedCommit } from '../../../workflows/code-sync/messages.js';

type Save = Pick<SaveInput, 'entities' | 'relationships' | 'facts'>;
type Change = 'added' | 'modified' | 'removed';

const maxTextLength = 500;
const maxMessageLength = 4000;
/** In seconds. */
const minStepSeconds = 0.001;

/** Converts a commit with its author and some of the changed paths. */
export function commitSave(push: Push, commit: PushedCommit, paths: readonly { path: string; change: Change }[]): Save {
  const repository = repositoryEntity(push);
  const author = authorEntity(commit);
  const entity = commitEntity(commit);
  const files = [...new Map(paths.map(({ path }) => [path, fileEntity(push, path)])).values()];
  return {
    entities: [repository, author, entity, ...files],
    relationships: [
      { from: entity.id, type: 'PART_OF', to: repository.id, properties: {} },
      { from: entity.id, type: 'AUTHORED_BY', to: author.id, properties: {} },
      ...files.map(({ id }) => ({ from: id, type: 'PART_OF', to: repository.id, properties: {} })),
      ...paths.map(({ path, change }) => ({
        from: entity.id,
        type: 'TOUCHED',
        to: fileId(push, path),
        properties: { change },
      })),
    ],
    facts: [...new Set(paths.map(({ path }) => path))].map((path) => ({
      subject: fileId(push, path),
      predicate: 'last changed by commit',
      object: entity.id,
      confidence: 1,
      valid_from: commit.at,
    })),
  };
}

/** The subject and predicate of the fact that stores the head of a branch. */
export function headFact(push: Push): { subject: string; predicate: string } {
  return { subject: repositoryEntity(push).id, predicate: `head of ${push.branch}`.slice(0, 200).trim() };
}

/**
 * Stores the head of the branch after the push. The fact is valid from the time of the push, so a late delivery of an
 * old push changes nothing. A push that follows the current head is always considered newer than it, whatever its time.
 */
export function headSave(push: Push, present: { object: unknown; valid_from: number } | undefined): Save {
  const repository = repositoryEntity(push);
  const pushed = push.pushed_at ?? push.received_at;
  const follows = present !== undefined && push.before === present.object;
  const valid_from = follows ? Math.max(pushed, present.valid_from + minStepSeconds) : pushed;
  const head = { ...headFact(push), object: push.head, confidence: 1, valid_from };
  return { entities: [repository], relationships: [], facts: [head] };
}

function repositoryEntity({ repository }: Push) {
  return { id: `repository:${derivedId(repository)}`, type: 'Repository', name: graphName(repository), properties: {} };
}

function commitEntity({ id, message, at, added, modified, removed }: PushedCommit) {
  const title = message.split('\n', 1)[0] ?? '';
  const properties = {
    sha: id,
    message: graphText(message, maxMessageLength),
    committed_at: at,
    touched: added.length + modified.length + removed.length,
  };
  return { id: `commit:${id}`, type: 'Commit', name: graphName(`${id.slice(0, 10)} ${title}`), properties };
}

/** Identifies an author by email address if there is one, so that a person has one entity under any name. */
function authorEntity({ author: { name, email, username } }: PushedCommit) {
  const key = (email || username || name || 'unknown').toLowerCase();
  const text = (value: string | null) => (value === null || value === '' ? null : graphText(value, maxTextLength));
  const properties = { email: text(email), username: text(username) };
  return {
    id: `author:${derivedId('author', key)}`,
    type: 'Author',
    name: graphName(name || username || 'unknown'),
    properties,
  };
}

function fileEntity(push: Push, path: string) {
  return {
    id: fileId(push, path),
    type: 'File',
    name: graphName(path),
    properties: { path: graphText(path, maxMessageLength) },
  };
}

function fileId({ repository }: Push, path: string): string {
  return `file:${derivedId(repository, path)}`;
}
