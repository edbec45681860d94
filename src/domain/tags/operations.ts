import { z } from 'zod';
import { AppError, notFound } from '../../base/errors.js';
import { freeText, textFacts } from '../../governance/operations/operation.js';
import { listOf, listPage, ListQuery } from '../../stores/lists.js';
import { insertOnce } from '../../stores/insert-once.js';
import { isDuplicateKey } from '../../stores/mongo.js';
import { epochSeconds } from '../../base/time.js';
import { defineOperation, reads, writes } from '../operation.js';
import { NewTag, Tag } from './record.js';
import { Id } from '../../base/ids.js';
export { tagsCollection } from './record.js';

export const listTags = defineOperation({
  name: 'tag.list',
  ...reads,
  input: ListQuery,
  output: listOf(Tag),
  run: ({ deps, ctx, input }) => listPage(deps.mongo.collections.tags, { projectID: ctx.principal.projectId }, input),
});

/** Throws `conflict` if the project has a tag with this name. */
export const createTag = defineOperation({
  name: 'tag.create',
  ...writes,
  facts: { name: freeText('name') },
  input: NewTag,
  output: Tag,
  errors: ['conflict'],
  async run({ deps, ctx: { principal, recordId }, input: { name, color } }) {
    const record = {
      _id: recordId,
      name,
      color,
      projectID: principal.projectId,
      created_by: principal.userId,
      created_at: epochSeconds(),
    };
    try {
      return await insertOnce(deps.mongo.collections.tags, record);
    } catch (error) {
      throw isDuplicateKey(error)
        ? new AppError('conflict', `name: the project already has a tag ${JSON.stringify(name)}`, { cause: error })
        : error;
    }
  },
});

export const deleteTag = defineOperation({
  name: 'tag.delete',
  ...writes,
  facts: textFacts('id'),
  key: z.object({ id: Id }),
  output: Tag,
  async run({ deps, ctx, key: { id } }) {
    const { tags } = deps.mongo.collections;
    const deleted = await tags.findOneAndDelete({ _id: id, projectID: ctx.principal.projectId });
    if (!deleted) throw notFound('the tag');
    return deleted;
  },
});
