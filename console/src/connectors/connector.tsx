import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { call, capitalized, inWords, type Connector as ConnectorRecord } from '../api.js';
import { Facts } from '../facts.js';
import { ActionButton, Badge, Data, Page, Section, Loaded } from '../parts.js';
import { Time } from '../time.js';
import { useMay } from '../session.js';
import { Agreements } from './agreements.js';
import { Authorization } from './authorization.js';
import { EditConnector } from './edit.js';
import { McpTools } from './mcp-tools.js';
import { categoryNames, movesFrom } from './states.js';
import { TestCall } from './test-call.js';
import { Triggers } from './triggers.js';
import { ConfirmButton } from '../confirm.js';
import { usePolled } from '../use-polled.js';
import textStyles from '../styles/text.module.css';
import controlStyles from '../styles/controls.module.css';

const route = getRouteApi('/connectors/$connectorId');

export function Connector() {
  const { connectorId: id } = route.useParams();
  const query = usePolled(['connector', id], () =>
    call('get', '/connectors/{projectID}/{connector_id}', { params: { connector_id: id } }),
  );
  return (
    <Page title={query.data?.name ?? 'Connector'}>
      <Loaded query={query}>{(connector) => <Details connector={connector} />}</Loaded>
    </Page>
  );
}

function Details({ connector }: { connector: ConnectorRecord }) {
  const { category, config, status } = connector;
  const auth = config.auth as { type?: string; owner?: string } | undefined;
  const isPersonal = category === 'mcp' && auth?.type === 'oauth' && auth.owner !== 'project';
  const may = useMay();
  return (
    <>
      <div className={controlStyles.toolbar}>
        <p role="status">
          <Badge state={status} /> {connector.status_reason}
        </p>
        <Actions connector={connector} />
      </div>
      <About connector={connector} />
      {category === 'mcp' && auth?.type === 'oauth' && <Authorization connectorId={connector._id} />}
      {isPersonal && <Agreements connectorId={connector._id} />}
      {category === 'restful' && may('post /connectors/{projectID}/{connector_id}/test') && (
        <TestCall connectorId={connector._id} />
      )}
      {category === 'mcp' && <McpTools connectorId={connector._id} />}
      <Triggers connector={connector} />
      <Section title="Configuration">
        <p className={textStyles.soft}>Secrets are never shown. They appear as [stored].</p>
        <Facts of={Object.fromEntries(Object.entries(config).map(([name, value]) => [nameOf(name), textOf(value)]))} />
        <details>
          <summary>As JSON</summary>
          <Data value={config} label="Configuration as JSON" />
        </details>
      </Section>
    </>
  );
}

const nameOf = (field: string) => capitalized(inWords(field));

/** Writes a value of the configuration for people: one line for each part of it. */
function textOf(value: unknown): ReactNode {
  if (typeof value !== 'object' || value === null) return <bdi>{String(value)}</bdi>;
  return (
    <ul>
      {Object.entries(value).map(([name, part]) => (
        <li key={name}>
          {!Array.isArray(value) && `${nameOf(name)}: `}
          <bdi>{typeof part === 'object' ? JSON.stringify(part) : String(part)}</bdi>
        </li>
      ))}
    </ul>
  );
}

function About({ connector }: { connector: ConnectorRecord }) {
  const { _id, category, tags, last_used_at, failures, last_failure, account, created_at, updated_at } = connector;
  return (
    <Facts
      of={{
        Category: categoryNames[category],
        'Last used': <Time at={last_used_at} />,
        'Failures since last success': <span className={failures > 0 ? textStyles.bad : ''}>{failures}</span>,
        'Last failure': last_failure && (
          <>
            <Time at={last_failure.at} />: {last_failure.message}
          </>
        ),
        Account:
          account && `${account.name ?? account.id}, ${account.verified_at === null ? 'not verified' : 'verified'}`,
        Tags: tags.join(', '),
        Created: <Time at={created_at} />,
        'Last changed': <Time at={updated_at} />,
        Id: <code>{_id}</code>,
      }}
    />
  );
}

const moveNames: Record<ConnectorRecord['status'], string> = {
  active: 'Activate',
  paused: 'Pause',
  failed: 'Mark as failed',
  pending: 'Reset to pending',
  awaiting_verification: 'Await verification',
};

function Actions({ connector }: { connector: ConnectorRecord }) {
  const { _id: id, name, status } = connector;
  const may = useMay();
  const navigate = useNavigate();
  const [isEditing, setEditing] = useState(false);
  const params = { connector_id: id };
  return (
    <>
      {may('patch /connectors/{projectID}/{connector_id}') && (
        <ActionButton name="Edit…" onClick={() => setEditing(true)} />
      )}
      {isEditing && <EditConnector connector={connector} onClose={() => setEditing(false)} />}
      {movesFrom[status].map((to) => (
        <ConfirmButton
          key={to}
          operation="post /connectors/{projectID}/{connector_id}/status"
          button={`${moveNames[to]}…`}
          title={`${moveNames[to]}: ${name}`}
          action={moveNames[to]}
          act={() => call('post', '/connectors/{projectID}/{connector_id}/status', { params, body: { status: to } })}
          invalidates={[['connector', id], ['connectors']]}
        >
          <p>Actions, callbacks and data loaders use only active connectors.</p>
        </ConfirmButton>
      ))}
      <ConfirmButton
        operation="delete /connectors/{projectID}/{connector_id}"
        button="Delete…"
        title={`Delete ${name}?`}
        action="Delete connector"
        isFinal
        act={() => call('delete', '/connectors/{projectID}/{connector_id}', { params })}
        invalidates={[['connectors']]}
        onDone={() => void navigate({ to: '/connectors' })}
      >
        <p>
          This also deletes its secrets, triggers and data loader. Agents that use the connector fail. This cannot be
          undone.
        </p>
      </ConfirmButton>
    </>
  );
}
