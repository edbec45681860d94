import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { call } from '../api.js';
import { Confirm } from '../confirm.js';
import { Reason } from '../field.js';
import { ActionButton, useDraft } from '../parts.js';
import { useMay } from '../session.js';
import { BackfillWindow } from './backfill.js';
import type { Schedule } from './schedule.js';

const texts = {
  trigger: {
    name: 'Trigger now',
    hint: 'A run starts immediately, even if the schedule is paused or another run is in progress. It uses credits.',
    done: 'Triggered. A run starts now.',
    operation: 'post /schedule/coworker/{id}/trigger',
  },
  pause: {
    name: 'Pause',
    hint: 'No runs start until the schedule is resumed. Runs that are missed in the meantime are not started later.',
    done: 'Paused. No runs start until the schedule is resumed.',
    operation: 'patch /schedule/coworker/{id}',
  },
  resume: {
    name: 'Resume',
    hint: 'The schedule continues with the next planned time.',
    done: 'Resumed. Missed runs are not started.',
    operation: 'patch /schedule/coworker/{id}',
  },
  delete: {
    name: 'Delete',
    hint: 'This cannot be undone. Active runs continue.',
    done: '',
    operation: 'delete /schedule/coworker/{id}',
  },
} as const;

type Action = keyof typeof texts;

interface ActionOptions {
  schedule: Schedule;
  /** @param text says what was done */
  onDone: (text: string) => void;
}

/** Offers the actions that the state allows and the person may perform. Each opens a dialog to confirm it. */
export function ScheduleActions({ schedule, onDone }: ActionOptions) {
  const may = useMay();
  const [dialog, setDialog] = useState<Action | 'backfill'>();
  const { _id: scheduleId, status } = schedule;
  const possible: Action[] = [
    ...(status === 'active' ? (['pause'] as const) : []),
    ...(status === 'paused' ? (['resume'] as const) : []),
  ];
  const close = () => setDialog(undefined);
  const offer = (...actions: readonly Action[]) =>
    actions
      .filter((action) => may(texts[action].operation))
      .map((action) => (
        <ActionButton
          key={action}
          name={`${texts[action].name}…`}
          isFinal={action === 'delete'}
          onClick={() => setDialog(action)}
        />
      ));
  return (
    <>
      {offer('trigger')}
      {may('post /schedule/coworker/{id}/backfill') && (
        <ActionButton name="Backfill…" onClick={() => setDialog('backfill')} />
      )}
      {offer(...possible)}
      {may('patch /schedule/coworker/{id}') && (
        <Link className="button" to="/schedules/$scheduleId/edit" params={{ scheduleId }}>
          Edit
        </Link>
      )}
      {offer('delete')}
      {dialog === 'backfill' && <BackfillWindow schedule={schedule} onDone={onDone} onClose={close} />}
      {dialog && dialog !== 'backfill' && (
        <Confirmation action={dialog} schedule={schedule} onDone={onDone} onClose={close} />
      )}
    </>
  );
}

function send(action: Action, id: string, reason: string, idempotencyKey: string): Promise<unknown> {
  const path = '/schedule/coworker/{id}';
  const params = { id };
  if (action === 'trigger') return call('post', `${path}/trigger`, { params }, { idempotencyKey });
  if (action === 'delete') return call('delete', path, { params });
  if (action === 'resume') return call('patch', path, { params, body: { status: 'active' } });
  return call('patch', path, { params, body: { status: 'paused', ...(reason !== '' && { reason }) } });
}

function Confirmation({ action, schedule, onDone, onClose }: ActionOptions & { action: Action; onClose: () => void }) {
  const { name, hint, done } = texts[action];
  const { _id: id, goal } = schedule;
  const [reason, setReason] = useDraft(`${action}.${id}`);
  const navigate = useNavigate();
  const act = async ({ idempotencyKey }: { idempotencyKey: string }) => {
    await send(action, id, reason.trim(), idempotencyKey);
    setReason('');
    if (action === 'delete') await navigate({ to: '/schedules' });
    else onDone(done);
  };
  return (
    <Confirm
      title={`${name}?`}
      action={action === 'trigger' ? 'Trigger schedule' : `${name} schedule`}
      isFinal={action === 'delete'}
      act={act}
      invalidates={action === 'delete' ? [['schedules']] : [['schedule', id]]}
      onClose={onClose}
    >
      <p>
        <bdi>{goal.template}</bdi>
      </p>
      <p className="soft">{hint}</p>
      {action === 'pause' && <Reason text={reason} onChange={setReason} />}
    </Confirm>
  );
}
