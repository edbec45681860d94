import { getRouteApi, Link } from '@tanstack/react-router';
import { call } from '../api.js';
import { curl } from '../curl.js';
import { AgentflowLink } from '../links.js';
import { List } from '../list.js';
import { Empty, Page } from '../parts.js';
import { useMay } from '../session.js';
import type { Agentflow } from './document.js';
import { TemplatesButton } from './templates.js';
import { column, timeColumn, type Column } from '../table.js';
import textStyles from '../styles/text.module.css';
import buttonStyles from '../styles/button.module.css';

const route = getRouteApi('/agentflows');
const fields = [{ name: 'text', label: 'Name, description or id' }] as const;

const columns: readonly Column<Agentflow>[] = [
  column('Name', { width: 'minmax(12rem, 2fr)', onNarrow: 'main' }, ({ _id, name, isActive }) => (
    <>
      <AgentflowLink id={_id}>
        <bdi>{name}</bdi>
      </AgentflowLink>
      {!isActive && ' (inactive)'}
    </>
  )),
  column('Description', { width: 'minmax(12rem, 3fr)', onNarrow: 'hidden' }, ({ description }) => (
    <bdi title={description.slice(0, 1000)}>{description.slice(0, 200)}</bdi>
  )),
  column('Agents', { width: '5rem', onNarrow: 'hidden' }, ({ agents }) => agents.length),
  column('Version', { width: '5rem', onNarrow: 'hidden' }, (flow) => flow.promoted_version ?? '–'),
  timeColumn('Last changed', ({ updated_at }) => updated_at),
  timeColumn('Last run', ({ last_used, created_at }) => (last_used > created_at ? last_used : null), 'hidden'),
  column('Runs', { width: '5rem' }, ({ _id, name }) => (
    <Link to="/runs" search={{ agentflow: _id }}>
      Runs<span className={textStyles.hidden}> of {name}</span>
    </Link>
  )),
];

export function Agentflows() {
  const filter = route.useSearch();
  const { text = '' } = filter;
  const may = useMay();
  return (
    <Page title="Agentflows">
      <List
        name="Agentflows"
        counted={['agentflow', 'agentflows']}
        queryKey={['agentflows', 'list', text]}
        load={(page) => call('get', '/agentflow', { query: { ...page, ...(text !== '' && { text }) } })}
        columns={columns}
        keyOf={({ _id }) => _id}
        empty={<NoAgentflows />}
        filters={{ fields, filter }}
        tools={
          <>
            {may('post /marketplace/coworker/{id}/hire') && <TemplatesButton />}
            {may('post /agentflow') && (
              <Link className={`${buttonStyles.link} ${buttonStyles.primary}`} to="/agentflows/new">
                New agentflow
              </Link>
            )}
          </>
        }
      />
    </Page>
  );
}

function NoAgentflows() {
  const command = curl('agentflow', {
    name: 'Brief',
    agents: [{ title: 'Writer', prompt: { template: 'Write a brief about {{ goal }}' } }],
  });
  return (
    <Empty command={command}>
      This project has no agentflows yet. An agentflow is a chain of agents with prompts, skills and actions, or a flow
      that also has steps. Create one here, or with this command:
    </Empty>
  );
}
