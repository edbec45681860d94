import { useNavigate, useSearch } from '@tanstack/react-router';

/** The dialog of the page that is open. It is part of the address, so that the command palette can open it as well. */
export function useAsked(): [asked: string | undefined, ask: (dialog: string | undefined) => void] {
  const { ask } = useSearch({ strict: false });
  const navigate = useNavigate();
  return [
    ask,
    (dialog) =>
      void navigate({
        to: '.',
        // The other words of the address are filters and stay.
        search: (before: Record<string, unknown>) => ({ ...before, ask: dialog }),
        replace: true,
      } as never),
  ];
}
