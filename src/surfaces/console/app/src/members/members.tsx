import { useState } from 'react';
import { call, type Member } from '../api.js';
import { Confirm, ConfirmButton } from '../confirm.js';
import { TextField, SelectField } from '../field.js';
import { List } from '../list.js';
import { ActionButton, Page } from '../parts.js';
import { useDraft } from '../use-draft.js';
import { rankOf, roleName, roles, useRole, type Role } from '../roles.js';
import { useMay, useSession } from '../session.js';
import { useDialog } from '../use-dialog.js';
import { column, timeColumn, type Column } from '../table.js';

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
        empty={<p className="empty">This project has no members.</p>}
        tools={may('post /project-member/{projectID}') && <Add />}
      />
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
        <bdi>{nameOf(member)}</bdi> {member.user_id === person?.user_id && <span className="soft">(you)</span>}
      </>
    )),
    column('Email address', { width: 'minmax(12rem, 2fr)', onNarrow: 'hidden' }, ({ email }) => (
      <bdi title={email}>{email}</bdi>
    )),
    column('Role', { width: 'minmax(11rem, 1fr)' }, ({ role, whole_organization }) => (
      <>
        {roleName(role)} {whole_organization && <span className="soft">(all projects)</span>}
      </>
    )),
    timeColumn('Member since', ({ created_at }) => created_at, 'hidden'),
    column('Actions', { width: '15rem' }, (member) => (
      <>
        {offers('patch /project-member/{projectID}/{user_id}', member) && <ChangeRole member={member} />}
        {offers('delete /project-member/{projectID}/{user_id}', member) && <Remove member={member} />}
      </>
    )),
  ];
}

const invalidates = [['members']];

function RoleField({ role, onChange }: { role: string; onChange: (role: Role) => void }) {
  const ownRole = useRole();
  return (
    <SelectField
      label="Role"
      name="role"
      value={role}
      options={roles
        .filter((each) => rankOf(each) <= rankOf(ownRole))
        .map((each) => ({ value: each, name: roleName(each) }))}
      onChange={(next) => onChange(next as Role)}
    />
  );
}

const rolesSay = 'The roles owner and org admin apply to all projects of the organization.';

function Add() {
  const [dialog, setDialog] = useDialog();
  const [email, setEmail] = useDraft('members.email');
  const [chosen, setRole] = useDraft('members.role');
  const role = (chosen || 'MEMBER') as Role;
  return (
    <>
      <ActionButton name="Add member…" className="primary" onClick={() => setDialog('add')} />
      {dialog === 'add' && (
        <Confirm
          title="Add member"
          action="Add member"
          act={(options) =>
            call('post', '/project-member/{projectID}', { body: { email: email.trim(), role } }, options)
          }
          invalidates={invalidates}
          onDone={() => {
            setEmail('');
            setRole('');
          }}
          onClose={() => setDialog(undefined)}
        >
          <p>Adds a user of the organization to this project. {rolesSay}</p>
          <TextField label="Email address" name="email" text={email} onChange={setEmail} maxLength={320} autoFocus />
          <RoleField role={role} onChange={setRole} />
        </Confirm>
      )}
    </>
  );
}

function ChangeRole({ member }: { member: Member }) {
  const [chosen, setRole] = useState<Role>();
  const role = chosen ?? (member.role as Role);
  const params = { user_id: member.user_id };
  return (
    <ConfirmButton
      button="Change role…"
      buttonName={`Change role of ${nameOf(member)}…`}
      className="plain"
      title={`Change the role of ${nameOf(member)}?`}
      action="Change role"
      act={(options) => call('patch', '/project-member/{projectID}/{user_id}', { params, body: { role } }, options)}
      invalidates={invalidates}
      onDone={() => setRole(undefined)}
    >
      <p>
        Their sessions, app tokens and API keys with the role {roleName(member.role)} are revoked immediately.{' '}
        {rolesSay}
      </p>
      <RoleField role={role} onChange={setRole} />
    </ConfirmButton>
  );
}

function Remove({ member }: { member: Member }) {
  const params = { user_id: member.user_id };
  return (
    <ConfirmButton
      button="Remove…"
      buttonName={`Remove ${nameOf(member)}…`}
      className="plain"
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
