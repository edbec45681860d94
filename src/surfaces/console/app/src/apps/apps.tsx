import { useState } from 'react';
import { call, type ConnectedApp } from '../api.js';
import { Confirm } from '../confirm.js';
import { Facts } from '../facts.js';
import { List } from '../list.js';
import { Empty, Time } from '../parts.js';
import { apiAddress, useMay, useSession } from '../session.js';
import type { Column } from '../table.js';
import { useNames } from '../use-names.js';
import { useTitle } from '../use-title.js';

const nameOf = ({ client_name, client_id }: ConnectedApp) => (client_name === '' ? client_id : client_name);

/**
 * Lists the apps that act for this person through OAuth and, for administrators, the apps of everybody in the project.
 */
export function Apps() {
  useTitle('Connected apps');
  const may = useMay();
  return (
    <>
      <h1>Connected apps</h1>
      <p>These apps can act on behalf of a person until they are disconnected, or have not been used for 30 days.</p>
      <section aria-labelledby="own">
        <h2 id="own">Your apps</h2>
        <p>The apps that you have connected, in all of your projects.</p>
        <AppList whose="own" />
      </section>
      {may('get /v1/policies') && (
        <section aria-labelledby="project">
          <h2 id="project">Apps in this project</h2>
          <p>The apps that members have connected to this project.</p>
          <AppList whose="project" />
        </section>
      )}
    </>
  );
}

/** Returns the columns of the list. The last one has the button that disconnects an app. */
function useColumns(end: (app: ConnectedApp) => void): readonly Column<ConnectedApp>[] {
  const personOf = useNames();
  const mayEnd = useMay()('delete /v1/connected-apps/{id}');
  const { person } = useSession().session;
  return [
    {
      id: 'name',
      name: 'App',
      width: 'minmax(10rem, 2fr)',
      onNarrow: 'main',
      cell: (app) => <bdi title={app.client_id}>{nameOf(app)}</bdi>,
    },
    {
      id: 'person',
      name: 'Acts for',
      width: 'minmax(8rem, 1fr)',
      onNarrow: 'hidden',
      cell: ({ user_id }) => <bdi>{user_id === person?.user_id ? person.email : personOf(user_id)}</bdi>,
    },
    {
      id: 'scopes',
      name: 'Scopes',
      width: 'minmax(10rem, 2fr)',
      onNarrow: 'hidden',
      cell: ({ scopes }) => <span title={scopes.join(' ')}>{scopes.join(' ')}</span>,
    },
    {
      id: 'used',
      name: 'Last used',
      width: '11rem',
      cell: ({ last_used_at }) => (last_used_at === null ? 'Never' : <Time at={last_used_at} />),
    },
    {
      id: 'until',
      name: 'Expires',
      width: '11rem',
      onNarrow: 'hidden',
      cell: ({ expires_at }) => <Time at={expires_at} />,
    },
    {
      id: 'end',
      name: 'Action',
      width: '8rem',
      cell: (app) =>
        mayEnd && (
          <button type="button" className="plain" aria-label={`Disconnect ${nameOf(app)}…`} onClick={() => end(app)}>
            {' '}
            Disconnect…{' '}
          </button>
        ),
    },
  ];
}

function AppList({ whose }: { whose: 'own' | 'project' }) {
  const [ending, setEnding] = useState<ConnectedApp>();
  const [done, setDone] = useState<string>();
  const columns = useColumns(setEnding);
  return (
    <>
      {done !== undefined && (
        <p className="done" role="status">
          {done} was disconnected. Its tokens no longer work.
        </p>
      )}
      <List
        name={whose === 'own' ? 'Your apps' : 'Apps in this project'}
        counted={['app', 'apps']}
        queryKey={['apps', whose]}
        load={(page) =>
          call('get', '/v1/connected-apps', { query: { ...page, everyone: whose === 'project' ? 'true' : 'false' } })
        }
        columns={columns}
        keyOf={({ id }) => id}
        empty={whose === 'own' ? <NoApps /> : <p className="empty">No apps are connected.</p>}
      />
      {ending && (
        <Confirm
          title={`Disconnect ${nameOf(ending)}?`}
          action="Disconnect app"
          isFinal
          invalidates={[['apps']]}
          act={() => call('delete', '/v1/connected-apps/{id}', { params: { id: ending.id } })}
          onDone={() => setDone(nameOf(ending))}
          onClose={() => setEnding(undefined)}
        >
          <p>Its tokens stop working immediately. The person can connect the app again.</p>
          <Facts
            rows={[
              ['Client', <code key="client">{ending.client_id}</code>],
              ['Project', <code key="project">{ending.project_id}</code>],
              ['Connected', <Time key="at" at={ending.created_at} />],
            ]}
          />
        </Confirm>
      )}
    </>
  );
}

function NoApps() {
  return (
    <Empty command={new URL('mcp', apiAddress).href}>
      No apps are connected. To connect an MCP client, enter this address in it:
    </Empty>
  );
}
