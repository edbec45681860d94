import type { ConsolePage } from '@service/surfaces/console/console-pages.js';
import { navigation } from './navigation.js';
import { useMay } from './session.js';

/** Returns the pages that this person can use, without empty groups. */
export function useOfferedPages(): typeof navigation {
  const may = useMay();
  const isOffered = ({ needs }: ConsolePage) => needs === undefined || may(needs.operation);
  return navigation
    .map(({ group, pages }) => ({ group, pages: pages.filter(isOffered) }))
    .filter(({ pages }) => pages.length > 0);
}
