import type { SaveInput } from '../../src/graph/save/input.js';
import { derivedId } from '../../src/graph/store/names.js';
import { graphName, graphText } from '../graph-text.js';
import type { Push, PushedCommit } from '../../workflows/code-sync/messages.js';

type Save = Pick<SaveInput, 'entities' | 'relationships' | 'facts'>;
type Change = 'added' | 'modified' | 'removed';

const textAtMost = 500;
const messageAtMost = 4000;

/** A commit with its author and some of the paths that it touched. */
export function commitSave(push: Push, commit: PushedCommit, paths: readonly { path: string; change: Change }[]): Save {
  const repository = repositoryEntity(push);
  const author = authorEntity(commit);
  const own = commitEntity(commit);
  const files = [...new Map(paths.map(({ path }) => [path, fileEntity(push, path)])).values()];
  return {
    entities: [repository, author, own, ...files],
    relationships: [
      { from: own.id, type: 'PART_OF', to: repository.id, properties: {} },
      { from: own.id, type: 'AUTHORED_BY', to: author.id, properties: {} },
      ...files.map(({ id }) => ({ from: id, type: 'PART_OF', to: repository.id, properties: {} })),
      ...paths.map(({ path, change }) => ({ from: own.id, type: 'TOUCHED', to: fileId(push, path), properties: { change } })),
    ],
    facts: [...new Set(paths.map(({ path }) => path))].map((path) => ({
      subject: fileId(push, path),
      predicate: 'last changed by commit',
      object: own.id,
      confidence: 1,
      valid_from: commit.at,
    })),
  };
}

/** Where the branch stands after the push. */
export function headSave(push: Push): Save {
  const repository = repositoryEntity(push);
  const head = { subject: repository.id, predicate: `head of ${push.branch}`.slice(0, 200).trim(), object: push.head, confidence: 1, valid_from: push.received_at };
  return { entities: [repository], relationships: [], facts: [head] };
}

function repositoryEntity({ repository }: Push) {
  return { id: `repository:${derivedId(repository)}`, type: 'Repository', name: graphName(repository), properties: {} };
}

function commitEntity({ id, message, at, added, modified, removed }: PushedCommit) {
  const title = message.split('\n', 1)[0] ?? '';
  const properties = { sha: id, message: graphText(message, messageAtMost), committed_at: at, touched: added.length + modified.length + removed.length };
  return { id: `commit:${id}`, type: 'Commit', name: graphName(`${id.slice(0, 10)} ${title}`), properties };
}

/** By mail address where there is one, so that one person is one entity whatever name they commit under. */
function authorEntity({ author: { name, email, username } }: PushedCommit) {
  const key = (email || username || name || 'unknown').toLowerCase();
  const text = (value: string | null) => (value === null || value === '' ? null : graphText(value, textAtMost));
  const properties = { email: text(email), username: text(username) };
  return { id: `author:${derivedId('author', key)}`, type: 'Author', name: graphName(name || username || 'unknown'), properties };
}

function fileEntity(push: Push, path: string) {
  return { id: fileId(push, path), type: 'File', name: graphName(path), properties: { path: graphText(path, messageAtMost) } };
}

function fileId({ repository }: Push, path: string): string {
  return `file:${derivedId(repository, path)}`;
}
