import { z } from 'zod';
import type { Principal } from '../../../auth/principal.js';
import { findConnector } from '../../../connectors/store.js';
import type { Deps } from '../../../deps.js';
import { AppError, notFound } from '../../../errors.js';
import type { FileDocument } from '../../../files/record.js';
import type { RequestContext } from '../../../http/context.js';
import { projectNames } from '../../scope.js';

export interface UploadRules {
  /** Throws for a file that this upload does not take, as soon as its type is known. */
  accept?(file: FileDocument): void;
  knowledgeOf?(file: FileDocument): FileDocument['knowledge'];
  /** Done with the files as they are kept; may be repeated. */
  then?(files: FileDocument[]): Promise<void>;
}

/** Receives the files of a request and keeps all of them or none. */
export async function upload(deps: Deps, { principal, req, idempotencyKey }: RequestContext, rules: UploadRules = {}): Promise<FileDocument[]> {
  const { files, fields } = await deps.files.receive(principal, req, rules.accept);
  try {
    const given = await uploadFields(deps, principal, fields);
    const route = `${req.method.toLowerCase()} ${req.path}`;
    return await deps.files.keep(files, { principal, key: idempotencyKey, route, given, ...rules });
  } catch (error) {
    await deps.files.discard(files);
    throw error;
  }
}

const Tags = z.array(z.string().trim().min(1).max(200).refine((text) => !text.includes('\0'), 'holds a NUL')).max(100);

/**
 * The fields of an upload as they apply to its files.
 * @throws AppError `invalid_request` naming an unknown or ill-formed field, `not_found` for a connector of another project
 */
async function uploadFields(
  { mongo: { collections } }: Pick<Deps, 'mongo'>,
  principal: Principal,
  fields: readonly [name: string, value: string][],
): Promise<Pick<FileDocument, 'tags' | 'connector_id'>> {
  const valuesOf = (...names: string[]) => fields.filter(([name]) => names.includes(name)).map(([, value]) => value);
  const unknown = fields.map(([name]) => name).filter((name) => !['tags', 'connector_id', ...projectNames].includes(name));
  if (unknown.length > 0) throw new AppError('invalid_request', `Unrecognized fields: ${[...new Set(unknown)].slice(0, 20).join(', ').slice(0, 500)}`);
  if (valuesOf(...projectNames).some((value) => value !== principal.projectId)) throw new AppError('invalid_request', 'projectID: path, query and body do not agree');
  const [connector_id = '', ...others] = [...new Set(valuesOf('connector_id'))];
  if (others.length > 0) throw new AppError('invalid_request', 'connector_id: is given twice');
  const tags = Tags.safeParse([...new Set(valuesOf('tags').flatMap(tagsOf))]);
  if (!tags.success) throw new AppError('invalid_request', `tags: ${tags.error.issues[0]?.message ?? 'are not texts'}`);
  if (connector_id !== '') {
    const connector = await findConnector(collections, connector_id);
    if (connector?.projectID !== principal.projectId) throw notFound('the connector');
  }
  return { tags: tags.data, connector_id };
}

/** A field holds one tag, or a JSON array of them. */
function tagsOf(value: string): unknown[] {
  if (!value.trimStart().startsWith('[')) return value.trim() === '' ? [] : [value];
  try {
    return JSON.parse(value) as unknown[];
  } catch {
    return [value];
  }
}
