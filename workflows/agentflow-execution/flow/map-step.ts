import { z } from 'zod';
import { commonStepFields, Expression, First } from './step-fields.js';

/** The maximum number of items of a `map`. */
export const maxItems = 100_000;
/** A `map` with more items divides them among runs of their own, each with at most this many. */
export const maxItemsOfRun = 200;
/** The maximum number of items that a `map` works on in its own run if its parts wait for events, which are sent to that run. */
export const maxItemsWithEvents = 1000;

/** The rows of a table as items: the filter and the order of `GET /storage/{projectID}/table/{table_id}/records`. */
export const ItemsQuery = z.strictObject({
  table_id: z.string().min(1).max(100).describe('A table of the project.'),
  filter: z
    .record(z.string(), z.unknown())
    .optional()
    .describe(
      'As the `filter` of `GET /storage/{projectID}/table/{table_id}/records`, but as an object. By default all rows.',
    )
    .meta({ example: { stage: 'new', price: { gte: 10 } } }),
  sort: z
    .string()
    .max(101)
    .default('row_id')
    .describe('A column_id, prefixed with `-` for descending order.')
    .meta({ example: '-price' }),
  limit: z.int().min(1).max(maxItems).optional().describe('The maximum number of rows. By default all rows.'),
});
export type ItemsQuery = z.infer<typeof ItemsQuery>;

export const mapStep = z.strictObject({
  ...commonStepFields,
  type: z.literal('map'),
  items: z
    .union([Expression, ItemsQuery])
    .describe(
      `An expression that returns a list, or rows of a table. At most ${maxItems.toLocaleString('en-US')} items.`,
    ),
  as: z
    .string()
    .regex(/^[a-z_][a-z0-9_]{0,63}$/, 'must be a lowercase name such as "row"')
    .default('item')
    .describe('Another name for `item`.')
    .meta({ example: 'row' }),
  first: First,
  concurrency: z.int().min(1).max(50).default(10).describe('How many items are worked on at once.'),
  on_error: z
    .enum(['fail', 'skip', 'collect'])
    .default('fail')
    .describe('`skip` leaves the item out of the output, `collect` keeps `{error: {code, message}}` in its place.'),
});
