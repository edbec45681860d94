import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call, type Invitation, type InvitationWithLink } from '../api.js';
import { Confirm, ConfirmButton } from '../confirm.js';
import { SelectField, TextField } from '../field.js';
import { ActionButton, Empty, Problem, Section, Window } from '../parts.js';
import { readAll } from '../read-all.js';
import { roleNames, type Role } from '../roles.js';
import { useMay } from '../session.js';
import { column, Table, timeColumn, type Column } from '../table.js';
import buttonStyles from '../styles/button.module.css';
import { useDialog } from '../use-dialog.js';
import { useDraft } from '../use-draft.js';
import { useNames } from '../use-names.js';
import { RolesField, rolesSay } from './roles-field.js';

const lasting = [
  { value: '24', name: 'One day' },
  { value: '72', name: 'Three days' },
  { value: '168', name: 'One week' },
  { value: '720', name: '30 days' },
];
const invalidates = [['members', 'invitations']];

/** A button that makes a link for a new person. */
export function Invite() {
  const [dialog, setDialog] = useDialog();
  const [email, setEmail] = useDraft('invitation.email');
  const [draft, setDraft] = useDraft('invitation.roles');
  const [hours, setHours] = useState('72');
  const [created, setCreated] = useState<InvitationWithLink>();
  const chosen = (draft || 'MEMBER').split(',') as Role[];
  const body = { email: email.trim(), roles: chosen, valid_for_hours: Number(hours) };
  return (
    <>
      <ActionButton name="Invite…" className={buttonStyles.primary} onClick={() => setDialog('invite')} />
      {dialog === 'invite' && (
        <Confirm
          title="Invite a new person"
          action="Create link"
          act={(options) => call('post', '/project-member/{projectID}/invitations', { body }, options)}
          invalidates={invalidates}
          onDone={(invitation) => {
            setEmail('');
            setDraft('');
            setCreated(invitation);
          }}
          onClose={() => setDialog(undefined)}
        >
          <p>
            Creates a link, which you send to the person. With it, the person sets a name and a password, and then has
            these roles.
          </p>
          <TextField label="Email address" name="email" text={email} onChange={setEmail} maxLength={320} autoFocus />
          <RolesField chosen={chosen} onChange={(next) => setDraft(next.join())} />
          <SelectField label="Valid for" value={hours} options={lasting} onChange={setHours} />
          <p>{rolesSay}</p>
        </Confirm>
      )}
      {created && (
        <Window title={`Link for ${created.email}`} isDismissable={false} onClose={() => setCreated(undefined)}>
          <Empty command={created.link}>
            Copy the link now, and send it to this person alone. It works once, and is not shown again:
          </Empty>
        </Window>
      )}
    </>
  );
}

/** The invitations that nobody has accepted yet. Shows nothing if there are none. */
export function Invitations() {
  const maySee = useMay()('get /project-member/{projectID}/invitations');
  const columns = useColumns();
  const { data = [], error } = useQuery({
    queryKey: ['members', 'invitations'],
    queryFn: () => readAll((query) => call('get', '/project-member/{projectID}/invitations', { query })),
    enabled: maySee,
  });
  if (data.length === 0 && !error) return null;
  return (
    <Section title="Open invitations">
      <Problem error={error} />
      <Table
        name="Invitations"
        rows={data}
        columns={columns}
        keyOf={({ invitation_id }) => invitation_id}
        total={data.length}
        hasOlder={false}
        onEnd={() => undefined}
      />
    </Section>
  );
}

function useColumns(): readonly Column<Invitation>[] {
  const nameOf = useNames();
  return [
    column('Email address', { width: 'minmax(12rem, 2fr)', onNarrow: 'main' }, ({ email }) => (
      <bdi title={email}>{email}</bdi>
    )),
    column('Roles', { width: 'minmax(8rem, 1fr)' }, ({ roles }) => roleNames(roles)),
    column('Invited by', { width: 'minmax(10rem, 1fr)', onNarrow: 'hidden' }, ({ invited_by }) => (
      <bdi>{nameOf(invited_by)}</bdi>
    )),
    timeColumn('Expires', ({ expires_at }) => expires_at),
    column('Actions', { width: '8rem' }, (invitation) => <Withdraw invitation={invitation} />),
  ];
}

function Withdraw({ invitation: { invitation_id, email } }: { invitation: Invitation }) {
  return (
    <ConfirmButton
      operation="delete /project-member/{projectID}/invitations/{invitation_id}"
      button="Withdraw…"
      buttonName={`Withdraw the invitation of ${email}…`}
      className={buttonStyles.plain}
      title={`Withdraw the invitation of ${email}?`}
      action="Withdraw invitation"
      isFinal
      act={(options) =>
        call(
          'delete',
          '/project-member/{projectID}/invitations/{invitation_id}',
          { params: { invitation_id } },
          options,
        )
      }
      invalidates={invalidates}
    >
      <p>The link stops working at once.</p>
    </ConfirmButton>
  );
}
