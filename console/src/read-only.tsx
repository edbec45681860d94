import { createContext, useContext, type ReactNode } from 'react';

const ReadOnly = createContext(false);

/** Lets a person read the fields inside without changing them. */
export function ReadOnlyFields({ isReadOnly, children }: { isReadOnly: boolean; children: ReactNode }) {
  return <ReadOnly value={isReadOnly}>{children}</ReadOnly>;
}

export const useIsReadOnly = (): boolean => useContext(ReadOnly);

/** What only a person who may change the fields is offered, such as a button that adds one. */
export function Changes({ children }: { children: ReactNode }) {
  return useIsReadOnly() ? null : children;
}
