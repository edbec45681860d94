import { useState } from 'react';
import { keptInBrowser, keptJson } from '../kept.js';
import { personId, projectId } from '../session.js';
import { filterIn, type RunFilter } from './filter.js';

/** A filter and columns of the list of runs under a name. */
export interface SavedView {
  name: string;
  filter: RunFilter;
  columns: readonly string[];
}

const maxViews = 50;

/** The views that this browser keeps for the person in this project, by name. */
export function useSavedViews() {
  const key = `console.runs.views:${personId()}:${projectId}`;
  const [views, set] = useState(() => read(key));
  const keep = (next: readonly SavedView[]) => {
    set(next);
    keptInBrowser.keep(key, JSON.stringify(next));
  };
  return {
    views,
    isFull: views.length >= maxViews,
    /** Replaces a view with the same name. */
    save: (view: SavedView) =>
      keep([...without(views, view.name), view].sort((one, other) => one.name.localeCompare(other.name))),
    remove: (name: string) => keep(without(views, name)),
  };
}

const without = (views: readonly SavedView[], name: string) => views.filter((view) => view.name !== name);

function read(key: string): readonly SavedView[] {
  try {
    const stored = (keptJson(keptInBrowser, key) ?? []) as SavedView[];
    return stored.map(({ name, filter, columns }) => ({
      name,
      filter: filterIn({ ...filter }),
      columns: [...columns],
    }));
  } catch {
    return [];
  }
}
