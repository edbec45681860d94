import { useLayoutEffect, useState, type RefObject } from 'react';
import { keptInBrowser, keptJson } from './kept.js';

/** Long texts are cut at this width, and their tooltip or page shows the rest. */
const maxWidth = 480;
/** The narrowest column that a person can make. */
export const minWidth = 48;
const cellPadding = 20;

const storageName = (table: string) => `console.widths.${table}`;

function storedWidths(table: string): Readonly<Record<string, number>> {
  return Object.fromEntries(
    Object.entries(keptJson(keptInBrowser, storageName(table)) ?? {}).filter(
      (entry): entry is [string, number] => typeof entry[1] === 'number',
    ),
  );
}

interface Sized {
  id: string;
  /** The size of the grid track without a choice of the person. */
  width: string;
}

/**
 * The tracks of a table: a width that a person has chosen in this browser, otherwise that of the column. Columns that
 * share the rest of the space get it in proportion to what their cells contain.
 */
export function useColumnWidths(table: string, columns: readonly Sized[], body: RefObject<HTMLElement | null>) {
  const [chosen, setChosen] = useState(() => storedWidths(table));
  const [natural, setNatural] = useState<Readonly<Record<string, number>>>({});
  const shown = columns.map(({ id }) => id).join();
  useLayoutEffect(() => {
    const rows = [...(body.current?.querySelectorAll('[role=row]') ?? [])];
    const ids = shown.split(',');
    const widths = ids.map((_, at) => Math.max(minWidth, ...rows.map((row) => contentWidth(row, at - ids.length))));
    setNatural(Object.fromEntries(ids.map((id, at) => [id, Math.min(maxWidth, widths[at] ?? minWidth)])));
  }, [shown, body]);
  const resize = (id: string, width: number | undefined) => {
    const { [id]: _before, ...others } = chosen;
    const next = width === undefined ? others : { ...others, [id]: Math.max(minWidth, Math.round(width)) };
    setChosen(next);
    keptInBrowser.keep(storageName(table), JSON.stringify(next));
  };
  const tracks = columns.map(({ id, width }) => {
    const own = chosen[id];
    if (own !== undefined) return `${own}px`;
    const share = natural[id];
    return share === undefined ? width : width.replace(/[\d.]+fr/, `${Math.round(share)}fr`);
  });
  return { tracks, resize };
}

/** The width of what a cell contains, also of what is cut. `at` counts from the end, because a row may begin with a choice. */
function contentWidth(row: Element, at: number): number {
  const cell = [...row.children].at(at);
  if (!cell) return 0;
  const range = document.createRange();
  range.selectNodeContents(cell);
  return range.getBoundingClientRect().width + cellPadding;
}
