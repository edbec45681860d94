import { SelectField, TextField } from '../field.js';
import { isFields, text, type Fields } from './document.js';
import { ExpressionField } from './expression-field.js';
import { NumberField } from './number-field.js';
import type { StepValueOptions } from './step-fields.js';

const kinds = { seconds: 'A number of seconds', until: 'A time', event: 'An event' } as const;
const blanks = { seconds: 60, until: '', event: { name: '' } } as const;
type Kind = keyof typeof kinds;

/** Edits what a step waits for: one of three fields. */
export function WaitFields({ step, problemOf, onChange }: StepValueOptions) {
  const { seconds, until, event, ...rest } = step;
  const kind: Kind = event !== undefined ? 'event' : until !== undefined ? 'until' : 'seconds';
  const set = (name: Kind, value: unknown) => onChange({ ...rest, [name]: value });
  return (
    <>
      <SelectField
        label="Wait for"
        value={kind}
        options={Object.entries(kinds).map(([value, name]) => ({ value, name }))}
        onChange={(chosen) => set(chosen as Kind, blanks[chosen as Kind])}
      />
      {kind === 'seconds' && (
        <NumberField
          label="Seconds"
          problem={problemOf('seconds')}
          value={seconds}
          onChange={(value) => set('seconds', value)}
        />
      )}
      {kind === 'until' && (
        <ExpressionField
          label="Until"
          hint="An expression for a timestamp, or for a text such as 2030-01-31T09:00:00Z."
          problem={problemOf('until')}
          value={until}
          onChange={(value) => set('until', value)}
        />
      )}
      {kind === 'event' && (
        <EventFields
          event={isFields(event) ? event : {}}
          problemOf={problemOf}
          onChange={(value) => set('event', value)}
        />
      )}
    </>
  );
}

interface EventOptions extends Pick<StepValueOptions, 'problemOf'> {
  event: Fields;
  onChange: (event: Fields) => void;
}

function EventFields({ event, problemOf, onChange }: EventOptions) {
  const set = (name: string) => (value: unknown) => onChange({ ...event, [name]: value });
  return (
    <>
      <TextField label="Event name" problem={problemOf('event.name')} text={text(event.name)} onChange={set('name')} />
      <ExpressionField
        label="Matches if"
        hint="Here, event is the data of the event. Leave empty to take the first event with this name."
        problem={problemOf('event.match')}
        value={event.match}
        onChange={(match) => set('match')(match || undefined)}
      />
      <NumberField
        label="Deadline (seconds)"
        hint="Leave empty to wait for ever."
        problem={problemOf('event.deadline_seconds')}
        value={event.deadline_seconds}
        onChange={set('deadline_seconds')}
      />
    </>
  );
}
