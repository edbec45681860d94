import { consolePages, type ConsolePage } from '@service/surfaces/console/console-pages.js';

const groups = ['Operate', 'Data', 'Govern', 'Project'] as const;

export const pages: readonly ConsolePage[] = consolePages;

/** The pages to which the navigation links. None of them has parameters. */
export const navigation: readonly { group: string; pages: readonly ConsolePage[] }[] = groups.map((group) => ({
  group,
  pages: pages.filter((page) => page.group === group),
}));
