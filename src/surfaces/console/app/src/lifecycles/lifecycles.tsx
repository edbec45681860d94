import { getRouteApi } from '@tanstack/react-router';
import { call, type Lifecycle } from '../api.js';
import { exampleCall } from '../curl.js';
import { named, sinceField, type FilterField } from '../filter-form.js';
import { LifecycleLink } from '../links.js';
import { List } from '../list.js';
import { durationText, Empty, Page } from '../parts.js';
import { startOf, type Since } from '../runs/filter.js';
import { useNames } from '../use-names.js';
import { column, timeColumn, stateColumn, type Column } from '../table.js';

const route = getRouteApi('/lifecycles');

type Name = 'tool' | 'status' | 'since';
const fields: readonly FilterField<Name>[] = [
  { name: 'status', label: 'State', options: named('completed', 'denied', 'pending_approval', 'failed', 'dry_run') },
  sinceField,
  { name: 'tool', label: 'Tool or operation' },
];

/**
 * Shows for whom a call was made, and through which kind of credential. A service has a name such as
 * `service:connector-load`.
 */
export function Caller({ principal: { kind, user_id } }: Pick<Lifecycle, 'principal'>) {
  const nameOf = useNames();
  const text = `${{ api_key: 'API key of ', execution: 'Run of ', user_jwt: '', session: '', service: '' }[kind]}${nameOf(user_id)}`;
  return <bdi title={text}>{text}</bdi>;
}

const columns: readonly Column<Lifecycle>[] = [
  stateColumn(({ status }) => status, '10rem'),
  column('Tool or operation', { width: 'minmax(10rem, 2fr)', onNarrow: 'main' }, ({ lifecycle_id, tool }) => (
    <LifecycleLink id={lifecycle_id}>{tool}</LifecycleLink>
  )),
  timeColumn('Time', ({ created_at }) => created_at),
  column('Duration', { width: '6rem', onNarrow: 'hidden' }, ({ created_at, ended_at }) =>
    durationText(ended_at - created_at),
  ),
  column('Caller', { width: 'minmax(8rem, 2fr)', onNarrow: 'hidden' }, ({ principal }) => (
    <Caller principal={principal} />
  )),
  column(
    'Failed stage',
    { width: '10rem', onNarrow: 'hidden' },
    ({ stages }) => stages.find(({ status }) => status === 'failed')?.stage,
  ),
];

export function Lifecycles() {
  const filter = route.useSearch();
  const { since, tool, status } = filter;
  return (
    <Page title="Lifecycles">
      <List
        filters={{ fields, filter }}
        name="Lifecycles"
        counted={['call', 'calls']}
        queryKey={['lifecycles', filter]}
        load={(page) =>
          call('get', '/v1/lifecycles', {
            query: {
              ...page,
              ...(tool !== undefined && { tool }),
              ...(status !== undefined && { status: status as Lifecycle['status'] }),
              ...(since !== undefined && { from: startOf(since as Since) }),
            },
          })
        }
        columns={columns}
        keyOf={({ lifecycle_id }) => lifecycle_id}
        empty={
          <Empty command={exampleCall}>
            No governed calls have been made in this project yet. To make one, use this command:
          </Empty>
        }
      />
    </Page>
  );
}
