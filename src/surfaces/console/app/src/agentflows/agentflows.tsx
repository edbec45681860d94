import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { call } from '../api.js';
import { Needs } from '../needs.js';
import { Empty, Problem, Time } from '../parts.js';
import { TextFilter } from '../runs/filter-bar.js';
import { apiAddress, projectId, useMay } from '../session.js';
import { useTitle } from '../use-title.js';
import type { Agentflow } from './document.js';

const route = getRouteApi('/projects/$projectId/agentflows');
const pageSize = 50;

export function Agentflows() {
  useTitle('Agentflows');
  return (
    <Needs title="Agentflows" operation="get /agentflow" grant="svc:orchestrate.read">
      <AgentflowList />
    </Needs>
  );
}

function AgentflowList() {
  const { text = '' } = route.useSearch();
  const navigate = route.useNavigate();
  const may = useMay();
  const { data, error, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: ['agentflows', 'list', text],
    queryFn: ({ pageParam }) =>
      call('get', '/agentflow', {
        query: { limit: pageSize, ...(text !== '' && { text }), ...(pageParam !== '' && { cursor: pageParam }) },
      }),
    initialPageParam: '',
    getNextPageParam: (last) => last.next_cursor ?? undefined,
  });
  const flows = data?.pages.flatMap((page) => page.data);
  const total = data?.pages[0]?.total_count ?? 0;
  return (
    <>
      <h1>Agentflows</h1>
      <form className="filter" role="search" aria-label="Filter the list" onSubmit={(event) => event.preventDefault()}>
        <TextFilter
          label="Name, description or id"
          text={text}
          onChange={(next) => void navigate({ search: next === '' ? {} : { text: next } })}
        />
      </form>
      <div className="toolbar">
        <p role="status">{data && `${total} ${total === 1 ? 'agentflow' : 'agentflows'}`}</p>
        {may('post /agentflow') && (
          <Link to="/projects/$projectId/agentflows/new" params={{ projectId }}>
            New agentflow
          </Link>
        )}
      </div>
      <Problem error={error} />
      {flows === undefined && !error && <p className="soft">Loading…</p>}
      {flows?.length === 0 && <NoAgentflows isFiltered={text !== ''} />}
      {flows && flows.length > 0 && <AgentflowTable flows={flows} />}
      {hasNextPage && (
        <p>
          <button type="button" disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            Show older
          </button>
        </p>
      )}
    </>
  );
}

function AgentflowTable({ flows }: { flows: readonly Agentflow[] }) {
  return (
    <div className="scroll" role="region" aria-label="List of agentflows" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {['Name', 'Description', 'Agents', 'Version', 'Changed', 'Last run', 'Runs'].map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
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
  const command = `curl -X POST '${new URL('agentflow', apiAddress).href}' \\
  -H "x-api-key: $SERVICE_API_KEY" -H 'content-type: application/json' \\
  -d '{"name":"Brief","agents":[{"title":"Writer","prompt":{"template":"Write a brief about {{ goal }}"}}]}'`;
  return (
    <Empty command={command}>
      This project has no agentflow yet. An agentflow is a chain of agents with prompts, skills and actions:
    </Empty>
  );
}
