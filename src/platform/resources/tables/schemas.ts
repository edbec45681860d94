import { z } from 'zod';
import { ListQuery } from '../../../http/lists.js';

/** What a single value can be; `date` is a number of epoch seconds. */
const ScalarType = z.enum(['string', 'number', 'integer', 'boolean', 'date']);

/** The complete list; the specification shows `string` and `number`. */
export const ColumnType = z.enum([...ScalarType.options, 'enum', 'array', 'object']);
export type ColumnType = z.infer<typeof ColumnType>;

const fieldNameShape = /^(?!\$)[^.\0]{1,100}$/;
const EnumOptions = z.array(z.union([z.string().max(500), z.number(), z.boolean()])).min(1).max(500);

/** A field of the values of an object column. */
export const ObjectField = z.strictObject({
  name: z.string().regex(fieldNameShape, 'must be 1 to 100 characters without dots, not beginning with $'),
  type: ScalarType,
  required: z.boolean().default(false),
});
export type ObjectField = z.infer<typeof ObjectField>;

export const NewColumn = z
  .strictObject({
    column_name: z.string().trim().min(1).max(200),
    column_type: ColumnType,
    array_type: z.enum([...ScalarType.options, 'object']).nullable().default(null).meta({ description: 'What the elements of an array column are; null takes any.' }),
    default_value: z.unknown().optional().meta({ description: 'The value of a record that does not name the column.' }),
    object_fields: z.array(ObjectField).min(1).max(200).nullable().default(null).meta({ description: 'The fields of an object column; null takes any.' }),
    enum_options: EnumOptions.nullable().default(null).meta({ description: 'The only values; required for `enum`.' }),
  })
  .meta({ id: 'NewColumn', example: { column_name: 'Stage', column_type: 'enum', enum_options: ['new', 'won', 'lost'], default_value: 'new' } });
export type NewColumn = z.infer<typeof NewColumn>;

/** Specification, Table, Column. */
export const Column = z
  .object({
    column_name: z.string(),
    column_type: ColumnType,
    column_id: z.string(),
    array_type: z.string().nullable(),
    default_value: z.unknown(),
    object_fields: z.array(ObjectField).nullable(),
    triggers: z.array(z.unknown()).nullable(),
    enum_options: EnumOptions.nullable(),
  })
  .meta({
    id: 'Column',
    example: { column_name: 'Price', column_type: 'number', column_id: 'price', array_type: null, default_value: 0, object_fields: null, triggers: null, enum_options: null },
  });
export type Column = z.infer<typeof Column>;

export const columnsAtMost = 200;

export const NewTable = z
  .strictObject({
    table_name: z.string().trim().min(1).max(200),
    columns: z.array(NewColumn).max(columnsAtMost - 3).default([]),
    projectID: z.string().optional(),
  })
  .meta({ id: 'NewTable', example: { table_name: 'Leads', columns: [{ column_name: 'Company', column_type: 'string' }, { column_name: 'Price', column_type: 'number', default_value: 0 }] } });
export type NewTable = z.infer<typeof NewTable>;

/** Specification, Table. */
export const Table = z
  .object({
    _id: z.string(),
    projectID: z.string(),
    table_name: z.string(),
    columns: z.array(Column),
    connector_id: z.string(),
    triggers: z.array(z.unknown()).nullable(),
    last_row_id: z.int(),
  })
  .meta({ id: 'Table' });
export type Table = z.infer<typeof Table>;

export const TableList = z.object({ total_count: z.int(), tables: z.array(Table), next_cursor: z.string().nullable() }).meta({ id: 'TableList' });

export const TableNames = z
  .object({ total_count: z.int(), table_names: z.array(z.object({ _id: z.string(), table_name: z.string() })), next_cursor: z.string().nullable() })
  .meta({ id: 'TableNames' });

export const Storage = z
  .object({ projectID: z.string(), status: z.literal('ready'), total_count: z.int().meta({ description: 'Tables of the project.' }) })
  .meta({ id: 'Storage', example: { projectID: '0199a6f0-5a3c-7c11-8d52-3f6f0e6f7a10', status: 'ready', total_count: 2 } });

/** Values by column_id, which only the table itself can check. */
export const RecordValues = z
  .record(z.string().max(100), z.unknown())
  .meta({ id: 'RecordValues', description: 'Values by column_id.', example: { company: 'Fjord Foods', price: 12.5 } });
export type RecordValues = z.infer<typeof RecordValues>;

export const rowsAtOnce = 1000;

export const NewRecords = z.union([RecordValues, z.array(RecordValues).min(1).max(rowsAtOnce)], 'must be a record, or a list of 1 to 1,000 records').meta({ id: 'NewRecords', description: 'One record, or 1 to 1,000.' });

export const TableRecord = z
  .looseObject({ _id: z.string(), row_id: z.int(), coworker_user_id: z.string() })
  .meta({
    id: 'TableRecord',
    description: 'The system columns, and each column of the table by its column_id; null where a record has no value.',
    example: { _id: '0199a6f0-5a3c-7c11-8d52-3f6f0e6f7a10', row_id: 1, coworker_user_id: 'u1', company: 'Fjord Foods', price: 12.5 },
  });
export type TableRecord = z.infer<typeof TableRecord>;

export const RecordQuery = ListQuery.extend({
  projectID: z.string().optional(),
  cursor: z.string().max(4000).regex(/^[\w-]*$/, 'not a cursor of this list and order').optional().meta({ description: '`next_cursor` of the page before.' }),
  filter: z.string().max(4_000).optional().meta({
    description:
      'JSON: `{column_id: value}` or `{column_id: {eq, ne, gt, gte, lt, lte, in, nin, contains, starts_with, ignore_case, exists}}`, joined by `and`, `or` (arrays) and `not`.',
    example: '{"price": {"gte": 10}, "or": [{"stage": "new"}, {"company": {"contains": "foods", "ignore_case": true}}]}',
  }),
  sort: z.string().max(101).default('-row_id').meta({ description: 'A column_id, with `-` before it for descending. Lists sort by their number of elements, objects by their number of fields.', example: '-price' }),
});
export type RecordQuery = z.infer<typeof RecordQuery>;
