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
import { operationChoices, operationText, stageText } from '../words/words.js';

const route = getRouteApi('/lifecycles');

type Name = 'tool' | 'status' | 'since';
const fields: readonly FilterField<Name>[] = [
  { name: 'status', label: 'State', options: named('completed', 'denied', 'pending_approval', 'failed', 'dry_run') },
  sinceField,
  { name: 'tool', label: 'Operation', options: operationChoices },
];

/** Shows for whom a call was made, and through which kind of credential. A service is named by its operation. */
export function Caller({ principal: { kind, user_id } }: Pick<Lifecycle, 'principal'>) {
  const nameOf = useNames();
  const credential = { api_key: 'API key of ', execution: 'Run of ', user_jwt: '', session: '', service: 'Service: ' }[
    kind
  ];
  const service = user_id.replace(/^service:/, '');
  const text = `${credential}${kind === 'service' ? operationText(service) : nameOf(user_id)}`;
  return <bdi title={text}>{text}</bdi>;
}

const columns: readonly Column<Lifecycle>[] = [
  stateColumn(({ status }) => status, '10rem'),
  column('Operation', { width: 'minmax(10rem, 2fr)', onNarrow: 'main' }, ({ lifecycle_id, tool }) => (
    <LifecycleLink id={lifecycle_id}>{operationText(tool)}</LifecycleLink>
  )),
  timeColumn('Time', ({ created_at }) => created_at),
  column('Duration', { width: '6rem', onNarrow: 'hidden' }, ({ created_at, ended_at }) =>
    durationText(ended_at - created_at),
  ),
  column('Caller', { width: 'minmax(8rem, 2fr)', onNarrow: 'hidden' }, ({ principal }) => (
    <Caller principal={principal} />
  )),
  column('Stopped at', { width: '12rem', onNarrow: 'hidden' }, ({ stages }) => {
    const stopped = stages.find(({ status }) => status === 'failed');
    return stopped && stageText(stopped.stage);
  }),
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
