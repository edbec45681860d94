/** The only headers that a receiver can read: `Authorization` is not among them (specification, Inbound callback receivers). */
export type ReadableHeader =
  | 'content-type'
  | 'x-hub-signature-256'
  | 'x-github-event'
  | 'x-github-delivery'
  | 'x-om-signature'
  | 'x-server-key';

export type HeaderReader = (name: ReadableHeader) => string | undefined;

export interface Delivery {
  /** What stands for the path's placeholders, each of `[A-Za-z0-9_-]{1,128}`. */
  params: Readonly<Record<string, string>>;
  header: HeaderReader;
  /** Exactly the bytes that came. */
  body: Buffer;
}

/** The answer; it never holds what a caller sent. `body` is null where the status has none. */
export interface Acknowledgement {
  status: number;
  body: Readonly<Record<string, unknown>> | null;
}

/** One receiver as data; the order of its parts is that of `receive.ts`. */
export interface Receiver {
  path: string;
  summary: string;
  /** Refuses by configuration and headers alone, before the body is read. */
  admit?(header: HeaderReader): void;
  /** Refuses by the raw bytes, before anything is parsed. */
  verify?(delivery: Delivery): void;
  /** What a repeat of this delivery has in common with it; undefined: it cannot be told. */
  deliveryId?(delivery: Delivery): string | undefined;
  /** Resolves when what it acknowledges can no longer be lost. */
  handOver(delivery: Delivery): Promise<Acknowledgement>;
}

export function accepted(status = 202): Acknowledgement {
  return { status, body: { status: 'accepted' } };
}

export function ignored(status: number, reason: string): Acknowledgement {
  return { status, body: { status: 'ignored', reason } };
}
