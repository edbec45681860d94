import { useRef } from 'react';
import type { components } from '@client/openapi.js';
import { call, validationError } from '../api.js';
import { Confirm } from '../confirm.js';
import { SelectField, TextField } from '../field.js';
import { JsonField, parsed } from '../json-field.js';
import { useJsonDraft } from '../use-draft.js';
import { TableField } from '../tables/table-field.js';
import { queries } from './queries.js';
import type { Cell, Layout, Widget } from './widget-data.js';
import textStyles from '../styles/text.module.css';

type Input = components['schemas']['DashboardComponentInput'];
type Resource = NonNullable<Input['resource']>;

interface Form {
  title: string;
  subTitle: string;
  component_type: string;
  resource: Resource;
  table_id: string;
  /** The pipeline as JSON. */
  pipeline: string;
  /** The id of a tab, or empty for a new one. */
  tab: string;
  newTab: string;
  width: string;
}

const kinds = [
  { value: 'chart', name: 'Bars or a number' },
  { value: 'table', name: 'Table' },
];
const resources = [
  { value: 'executions', name: 'Runs' },
  { value: 'tasks', name: 'Tasks' },
  { value: 'table', name: 'Rows of a table' },
];
const widths = [
  { value: '4', name: 'A third' },
  { value: '6', name: 'Half' },
  { value: '12', name: 'The whole width' },
];

interface EditOptions {
  layout: Layout;
  tabId: string | undefined;
  /** The widget that is edited; undefined for a new one. */
  before?: { widget: Widget; cell: Cell };
  onClose: () => void;
}

/** Adds a widget. An edited one takes the place of the one before, because the API adds and deletes widgets. */
export function EditWidget({ layout, tabId = '', before, onClose }: EditOptions) {
  const widget = before?.widget;
  const [draft, store] = useJsonDraft<Form>(`dashboard.${widget?.component_id ?? 'new'}`);
  const form: Form = { ...formOf(before, tabId), ...draft };
  const set = (change: Partial<Form>) => store({ ...draft, ...change });
  const added = useRef<string>(undefined);
  const act = async (options: { idempotencyKey: string }) => {
    const body = bodyOf(form, before);
    const content = JSON.stringify(body);
    // If only the deletion failed, the new widget exists already.
    if (added.current !== content) await call('post', '/dashboard/{projectID}/component', { body }, options);
    added.current = content;
    const path = '/dashboard/{projectID}/component/{component_id}';
    if (widget) await call('delete', path, { params: { component_id: widget.component_id } });
  };
  return (
    <Confirm
      title={widget ? `Edit ${widget.title}` : 'New widget'}
      action={widget ? 'Save' : 'Create widget'}
      act={act}
      nameOf={(path) => path.replace(/^query\.aggregation_code.*$/s, 'query')}
      invalidates={[['dashboard']]}
      onDone={() => store({})}
      onClose={onClose}
    >
      <TextField label="Title" name="title" text={form.title} autoFocus onChange={(title) => set({ title })} />
      <TextField label="Subtitle" name="subTitle" text={form.subTitle} onChange={(subTitle) => set({ subTitle })} />
      <Source form={form} onChange={set} />
      <SelectField
        label="Shown as"
        name="component_type"
        value={form.component_type}
        options={kinds}
        onChange={(component_type) => set({ component_type })}
      />
      <SelectField
        label="Width"
        name="position"
        value={form.width}
        options={widths}
        onChange={(width) => set({ width })}
      />
      <SelectField
        label="Tab"
        name="tab_id"
        value={form.tab}
        options={[...layout.tabs.map(({ id, name }) => ({ value: id, name })), { value: '', name: 'A new tab' }]}
        onChange={(tab) => set({ tab })}
      />
      {form.tab === '' && (
        <TextField
          label="Name of the new tab"
          name="tab_name"
          text={form.newTab}
          onChange={(newTab) => set({ newTab })}
        />
      )}
    </Confirm>
  );
}

/** What the widget reads, and its query. */
function Source({ form, onChange }: { form: Form; onChange: (change: Partial<Form>) => void }) {
  const read = parsed(form.pipeline);
  return (
    <>
      <SelectField
        label="Data"
        name="resource"
        value={form.resource}
        options={resources}
        onChange={(resource) => onChange({ resource: resource as Resource })}
      />
      {form.resource === 'table' && (
        <TableField name="table_id" value={form.table_id} onChange={(table_id) => onChange({ table_id })} />
      )}
      <SelectField
        label="Example of a query"
        hint="Replaces the query below."
        value=""
        options={[{ value: '', name: 'Select an example' }, ...queries.map(({ name }) => ({ value: name }))]}
        onChange={(name) => {
          const stages = queries.find((query) => query.name === name)?.stages;
          if (stages) onChange({ pipeline: JSON.stringify(stages, null, 2) });
        }}
      />
      <JsonField
        label="Query"
        name="query"
        rows={8}
        text={form.pipeline}
        problems={'problem' in read ? [read.problem] : []}
        onChange={(pipeline) => onChange({ pipeline })}
      />
      <p className={textStyles.soft}>Stages of an aggregation of MongoDB that only read.</p>
    </>
  );
}

function formOf(before: EditOptions['before'], tabId: string): Form {
  const { widget, cell } = before ?? {};
  const stages: unknown = widget?.query.aggregation_code ?? queries[0]?.stages;
  return {
    title: widget?.title ?? '',
    subTitle: widget?.subTitle ?? '',
    component_type: widget?.component_type ?? 'chart',
    resource: widget?.resource ?? 'executions',
    table_id: widget?.table_id ?? '',
    pipeline: JSON.stringify(stages, null, 2),
    tab: tabId,
    newTab: '',
    width: String(cell?.w ?? 6),
  };
}

/** What the form does not show stays as it was. Another tab has another layout, so the widget is placed below it. */
function bodyOf(form: Form, before: EditOptions['before']): Input {
  const read = parsed(form.pipeline);
  if ('problem' in read) throw validationError('query', read.problem.message);
  const { widget, cell } = before ?? {};
  const { user_query, process_buttons, button_title, coworker_id, column_keys, columns, icon } = widget ?? {};
  const place = cell && { h: cell.h, minH: cell.minH, ...(form.tab === cell.tab_id && { x: cell.x, y: cell.y }) };
  return {
    ...(widget && { user_query, process_buttons, button_title, coworker_id, column_keys, columns, icon }),
    ...{ title: form.title, subTitle: form.subTitle, component_type: form.component_type, resource: form.resource },
    ...(form.resource === 'table' && { table_id: form.table_id }),
    query: { aggregation_code: read.value as Record<string, unknown>[] },
    ...(form.tab === '' ? { tab_name: form.newTab } : { tab_id: form.tab }),
    position: { ...place, w: Number(form.width) },
  };
}
