import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { call, capitalized, inWords, send, type AuditEntry } from '../api.js';
import { exampleCall } from '../curl.js';
import { Facts } from '../facts.js';
import type { Option } from '../field.js';
import { named, sinceField, type FilterField } from '../filter-form.js';
import { LifecycleLink } from '../links.js';
import { List } from '../list.js';
import { ActionButton, Empty, Problem, Window, Page, Section } from '../parts.js';
import { Time } from '../time.js';
import { startOf, type Since } from '../runs/filter.js';
import { NotDownloaded, saveFile } from '../save-file.js';
import type { SearchParams } from '../search-params.js';
import { useMembers, useNames } from '../use-names.js';
import { useSubmit } from '../use-submit.js';
import { column, type Column } from '../table.js';
import buttonStyles from '../styles/button.module.css';
import messageStyles from '../styles/message.module.css';
import controlStyles from '../styles/controls.module.css';
import styles from './audit.module.css';
import { useResourceText } from '../words/use-resource-text.js';
import { actionChoices, operationText } from '../words/words.js';

const route = getRouteApi('/audit');

type Name = 'actor' | 'action' | 'resource' | 'outcome' | 'lifecycle_id' | 'since';
const fields = (people: readonly Option[]): readonly FilterField<Name>[] => [
  sinceField,
  { name: 'actor', label: 'Person', options: people },
  { name: 'action', label: 'Action', parameter: 'exact_action', options: actionChoices },
  { name: 'resource', label: 'Resource starts with' },
  { name: 'outcome', label: 'Outcome', options: named('completed', 'denied', 'failed', 'pending_approval', 'dry_run') },
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
        <p className={messageStyles.done} role="status">
          The chain is valid.
        </p>
      )}
      {data && !data.valid && (
        <p className={messageStyles.problem} role="alert">
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
                Number {data.checkpoint.number}, {data.checkpoint.entries} entries,{' '}
                <Time at={data.checkpoint.at} isExact />
              </span>
            ) : (
              'None yet'
            ),
            'Last verified': <Time at={dataUpdatedAt / 1000} />,
          }}
        />
      )}
      <p className={controlStyles.actions}>
        <ActionButton
          name={isFetching ? 'Verifying…' : 'Verify again'}
          className={buttonStyles.primary}
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

interface ColumnsOptions {
  filter: SearchParams<Name>;
  open: (entry: AuditEntry) => void;
  resourceOf: (resource: string) => string;
}

function columnsOf({ filter, open, resourceOf }: ColumnsOptions): readonly Column<AuditEntry>[] {
  /** A click filters. For the keyboard, the page of the entry has the same links. */
  const cell = (name: Name, value: string, shown: string) => (
    <Link
      to="/audit"
      search={{ ...filter, [name]: value }}
      tabIndex={-1}
      className={styles.cell}
      title={`${value}: click to see only these`}
    >
      <bdi>{shown}</bdi>
    </Link>
  );
  return [
    column('Entry', { width: '6rem' }, (entry) => (
      <button
        type="button"
        className={buttonStyles.plain}
        aria-label={`Entry ${entry.seq}`}
        onClick={() => open(entry)}
      >
        {entry.seq}
      </button>
    )),
    column('Time', { width: '11rem' }, ({ at }) => <Time at={at} isExact />),
    column('Action', { width: 'minmax(9rem, 2fr)', onNarrow: 'main' }, ({ action }) =>
      cell('action', action, operationText(action)),
    ),
    column('Actor', { width: 'minmax(9rem, 2fr)', onNarrow: 'hidden' }, ({ actor, actor_name }) =>
      cell('actor', actor, actor_name),
    ),
    column('Resource', { width: 'minmax(9rem, 2fr)', onNarrow: 'hidden' }, ({ resource }) =>
      cell('resource', resource, resourceOf(resource)),
    ),
    column('Outcome', { width: 'minmax(7rem, 1fr)' }, ({ outcome }) =>
      cell('outcome', outcome, capitalized(inWords(outcome))),
    ),
  ];
}

/** The members, and the chosen actor if it is another one, such as a key or an app. */
function usePeople(actor: string | undefined): readonly Option[] {
  const members = useMembers() ?? [];
  const nameOf = useNames();
  const people = members.map(({ user_id, name, email }) => ({ value: user_id, name: name || email }));
  const [kind = '', id] = actor?.split(':') ?? [];
  if (actor === undefined || id === undefined) return people;
  return [{ value: actor, name: `${nameOf(id)}, by ${actorKinds[kind] ?? inWords(kind)}` }, ...people];
}

const actorKinds: Readonly<Record<string, string>> = {
  user_jwt: 'sign-in',
  session: 'a session',
  api_key: 'an API key',
  execution: 'a run',
};

function Entries() {
  const filter = route.useSearch();
  const [open, setOpen] = useState<AuditEntry>();
  const resourceOf = useResourceText();
  const columns = columnsOf({ filter, open: setOpen, resourceOf });
  const people = usePeople(filter.actor);
  const { since, action, ...filters } = filter;
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
        filters={{ fields: fields(people), filter }}
        name="Entries"
        counted={['entry', 'entries']}
        queryKey={['audit', 'entries', filter]}
        load={(page) =>
          call('get', '/v1/audit', {
            query: {
              ...page,
              ...filters,
              // Otherwise "inbox" would also find "inbox.mark-read".
              ...(action !== undefined && { exact_action: action }),
              ...(since !== undefined && { from: startOf(since as Since) }),
            },
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
              Time: <Time at={open.at} isExact />,
              Actor: alike('actor', open.actor, open.actor_name),
              Action: alike('action', open.action, operationText(open.action)),
              Resource: alike('resource', open.resource, resourceOf(open.resource)),
              Outcome: alike('outcome', open.outcome, capitalized(inWords(open.outcome))),
              Lifecycle: open.lifecycle_id && <LifecycleLink id={open.lifecycle_id} />,
            }}
          />
          <details>
            <summary>Details</summary>
            <Facts
              of={{
                Actor: <code>{open.actor}</code>,
                Action: <code>{open.action}</code>,
                Resource: <code>{open.resource}</code>,
                Hash: <code>{open.hash}</code>,
                'Previous hash': <code>{open.prev_hash}</code>,
              }}
            />
          </details>
        </Window>
      )}
    </>
  );
}
