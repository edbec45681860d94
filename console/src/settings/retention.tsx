import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call, type Settings } from '../api.js';
import { Form, SaveButtons, TextField } from '../field.js';
import { numberIn } from '../number-in.js';
import { useMay } from '../session.js';
import { useSubmit } from '../use-submit.js';
import formStyles from '../styles/form.module.css';

type Retention = Settings['execution_retention'];

const labels = {
  completed_days: 'Delete completed runs after (days)',
  failed_days: 'Delete failed runs after (days)',
  cancelled_days: 'Delete cancelled runs after (days)',
} as const satisfies Record<keyof Retention, string>;
const names = Object.keys(labels) as (keyof Retention)[];

/** How long runs are kept after their end. */
export function ExecutionRetention({ retention }: { retention: Retention }) {
  const may = useMay();
  const queries = useQueryClient();
  const [edited, setEdited] = useState<Partial<Record<keyof Retention, string>>>({});
  const isChanged = names.some((name) => textOf(name) !== String(retention[name] ?? ''));
  const { error, submit, clearError } = useSubmit(async (options) => {
    const days = names.map((name) => [name, textOf(name) === '' ? null : numberIn(textOf(name))]);
    const body = { execution_retention: Object.fromEntries(days) as Retention };
    queries.setQueryData(['settings'], await call('patch', '/settings/{projectID}', { body }, options));
    setEdited({});
  });
  const isOffered = may('patch /settings/{projectID}');

  function textOf(name: keyof Retention): string {
    return edited[name] ?? String(retention[name] ?? '');
  }

  return (
    <Form error={error} onSubmit={() => void submit()} className={formStyles.narrow}>
      <p>
        Runs are deleted with their steps, events and documents. Lifecycles, approvals and the audit chain stay. Without
        a number, runs are kept.
      </p>
      {names.map((name) => (
        <TextField
          key={name}
          label={labels[name]}
          name={`execution_retention.${name}`}
          inputMode="numeric"
          isReadOnly={!isOffered}
          text={textOf(name)}
          onChange={(text) => setEdited({ ...edited, [name]: text.trim() })}
        />
      ))}
      {isOffered && (
        <SaveButtons
          isChanged={isChanged}
          onDiscard={() => {
            setEdited({});
            clearError();
          }}
        />
      )}
    </Form>
  );
}
