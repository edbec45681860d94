import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { call, type Connector as ConnectorRecord } from '../api.js';
import { Confirm } from '../confirm.js';
import { Facts } from '../facts.js';
import { pollInterval } from '../news.js';
import { ActionButton, Badge, Data, Problem, Time } from '../parts.js';
import { projectId, useMay } from '../session.js';
import { useTitle } from '../use-title.js';
import { Authorization } from './authorization.js';
import { EditConnector } from './edit.js';
import { McpTools } from './mcp-tools.js';
import { movesFrom } from './states.js';
import { TestCall } from './test-call.js';
import { Triggers } from './triggers.js';

const route = getRouteApi('/projects/$projectId/connectors/$connectorId');

export function Connector() {
  const { connectorId: id } = route.useParams();
  const { data: connector, error } = useQuery({
    queryKey: ['connector', id],
    queryFn: () => call('get', '/connectors/{projectID}/{connector_id}', { params: { connector_id: id } }),
    refetchInterval: pollInterval,
  });
  useTitle(connector?.name ?? 'Connector');
  if (!connector)
    return (
      <>
        <h1>Connector</h1>
        {error ? <Problem error={error} /> : <p className="soft">Loading…</p>}
      </>
    );
  return <Details key={id} connector={connector} error={error} />;
}

function Details({ connector, error }: { connector: ConnectorRecord; error: unknown }) {
  const { category, config, name, status } = connector;
  const auth = config.auth as { type?: string } | undefined;
  const may = useMay();
  return (
    <>
      <h1>
        <bdi>{name}</bdi>
      </h1>
      <Problem error={error} />
      <div className="toolbar">
        <p role="status">
          <Badge state={status} /> {connector.status_reason}
        </p>
        <Actions connector={connector} />
      </div>
      <Facts rows={factsOf(connector)} />
      {category === 'mcp' && auth?.type === 'oauth' && (
        <Authorization
          connectorId={connector._id}
          mayWithdraw={may('delete /connectors/{projectID}/{connector_id}/authorize')}
        />
      )}
      {category === 'restful' && may('post /connectors/{projectID}/{connector_id}/test') && (
        <TestCall connectorId={connector._id} />
      )}
      {category === 'mcp' && <McpTools connectorId={connector._id} />}
      <Triggers connector={connector} />
      <section aria-labelledby="configuration">
        <h2 id="configuration">Configuration</h2>
        <p className="soft">Secrets are never shown. They appear as [stored].</p>
        <Data value={config} label="Configuration as JSON" />
      </section>
    </>
  );
}

function factsOf(connector: ConnectorRecord) {
  const { _id, category, tags, last_used_at, failures, last_failure, account, created_at, updated_at } = connector;
  return [
    ['Category', category.replaceAll('_', ' ')],
    ['Last used', <Time key="use" at={last_used_at} />],
    [
      'Failures since last success',
      <span key="failures" className={failures > 0 ? 'bad' : ''}>
        {failures}
      </span>,
    ],
    [
      'Last failure',
      last_failure && (
        <>
          <Time at={last_failure.at} />: {last_failure.message}
        </>
      ),
    ],
    [
      'Account',
      account && `${account.name ?? account.id}, ${account.verified_at === null ? 'not verified' : 'verified'}`,
    ],
    ['Tags', tags.join(', ')],
    ['Created', <Time key="created" at={created_at} />],
    ['Last changed', <Time key="changed" at={updated_at} />],
    ['Id', <code key="id">{_id}</code>],
  ] as const;
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
  const [dialog, setDialog] = useState<ConnectorRecord['status'] | 'delete' | 'edit'>();
  const params = { connector_id: id };
  const close = () => setDialog(undefined);
  return (
    <>
      {may('patch /connectors/{projectID}/{connector_id}') && (
        <ActionButton name="Edit…" onClick={() => setDialog('edit')} />
      )}
      {dialog === 'edit' && <EditConnector connector={connector} onClose={close} />}
      {may('post /connectors/{projectID}/{connector_id}/status') &&
        movesFrom[status].map((to) => (
          <ActionButton key={to} name={`${moveNames[to]}…`} onClick={() => setDialog(to)} />
        ))}
      {may('delete /connectors/{projectID}/{connector_id}') && (
        <ActionButton name="Delete…" isFinal onClick={() => setDialog('delete')} />
      )}
      {dialog === 'delete' && (
        <Confirm
          title={`Delete ${name}?`}
          action="Delete connector"
          isFinal
          act={() => call('delete', '/connectors/{projectID}/{connector_id}', { params })}
          invalidates={[['connectors']]}
          onDone={() => void navigate({ to: '/projects/$projectId/connectors', params: { projectId } })}
          onClose={close}
        >
          <p>
            This also deletes its secrets, triggers and data loader. Agents that use the connector fail. This cannot be
            undone.
          </p>
        </Confirm>
      )}
      {dialog !== undefined && dialog !== 'delete' && dialog !== 'edit' && (
        <Confirm
          title={`${moveNames[dialog]}: ${name}`}
          action={moveNames[dialog]}
          act={() =>
            call('post', '/connectors/{projectID}/{connector_id}/status', { params, body: { status: dialog } })
          }
          invalidates={[['connector', id], ['connectors']]}
          onClose={close}
        >
          <p>Actions, callbacks and data loaders use only active connectors.</p>
        </Confirm>
      )}
    </>
  );
}
