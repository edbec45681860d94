import { defineCollection } from '../../stores/collections.js';
import { z } from 'zod';
import { exampleId } from '../../base/ids.js';
import { VisibleText } from '../../base/validation.js';

const Name = VisibleText.normalize().min(1).max(100);
const Color = z.string().regex(/^#[0-9a-fA-F]{6}$/, 'must be "#" followed by six hexadecimal digits');
const example = { name: 'urgent', color: '#d73a4a' };

/** A tag of a project; `created_at` is epoch seconds. */
export const Tag = z
  .object({
    _id: z.string(),
    name: z.string(),
    color: z.string().nullable(),
    projectID: z.string(),
    created_by: z.string(),
    created_at: z.number(),
  })
  .meta({
    id: 'Tag',
    example: {
      _id: exampleId,
      ...example,
      projectID: '0199a6f0-0000-7c11-8d52-3f6f0e6f7a10',
      created_by: 'u1',
      created_at: 1764000000.5,
    },
  });
export type Tag = z.infer<typeof Tag>;
type TagDocument = Tag;

export const NewTag = z
  .strictObject({ name: Name, color: Color.nullable().default(null), projectID: z.string().optional() })
  .meta({ id: 'TagInput', example });

export const tagsCollection = defineCollection('tags', {
  indexes: [{ keys: { projectID: 1, name: 1 }, options: { unique: true } }, { keys: { projectID: 1, _id: -1 } }],
});

declare module '../../stores/collections.js' {
  interface Documents {
    tags: TagDocument;
  }
}
