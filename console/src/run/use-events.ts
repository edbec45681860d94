import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { ExecutionEvent } from '../api.js';
import { followWhileVisible } from '../follow.js';
import { refetchSoon } from '../news.js';

const maxKept = 1000;

interface Progress {
  progress: number;
  total: number | null;
  message: string | null;
}
type Message =
  | ExecutionEvent
  | { type: 'model_delta'; data: { n: number; text: string } }
  | { type: 'step_progress'; data: Progress };

/** Follows the events of a run while the page is visible, and refetches the run after each. */
export function useEvents(id: string) {
  const queries = useQueryClient();
  const [events, setEvents] = useState<ExecutionEvent[]>([]);
  const [modelText, setModelText] = useState('');
  const [progress, setProgress] = useState<Progress>();
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    let last: number | undefined;
    const onEvent = (event: Message) => {
      if ('seq' in event) {
        if (event.seq <= (last ?? 0)) return;
        last = event.seq;
        setModelText('');
        setProgress(undefined);
        setEvents((known) => [...known, event].slice(-maxKept));
        refetchSoon(queries, ['run', id]);
      } else if (event.type === 'step_progress') setProgress(event.data);
      else {
        const { n, text } = event.data;
        // Each attempt of a turn starts a new text.
        setModelText((known) => ((n === 1 ? '' : known) + text).slice(-20_000));
      }
    };
    return followWhileVisible<Message>(`/execute_flow/${encodeURIComponent(id)}/events`, {
      last: () => last,
      onEvent,
      onProblem: setError,
    });
  }, [id, queries]);
  return { events, modelText, progress, error };
}
