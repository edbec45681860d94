import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api.js';
import { Form, TextField } from '../field.js';
import { Window } from '../parts.js';
import { Time } from '../time.js';
import { useDraft } from '../use-draft.js';
import { quantity } from '../quantity.js';
import { useSubmit } from '../use-submit.js';
import { fromLocalInput, toLocalInput, type Schedule } from './schedule.js';
import textStyles from '../styles/text.module.css';
import buttonStyles from '../styles/button.module.css';
import listStyles from '../styles/lists.module.css';
import controlStyles from '../styles/controls.module.css';

interface Range {
  from: number;
  to: number;
}

interface Preview {
  range: Range;
  /** The planned times that have not fired. */
  due: number[];
  fired: number;
  isComplete: boolean;
}

const dayMs = 86_400_000;

async function previewOf(id: string, range: Range): Promise<Preview> {
  const { times, is_complete } = await call('get', '/schedule/coworker/{id}/times', { params: { id }, query: range });
  const due = times.filter(({ has_fired }) => !has_fired).map(({ scheduled_for }) => scheduled_for);
  return { range, due, fired: times.length - due.length, isComplete: is_complete };
}

interface BackfillOptions {
  schedule: Schedule;
  onDone: (text: string) => void;
  onClose: () => void;
}

/** Keeps the range, previews its runs and sends the backfill. */
function useBackfill({ schedule: { _id: id }, onDone, onClose }: BackfillOptions) {
  const queries = useQueryClient();
  const [from, setFrom] = useDraft(`backfill.from.${id}`);
  const [to, setTo] = useDraft(`backfill.to.${id}`);
  const [preview, setPreview] = useState<Preview>();
  const [defaults] = useState(() => ({
    from: toLocalInput((Date.now() - dayMs) / 1000),
    to: toLocalInput(Date.now() / 1000),
  }));
  const texts = { from: from || defaults.from, to: to || defaults.to };
  const loadPreview = async () => {
    const range = { from: fromLocalInput(texts.from), to: fromLocalInput(texts.to) };
    if (range.from === undefined || range.to === undefined) throw new Error('Enter both times.');
    setPreview(await previewOf(id, { from: range.from, to: range.to }));
  };
  const send = async ({ range }: Preview, options: { idempotencyKey: string }) => {
    const { planned, reason } = await call(
      'post',
      '/schedule/coworker/{id}/backfill',
      { params: { id }, body: range },
      options,
    );
    setFrom('');
    setTo('');
    onClose();
    void queries.invalidateQueries({ queryKey: ['schedule', id] });
    onDone(reason ?? `Backfill started: ${quantity(planned.length, 'run')}.`);
  };
  const submission = useSubmit((options) => (isReady(preview) ? send(preview, options) : loadPreview()));
  const set = (name: keyof Range, text: string) => {
    setPreview(undefined);
    (name === 'from' ? setFrom : setTo)(text);
  };
  return { texts, set, preview, ...submission };
}

const isReady = (preview: Preview | undefined): preview is Preview => preview !== undefined && preview.due.length > 0;

/** Asks for a past range, previews the runs, and sends the backfill only after that. */
export function BackfillWindow(props: BackfillOptions) {
  const { texts, set, preview, error, isBusy, submit } = useBackfill(props);
  return (
    <Window title="Backfill missed runs" onClose={props.onClose}>
      <p>
        <bdi>{props.schedule.goal.template}</bdi>
      </p>
      <p className={textStyles.soft}>
        Times that have already run are skipped.{' '}
        {props.schedule.overlap === 'allow_all' ? 'All runs start together.' : 'Runs start one after another.'}
      </p>
      <Form error={error} onSubmit={() => void submit()}>
        {(['from', 'to'] as const).map((name) => (
          <TextField
            key={name}
            label={name === 'from' ? 'From' : 'To'}
            name={name}
            hint="Local time, inclusive."
            type="datetime-local"
            step={1}
            text={texts[name]}
            onChange={(text) => set(name, text)}
          />
        ))}
        <PreviewText preview={preview} />
        <p className={controlStyles.actions}>
          {isReady(preview) ? (
            <button className={buttonStyles.primary} disabled={isBusy}>
              Start {quantity(preview.due.length, 'run')}
            </button>
          ) : (
            <button disabled={isBusy}>Preview</button>
          )}
        </p>
      </Form>
    </Window>
  );
}

function PreviewText({ preview }: { preview: Preview | undefined }) {
  return (
    <div role="status">
      {preview && (
        <>
          <p>
            {preview.isComplete ? '' : 'More than '}
            {quantity(preview.due.length, 'run')} would start
            {preview.fired > 0 && `, ${preview.fired} already started`}.
          </p>
          {preview.due.length > 0 && (
            <ol className={listStyles.results} aria-label="Planned runs" tabIndex={0}>
              {preview.due.map((at) => (
                <li key={at}>
                  <Time at={at} isExact />
                </li>
              ))}
            </ol>
          )}
        </>
      )}
    </div>
  );
}
