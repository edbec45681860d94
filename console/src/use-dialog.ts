import { useNavigate, useSearch } from '@tanstack/react-router';

/** Returns the open dialog of the page. It is in the query string, so that the command palette can open it too. */
export function useDialog(): [dialog: string | undefined, setDialog: (dialog: string | undefined) => void] {
  const { ask } = useSearch({ strict: false });
  const navigate = useNavigate();
  return [
    ask,
    (dialog) =>
      void navigate({
        to: '.',
        // Keep the other parameters, which are filters.
        search: (before: Record<string, unknown>) => ({ ...before, ask: dialog }),
        replace: true,
      } as never),
  ];
}
