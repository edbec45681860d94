import { z } from 'zod';
import type { Principal } from '../../auth/principal.js';
import { requireConnector } from '../../domain/connectors/operations/setup.js';
import type { Deps } from '../../domain/deps.js';
import { AppError } from '../../base/errors.js';
import type { FileDocument } from '../../domain/files/record.js';
import { parseJsonOrUndefined } from '../../base/json.js';
import { parseWithProblems, unknownFields } from '../../base/validation.js';
import type { RequestContext } from '../rest/context.js';
import { projectNames } from './project-scope.js';

interface UploadRules {
  /** Additional form fields. `take` receives each value before `knowledgeOf` is called, and may refuse it. */
  own?: { names: readonly string[]; take(name: string, value: string): void };
  /** Throws for a file that this upload does not accept. Called as soon as the type of the file is known. */
  accept?(file: FileDocument): void;
  knowledgeOf?(file: FileDocument): FileDocument['knowledge'];
  /** Called with the stored files. May be called again for a repeated request. */
  then?(files: FileDocument[]): Promise<void>;
}

/** Receives the files of a request and stores all of them, or none. */
export async function upload(
  deps: Deps,
  { principal, req, idempotencyKey }: RequestContext,
  rules: UploadRules = {},
): Promise<FileDocument[]> {
  const { files, fields } = await deps.files.receive(principal, req, rules.accept);
  try {
    const { names = [], take } = rules.own ?? {};
    for (const [name, value] of fields) if (names.includes(name)) take?.(name, value);
    const shared = fields.filter(([name]) => !names.includes(name));
    const stored = await uploadFields(deps, principal, shared);
    const route = `${req.method.toLowerCase()} ${req.path}`;
    return await deps.files.keep(files, { principal, key: idempotencyKey, route, fields: stored, ...rules });
  } catch (error) {
    await deps.files.discard(files);
    throw error;
  }
}

const Tag = z
  .string()
  .trim()
  .min(1)
  .max(200)
  .refine((text) => !text.includes('\0'), 'must not contain a NUL character');
const maxTags = 100;
const Tags = z.object({ tags: z.array(Tag).max(maxTags) });

/**
 * Validates the form fields of an upload, which apply to all its files.
 * @throws AppError `invalid_request` for an unknown or invalid field, `not_found` for a connector of another project
 */
async function uploadFields(
  { mongo: { collections } }: Pick<Deps, 'mongo'>,
  principal: Principal,
  fields: readonly [name: string, value: string][],
): Promise<Pick<FileDocument, 'tags' | 'connector_id'>> {
  const valuesOf = (...names: string[]) => fields.filter(([name]) => names.includes(name)).map(([, value]) => value);
  const unknown = fields
    .map(([name]) => name)
    .filter((name) => !['tags', 'connector_id', ...projectNames].includes(name));
  if (unknown.length > 0)
    throw new AppError(
      'invalid_request',
      unknownFields('field', [...new Set(unknown)], ['tags', 'connector_id', 'projectID']),
    );
  if (valuesOf(...projectNames).some((value) => value !== principal.projectId))
    throw new AppError('invalid_request', 'projectID: must be the same in path, query and body');
  const [connector_id = '', ...others] = [...new Set(valuesOf('connector_id'))];
  if (others.length > 0) throw new AppError('invalid_request', 'connector_id: must not be given more than once');
  const parsed = parseWithProblems(Tags, { tags: differentTags(valuesOf('tags')) });
  if ('problems' in parsed) throw new AppError('invalid_request', parsed.problems.join('; '));
  if (connector_id !== '') await requireConnector(collections, principal, connector_id);
  return { ...parsed.data, connector_id };
}

/** Returns the tags of all fields, each once. Stops above the limit, so that no more of them are validated. */
function differentTags(fields: readonly string[]): unknown[] {
  const tags = new Set<unknown>();
  for (const field of fields) {
    for (const tag of tagsOf(field)) {
      tags.add(tag);
      if (tags.size > maxTags) throw new AppError('invalid_request', `tags: must have at most ${maxTags} entries`);
    }
  }
  return [...tags];
}

/** A field contains one tag or a JSON array of tags. */
function tagsOf(value: string): unknown[] {
  if (!value.trimStart().startsWith('[')) return value.trim() === '' ? [] : [value];
  const parsed = parseJsonOrUndefined(value);
  return Array.isArray(parsed) ? parsed : [value];
}
