import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { call } from '../api.js';
import { Field } from '../field.js';
import { refusalByField } from '../refusal-by-field.js';
import { writeGrant } from '../navigation.js';
import { Needs } from '../needs.js';
import { Problem, useDraft } from '../parts.js';
import { projectId } from '../session.js';
import { useSubmit } from '../use-submit.js';
import { useTitle } from '../use-title.js';
import { bodyOf, changesOf, emptyValues, fieldOf, valuesOf, type Values } from './form-values.js';
import { overlapTexts, type Schedule } from './schedule.js';

const editRoute = getRouteApi('/projects/$projectId/schedules/$scheduleId/edit');

export function NewScheduleForm() {
  useTitle('New schedule');
  return (
    <Needs title="New schedule" operation="post /schedule/coworker" allowedBy={writeGrant}>
      <h1>New schedule</h1>
      <ScheduleForm initial={emptyValues} />
    </Needs>
  );
}

export function EditScheduleForm() {
  useTitle('Edit schedule');
  const { scheduleId: id } = editRoute.useParams();
  const { data, error } = useQuery({
    queryKey: ['schedule', id],
    queryFn: () => call('get', '/schedule/coworker/{id}', { params: { id } }),
  });
  return (
    <Needs title="Edit schedule" operation="patch /schedule/coworker/{id}" allowedBy={writeGrant}>
      <h1>Edit schedule</h1>
      <Problem error={error} />
      {data && <ScheduleForm key={id} initial={valuesOf(data)} schedule={data} />}
    </Needs>
  );
}

function ScheduleForm({ initial, schedule }: { initial: Values; schedule?: Schedule }) {
  // The draft keeps only changed values, so that it does not revert changes by others.
  const [stored, store] = useDraft(`schedule.${schedule?._id ?? 'new'}`);
  const changed = (stored === '' ? {} : JSON.parse(stored)) as Partial<Values>;
  const values: Values = { ...initial, ...changed };
  const navigate = useNavigate();
  const set = (name: keyof Values, text: string) => {
    const next = { ...changed, [name]: text };
    if (text === initial[name]) delete next[name];
    store(Object.keys(next).length === 0 ? '' : JSON.stringify(next));
  };
  const { error, isBusy, submit, forget } = useSubmit(async (options) => {
    const { _id: scheduleId } = schedule
      ? await call('patch', '/schedule/coworker/{id}', {
          params: { id: schedule._id },
          body: changesOf(values, initial),
        })
      : await call('post', '/schedule/coworker', { body: bodyOf(values) }, options);
    store('');
    await navigate({ to: '/projects/$projectId/schedules/$scheduleId', params: { projectId, scheduleId } });
  });
  const { fields, top } = refusalByField(error, (path) => fieldOf(path, values.type));
  return (
    <form
      className="editor"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <Problem error={top} />
      <RunFields values={values} set={set} problems={fields} isNew={!schedule} />
      <TimeFields values={values} set={set} problems={fields} />
      <Options values={values} set={set} problems={fields} />
      <p className="actions">
        <button className="primary" disabled={isBusy}>
          {schedule ? 'Save' : 'Create schedule'}
        </button>
        <button
          type="button"
          onClick={() => {
            store('');
            forget();
          }}
        >
          Discard changes
        </button>
      </p>
    </form>
  );
}

interface PartOptions {
  values: Values;
  set: (name: keyof Values, text: string) => void;
  problems: Readonly<Record<string, string>>;
}

