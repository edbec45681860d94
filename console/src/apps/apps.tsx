import { useState } from 'react';
import { call, type ConnectedApp } from '../api.js';
import { Facts } from '../facts.js';
import { List } from '../list.js';
import { Empty, Page, Section } from '../parts.js';
import { Time } from '../time.js';
import { apiAddress, useSession } from '../session.js';
import { useNames } from '../use-names.js';
import { ConfirmButton } from '../confirm.js';
import { column, timeColumn, type Column } from '../table.js';
import buttonStyles from '../styles/button.module.css';
import messageStyles from '../styles/message.module.css';

const nameOf = ({ client_name, client_id }: ConnectedApp) => (client_name === '' ? client_id : client_name);

/**
 * Lists the apps that act for this person through OAuth and, for administrators, the apps of everybody in the project.
 */
export function Apps() {
  const { rights } = useSession().session;
  return (
    <Page title="Connected apps">
      <p>These apps can act on behalf of a person until they are disconnected, or have not been used for 30 days.</p>
      <Section title="Your apps">
        <p>The apps that you have connected, in all of your projects.</p>
        <AppList whose="own" />
      </Section>
      {rights.includes('manage') && (
        <Section title="Apps in this project">
          <p>The apps that members have connected to this project.</p>
          <AppList whose="project" />
        </Section>
      )}
    </Page>
  );
}

function useColumns(onEnded: (app: ConnectedApp) => void): readonly Column<ConnectedApp>[] {
  const personOf = useNames();
  const { person } = useSession().session;
  return [
    column('App', { width: 'minmax(10rem, 2fr)', onNarrow: 'main' }, (app) => (
      <bdi title={app.client_id}>{nameOf(app)}</bdi>
    )),
    column('Acts for', { width: 'minmax(8rem, 1fr)', onNarrow: 'hidden' }, ({ user_id }) => (
      <bdi>{user_id === person?.user_id ? person.email : personOf(user_id)}</bdi>
    )),
    column('Scopes', { width: 'minmax(10rem, 2fr)', onNarrow: 'hidden' }, ({ scopes }) => (
      <span title={scopes.join(' ')}>{scopes.join(' ')}</span>
    )),
    column('Last used', { width: '11rem' }, ({ last_used_at }) =>
      last_used_at === null ? 'Never' : <Time at={last_used_at} />,
    ),
    timeColumn('Expires', ({ expires_at }) => expires_at, 'hidden'),
    column('Action', { width: '8rem' }, (app) => (
      <ConfirmButton
        operation="delete /v1/connected-apps/{id}"
        button="Disconnect…"
        buttonName={`Disconnect ${nameOf(app)}…`}
        className={buttonStyles.plain}
        title={`Disconnect ${nameOf(app)}?`}
        action="Disconnect app"
        isFinal
        act={() => call('delete', '/v1/connected-apps/{id}', { params: { id: app.id } })}
        invalidates={[['apps']]}
        onDone={() => onEnded(app)}
      >
        <p>Its tokens stop working immediately. The person can connect the app again.</p>
        <Facts
          of={{
            Client: <code>{app.client_id}</code>,
            Project: <code>{app.project_id}</code>,
            Connected: <Time at={app.created_at} />,
          }}
        />
      </ConfirmButton>
    )),
  ];
}

function AppList({ whose }: { whose: 'own' | 'project' }) {
  const [done, setDone] = useState<string>();
  const columns = useColumns((app) => setDone(nameOf(app)));
  return (
    <>
      {done !== undefined && (
        <p className={messageStyles.done} role="status">
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
        empty={whose === 'own' ? <NoApps /> : <p className={messageStyles.empty}>No apps are connected.</p>}
      />
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
