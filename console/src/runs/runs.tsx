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
import { useRuns } from './use-runs.js';
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
      <RunList key={JSON.stringify(filter)} filter={filter} onError={setError} />
    </Page>
  );
}

const runId = ({ execution_id }: Execution) => execution_id;
const selection = {
  nameOf: ({ goal, execution_id }: Execution) => goal || execution_id,
  allName: 'Select all loaded runs',
};

function RunList({ filter, onError }: { filter: RunFilter; onError: (error: unknown) => void }) {
  const { rows, total, error, hasOlder, isStuck, loadOlder, setVisibleFrom, reload } = useRuns(filter);
  useEffect(() => onError(error), [error, onError]);
  const [visibleIds, setVisibleIds] = useState(shownColumns);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [move, setMove] = useState<BulkAction>();
  const may = useMay();
  const offeredActions = [...moves, 'rerun' as const].filter((name) =>
    may(`post /execute_flow/{execution_id}/${name}`),
  );
  const chosen = useMemo(() => (rows ?? []).filter(({ execution_id }) => selected.has(execution_id)), [rows, selected]);
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
        {offeredActions.length > 0 &&
          offeredActions.map((name) => (
            <button key={name} type="button" disabled={chosen.length === 0} onClick={() => setMove(name)}>
              {capitalized(name)}
              {chosen.length > 0 && ` ${chosen.length}`}…
            </button>
          ))}
        <CompareButton chosen={chosen} />
        <ColumnChoice visibleIds={visibleIds} onChange={choose} />
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
    <details className={columnStyles.columns}>
      <summary>Columns</summary>
      <fieldset>
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
