import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { call } from '../api.js';
import { ConfirmButton } from '../confirm.js';
import { Reason } from '../field.js';
import { ActionButton } from '../parts.js';
import { useDraft } from '../use-draft.js';
import { useMay } from '../session.js';
import { BackfillWindow } from './backfill.js';
import type { Schedule } from './schedule.js';
import textStyles from '../styles/text.module.css';
import buttonStyles from '../styles/button.module.css';

const actions = {
  trigger: {
    name: 'Trigger now',
    action: 'Trigger schedule',
    hint: 'A run starts immediately, even if the schedule is paused or another run is in progress. It uses credits.',
    done: 'Triggered. A run starts now.',
    operation: 'post /schedule/coworker/{id}/trigger',
  },
  pause: {
    name: 'Pause',
    action: 'Pause schedule',
    hint: 'No runs start until the schedule is resumed. Runs that are missed in the meantime are not started later.',
    done: 'Paused. No runs start until the schedule is resumed.',
    operation: 'patch /schedule/coworker/{id}',
  },
  resume: {
    name: 'Resume',
    action: 'Resume schedule',
    hint: 'The schedule continues with the next planned time.',
    done: 'Resumed. Missed runs are not started.',
    operation: 'patch /schedule/coworker/{id}',
  },
  delete: {
    name: 'Delete',
    action: 'Delete schedule',
    hint: 'This cannot be undone. Active runs continue.',
    done: '',
    operation: 'delete /schedule/coworker/{id}',
  },
} as const;

type Action = keyof typeof actions;

interface ActionOptions {
  schedule: Schedule;
  /** @param text says what was done */
  onDone: (text: string) => void;
}

/** Offers the actions that the state allows and the person may perform. */
export function ScheduleActions({ schedule, onDone }: ActionOptions) {
  const may = useMay();
  const [isBackfill, setBackfill] = useState(false);
  const { _id: scheduleId, status } = schedule;
  const offer = (action: Action) => <ScheduleAction action={action} schedule={schedule} onDone={onDone} />;
  return (
    <>
      {offer('trigger')}
      {may('post /schedule/coworker/{id}/backfill') && (
        <ActionButton name="Backfill…" onClick={() => setBackfill(true)} />
      )}
      {isBackfill && <BackfillWindow schedule={schedule} onDone={onDone} onClose={() => setBackfill(false)} />}
      {status === 'active' && offer('pause')}
      {status === 'paused' && offer('resume')}
      {may('patch /schedule/coworker/{id}') && (
        <Link className={buttonStyles.link} to="/schedules/$scheduleId/edit" params={{ scheduleId }}>
          Edit
        </Link>
      )}
      {offer('delete')}
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

function ScheduleAction({ action, schedule: { _id: id, goal }, onDone }: ActionOptions & { action: Action }) {
  const { name, hint, done, operation, ...texts } = actions[action];
  const [reason, setReason] = useDraft(`${action}.${id}`);
  const navigate = useNavigate();
  return (
    <ConfirmButton
      operation={operation}
      button={`${name}…`}
      title={`${name}?`}
      action={texts.action}
      isFinal={action === 'delete'}
      act={({ idempotencyKey }) => send(action, id, reason.trim(), idempotencyKey)}
      invalidates={action === 'delete' ? [['schedules']] : [['schedule', id]]}
      onDone={() => {
        setReason('');
        if (action === 'delete') void navigate({ to: '/schedules' });
        else onDone(done);
      }}
    >
      <p>
        <bdi>{goal.template}</bdi>
      </p>
      <p className={textStyles.soft}>{hint}</p>
      {action === 'pause' && <Reason text={reason} onChange={setReason} />}
    </ConfirmButton>
  );
}
