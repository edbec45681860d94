import { z } from 'zod';
import { exampleComponent, exampleDashboard } from './examples.js';

const Line = z.string().max(1000);
const Items = z.array(z.unknown()).max(200).meta({ description: 'Any JSON values.' });
const Aggregation = z.array(z.record(z.string(), z.unknown())).max(20).meta({ description: 'Stages over the documents of `resource`, read only.' });
const Cells = z.int().min(0).max(10_000);

/** What a component can look at: tasks, executions, or the rows of the table `table_id`. */
export const Resource = z.enum(['tasks', 'executions', 'table']);

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
/** A component as it was asked for, without what its pipeline found. */
export type Definition = z.infer<typeof Definition>;

/** A component (specification, Dashboard, Component), with how its last run went. */
export const Component = Definition.extend({
  data: z.array(z.unknown()).meta({ description: 'What the pipeline gave when it was last run; for a `taskManager` the tasks by status.' }),
  error: z.string().nullable().meta({ description: 'Why the last run gave nothing.' }),
  refreshed_at: z.number().meta({ description: 'Epoch seconds of the last run.' }),
}).meta({ id: 'DashboardComponent', example: exampleComponent });
export type Component = z.infer<typeof Component>;

const Cell = z.object({ tab_id: z.string(), x: z.int(), y: z.int(), h: z.int(), w: z.int(), i: z.string().meta({ description: 'component_id' }), minW: z.int(), minH: z.int() });
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
  .strictObject({ x: Cells.default(0), y: Cells.optional(), w: Cells.min(1).default(6), h: Cells.min(1).default(4), minW: Cells.min(1).default(2), minH: Cells.min(1).default(2) })
  .meta({ description: 'The cell in the layout; without `y` below everything else of the tab.' });
export type Place = z.infer<typeof Place>;

export const NewComponent = z
  .strictObject({
    projectID: z.string().optional(),
    component_type: z.string().trim().min(1).max(100),
    title: Line.default(''),
    subTitle: Line.default(''),
    user_query: z.string().max(20_000).default('').meta({ description: 'The question in words, for people.' }),
    resource: Resource.optional().meta({ description: 'Without it, `table` where `table_id` is given, else `tasks`.' }),
    table_id: z.string().max(100).nullable().default(null),
    process_buttons: Items.default([]),
    button_title: Line.default(''),
    coworker_id: z.string().max(100).nullable().default(null),
    column_keys: z.array(Line).max(200).default([]),
    columns: Items.default([]),
    icon: Line.default(''),
    query: z.strictObject({ aggregation_code: Aggregation }).optional().meta({ description: 'A `taskManager` has a pipeline of its own.' }),
    tab_id: z.string().max(100).optional().meta({ description: 'A tab of the dashboard; without it the first.' }),
    tab_name: z.string().trim().min(1).max(200).optional().meta({ description: 'Instead of `tab_id`: the tab of this name, made if there is none.' }),
    position: Place.prefault({}),
  })
  .meta({
    id: 'NewDashboardComponent',
    example: { component_type: 'chart', title: 'Failed by day', resource: 'executions', query: { aggregation_code: [{ $match: { status: 'failed' } }, { $count: 'failed' }] } },
  });
export type NewComponent = z.infer<typeof NewComponent>;
