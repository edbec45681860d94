import { createParser, type EventSourceMessage } from 'eventsource-parser';

export interface EventStream {
  status: number;
  headers: Headers;
  /** The events so far. */
  events: { id: number; event: string; data: any }[];
  /** Settles when the server closes the stream. */
  ended: Promise<void>;
  leave(): void;
}

/** Reads server-sent events as a browser does. */
export async function openEventStream(url: string, headers: Record<string, string>): Promise<EventStream> {
  const gone = new AbortController();
  const response = await fetch(url, { headers, signal: gone.signal });
  const events: EventStream['events'] = [];
  const onEvent = ({ id, event, data }: EventSourceMessage) =>
    void events.push({ id: Number(id), event: event ?? '', data: JSON.parse(data) });
  const ended = read(response, createParser({ onEvent }));
  ended.catch(() => undefined);
  return { status: response.status, headers: response.headers, events, ended, leave: () => gone.abort() };
}

async function read(response: Response, parser: ReturnType<typeof createParser>): Promise<void> {
  if (!response.body) return;
  const text = new TextDecoder();
  for await (const chunk of response.body) parser.feed(text.decode(chunk as Uint8Array, { stream: true }));
}
