import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { call, send, type AuditEntry } from '../api.js';
import { exampleCall } from '../curl.js';
import { Facts } from '../facts.js';
import { sinceField, type FilterField } from '../filter-form.js';
import { LifecycleLink } from '../links.js';
import { List } from '../list.js';
import { ActionButton, Empty, Problem, Time, Window, Page, Section } from '../parts.js';
import { startOf, type Since } from '../runs/filter.js';
import { NotDownloaded, saveFile } from '../save-file.js';
import { useSubmit } from '../use-submit.js';
import { column, timeColumn, type Column } from '../table.js';

const route = getRouteApi('/audit');

type Name = 'actor' | 'action' | 'resource' | 'outcome' | 'lifecycle_id' | 'since';
const fields: readonly FilterField<Name>[] = [
  sinceField,
  { name: 'actor', label: 'Actor name or id' },
  { name: 'action', label: 'Action starts with' },
  { name: 'resource', label: 'Resource starts with' },
  { name: 'outcome', label: 'Outcome starts with' },
  { name: 'lifecycle_id', label: 'Lifecycle id' },
];

export function Audit() {
  return (
    <Page title="Audit">
      <p>
        The audit chain covers the whole organization. Each entry contains the hash of the previous entry, and signed
        checkpoints confirm the chain.
      </p>
      <Verification />
      <Section title="Entries">
        <Entries />
      </Section>
    </Page>
  );
}

function Verification() {
  const { data, error, isFetching, refetch, dataUpdatedAt } = useQuery({
    queryKey: ['audit', 'verify'],
    queryFn: () => call('get', '/v1/audit/verify'),
  });
  return (
    <Section title="Verification">
      <Problem error={error} />
      {data?.valid && (
        <p className="done" role="status">
          The chain is valid.
        </p>
      )}
      {data && !data.valid && (
        <p className="problem" role="alert">
          The chain is broken: {data.reason ?? 'the reason is unknown'}.
        </p>
      )}
      {data && (
        <Facts
          of={{
            Entries: data.entries,
            'First broken entry': data.first_broken_seq ?? 'None',
            'Head hash': <code>{data.head_hash}</code>,
            'Last valid checkpoint': data.checkpoint ? (
              <span>
                Number {data.checkpoint.number}, {data.checkpoint.entries} entries, <Time at={data.checkpoint.at} />
              </span>
            ) : (
              'None yet'
            ),
            'Last verified': <Time at={dataUpdatedAt / 1000} />,
          }}
        />
      )}
      <p className="actions">
        <ActionButton
          name={isFetching ? 'Verifying…' : 'Verify again'}
          className="primary"
          isDisabled={isFetching}
          onClick={() => void refetch()}
        />
        <Export />
      </p>
    </Section>
  );
}

/** Downloads the whole chain as a file, which `verify-audit` can check without this service. */
function Export() {
  const [name, setName] = useState('');
  const { error, isBusy, submit } = useSubmit(async () => {
    const next = `audit-${new Date().toISOString().slice(0, 19).replaceAll(':', '')}.jsonl`;
    setName(next);
    const response = await send('/v1/audit/export', {});
    saveFile(next, await response.blob());
  });
  return (
    <>
      <ActionButton name={isBusy ? 'Exporting…' : 'Export'} isDisabled={isBusy} onClick={() => void submit()} />
      <NotDownloaded name={name} error={error} />
    </>
  );
}

function columnsOf(open: (entry: AuditEntry) => void): readonly Column<AuditEntry>[] {
  return [
    column('Entry', { width: '6rem' }, (entry) => (
      <button type="button" className="plain" aria-label={`Entry ${entry.seq}`} onClick={() => open(entry)}>
        {entry.seq}
      </button>
    )),
    timeColumn('Time', ({ at }) => at),
    column('Action', { width: 'minmax(9rem, 2fr)', onNarrow: 'main' }, ({ action }) => action),
    column('Actor', { width: 'minmax(9rem, 2fr)', onNarrow: 'hidden' }, ({ actor, actor_name }) => (
      <bdi title={actor}>{actor_name}</bdi>
    )),
    column('Resource', { width: 'minmax(9rem, 2fr)', onNarrow: 'hidden' }, ({ resource }) => (
      <span title={resource}>{resource}</span>
    )),
    column('Outcome', { width: 'minmax(7rem, 1fr)' }, ({ outcome }) => outcome),
  ];
}

function Entries() {
  const filter = route.useSearch();
  const [open, setOpen] = useState<AuditEntry>();
  const [columns] = useState(() => columnsOf(setOpen));
  const { since, ...exactFilters } = filter;
  const alike = (name: Name, value: string, shown = value) => (
    <>
      <bdi>{shown}</bdi>{' '}
      <Link
        to="/audit"
        search={{ ...filter, [name]: value }}
        aria-label={`Only entries with this ${name}`}
        onClick={() => setOpen(undefined)}
      >
        Only these
      </Link>
    </>
  );
  return (
    <>
      <List
        filters={{ fields, filter }}
        name="Entries"
        counted={['entry', 'entries']}
        queryKey={['audit', 'entries', filter]}
        load={(page) =>
          call('get', '/v1/audit', {
            query: { ...page, ...exactFilters, ...(since !== undefined && { from: startOf(since as Since) }) },
          })
        }
        columns={columns}
        keyOf={({ entry_id }) => entry_id}
        empty={
          <Empty command={exampleCall}>
            No entries have been recorded yet. Each governed call records one, for example:
          </Empty>
        }
      />
      {open && (
        <Window title={`Entry ${open.seq}`} isDrawer onClose={() => setOpen(undefined)}>
          <Facts
            of={{
              Time: <Time at={open.at} />,
              Actor: alike('actor', open.actor, `${open.actor_name} (${open.actor})`),
              Action: alike('action', open.action),
              Resource: alike('resource', open.resource),
              Outcome: alike('outcome', open.outcome),
              Lifecycle: open.lifecycle_id && <LifecycleLink id={open.lifecycle_id} />,
              Hash: <code>{open.hash}</code>,
              'Previous hash': <code>{open.prev_hash}</code>,
            }}
          />
        </Window>
      )}
    </>
  );
}
