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
      <p>These apps may act for a person until they are ended here, or until the app does not come back for 30 days.</p>
      <section aria-labelledby="own">
        <h2 id="own">Your apps</h2>
        <p>On all of your projects.</p>
        <AppList whose="own" />
      </section>
      {may('get /v1/policies') && (
        <section aria-labelledby="project">
          <h2 id="project">Apps on this project</h2>
          <p>Of everybody who works on it.</p>
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
      name: 'May',
      width: 'minmax(10rem, 2fr)',
      onNarrow: 'hidden',
      cell: ({ scopes }) => <span title={scopes.join(' ')}>{scopes.join(' ')}</span>,
    },
    {
      id: 'used',
      name: 'Last used',
      width: '11rem',
      cell: ({ last_used_at }) => (last_used_at === null ? 'never' : <Time at={last_used_at} />),
    },
    {
      id: 'until',
      name: 'Ends by itself',
      width: '11rem',
      onNarrow: 'hidden',
      cell: ({ expires_at }) => <Time at={expires_at} />,
    },
    {
      id: 'end',
      name: 'Action',
      width: '6rem',
      cell: (app) =>
        mayEnd && (
          <button type="button" className="plain" aria-label={`End ${nameOf(app)}…`} onClick={() => end(app)}>
            End…
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
          {done} was ended. Its tokens no longer work.
        </p>
      )}
      <List
        name={whose === 'own' ? 'Your apps' : 'Apps on this project'}
        counted={['app', 'apps']}
        queryKey={['apps', whose]}
        load={(page) =>
          call('get', '/v1/connected-apps', { query: { ...page, everyone: whose === 'project' ? 'true' : 'false' } })
        }
        columns={columns}
        keyOf={({ id }) => id}
        empty={whose === 'own' ? <NoApps /> : <p className="empty">No app is connected.</p>}
      />
      {ending && (
        <Confirm
          title={`End ${nameOf(ending)}?`}
          action="End the app"
          isFinal
          invalidates={[['apps']]}
          act={() => call('delete', '/v1/connected-apps/{id}', { params: { id: ending.id } })}
          onDone={() => setDone(nameOf(ending))}
          onClose={() => setEnding(undefined)}
        >
          <p>All its tokens stop working at once. The person can connect it again.</p>
          <Facts
            rows={[
              ['Client', <code key="client">{ending.client_id}</code>],
              ['Project', <code key="project">{ending.project_id}</code>],
              ['Allowed', <Time key="at" at={ending.created_at} />],
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
      No app is connected. An MCP client connects itself when it gets this address:
    </Empty>
  );
}
