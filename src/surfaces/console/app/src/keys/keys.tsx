import { useState } from 'react';
import { call, type ApiKey, type Grant } from '../api.js';
import { curl } from '../curl.js';
import { Confirm } from '../confirm.js';
import { TextField } from '../field.js';
import { List } from '../list.js';
import { Badge, Empty, Time, useDraft, Window } from '../parts.js';
import { roleName, useRole } from '../roles.js';
import { projectId, useMay } from '../session.js';
import type { Column } from '../table.js';
import { useNames } from '../use-names.js';
import { useTitle } from '../use-title.js';

/** Describes every grant. A person can give only grants of their role; the API refuses the others. */
const grantTexts: Record<Grant, string> = {
  'svc:query.read': 'reads the context graph',
  'svc:docs.read': 'reads the documentation',
  'svc:ontology.write': 'changes the context graph and its ontology',
  'svc:codesync.write': 'binds repositories',
  'svc:orchestrate.read': 'reads runs and the rest of the platform',
  'svc:orchestrate.write': 'changes the platform',
  'svc:agent.run': 'starts agents',
  'svc:skill.write': 'saves skills',
  'svc:model.write': 'saves models',
  'svc:governance.read': 'reads policies, approvals and the audit chain of the organization',
  'svc:governance.write': 'changes policies and decides approvals',
};
const grants = Object.keys(grantTexts) as Grant[];

export function Keys() {
  useTitle('API keys');
  const [revoking, setRevoking] = useState<ApiKey>();
  const nameOf = useNames();
  const may = useMay();
  const mayRevoke = may('delete /v1/apikeys/{key_id}');
  return (
    <>
      <h1>API keys</h1>
      <List
        name="API keys"
        counted={['key', 'keys']}
        queryKey={['keys']}
        load={(page) => call('get', '/v1/apikeys', { query: { ...page, project_id: projectId } })}
        columns={columnsOf(nameOf, mayRevoke ? setRevoking : undefined)}
        keyOf={({ id }) => id}
        empty={<NoKeys />}
        tools={may('post /v1/apikeys') && <Create />}
      />
      {revoking && (
        <Confirm
          title={`Revoke ${revoking.name}?`}
          action="Revoke the key"
          isFinal
          act={(options) =>
            call(
              'delete',
              '/v1/apikeys/{key_id}',
              { params: { key_id: revoking.id }, query: { project_id: projectId } },
              options,
            )
          }
          invalidates={[['keys']]}
          onClose={() => setRevoking(undefined)}
        >
          <p>Whatever uses the key is refused from now on. A revoked key cannot be used again.</p>
        </Confirm>
      )}
    </>
  );
}

function columnsOf(
  nameOf: (id: string) => string,
  revoke: ((key: ApiKey) => void) | undefined,
): readonly Column<ApiKey>[] {
  return [
    {
      id: 'state',
      name: 'State',
      width: '7rem',
      cell: ({ revoked_at }) => <Badge state={revoked_at === null ? 'active' : 'revoked'} />,
    },
    { id: 'name', name: 'Name', width: 'minmax(9rem, 2fr)', onNarrow: 'main', cell: ({ name }) => <bdi>{name}</bdi> },
    {
      id: 'grants',
      name: 'Role and grants',
      width: 'minmax(10rem, 3fr)',
      onNarrow: 'hidden',
      cell: ({ scope }) => (
        <span title={scope.grants.join('\n')}>
          {roleName(scope.role)}: {scope.grants.join(' ')}
        </span>
      ),
    },
    {
      id: 'by',
      name: 'Made by',
      width: 'minmax(8rem, 1fr)',
      onNarrow: 'hidden',
      cell: ({ created_by }) => <bdi>{nameOf(created_by)}</bdi>,
    },
    {
      id: 'made',
      name: 'Made',
      width: '11rem',
      onNarrow: 'hidden',
      cell: ({ created_at }) => <Time at={created_at} />,
    },
    {
      id: 'used',
      name: 'Last used',
      width: '11rem',
      cell: ({ last_used_at }) => (last_used_at === null ? 'never' : <Time at={last_used_at} />),
    },
    {
      id: 'action',
      name: 'Action',
      width: '7rem',
      cell: (key) =>
        revoke &&
        key.revoked_at === null && (
          <button type="button" className="plain" aria-label={`Revoke ${key.name}…`} onClick={() => revoke(key)}>
            Revoke…
          </button>
        ),
    },
  ];
}

function NoKeys() {
  const command = curl('v1/apikeys', { name: 'first', project_id: projectId }, { key: 'USER_TOKEN' });
  return (
    <Empty command={command}>This project has no API key. A program needs one; create it here, or like this:</Empty>
  );
}

/** Creates a key and shows its secret once. The secret is kept in memory only. */
function Create() {
  const [isOpen, setOpen] = useState(false);
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
      <button type="button" className="primary" onClick={() => setOpen(true)}>
        Create a key…
      </button>
      {isOpen && (
        <Confirm
          title="Create an API key"
          action="Create"
          act={create}
          invalidates={[['keys']]}
          onClose={() => setOpen(false)}
        >
          <TextField label="Name" name="name" text={name} onChange={setName} maxLength={200} autoFocus />
          <fieldset>
            <legend>Grants; without a choice, those of your role</legend>
            {offeredGrants.map((grant) => (
              <label key={grant} className="choice">
                <input type="checkbox" checked={chosen.has(grant)} onChange={() => toggle(grant)} /> {grant}{' '}
                <span className="soft">{grantTexts[grant]}</span>
              </label>
            ))}
          </fieldset>
        </Confirm>
      )}
      {createdKey && (
        <Window title={`The key ${createdKey.name}`} onClose={() => setCreatedKey(undefined)}>
          <Empty command={createdKey.secret}>The secret is shown once and cannot be read again. Store it now:</Empty>
        </Window>
      )}
    </>
  );
}
