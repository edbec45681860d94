import { useRouterState } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { navigation, type Needs as Needed } from './navigation.js';
import { useMay } from './session.js';
import { useTitle } from './use-title.js';

interface NeedsOptions extends Needed {
  title: string;
  children: ReactNode;
}

/** Renders the page, or says why this person may not see it. */
export function Needs({ title, operation, allowedBy, children }: NeedsOptions) {
  const may = useMay();
  return may(operation) ? children : <Refusal title={title} allowedBy={allowedBy} />;
}

function Refusal({ title, allowedBy }: Pick<NeedsOptions, 'title' | 'allowedBy'>) {
  useTitle(title);
  return (
    <>
      <h1>{title}</h1>
      <p className="note">Your role in this project does not include access to this page. {allowedBy}</p>
    </>
  );
}

const pages = navigation.flatMap((group) => group.pages);

/** Renders the current page if the person meets its requirement in the navigation. */
export function OfferedPage({ children }: { children: ReactNode }) {
  // For example `/runs/$runId`.
  const [, path] = useRouterState({ select: ({ matches }) => matches.at(-1)?.fullPath.split('/') ?? [] });
  const page = pages.find((each) => each.path === path);
  return page?.needs ? (
    <Needs title={page.name} {...page.needs}>
      {children}
    </Needs>
  ) : (
    children
  );
}
