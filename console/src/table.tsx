import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef, type CSSProperties, type ReactNode } from 'react';
import { Badge, LoadOlder } from './parts.js';
import { Time } from './time.js';
import { ResizeHandle } from './resize-handle.js';
import { useColumnWidths } from './use-column-widths.js';
import styles from './table.module.css';

export interface Column<T> {
  /** The name by default. */
  id?: string;
  name: string;
  /** The size of the grid track. */
  width: string;
  /** Replaces the name in the header, for example by a button that sorts. */
  head?: ReactNode;
  sorted?: 'ascending' | 'descending' | undefined;
  /** On narrow screens, `hidden` leaves the column out, and `main` gives it the most space. */
  onNarrow?: 'hidden' | 'main';
  /** Whether the values are numbers. */
  isNumber?: boolean;
  cell(row: T): ReactNode;
}

type Layout = Pick<Column<never>, 'width' | 'onNarrow'>;

export const column = <T,>(name: string, layout: Layout, cell: (row: T) => ReactNode): Column<T> => ({
  name,
  ...layout,
  cell,
});

/** Aligned at the right, so that digits of the same value are below each other. */
export const numberColumn = <T,>(name: string, layout: Layout, cell: (row: T) => ReactNode): Column<T> => ({
  ...column(name, layout, cell),
  isNumber: true,
});

export const stateColumn = <T,>(stateOf: (row: T) => string, width = '8rem'): Column<T> =>
  column('State', { width }, (row) => <Badge state={stateOf(row)} />);

export const timeColumn = <T,>(
  name: string,
  timeOf: (row: T) => number | null | undefined,
  onNarrow?: Column<never>['onNarrow'],
): Column<T> => column(name, { width: '11rem', ...(onNarrow && { onNarrow }) }, (row) => <Time at={timeOf(row)} />);

interface TableOptions<T> {
  /** The accessible name. */
  name: string;
  rows: readonly T[];
  columns: readonly Column<T>[];
  keyOf(row: T): string;
  total: number;
  /** Undefined if rows cannot be selected. */
  selection?: Selection<T> | undefined;
  hasOlder: boolean;
  /** Whether older rows could not be loaded. A button then tries it again. */
  isStuck?: boolean;
  onEnd(): void;
  /** Reports the first visible row; undefined at the top. */
  onScroll?(first: T | undefined): void;
  /** Whether the table scrolls horizontally and keeps each row on one line, even on narrow screens. */
  isSheet?: boolean;
}

interface Selection<T> {
  selected: ReadonlySet<string>;
  onSelect(ids: ReadonlySet<string>): void;
  /** Returns the accessible name of a row. */
  nameOf(row: T): string;
  allName: string;
}

const isNarrow = matchMedia('(max-width: 40rem)');
const lineHeight = 37;
/** The smallest width of a track such as `minmax(8rem, 1fr)`. */
const minimumOf = (track: string) =>
  track.startsWith('minmax(') ? track.slice('minmax('.length, track.indexOf(',')) : track;
const rowHeight = () => (isNarrow.matches ? 76 : lineHeight);

/** Renders only the visible rows of a table. */
export function Table<T>(props: TableOptions<T>) {
  const { name, rows, columns, keyOf, total, selection, hasOlder, isStuck = false, onEnd, onScroll } = props;
  const { isSheet = false } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: isSheet ? () => lineHeight : rowHeight,
    overscan: 12,
    getItemKey: (at) => (rows[at] === undefined ? at : keyOf(rows[at])),
  });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  const first = (virtual.scrollOffset ?? 0) < 10 ? undefined : rows[items[0]?.index ?? 0];
  useEffect(() => {
    if (hasOlder && !isStuck && last >= rows.length - 40) onEnd();
  }, [hasOlder, isStuck, last, rows.length, onEnd]);
  useEffect(() => {
    const timer = setTimeout(() => onScroll?.(first), 150);
    return () => clearTimeout(timer);
  }, [first, onScroll]);
  const body = useRef<HTMLDivElement>(null);
  const sized = useColumnWidths(
    name,
    columns.map(({ id, name: title, width }) => ({ id: id ?? title, width })),
    body,
  );
  const tracks = [...(selection ? ['2.25rem'] : []), ...sized.tracks];
  // The header and each row are separate grids. They need the same width for their columns to align.
  const width = `calc(${tracks.map((track) => minimumOf(track)).join(' + ')})`;
  const height = virtual.getTotalSize();
  return (
    <>
      <div
        className={isSheet ? `${styles.table} ${styles.sheet}` : styles.table}
        role="table"
        aria-label={name}
        aria-rowcount={hasOlder ? -1 : total + 1}
        ref={scroller}
        tabIndex={0}
        style={{ '--columns': tracks.join(' '), '--rows': `${height}px`, '--width': width } as CSSProperties}
      >
        <div role="rowgroup" className={styles.head}>
          <div role="row" aria-rowindex={1} className={styles.row}>
            {selection && <SelectAll rows={rows} keyOf={keyOf} selection={selection} />}
            {columns.map((column) => (
              <div
                role="columnheader"
                key={column.id ?? column.name}
                aria-sort={column.sorted}
                className={column.isNumber ? styles.number : undefined}
              >
                {column.head ?? column.name}
                <ResizeHandle name={column.name} onResize={(next) => sized.resize(column.id ?? column.name, next)} />
              </div>
            ))}
          </div>
        </div>
        <div role="rowgroup" className={styles.body} style={{ height }} ref={body}>
          {items.map(({ index, key, start }) => {
            const row = rows[index];
            if (row === undefined) return null;
            return <Row key={key} at={index} start={start} id={keyOf(row)} row={row} {...{ columns, selection }} />;
          })}
        </div>
      </div>
      {isStuck && <LoadOlder hasOlder={hasOlder} load={onEnd} />}
    </>
  );
}

function SelectAll<T>(props: { rows: readonly T[]; keyOf(row: T): string; selection: Selection<T> }) {
  const { rows, keyOf, selection } = props;
  const all = rows.length > 0 && rows.every((row) => selection.selected.has(keyOf(row)));
  return (
    <div role="columnheader" className={styles.choice}>
      <input
        type="checkbox"
        aria-label={selection.allName}
        checked={all}
        onChange={() => selection.onSelect(new Set(all ? [] : rows.map(keyOf)))}
      />
    </div>
  );
}

interface RowOptions<T> extends Pick<TableOptions<T>, 'columns' | 'selection'> {
  at: number;
  start: number;
  id: string;
  row: T;
}

function classOf<T>({ onNarrow, isNumber }: Column<T>): string {
  return [onNarrow && styles[`${onNarrow}OnNarrow`], isNumber && styles.number].filter(Boolean).join(' ');
}

function Row<T>({ at, start, id, row, columns, selection }: RowOptions<T>) {
  const toggle = () => {
    const next = new Set(selection?.selected);
    if (!next.delete(id)) next.add(id);
    selection?.onSelect(next);
  };
  return (
    <div role="row" aria-rowindex={at + 2} className={styles.row} style={{ transform: `translateY(${start}px)` }}>
      {selection && (
        <div role="cell" className={styles.choice}>
          <input
            type="checkbox"
            aria-label={`Select ${selection.nameOf(row)}`}
            checked={selection.selected.has(id)}
            onChange={toggle}
          />
        </div>
      )}
      {columns.map((column) => (
        <div role="cell" key={column.id ?? column.name} className={classOf(column)}>
          {column.cell(row)}
        </div>
      ))}
    </div>
  );
}
