import { navigation, type NavigationEntry } from './navigation.js';
import { useMay } from './session.js';

/** The pages that this person can use, by group; groups without one are left out. */
export function useOffered(): typeof navigation {
  const may = useMay();
  const isOffered = ({ needs }: NavigationEntry) => needs === undefined || may(needs.operation);
  return navigation
    .map(({ group, pages }) => ({ group, pages: pages.filter(isOffered) }))
    .filter(({ pages }) => pages.length > 0);
}
