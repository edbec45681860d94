import { z } from 'zod';
import type { Deps } from '../../deps.js';
import { AppError, notFound } from '../../errors.js';
import type { RequestContext } from '../../http/context.js';
import { defineRoute, type Route } from '../../http/define-route.js';
import { listOf, listPage, ListQuery } from '../../http/lists.js';
import type { Collections } from '../../stores/collections.js';
import { insertOnce, isDuplicateKey } from '../../stores/mongo.js';
import { epochSeconds } from '../../time.js';

const Name = z.string().trim().min(1).max(100);
const Color = z.string().regex(/^#[0-9a-fA-F]{6}$/, 'must be six hexadecimal digits behind "#"');
const example = { name: 'urgent', color: '#d73a4a' };

/** A tag of a project; `created_at` is epoch seconds. */
export const Tag = z
  .object({ _id: z.string(), name: z.string(), color: z.string().nullable(), projectID: z.string(), created_by: z.string(), created_at: z.number() })
  .meta({ id: 'Tag', example: { _id: '0199a6f0-5a3c-7c11-8d52-3f6f0e6f7a10', ...example, projectID: '0199a6f0-0000-7c11-8d52-3f6f0e6f7a10', created_by: 'u1', created_at: 1764000000.5 } });
export type Tag = z.infer<typeof Tag>;
export type TagDocument = Tag;

export const NewTag = z
  .strictObject({ name: Name, color: Color.nullable().default(null), projectID: z.string().optional() })
  .meta({ id: 'NewTag', example });
export type NewTag = z.infer<typeof NewTag>;

const tag = 'tags';
const query = z.object({ projectID: z.string().optional() });

/** Tags of a project (contract, inbox, tags). */
export function tagRoutes({ mongo: { collections } }: Pick<Deps, 'mongo'>): Route[] {
  return [
    defineRoute({
      method: 'post',
      path: '/tag',
      permission: 'svc:orchestrate.write',
      tag,
      query,
      summary: 'Create a tag',
      body: NewTag,
      response: { status: 201, schema: Tag, description: 'The tag as stored.' },
      errors: ['conflict'],
      idempotent: true,
      handler: ({ ctx, body }) => createTag(collections, ctx, body),
    }),
    defineRoute({
      method: 'get',
      path: '/tag',
      permission: 'svc:orchestrate.read',
      tag,
      query: ListQuery.extend(query.shape),
      summary: 'List tags, newest first',
      response: { schema: listOf(Tag), description: 'One page of tags.' },
      handler: ({ ctx, query }) => listPage(collections.tags, { projectID: ctx.principal.projectId }, query),
    }),
    defineRoute({
      method: 'delete',
      path: '/tag/{id}',
      permission: 'svc:orchestrate.write',
      tag,
      params: z.object({ id: z.string() }),
      query,
      summary: 'Delete a tag',
      response: { schema: Tag, description: 'The last record. Its name is free again.' },
      handler: ({ ctx, params: { id } }) => deleteTag(collections, ctx.principal.projectId, id),
    }),
  ];
}

/** @throws AppError `conflict` when the project has a tag of this name */
async function createTag({ tags }: Collections, { principal, recordId }: RequestContext, { name, color }: NewTag): Promise<Tag> {
  const record = { _id: recordId, name, color, projectID: principal.projectId, created_by: principal.userId, created_at: epochSeconds() };
  try {
    return await insertOnce(tags, record);
  } catch (error) {
    throw isDuplicateKey(error) ? new AppError('conflict', `the project has a tag ${JSON.stringify(name)} already`, { cause: error }) : error;
  }
}

async function deleteTag({ tags }: Collections, projectId: string, id: string): Promise<Tag> {
  const deleted = await tags.findOneAndDelete({ _id: id, projectID: projectId });
  if (!deleted) throw notFound('the tag');
  return deleted;
}
