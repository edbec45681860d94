import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import type { PageQuery } from '@client/page.js';
import { call, type PolicySet } from '../api.js';
import { List } from '../list.js';
import { ActionButton, Data, Problem, Window, Page, Section, Loaded, Loading } from '../parts.js';
import { Time } from '../time.js';
import { useMay } from '../session.js';
import { useNames } from '../use-names.js';
import { Editor, useEdited } from './editor.js';
import { RuleDialog } from './rule-dialog.js';
import { RuleItem } from './rule-item.js';
import { rulesIn, Trial } from './trial.js';
import { useDialog } from '../use-dialog.js';
import { SelectField } from '../field.js';
import { column, timeColumn, type Column } from '../table.js';
import { usePolled } from '../use-polled.js';
import buttonStyles from '../styles/button.module.css';
import messageStyles from '../styles/message.module.css';
import listStyles from '../styles/lists.module.css';
import controlStyles from '../styles/controls.module.css';

const Difference = lazy(() => import('../difference.js').then(({ Difference: component }) => ({ default: component })));

export function Policies() {
  const query = usePolled(['policies', 'in force'], () => call('get', '/v1/policies'));
  return (
    <Page title="Policies">
      <Loaded query={query}>{(set) => <Parts set={set} reload={query.refetch} />}</Loaded>
    </Page>
  );
}

function Parts({ set, reload }: { set: PolicySet; reload: () => Promise<unknown> }) {
  const may = useMay();
  const edited = useEdited(set);
  return (
    <>
      <InForce set={set} />
      <Trial
        key={String(edited.isChanged)}
        edited={
          edited.isChanged
            ? { name: 'The edited text below', candidate: () => ({ rules: rulesIn(edited.text) }) }
            : undefined
        }
      />
      {may('put /v1/policies') && <Editor set={set} edited={edited} reload={reload} />}
      <Versions current={set.version} />
    </>
  );
}

function InForce({ set }: { set: PolicySet }) {
  const nameOf = useNames();
  const may = useMay();
  const [dialog, setDialog] = useDialog();
  const { version, created_by, created_at, reason, policies, builtin } = set;
  return (
    <Section title="Rules in force">
      <p>
        {version === 0 ? (
          'No policies are saved. The default rules (version 0) are in force.'
        ) : (
          <>
            Version {version}, saved by <bdi>{nameOf(created_by ?? '')}</bdi>, <Time at={created_at} />.{' '}
            {reason !== null && (
              <>
                Why: <bdi>{reason}</bdi>.
              </>
            )}
          </>
        )}{' '}
        They apply to the whole organization. A forbid rule overrides all others. Calls that no rule permits are
        refused.
      </p>
      {may('post /v1/policies/rules') && (
        <p className={controlStyles.actions}>
          <ActionButton name="Add rule…" className={buttonStyles.primary} onClick={() => setDialog('add')} />
        </p>
      )}
      {dialog === 'add' && <RuleDialog set={set} onClose={() => setDialog(undefined)} />}
      <ul className={listStyles.rows} aria-label="Rules in force">
        {policies.map((rule) => (
          <RuleItem key={rule.policy_id} rule={rule} set={set} />
        ))}
        {builtin.map((rule) => (
          <RuleItem key={rule.policy_id} rule={rule} set={set} isBuiltIn />
        ))}
      </ul>
    </Section>
  );
}

const readVersions = (query: PageQuery) => call('get', '/v1/policies/versions', { query });
type Version = Awaited<ReturnType<typeof readVersions>>['data'][number];

function Versions({ current }: { current: number }) {
  const [open, setOpen] = useState<number>();
  const nameOf = useNames();
  const columns: readonly Column<Version>[] = [
    column('Version', { width: '8rem', onNarrow: 'main' }, ({ version }) => (
      <ActionButton name={`Version ${version}`} className={buttonStyles.plain} onClick={() => setOpen(version)} />
    )),
    timeColumn('Saved', ({ created_at }) => created_at),
    column('Saved by', { width: 'minmax(10rem, 1fr)', onNarrow: 'hidden' }, ({ created_by }) => (
      <bdi>{nameOf(created_by ?? '')}</bdi>
    )),
    column('Why', { width: 'minmax(10rem, 2fr)', onNarrow: 'hidden' }, ({ reason }) => (
      <bdi title={reason ?? undefined}>{reason}</bdi>
    )),
    column('Rules', { width: '6rem' }, ({ rules }) => rules),
  ];
  return (
    <Section title="Versions">
      <List
        name="Versions"
        counted={['version', 'versions']}
        // A new key reloads the list after a new version.
        queryKey={['policies', 'versions', current]}
        load={readVersions}
        columns={columns}
        keyOf={({ version }) => String(version)}
        empty={<p className={messageStyles.empty}>No versions have been saved yet.</p>}
      />
      {open !== undefined && (
        <PolicyVersion key={open} version={open} newest={current} onClose={() => setOpen(undefined)} />
      )}
    </Section>
  );
}

const useVersion = (version: number) =>
  useQuery({
    queryKey: ['policies', version],
    queryFn: () => call('get', '/v1/policies/versions/{version}', { params: { version } }),
    staleTime: Infinity,
    enabled: version > 0,
  });

/** Shows the rules of a version, and its difference to another version, by default the previous one. */
function PolicyVersion({ version, newest, onClose }: { version: number; newest: number; onClose: () => void }) {
  const [from, setFrom] = useState(version - 1);
  const { data, error } = useVersion(version);
  const before = useVersion(from);
  const others = Array.from({ length: newest }, (_, at) => newest - at).filter((each) => each !== version);
  return (
    <Window title={`Version ${version}`} isDrawer onClose={onClose}>
      <Problem error={error ?? before.error} />
      <SelectField
        label="Compare with"
        value={String(from)}
        options={[
          ...others.map((each) => ({ value: String(each), name: `Version ${each}` })),
          { value: '0', name: 'No rules' },
        ]}
        onChange={(value) => setFrom(Number(value))}
      />
      {data && (from === 0 || before.data) && (
        <Suspense fallback={<Loading />}>
          <Difference from={from === 0 ? [] : before.data?.policies} to={data.policies} />
        </Suspense>
      )}
      {data && <Data value={data.policies} label={`Rules of version ${version}`} />}
    </Window>
  );
}
