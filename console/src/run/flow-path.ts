import type { Execution } from '../api.js';

/** Returns an id within a path of the flow, as previews are named: `each/17/writer`, or `writer` in the main part. */
export const placeOf = (id: string, path = ''): string => (path === '' ? id : `${path}/${id}`);

/**
 * Returns a path in words. It consists of pairs: a step, and one of its parts. `each/17/fan/left` is
 * `Each order, item 17 › Channels, left`.
 */
export function pathText(path: string | undefined, { agentflow: { steps = [] } }: Execution): string {
  if (path === undefined || path === '') return '';
  const byId = new Map(steps.map((step) => [step._id, step]));
  const names = path.split('/');
  const pairs = names.flatMap((id, at) => (at % 2 === 0 ? [{ id, part: names[at + 1] ?? '' }] : []));
  return pairs
    .map(({ id, part }) => {
      const step = byId.get(id);
      const from = /^items-(\d+)$/.exec(part)?.[1];
      if (from !== undefined) return `${step?.title || id}, items from ${from}`;
      return `${step?.title || id}, ${partNames[step?.type ?? ''] ?? ''}${part}`;
    })
    .join(' › ');
}

const partNames: Record<string, string> = { map: 'item ', loop: 'round ' };
