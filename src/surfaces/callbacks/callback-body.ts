export interface RawBody {
  /** A Buffer, or a plain Uint8Array after the transfer to a thread. */
  body: Uint8Array;
  contentType: string | undefined;
  /** The limit of a compressed body after decoding. */
  maxBytes: number;
}
