/** The only headers that a receiver can read; `Authorization` is not included (specification). */
type ReadableHeader =
  'content-type' | 'x-hub-signature-256' | 'x-github-event' | 'x-github-delivery' | 'x-om-signature' | 'x-server-key';

export type HeaderReader = (name: ReadableHeader) => string | undefined;

export interface Delivery {
  /** The values of the path's placeholders. Each one matches `[A-Za-z0-9_-]{1,128}`. */
  params: Readonly<Record<string, string>>;
  header: HeaderReader;
  /** The exact bytes received. */
  body: Buffer;
}

/** The response to the sender. It never contains data of the caller. `body` is null if the status has no body. */
export interface Acknowledgement {
  status: number;
  body: Readonly<Record<string, unknown>> | null;
}

/** The token of a sender that checks an address before it registers it. */
export interface Echo {
  status: 200;
  text: string;
}

/** One receiver as data. `receive.ts` calls its parts in order. */
export interface Receiver {
  path: string;
  summary: string;
  /** Whether unverified senders may send bodies. They share a smaller memory budget. */
  isOpen?: true;
  /** Whether the downstream service answers, with any status. */
  isForwarded?: true;
  /** The limit in bytes, if lower than the common one. */
  bodyLimit?: number;
  /**
   * Returns whether the address belongs to something that takes callbacks. A receiver with this function answers senders
   * that check the address before they register it.
   */
  isRegistered?(params: Delivery['params']): Promise<boolean>;
  /** Checks the configuration and the headers before the body is read. */
  admit?(header: HeaderReader): void;
  /** Checks the raw bytes before anything is parsed. */
  verify?(delivery: Delivery): void | Promise<void>;
  /** Returns an id that all repeats of a delivery share, or undefined if repeats cannot be recognized. */
  deliveryId?(delivery: Delivery): string | undefined;
  /** Processes the delivery. Resolves when the acknowledged data can no longer be lost. */
  handOver(delivery: Delivery): Promise<Acknowledgement>;
}

export function accepted(status: 200 | 202): Acknowledgement {
  return { status, body: { status: 'accepted' } };
}

export function ignored(reason: string): Acknowledgement {
  return { status: 200, body: { status: 'ignored', reason } };
}
