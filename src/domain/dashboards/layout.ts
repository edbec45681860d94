import { AppError } from '../../base/errors.js';
import type { Cell, Dashboard, NewComponent } from './schemas.js';

type Tabs = Dashboard['tabs'];

/**
 * The tab of a new component: an existing one, or a new one with the id `newTabId`.
 * @throws AppError `validation_failed` for an unknown tab
 */
export function tabFor(tabs: Tabs, { tab_id, tab_name }: Pick<NewComponent, 'tab_id' | 'tab_name'>, newTabId: string) {
  if (tab_id !== undefined && tab_name !== undefined)
    throw new AppError('validation_failed', 'tab_id, tab_name: must not both be given');
  if (tab_name !== undefined) return tabs.find(({ name }) => name === tab_name) ?? { name: tab_name, id: newTabId };
  const tab = tab_id === undefined ? tabs[0] : tabs.find(({ id }) => id === tab_id);
  if (!tab) throw new AppError('validation_failed', `tab_id: the dashboard has no tab ${tab_id}`);
  return tab;
}

export function cellFor(
  position: readonly Cell[],
  tabId: string,
  componentId: string,
  place: NewComponent['position'],
): Cell {
  const { x, y, w, h, minW, minH } = place;
  const below = Math.max(0, ...position.filter(({ tab_id }) => tab_id === tabId).map((cell) => cell.y + cell.h));
  return { tab_id: tabId, x, y: y ?? below, h: Math.max(h, minH), w: Math.max(w, minW), i: componentId, minW, minH };
}
