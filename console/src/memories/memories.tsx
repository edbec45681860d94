import { getRouteApi, Link } from '@tanstack/react-router';
import { call } from '../api.js';
import type { components } from '@client/openapi.js';
import { curl } from '../curl.js';
import { named, type FilterField } from '../filter-form.js';
import { ForeignText } from '../foreign-text.js';
import { List } from '../list.js';
import { Empty, Page } from '../parts.js';
import { quantity } from '../quantity.js';
import { column, numberColumn, stateColumn, timeColumn, type Column } from '../table.js';

type Memory = components['schemas']['MemoryListItem'];
type Status = Memory['status'];

const route = getRouteApi('/memories');
const fields: readonly FilterField<'status'>[] = [
  {
    name: 'status',
    label: 'State',
    options: named('queued', 'running', 'waiting', 'completed', 'failed', 'cancelled', 'rejected'),
  },
];

const columns: readonly Column<Memory>[] = [
  stateColumn(({ status }) => status, '8.5rem'),
  column('Source', { width: 'minmax(9rem, 2fr)', onNarrow: 'main' }, ({ source, memory_id }) =>
    source === null ? memory_id : <ForeignText text={source} />,
  ),
  timeColumn('Remembered', ({ created_at }) => created_at),
  column('Found', { width: 'minmax(9rem, 1fr)', onNarrow: 'hidden' }, ({ found }) =>
    found ? `${quantity(found.entities, 'entity', 'entities')}, ${quantity(found.facts, 'fact')}` : '',
  ),
  column('Written', { width: 'minmax(9rem, 1fr)', onNarrow: 'hidden' }, ({ written }) =>
    written ? `${quantity(written.entities, 'entity', 'entities')}, ${quantity(written.facts, 'fact')}` : '',
  ),
  numberColumn('Credits', { width: '6rem', onNarrow: 'hidden' }, ({ cost }) => cost.credits),
  column('Next', { width: 'minmax(9rem, 2fr)' }, ({ status, memory_id, failure }) =>
    status === 'waiting' ? (
      <Link to="/inbox" search={{ item: `memory:${memory_id}` }}>
        Review it
      </Link>
    ) : (
      <bdi title={failure ?? undefined}>{failure}</bdi>
    ),
  ),
];

/** The texts that the project remembers, newest first. */
export function Memories() {
  const filter = route.useSearch();
  const { status } = filter;
  return (
    <Page title="Memories">
      <List
        filters={{ fields, filter }}
        name="Memories"
        counted={['remembered text', 'remembered texts']}
        queryKey={['memories', filter]}
        load={(page) =>
          call('get', '/v1/memories', { query: { ...page, ...(status !== undefined && { status: status as Status }) } })
        }
        columns={columns}
        keyOf={({ memory_id }) => memory_id}
        empty={
          <Empty command={curl('v1/remember', { text: 'Acme moved its headquarters to Paris.' })}>
            This project remembers no texts yet. A text needs an <Link to="/ontology">ontology</Link> and a language
            model. To remember one, use this command:
          </Empty>
        }
      />
    </Page>
  );
}
