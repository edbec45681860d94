import { useState } from 'react';
import { call, type ApiKey, type Grant } from '../api.js';
import { curl } from '../curl.js';
import { TextField, CheckField } from '../field.js';
import { List } from '../list.js';
import { Empty, Window, Page } from '../parts.js';
import { Time } from '../time.js';
import { useDraft } from '../use-draft.js';
import { roleName, useRole } from '../roles.js';
import { projectId, useMay } from '../session.js';
import { useNames } from '../use-names.js';
import { ConfirmButton } from '../confirm.js';
import { column, timeColumn, stateColumn, type Column } from '../table.js';
import textStyles from '../styles/text.module.css';
import buttonStyles from '../styles/button.module.css';
import formStyles from '../styles/form.module.css';

/** Describes every grant. A person can give only grants of their role; the API refuses the others. */
const grantTexts: Record<Grant, string> = {
  'svc:query.read': 'Read the context graph',
  'svc:docs.read': 'Read the documentation',
  'svc:ontology.write': 'Change the context graph and its ontology',
  'svc:codesync.write': 'Follow repositories',
  'svc:orchestrate.read': 'Read runs and all other platform resources',
  'svc:orchestrate.write': 'Change platform resources',
  'svc:agent.run': 'Start agents',
  'svc:skill.write': 'Save skills',
  'svc:model.write': 'Save models',
  'svc:governance.read': 'Read policies, approvals and the audit chain of the organization',
  'svc:governance.write': 'Change policies and decide approvals',
};
const query = { project_id: projectId };
const grants = Object.keys(grantTexts) as Grant[];

export function Keys() {
  const nameOf = useNames();
  const may = useMay();
  return (
    <Page title="API keys">
      <List
        name="API keys"
        counted={['key', 'keys']}
        queryKey={['keys']}
        load={(page) => call('get', '/v1/apikeys', { query: { ...page, ...query } })}
        columns={columnsOf(nameOf)}
        keyOf={({ id }) => id}
        empty={<NoKeys />}
        tools={may('post /v1/apikeys') && <Create />}
      />
    </Page>
  );
}

function columnsOf(nameOf: (id: string) => string): readonly Column<ApiKey>[] {
  return [
    stateColumn(stateOf, '7rem'),
    column('Name', { width: 'minmax(9rem, 2fr)', onNarrow: 'main' }, ({ name }) => <bdi>{name}</bdi>),
    column('Role and grants', { width: 'minmax(10rem, 3fr)', onNarrow: 'hidden' }, ({ scope }) => (
      <span title={scope.grants.join('\n')}>
        {roleName(scope.role)}: {scope.grants.join(' ')}
      </span>
    )),
    column('Created by', { width: 'minmax(8rem, 1fr)', onNarrow: 'hidden' }, ({ created_by }) => (
      <bdi>{nameOf(created_by)}</bdi>
    )),
    timeColumn('Created', ({ created_at }) => created_at, 'hidden'),
    column('Expires', { width: '11rem', onNarrow: 'hidden' }, ({ expires_at }) =>
      expires_at === null ? 'Never' : <Time at={expires_at} />,
    ),
    column('Last used', { width: '11rem' }, ({ last_used_at }) =>
      last_used_at === null ? 'Never' : <Time at={last_used_at} />,
    ),
    column(
      'Action',
      { width: '7rem' },
      ({ id, name, revoked_at }) =>
        revoked_at === null && (
          <ConfirmButton
            operation="delete /v1/apikeys/{key_id}"
            button="Revoke…"
            buttonName={`Revoke ${name}…`}
            className={buttonStyles.plain}
            title={`Revoke ${name}?`}
            action="Revoke key"
            isFinal
            act={(options) => call('delete', '/v1/apikeys/{key_id}', { params: { key_id: id }, query }, options)}
            invalidates={[['keys']]}
          >
            <p>Programs that use this key lose access immediately. A revoked key cannot be restored.</p>
          </ConfirmButton>
        ),
    ),
  ];
}

function stateOf({ revoked_at, expires_at }: ApiKey): string {
  if (revoked_at !== null) return 'revoked';
  return expires_at !== null && expires_at * 1000 <= Date.now() ? 'expired' : 'active';
}

function NoKeys() {
  const command = curl('v1/apikeys', { name: 'first', project_id: projectId }, { key: 'USER_TOKEN' });
  return (
    <Empty command={command}>
      This project has no API keys. Programs need a key to call the API. Create one here, or with this command:
    </Empty>
  );
}

/** Creates a key and shows its secret once. The secret is kept in memory only. */
function Create() {
  const [name, setName] = useDraft('keys.name');
  const [stored, store] = useDraft('keys.grants');
  const chosen = new Set(stored.split(' ').filter((grant) => grant !== ''));
  const [createdKey, setCreatedKey] = useState<{ name: string; secret: string }>();
  const role = useRole();
  const isWide = role === 'OWNER' || role === 'ORG_ADMIN';
  const offeredGrants = grants.filter((grant) => isWide || !grant.startsWith('svc:governance'));
  const toggle = (grant: Grant) => {
    const next = new Set(chosen);
    if (!next.delete(grant)) next.add(grant);
    store([...next].join(' '));
  };
  const create = async () => {
    const body = { name, project_id: projectId, ...(chosen.size > 0 && { grants: [...chosen] as Grant[] }) };
    setCreatedKey(await call('post', '/v1/apikeys', { body }));
    setName('');
    store('');
  };
  return (
    <>
      <ConfirmButton
        button="New API key…"
        className={buttonStyles.primary}
        title="New API key"
        action="Create API key"
        act={create}
        invalidates={[['keys']]}
      >
        <TextField label="Name" name="name" text={name} onChange={setName} maxLength={200} autoFocus />
        <fieldset>
          <legend>Grants (default: all grants of your role)</legend>
          {offeredGrants.map((grant) => (
            <CheckField
              key={grant}
              className={formStyles.choice}
              label={
                <>
                  {grant} <span className={textStyles.soft}>{grantTexts[grant]}</span>
                </>
              }
              isChecked={chosen.has(grant)}
              onChange={() => toggle(grant)}
            />
          ))}
        </fieldset>
      </ConfirmButton>
      {createdKey && (
        <Window title={`API key ${createdKey.name}`} isDismissable={false} onClose={() => setCreatedKey(undefined)}>
          <Empty command={createdKey.secret}>Copy the secret now. It is not shown again:</Empty>
        </Window>
      )}
    </>
  );
}
