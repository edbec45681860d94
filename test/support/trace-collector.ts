import { createServer } from 'node:http';
import { listen } from './ports.js';

export interface CollectedSpan {
  traceId: string;
  spanId: string;
  parentSpanId: string;
  name: string;
  service: string;
  attributes: Record<string, unknown>;
  events: string[];
}

export interface TraceCollector {
  url: string;
  /** The paths to which spans were posted. */
  paths: Set<string>;
  spansOf(traceId: string): CollectedSpan[];
  /** Everything that was received, unchanged. */
  text(): string;
  close(): Promise<void>;
}

/** A receiver of OTLP/HTTP in JSON (opentelemetry-proto, trace service). */
export async function startTraceCollector(): Promise<TraceCollector> {
  const spans: CollectedSpan[] = [];
  const texts: string[] = [];
  const paths = new Set<string>();
  const server = createServer((req, res) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of req) chunks.push(chunk as Buffer);
      const text = Buffer.concat(chunks).toString();
      paths.add(req.url ?? '');
      texts.push(text);
      spans.push(...spansIn(JSON.parse(text)));
      res.setHeader('content-type', 'application/json').end('{}');
    })().catch(() => res.destroy());
  });
  const { url, close } = await listen(server);
  return {
    url,
    paths,
    spansOf: (traceId) => spans.filter((span) => span.traceId === traceId),
    text: () => texts.join('\n'),
    close,
  };
}

function spansIn({ resourceSpans }: any): CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }: any) =>
    scopeSpans.flatMap(({ spans }: any) =>
      spans.map(({ traceId, spanId, parentSpanId = '', name, attributes = [], events = [] }: any) => ({
        traceId,
        spanId,
        parentSpanId,
        name,
        service: attributesOf(resource.attributes)['service.name'],
        attributes: attributesOf(attributes),
        events: events.map((event: any) => event.name),
      })),
    ),
  );
}

function attributesOf(list: any[]): Record<string, unknown> {
  return Object.fromEntries(list.map(({ key, value }) => [key, Object.values(value)[0]]));
}
