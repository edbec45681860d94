import { useFirstAgentflow } from '../use-first-agentflow.js';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { capitalized, type Execution } from '../api.js';
import { curl } from '../curl.js';
import { ActionButton, Empty, Page, Loading } from '../parts.js';
import { quantity } from '../quantity.js';
import { useMay } from '../session.js';
import { moves } from '../states.js';
import { Table } from '../table.js';
import { BulkMove, type BulkAction } from './bulk.js';
import { columns, keepColumns, shownColumns } from './columns.js';
import type { RunFilter } from './filter.js';
import { FilterBar } from './filter-bar.js';
import { useMatchingRuns } from './use-matching-runs.js';
import { useRuns } from './use-runs.js';
import { ViewChoice } from './view-choice.js';
import textStyles from '../styles/text.module.css';
import controlStyles from '../styles/controls.module.css';
import columnStyles from './column-choice.module.css';

const route = getRouteApi('/runs');

export function Runs() {
  const filter = route.useSearch();
  const navigate = route.useNavigate();
  const [error, setError] = useState<unknown>();
  const change = (search: RunFilter) => void navigate({ search, replace: true });
  return (
    <Page title="Runs">
      <FilterBar filter={filter} error={error} onChange={change} />
      <RunList key={JSON.stringify(filter)} filter={filter} onFilter={change} onError={setError} />
    </Page>
  );
}

const noRuns: readonly Execution[] = [];
const runId = ({ execution_id }: Execution) => execution_id;
const selection = {
  nameOf: ({ goal, execution_id }: Execution) => goal || execution_id,
  allName: 'Select all loaded runs',
};

interface RunListOptions {
  filter: RunFilter;
  onFilter: (filter: RunFilter) => void;
  onError: (error: unknown) => void;
}

function RunList({ filter, onFilter, onError }: RunListOptions) {
  const { rows, total, error, hasOlder, isStuck, loadOlder, setVisibleFrom, reload } = useRuns(filter);
  const matching = useMatchingRuns(filter);
  const problem = error ?? matching.error;
  useEffect(() => onError(problem), [problem, onError]);
  const [visibleIds, setVisibleIds] = useState(shownColumns);
  const { chosen, selected, setSelected } = useChosen(matching.runs, rows);
  const [move, setMove] = useState<BulkAction>();
  const offeredActions = useOfferedActions();
  const visibleColumns = columns.filter(({ id }) => visibleIds.includes(id));
  const showFrom = useCallback(
    (first: Execution | undefined) => setVisibleFrom(first?.created_at ?? Infinity),
    [setVisibleFrom],
  );
  const choose = (ids: readonly string[]) => {
    keepColumns(ids);
    setVisibleIds(ids);
  };
  return (
    <>
      <div className={controlStyles.toolbar}>
        <p role="status">{total && `${total.isMore ? 'More than ' : ''}${quantity(total.count, 'run')}`}</p>
        {hasOlder && offeredActions.length > 0 && (
          <SelectMatching
            total={total}
            matching={matching}
            onSelect={(runs) => setSelected(new Set(runs.map(runId)))}
          />
        )}
        {offeredActions.map((name) => (
          <button key={name} type="button" disabled={chosen.length === 0} onClick={() => setMove(name)}>
            {capitalized(name)}
            {chosen.length > 0 && ` ${chosen.length}`}…
          </button>
        ))}
        <CompareButton chosen={chosen} />
        <div className={columnStyles.panels}>
          <ViewChoice
            filter={filter}
            columns={visibleIds}
            onChoose={(view) => {
              choose(view.columns);
              onFilter(view.filter);
            }}
          />
          <ColumnChoice visibleIds={visibleIds} onChange={choose} />
        </div>
      </div>
      {rows?.length === 0 && <NoRuns isFiltered={Object.keys(filter).length > 0} />}
      {rows === undefined && !error && <Loading />}
      {rows && rows.length > 0 && (
        <Table
          name="Runs"
          rows={rows}
          columns={visibleColumns}
          keyOf={runId}
          total={total?.count ?? rows.length}
          selection={{ ...selection, selected, onSelect: setSelected }}
          hasOlder={hasOlder}
          isStuck={isStuck}
          onEnd={() => void loadOlder()}
          onScroll={showFrom}
        />
      )}
      {move && (
        <BulkMove
          move={move}
          runs={chosen}
          onClose={() => {
            setMove(undefined);
            setSelected(new Set());
            void reload();
          }}
        />
      )}
    </>
  );
}

function useOfferedActions(): readonly BulkAction[] {
  const may = useMay();
  return [...moves, 'rerun' as const].filter((name) => may(`post /execute_flow/{execution_id}/${name}`));
}

/** The selected runs, as the list shows them or as they were read. */
function useChosen(matching: readonly Execution[], rows: readonly Execution[] = noRuns) {
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const chosen = useMemo(() => {
    const known = new Map([...matching, ...rows].map((run) => [run.execution_id, run]));
    return [...known.values()].filter(({ execution_id }) => selected.has(execution_id));
  }, [matching, rows, selected]);
  return { chosen, selected, setSelected };
}

interface SelectOptions {
  total: { count: number; isMore: boolean } | undefined;
  matching: ReturnType<typeof useMatchingRuns>;
  onSelect: (runs: readonly Execution[]) => void;
}

/** Selects all runs that match the filter, also those that the list has not loaded. */
function SelectMatching({ total, matching: { count, read, stop }, onSelect }: SelectOptions) {
  if (count !== undefined)
    return (
      <>
        <span role="status">{count} runs read…</span> <ActionButton name="Stop" onClick={stop} />
      </>
    );
  const all = total?.isMore ? 'the newest 10,000' : `all ${total?.count ?? ''}`;
  return (
    <ActionButton
      name={`Select ${all} matching runs`}
      onClick={() => void read().then((runs) => runs.length > 0 && onSelect(runs))}
    />
  );
}

/** Two runs are compared. The earlier one is the first. */
function CompareButton({ chosen }: { chosen: readonly Execution[] }) {
  const navigate = useNavigate();
  const [right, left, ...more] = chosen;
  const canCompare = left !== undefined && right !== undefined && more.length === 0;
  return (
    <ActionButton
      name="Compare two"
      isDisabled={!canCompare}
      onClick={() => {
        if (!canCompare) return;
        void navigate({ to: '/runs/compare', search: { left: left.execution_id, right: right.execution_id } });
      }}
    />
  );
}

function ColumnChoice({
  visibleIds,
  onChange,
}: {
  visibleIds: readonly string[];
  onChange: (ids: readonly string[]) => void;
}) {
  return (
    <details className={columnStyles.panel}>
      <summary>Columns</summary>
      <fieldset className={columnStyles.content}>
        <legend className={textStyles.hidden}>Columns</legend>
        {columns.map(({ id, name }) => (
          <label key={id}>
            <input
              type="checkbox"
              checked={visibleIds.includes(id)}
              disabled={id === 'goal'}
              onChange={() =>
                onChange(
                  columns.map((column) => column.id).filter((other) => (other === id) !== visibleIds.includes(other)),
                )
              }
            />
            {name}
          </label>
        ))}
      </fieldset>
    </details>
  );
}

function NoRuns({ isFiltered }: { isFiltered: boolean }) {
  const agentflowId = useFirstAgentflow(!isFiltered);
  if (isFiltered) return <Empty>No runs match these filters.</Empty>;
  const command = curl('execute_flow', { agentflow_id: agentflowId, goal: 'Try it' });
  return (
    <Empty command={command}>
      This project has no runs yet. Create one with this command, and then execute it on its page:
    </Empty>
  );
}
