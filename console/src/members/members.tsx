import { useState } from 'react';
import { call, type Member } from '../api.js';
import { Confirm, ConfirmButton } from '../confirm.js';
import { TextField } from '../field.js';
import { List } from '../list.js';
import { ActionButton, Page } from '../parts.js';
import { useDraft } from '../use-draft.js';
import { rankOf, roleNames, useRole, type Role } from '../roles.js';
import { useMay, useSession } from '../session.js';
import { useDialog } from '../use-dialog.js';
import { column, timeColumn, type Column } from '../table.js';
import { Invitations, Invite } from './invitations.js';
import { RolesField, rolesSay } from './roles-field.js';
import textStyles from '../styles/text.module.css';
import buttonStyles from '../styles/button.module.css';
import messageStyles from '../styles/message.module.css';

const nameOf = ({ name, email, user_id }: Member) => name || email || user_id;

export function Members() {
  const may = useMay();
  const columns = useColumns();
  return (
    <Page title="Members">
      <List
        name="Members"
        counted={['member', 'members']}
        queryKey={['members', 'list']}
        load={(page) => call('get', '/project-member/{projectID}', { query: page })}
        columns={columns}
        keyOf={({ user_id }) => user_id}
        empty={<p className={messageStyles.empty}>This project has no members.</p>}
        tools={
          <>
            {may('post /project-member/{projectID}/invitations') && <Invite />}
            {may('post /project-member/{projectID}') && <Add />}
          </>
        }
      />
      <Invitations />
    </Page>
  );
}

/** Offers changes only for members whose role is not higher than the person's own. */
function useColumns(): readonly Column<Member>[] {
  const may = useMay();
  const ownRole = useRole();
  const { person } = useSession().session;
  const offers = (operation: string, { role }: Member) => may(operation) && rankOf(role) <= rankOf(ownRole);
  return [
    column('Name', { width: 'minmax(10rem, 2fr)', onNarrow: 'main' }, (member) => (
      <>
        <bdi>{nameOf(member)}</bdi>{' '}
        {member.user_id === person?.user_id && <span className={textStyles.soft}>(you)</span>}
      </>
    )),
    column('Email address', { width: 'minmax(12rem, 2fr)', onNarrow: 'hidden' }, ({ email }) => (
      <bdi title={email}>{email}</bdi>
    )),
    column('Roles', { width: 'minmax(11rem, 1fr)' }, ({ roles: held, whole_organization }) => (
      <>
        {roleNames(held)} {whole_organization && <span className={textStyles.soft}>(all projects)</span>}
      </>
    )),
    timeColumn('Member since', ({ created_at }) => created_at, 'hidden'),
    column('Actions', { width: '15rem' }, (member) => (
      <>
        {offers('patch /project-member/{projectID}/{user_id}', member) && <ChangeRoles member={member} />}
        {offers('delete /project-member/{projectID}/{user_id}', member) && <Remove member={member} />}
      </>
    )),
  ];
}

const invalidates = [['members']];

function Add() {
  const [dialog, setDialog] = useDialog();
  const [email, setEmail] = useDraft('members.email');
  const [draft, setDraft] = useDraft('members.roles');
  const chosen = (draft || 'MEMBER').split(',') as Role[];
  return (
    <>
      <ActionButton name="Add member…" onClick={() => setDialog('add')} />
      {dialog === 'add' && (
        <Confirm
          title="Add member"
          action="Add member"
          act={(options) =>
            call('post', '/project-member/{projectID}', { body: { email: email.trim(), roles: chosen } }, options)
          }
          invalidates={invalidates}
          onDone={() => {
            setEmail('');
            setDraft('');
          }}
          onClose={() => setDialog(undefined)}
        >
          <p>Adds a user of the organization to this project. {rolesSay}</p>
          <TextField label="Email address" name="email" text={email} onChange={setEmail} maxLength={320} autoFocus />
          <RolesField chosen={chosen} onChange={(next) => setDraft(next.join())} />
        </Confirm>
      )}
    </>
  );
}

function ChangeRoles({ member }: { member: Member }) {
  const [draft, setDraft] = useState<Role[]>();
  const chosen = draft ?? (member.roles as Role[]);
  const params = { user_id: member.user_id };
  return (
    <ConfirmButton
      button="Change roles…"
      buttonName={`Change roles of ${nameOf(member)}…`}
      className={buttonStyles.plain}
      title={`Change the roles of ${nameOf(member)}?`}
      action="Change roles"
      act={(options) =>
        call('patch', '/project-member/{projectID}/{user_id}', { params, body: { roles: chosen } }, options)
      }
      invalidates={invalidates}
      onDone={() => setDraft(undefined)}
    >
      <p>
        Their sessions, app tokens and API keys with the present roles ({roleNames(member.roles)}) are revoked
        immediately. {rolesSay}
      </p>
      <RolesField chosen={chosen} onChange={setDraft} />
    </ConfirmButton>
  );
}

function Remove({ member }: { member: Member }) {
  const params = { user_id: member.user_id };
  return (
    <ConfirmButton
      button="Remove…"
      buttonName={`Remove ${nameOf(member)}…`}
      className={buttonStyles.plain}
      title={`Remove ${nameOf(member)}?`}
      action="Remove member"
      isFinal
      act={(options) => call('delete', '/project-member/{projectID}/{user_id}', { params }, options)}
      invalidates={invalidates}
    >
      <p>
        Their sessions, app tokens and API keys are revoked immediately.{' '}
        {member.whole_organization && 'They lose access to all projects of the organization.'}
      </p>
    </ConfirmButton>
  );
}
