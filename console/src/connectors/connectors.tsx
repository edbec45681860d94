import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { call, type Connector } from '../api.js';
import { curl } from '../curl.js';
import { named, type FilterField } from '../filter-form.js';
import { ConnectorLink } from '../links.js';
import { List } from '../list.js';
import { ActionButton, Empty, Page } from '../parts.js';
import { projectId, useMay } from '../session.js';
import { categoryNames, statuses } from './states.js';
import { column, timeColumn, stateColumn, type Column } from '../table.js';
import { Confirm } from '../confirm.js';
import { authOf, Fields, useConnectorForm, type Form } from './form.js';
import textStyles from '../styles/text.module.css';
import buttonStyles from '../styles/button.module.css';

const route = getRouteApi('/connectors');

const categories = Object.entries(categoryNames).map(([value, name]) => ({ value, name }));
const fields: readonly FilterField<'category' | 'status'>[] = [
  { name: 'category', label: 'Category', options: categories },
  { name: 'status', label: 'State', options: named(...statuses) },
];

const columns: readonly Column<Connector>[] = [
  stateColumn(({ status }) => status, '11rem'),
  column('Name', { width: 'minmax(12rem, 2fr)', onNarrow: 'main' }, ({ _id, name }) => (
    <ConnectorLink id={_id}>
      <bdi>{name}</bdi>
    </ConnectorLink>
  )),
  column(
    'Category',
    { width: '11rem' },
    ({ category, tags }) => `${categoryNames[category]}${tags.includes('table') ? ' (table)' : ''}`,
  ),
  timeColumn('Last used', ({ last_used_at }) => last_used_at),
  column('Failures', { width: '7rem' }, ({ failures }) => (
    <span className={failures > 0 ? textStyles.bad : textStyles.soft}>{failures}</span>
  )),
  column('Reason', { width: 'minmax(10rem, 2fr)', onNarrow: 'hidden' }, ({ status_reason, failures, last_failure }) => {
    const text = status_reason ?? (failures > 0 ? last_failure?.message : undefined);
    return <span title={text}>{text}</span>;
  }),
];

/** The filter of the URL. The cast is unchecked, because the API validates the values. */
type ConnectorFilter = Pick<Connector, 'category' | 'status'>;

export function Connectors() {
  const filter = route.useSearch();
  const [isCreating, setCreating] = useState(false);
  const may = useMay();
  return (
    <Page title="Connectors">
      <List
        filters={{ fields, filter }}
        name="Connectors"
        counted={['connector', 'connectors']}
        queryKey={['connectors', filter]}
        load={(page) => call('get', '/connectors/{projectID}', { query: { ...page, ...(filter as ConnectorFilter) } })}
        columns={columns}
        keyOf={({ _id }) => _id}
        empty={<NoConnectors />}
        tools={
          may('post /actions/{category}/config') && (
            <ActionButton name="New connector…" className={buttonStyles.primary} onClick={() => setCreating(true)} />
          )
        }
      />
      {isCreating && <CreateConnector onClose={() => setCreating(false)} />}
    </Page>
  );
}

function NoConnectors() {
  const command = curl(`actions/restful/config?projectID=${projectId}`, {
    name: 'Claims register',
    config: { base_url: 'https://claims.example.com/api' },
  });
  return (
    <Empty command={command}>
      This project has no connectors yet. Agents use connectors to reach other systems. Create one here, or with this
      command:
    </Empty>
  );
}

function CreateConnector({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate();
  const { form, nameOf, clear } = useConnectorForm('connector.new', {});
  return (
    <Confirm
      title="New connector"
      action="Create connector"
      act={(options) => (form.kind === 'mcp' ? createMcp : createRestful)(form, options)}
      nameOf={nameOf}
      onDone={({ _id: connectorId }) => {
        clear();
        void navigate({ to: '/connectors/$connectorId', params: { connectorId } });
      }}
      onClose={onClose}
    >
      <Fields form={form} />
      <p className={textStyles.soft}>Secrets are encrypted and never shown again.</p>
    </Confirm>
  );
}

interface CallOptions {
  idempotencyKey: string;
}

function createRestful(form: Form, options: CallOptions): Promise<Connector> {
  const { name = '', base_url } = form.drafts;
  const config = { ...(base_url && { base_url }), auth: authOf(form) };
  const input = { params: { category: 'restful' as const }, query: { projectID: projectId }, body: { name, config } };
  return call('post', '/actions/{category}/config', input, options);
}

function createMcp(form: Form, options: CallOptions): Promise<Connector> {
  const { name = '', url, command } = form.drafts;
  const auth = authOf(form) as unknown as { type: 'none' };
  const body = { name, auth, ...(url && { url }), ...(command && { command }) };
  return call('post', '/connectors/{projectID}/mcp', { body }, options);
}
