import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { call } from '../api.js';
import { Problem, Page, Loaded } from '../parts.js';
import { useJsonDraft } from '../use-draft.js';
import { useAgentflows } from '../runs/choices.js';
import { useTableNames } from '../tables/use-table-names.js';
import { useSubmit } from '../use-submit.js';
import { CalendarFields } from './calendar-fields.js';
import {
  bodyOf,
  changesOf,
  emptyValues,
  fieldOf,
  fieldsOf,
  valuesOf,
  type FormFields,
  type Values,
} from './form-values.js';
import { overlapTexts, type Schedule } from './schedule.js';
import { TimeZoneField } from './time-zone.js';
import { SelectField, CheckField, TextField, Form, SaveButtons } from '../field.js';
import formStyles from '../styles/form.module.css';

const editRoute = getRouteApi('/schedules/$scheduleId/edit');

export function NewScheduleForm() {
  return (
    <Page title="New schedule">
      <ScheduleForm initial={emptyValues} />
    </Page>
  );
}

export function EditScheduleForm() {
  const { scheduleId: id } = editRoute.useParams();
  const query = useQuery({
    queryKey: ['schedule', id],
    queryFn: () => call('get', '/schedule/coworker/{id}', { params: { id } }),
  });
  return (
    <Page title="Edit schedule">
      <Loaded query={query}>
        {(schedule) => <ScheduleForm key={id} initial={valuesOf(schedule)} schedule={schedule} />}
      </Loaded>
    </Page>
  );
}

function ScheduleForm({ initial, schedule }: { initial: Values; schedule?: Schedule }) {
  // The draft keeps only changed values, so that it does not revert changes by others.
  const [changed, store] = useJsonDraft<Values>(`schedule.${schedule?._id ?? 'new'}`);
  const values: Values = { ...initial, ...changed };
  const navigate = useNavigate();
  const set = (name: keyof Values, text: string) => {
    const { [name]: _before, ...others } = changed;
    store(text === initial[name] ? others : { ...others, [name]: text });
  };
  const { error, isBusy, submit, clearError } = useSubmit(async (options) => {
    const { _id: scheduleId } = schedule
      ? await call('patch', '/schedule/coworker/{id}', {
          params: { id: schedule._id },
          body: changesOf(values, initial),
        })
      : await call('post', '/schedule/coworker', { body: bodyOf(values) }, options);
    store({});
    await navigate({ to: '/schedules/$scheduleId', params: { scheduleId } });
  });
  return (
    <Form
      className={formStyles.editor}
      error={error}
      nameOf={(path) => fieldOf(path, values.type) ?? path}
      onSubmit={() => void submit()}
    >
      <RunFields {...fieldsOf(values, set)} isNew={!schedule} />
      <TimeFields {...fieldsOf(values, set)} type={values.type} />
      <Options {...fieldsOf(values, set)} />
      <SaveButtons
        name={schedule ? 'Save' : 'Create schedule'}
        isChanged={Object.keys(changed).length > 0}
        canSave={!isBusy}
        onDiscard={() => {
          store({});
          clearError();
        }}
      />
    </Form>
  );
}

function RunFields({ textOf, choiceOf, isNew }: FormFields & { isNew: boolean }) {
  const { data: flows = [], error: noFlows } = useAgentflows();
  const { data: tables = [], error: noTables } = useTableNames();
  return (
    <fieldset>
      <legend>Agentflow and goal</legend>
      <Problem error={noFlows ?? noTables} />
      {isNew && (
        <SelectField
          label="Agentflow"
          {...choiceOf('coworker_id')}
          options={[
            { value: '', name: 'Select an agentflow' },
            ...flows.map(({ _id, name }) => ({ value: _id, name })),
          ]}
        />
      )}
      <TextField
        label="Goal"
        {...textOf('goal')}
        rows={3}
        hint="A Liquid template. If a table is selected, it can use row.<column>."
      />
      <SelectField
        label="Table"
        {...choiceOf('table')}
        hint="Starts one run for each row."
        options={[{ value: '', name: 'None' }, ...tables.map(({ _id, table_name: name }) => ({ value: _id, name }))]}
      />
    </fieldset>
  );
}

const types = [
  { value: 'once', name: 'Once' },
  { value: 'interval', name: 'Interval' },
  { value: 'cron', name: 'Cron expression' },
  { value: 'calendar', name: 'Calendar' },
];

function TimeFields({ textOf, choiceOf, type }: FormFields & { type: string }) {
  const isOnce = type === 'once';
  return (
    <fieldset>
      <legend>Timing</legend>
      <SelectField label="Type" {...choiceOf('type')} options={types} />
      {type === 'interval' && (
        <TextField
          label="Interval"
          {...textOf('interval')}
          inputMode="numeric"
          hint="In seconds: 3600 is an hour, 86400 is a day."
        />
      )}
      {type === 'cron' && (
        <>
          <TextField
            label="Cron expression"
            {...textOf('cron')}
            hint="Minute, hour, day, month, weekday: 0 9 * * 1-5"
          />
          <TimeZoneField {...textOf('time_zone')} />
        </>
      )}
      {type === 'calendar' && <CalendarFields textOf={textOf} choiceOf={choiceOf} />}
      <TextField
        label={isOnce ? 'Time' : 'Start'}
        {...textOf('schedule')}
        type="datetime-local"
        step={1}
        hint={isOnce ? 'Local time.' : 'Local time. Leave empty to start now.'}
      />
      {!isOnce && (
        <TextField
          label="End"
          {...textOf('ends_at')}
          type="datetime-local"
          step={1}
          hint="Local time. No run is planned after it. Leave empty for no end."
        />
      )}
    </fieldset>
  );
}

const overlaps = Object.entries(overlapTexts).map(([value, name]) => ({ value, name }));

function Options({ textOf, choiceOf }: FormFields) {
  const { value, onChange } = choiceOf('pause_on_failure');
  return (
    <fieldset>
      <legend>Options</legend>
      <SelectField label="If a run is in progress" {...choiceOf('overlap')} options={overlaps} />
      {numbers.map(({ name, ...field }) => (
        <TextField key={name} {...field} {...textOf(name)} inputMode="numeric" />
      ))}
      <CheckField
        label="Pause after a failed run"
        isChecked={value === 'true'}
        onChange={(isChecked) => onChange(String(isChecked))}
      />
    </fieldset>
  );
}

const numbers = [
  { name: 'limit', label: 'Limit', hint: 'The maximum number of planned runs. Leave empty for no limit.' },
  { name: 'catchup_window', label: 'Catch-up window', hint: 'How many seconds late a run can start.' },
  { name: 'jitter', label: 'Jitter', hint: 'Spreads the start times over this many seconds.' },
] as const;
