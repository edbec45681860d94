import { getRouteApi, Link } from '@tanstack/react-router';
import { call } from '../api.js';
import { curl } from '../curl.js';
import { FilterForm } from '../filter-form.js';
import { Empty, Heads, Older, Time } from '../parts.js';
import { projectId, useMay } from '../session.js';
import { usePages } from '../use-pages.js';
import { useTitle } from '../use-title.js';
import type { Agentflow } from './document.js';

const route = getRouteApi('/projects/$projectId/agentflows');
const fields = [{ name: 'text', label: 'Name, description or id' }] as const;

export function Agentflows() {
  useTitle('Agentflows');
  const filter = route.useSearch();
  const { text = '' } = filter;
  const navigate = route.useNavigate();
  const may = useMay();
  const { rows, count, error, hasOlder, loadOlder } = usePages({
    queryKey: ['agentflows', 'list', text],
    load: (page) => call('get', '/agentflow', { query: { ...page, ...(text !== '' && { text }) } }),
    counted: ['agentflow', 'agentflows'],
  });
  return (
    <>
      <h1>Agentflows</h1>
      <FilterForm fields={fields} filter={filter} error={error} onChange={(search) => void navigate({ search })} />
      <div className="toolbar">
        <p role="status">{count}</p>
        {may('post /agentflow') && (
          <Link to="/projects/$projectId/agentflows/new" params={{ projectId }}>
            New agentflow
          </Link>
        )}
      </div>
      {rows === undefined && !error && <p className="soft">Loading…</p>}
      {rows?.length === 0 && <NoAgentflows isFiltered={text !== ''} />}
      {rows && rows.length > 0 && <AgentflowTable flows={rows} />}
      <Older isLeft={hasOlder} load={loadOlder} />
    </>
  );
}

function AgentflowTable({ flows }: { flows: readonly Agentflow[] }) {
  return (
    <div className="scroll" role="region" aria-label="List of agentflows" tabIndex={0}>
      <table>
        <Heads of={['Name', 'Description', 'Agents', 'Version', 'Changed', 'Last run', 'Runs']} />
        <tbody>
          {flows.map(({ _id: agentflowId, name, description, agents, ...flow }) => (
            <tr key={agentflowId}>
              <th scope="row">
                <Link to="/projects/$projectId/agentflows/$agentflowId" params={{ projectId, agentflowId }}>
                  <bdi>{name}</bdi>
                </Link>
                {!flow.isActive && ' (not active)'}
              </th>
              <td>
                <bdi>{description.length > 200 ? `${description.slice(0, 200)}…` : description}</bdi>
              </td>
              <td>{agents.length}</td>
              <td>{flow.promoted_version ?? 'none'}</td>
              <td>
                <Time at={flow.updated_at} />
              </td>
              <td>
                <Time at={flow.last_used > flow.created_at ? flow.last_used : null} />
              </td>
              <td>
                <Link to="/projects/$projectId/runs" params={{ projectId }} search={{ agentflow: agentflowId }}>
                  Runs<span className="hidden"> of {name}</span>
                </Link>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function NoAgentflows({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) return <Empty>No agentflow contains this text.</Empty>;
  const command = curl('agentflow', {
    name: 'Brief',
    agents: [{ title: 'Writer', prompt: { template: 'Write a brief about {{ goal }}' } }],
  });
  return (
    <Empty command={command}>
      This project has no agentflow yet. An agentflow is a chain of agents with prompts, skills and actions:
    </Empty>
  );
}