function RunFields({ values, set, problems, isNew }: PartOptions & { isNew: boolean }) {
  const { data: flows, error: noFlows } = useQuery({
    queryKey: ['agentflows'],
    queryFn: () => call('get', '/agentflow', { query: { limit: 200 } }),
  });
  const { data: tables, error: noTables } = useQuery({
    queryKey: ['table-names'],
    queryFn: () => call('get', '/storage/{projectID}/table_names', { query: { limit: 200 } }),
  });
  return (
    <fieldset>
      <legend>Agentflow and goal</legend>
      <Problem error={noFlows ?? noTables} />
      {isNew && (
        <Field label="Agentflow" problem={problems.coworker_id}>
          {(control) => (
            <select
              {...control}
              value={values.coworker_id}
              onChange={(event) => set('coworker_id', event.target.value)}
            >
              <option value="">Select an agentflow</option>
              {flows?.data.map(({ _id, name }) => (
                <option key={_id} value={_id}>
                  {name}
                </option>
              ))}
            </select>
          )}
        </Field>
      )}
      <Field
        label="Goal"
        problem={problems.goal}
        hint="A Liquid template. If a table is selected, it can use row.<column>."
      >
        {(control) => (
          <textarea {...control} rows={3} value={values.goal} onChange={(event) => set('goal', event.target.value)} />
        )}
      </Field>
      <Field label="Table" problem={problems.table} hint="Starts one run for each row.">
        {(control) => (
          <select {...control} value={values.table} onChange={(event) => set('table', event.target.value)}>
            <option value="">None</option>
            {values.table !== '' && !tables?.table_names.some(({ _id }) => _id === values.table) && (
              <option value={values.table}>{values.table}</option>
            )}
            {tables?.table_names.map(({ _id, table_name }) => (
              <option key={_id} value={_id}>
                {table_name}
              </option>
            ))}
          </select>
        )}
      </Field>
    </fieldset>
  );
}

function TimeFields({ values, set, problems }: PartOptions) {
  const { type } = values;
  return (
    <fieldset>
      <legend>Timing</legend>
      <Field label="Type" problem={problems.type}>
        {(control) => (
          <select {...control} value={type} onChange={(event) => set('type', event.target.value)}>
            <option value="once">Once</option>
            <option value="interval">Interval</option>
            <option value="cron">Cron expression</option>
          </select>
        )}
      </Field>
      {type === 'interval' && (
        <Field label="Interval" problem={problems.interval} hint="In seconds: 3600 is an hour, 86400 is a day.">
          {(control) => (
            <input
              {...control}
              inputMode="numeric"
              value={values.interval}
              onChange={(event) => set('interval', event.target.value)}
            />
          )}
        </Field>
      )}
      {type === 'cron' && (
        <>
          <Field label="Cron expression" problem={problems.cron} hint="Minute, hour, day, month, weekday: 0 9 * * 1-5">
            {(control) => (
              <input {...control} value={values.cron} onChange={(event) => set('cron', event.target.value)} />
            )}
          </Field>
          <Field label="Time zone" problem={problems.time_zone}>
            {(control) => (
              <input
                {...control}
                list="time-zones"
                value={values.time_zone}
                onChange={(event) => set('time_zone', event.target.value)}
              />
            )}
          </Field>
          <datalist id="time-zones">
            {Intl.supportedValuesOf('timeZone').map((zone) => (
              <option key={zone} value={zone} />
            ))}
          </datalist>
        </>
      )}
      <Field
        label={type === 'once' ? 'Time' : 'Start'}
        problem={problems.schedule}
        hint={type === 'once' ? 'Local time.' : 'Local time. Leave empty to start now.'}
      >
        {(control) => (
          <input
            {...control}
            type="datetime-local"
            step={1}
            value={values.schedule}
            onChange={(event) => set('schedule', event.target.value)}
          />
        )}
      </Field>
    </fieldset>
  );
}

function Options({ values, set, problems }: PartOptions) {
  return (
    <fieldset>
      <legend>Options</legend>
      <Field label="If a run is in progress" problem={problems.overlap}>
        {(control) => (
          <select {...control} value={values.overlap} onChange={(event) => set('overlap', event.target.value)}>
            {Object.entries(overlapTexts).map(([overlap, text]) => (
              <option key={overlap} value={overlap}>
                {text}
              </option>
            ))}
          </select>
        )}
      </Field>
      {numbers.map(({ name, label, hint }) => (
        <Field key={name} label={label} hint={hint} problem={problems[name]}>
          {(control) => (
            <input
              {...control}
              inputMode="numeric"
              value={values[name]}
              onChange={(event) => set(name, event.target.value)}
            />
          )}
        </Field>
      ))}
      <label>
        <input
          type="checkbox"
          checked={values.pause_on_failure === 'true'}
          onChange={(event) => set('pause_on_failure', String(event.target.checked))}
        />{' '}
        Pause after a failed run
      </label>
    </fieldset>
  );
}

const numbers = [
  { name: 'limit', label: 'Limit', hint: 'The maximum number of planned runs. Leave empty for no limit.' },
  { name: 'catchup_window', label: 'Catch-up window', hint: 'How many seconds late a run can start.' },
  { name: 'jitter', label: 'Jitter', hint: 'Spreads the start times over this many seconds.' },
] as const;
