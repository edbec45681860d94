import { useRouterState } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { forms, navigation } from './navigation.js';
import { Page } from './parts.js';
import { useMay } from './session.js';

const pages = [...forms, ...navigation.flatMap((group) => group.pages)];

/** Renders the current page, or says why this person may not see it. */
export function OfferedPage({ children }: { children: ReactNode }) {
  const may = useMay();
  // For example `runs/$runId`.
  const path = useRouterState({ select: ({ matches }) => matches.at(-1)?.fullPath.slice(1) ?? '' });
  const page = pages.find((each) => each.path === path || each.path === path.split('/')[0]);
  if (!page?.needs || may(page.needs.operation)) return children;
  return (
    <Page title={page.name}>
      <p className="note">Your role in this project does not include access to this page. {page.needs.allowedBy}</p>
    </Page>
  );
}
