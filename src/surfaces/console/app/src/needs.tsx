import type { ReactNode } from 'react';
import { useMay } from './session.js';

interface NeedsOptions {
  title: string;
  /** The operation without which the page shows nothing, as `<method> <path>`. */
  operation: string;
  grant: string;
  children: ReactNode;
}

/** A page, or the reason why this person does not see it. */
export function Needs({ title, operation, grant, children }: NeedsOptions) {
  const may = useMay();
  if (may(operation)) return children;
  return (
    <>
      <h1>{title}</h1>
      <p className="note">Your role in this project does not show this page. It needs the grant {grant}.</p>
    </>
  );
}
