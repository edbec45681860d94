import { z } from 'zod';
import { VisibleText } from '../../base/validation.js';
import { exampleComponent, exampleDashboard } from './examples.js';

const Line = z.string().max(1000);
const Items = z.array(z.unknown()).max(200).describe('Any JSON values.');
const Aggregation = z
  .array(z.record(z.string(), z.unknown()))
  .max(20)
  .describe('Read-only aggregation stages over the documents of `resource`.');
const Cells = z.int().min(0).max(10_000);

/** The data source of a component: tasks, executions, or the rows of the table `table_id`. */
const Resource = z.enum(['tasks', 'executions', 'table']);

const Definition = z.object({
  tab_id: z.string(),
  component_type: z.string(),
  user_query: z.string(),
  title: z.string(),
  subTitle: z.string(),
  component_id: z.string(),
  resource: Resource,
  table_id: z.string().nullable(),
  process_buttons: Items,
  button_title: z.string(),
  coworker_id: z.string().nullable(),
  column_keys: z.array(z.string()),
  columns: Items,
  icon: z.string(),
  query: z.object({ aggregation_code: Aggregation }),
});
/** A component without the result of its pipeline. */
export type Definition = z.infer<typeof Definition>;

/** A component (specification, Dashboard, Component) with the result of its last run. */
export const Component = Definition.extend({
  data: z.array(z.unknown()).describe('The result of the last run; for a `taskManager`, the tasks by status.'),
  error: z.string().nullable().describe('Why the last run failed; null if it succeeded.'),
  refreshed_at: z.number().describe('Time of the last run in epoch seconds.'),
}).meta({ id: 'DashboardComponent', example: exampleComponent });
export type Component = z.infer<typeof Component>;

const Cell = z.object({
  tab_id: z.string(),
  x: z.int(),
  y: z.int(),
  h: z.int(),
  w: z.int(),
  i: z.string().describe('component_id'),
  minW: z.int(),
  minH: z.int(),
});
export type Cell = z.infer<typeof Cell>;

export const Dashboard = z
  .object({
    _id: z.string(),
    name: z.string(),
    description: z.string(),
    project_id: z.string(),
    coworker_id: z.string().nullable(),
    tabs: z.array(z.object({ name: z.string(), id: z.string() })),
    position: z.array(Cell),
    components: z.array(Component),
  })
  .meta({ id: 'Dashboard', example: exampleDashboard });
export type Dashboard = z.infer<typeof Dashboard>;

const Place = z
  .strictObject({
    x: Cells.default(0),
    y: Cells.optional(),
    w: Cells.min(1).default(6),
    h: Cells.min(1).default(4),
    minW: Cells.min(1).default(2),
    minH: Cells.min(1).default(2),
  })
  .describe('The cell in the layout. Without `y`, it is placed below all other cells of the tab.');

export const NewComponent = z
  .strictObject({
    projectID: z.string().optional(),
    component_type: z.string().trim().min(1).max(100),
    title: Line.default(''),
    subTitle: Line.default(''),
    user_query: z.string().max(20_000).default('').describe('The question in natural language, for display only.'),
    resource: Resource.optional().describe('Defaults to `table` if `table_id` is given, otherwise `tasks`.'),
    table_id: z.string().max(100).nullable().default(null),
    process_buttons: Items.default([]),
    button_title: Line.default(''),
    coworker_id: z.string().max(100).nullable().default(null),
    column_keys: z.array(Line).max(200).default([]),
    columns: Items.default([]),
    icon: Line.default(''),
    query: z
      .strictObject({ aggregation_code: Aggregation })
      .optional()
      .describe('Optional for a `taskManager`, which has a default pipeline.'),
    tab_id: z.string().max(100).optional().describe('A tab of the dashboard. Defaults to the first tab.'),
    tab_name: VisibleText.min(1)
      .max(200)
      .optional()
      .describe('The name of a tab, instead of `tab_id`. The tab is created if it does not exist.'),
    position: Place.prefault({}),
  })
  .meta({
    id: 'DashboardComponentInput',
    example: {
      component_type: 'chart',
      title: 'Failed by day',
      resource: 'executions',
      query: { aggregation_code: [{ $match: { status: 'failed' } }, { $count: 'failed' }] },
    },
  });
export type NewComponent = z.infer<typeof NewComponent>;
