import { z } from 'zod';
import { ListQuery, NextCursor, Total } from '../../stores/lists.js';
import { Id, ProjectId, exampleId } from '../../base/ids.js';
import { VisibleText } from '../../base/validation.js';

/** The types of single values. `date` is a number of epoch seconds. */
const ScalarType = z.enum(['string', 'number', 'integer', 'boolean', 'date']);

/** All column types. The specification shows only `string` and `number`. */
const ColumnType = z.enum([...ScalarType.options, 'enum', 'array', 'object']);

const fieldNameShape = /^(?!\$)[^.\0]{1,100}$/;
const EnumOptions = z
  .array(z.union([z.string().max(500), z.number(), z.boolean()]))
  .min(1)
  .max(500);

/** A field of the values of an object column. */
export const ObjectField = z.strictObject({
  name: z
    .string()
    .regex(fieldNameShape, 'must be 1 to 100 characters, must not contain dots and must not start with $'),
  type: ScalarType,
  required: z.boolean().default(false),
});
export type ObjectField = z.infer<typeof ObjectField>;

export const NewColumn = z
  .strictObject({
    column_name: VisibleText.normalize().min(1).max(200),
    column_type: ColumnType,
    array_type: z
      .enum([...ScalarType.options, 'object'])
      .nullable()
      .default(null)
      .describe('The type of the elements of an array column; null allows any.'),
    default_value: z.unknown().optional().describe('The value of records that omit the column.'),
    object_fields: z
      .array(ObjectField)
      .min(1)
      .max(200)
      .nullable()
      .default(null)
      .describe('The fields of an object column; null allows any.'),
    enum_options: EnumOptions.nullable().default(null).describe('The allowed values; required for `enum`.'),
  })
  .meta({
    id: 'ColumnInput',
    example: { column_name: 'Stage', column_type: 'enum', enum_options: ['new', 'won', 'lost'], default_value: 'new' },
  });
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
    example: {
      column_name: 'Price',
      column_type: 'number',
      column_id: 'price',
      array_type: null,
      default_value: 0,
      object_fields: null,
      triggers: null,
      enum_options: null,
    },
  });
export type Column = z.infer<typeof Column>;

export const maxColumns = 200;

export const NewTable = z
  .strictObject({
    table_name: VisibleText.normalize().min(1).max(200),
    columns: z
      .array(NewColumn)
      .max(maxColumns - 3)
      .default([]),
    projectID: z.string().optional(),
  })
  .meta({
    id: 'TableInput',
    example: {
      table_name: 'Leads',
      columns: [
        { column_name: 'Company', column_type: 'string' },
        { column_name: 'Price', column_type: 'number', default_value: 0 },
      ],
    },
  });

export const ColumnReference = z
  .strictObject({ table_id: z.string().max(100), column_id: z.string().max(100), projectID: z.string().optional() })
  .meta({ id: 'ColumnReference', example: { table_id: exampleId, column_id: 'price' } });

const TableName = z.string().meta({ example: 'Claims' });

/** Specification, Table. */
export const Table = z
  .object({
    _id: Id,
    projectID: ProjectId,
    table_name: TableName,
    columns: z.array(Column),
    connector_id: Id,
    triggers: z.array(z.unknown()).nullable(),
    last_row_id: z.int().meta({ example: 12 }),
  })
  .meta({ id: 'Table' });
export type Table = z.infer<typeof Table>;

export const TableList = z
  .object({ ...Total.shape, tables: z.array(Table), next_cursor: NextCursor })
  .meta({ id: 'TableList' });

export const TableNames = z
  .object({
    ...Total.shape,
    table_names: z.array(z.object({ _id: Id, table_name: TableName })),
    next_cursor: NextCursor,
  })
  .meta({ id: 'TableNames' });

export const Storage = z
  .object({ projectID: z.string(), status: z.literal('ready'), ...Total.shape })
  .meta({ id: 'Storage', example: { projectID: exampleId, status: 'ready', total_count: 2 } });

/** Values by column_id. They are validated against the columns of the table. */
export const RecordValues = z
  .record(z.string().max(100), z.unknown())
  .meta({ id: 'RecordValues', description: 'Values by column_id.', example: { company: 'Fjord Foods', price: 12.5 } });
export type RecordValues = z.infer<typeof RecordValues>;

export const ExpectedValues = z
  .string()
  // Percent-encoded, it fits into the request target (`maxHeaderSize` in src/main.ts).
  .max(5000)
  .optional()
  .describe(
    'JSON: `{column_id: value}` as the record was read. The record is changed only if it still has these values; otherwise 409.',
  )
  .meta({ example: '{"price": 10}' });

export const maxRowsPerRequest = 1000;

export const NewRecords = z
  .union(
    [RecordValues, z.array(RecordValues).min(1).max(maxRowsPerRequest)],
    'must be a record or an array of 1 to 1,000 records',
  )
  .meta({ id: 'RecordsInput', description: 'One record, or an array of 1 to 1,000 records.' });

export const TableRecord = z
  .looseObject({ _id: z.string(), row_id: z.int(), coworker_user_id: z.string() })
  .meta({
    id: 'TableRecord',
    description:
      'The values of the system columns and of the columns of the table by column_id; null if there is no value.',
    example: { _id: exampleId, row_id: 1, coworker_user_id: 'u1', company: 'Fjord Foods', price: 12.5 },
  });
export type TableRecord = z.infer<typeof TableRecord>;

export const TableKey = z.object({ table_id: Id.max(100) });
export const RecordKey = TableKey.extend({ record_id: Id.max(100) });

/** The maximum length of a filter, in characters of JSON. */
export const maxFilterLength = 4000;

export const RecordQuery = ListQuery.extend({
  cursor: z
    .string()
    .max(4000)
    .regex(/^[\w-]*$/, 'must be a next_cursor of this list with the same sort')
    .optional()
    .describe('`next_cursor` of the previous page.'),
  filter: z
    .string()
    .max(maxFilterLength)
    .optional()
    .describe(
      'JSON: `{column_id: value}` or `{column_id: {eq, ne, gt, gte, lt, lte, in, nin, contains, starts_with, ignore_case, exists}}`, combined with `and`, `or` (arrays) and `not`.',
    )
    .meta({
      example:
        '{"price": {"gte": 10}, "or": [{"stage": "new"}, {"company": {"contains": "foods", "ignore_case": true}}]}',
    }),
  sort: z
    .string()
    .max(101)
    .default('-row_id')
    .describe(
      'A column_id, prefixed with `-` for descending order. Arrays are sorted by number of elements, objects by number of fields.',
    )
    .meta({ example: '-price' }),
});
