/** What `gcs` ends with, besides 0 for success (docs/guides/cli.md). */
export const exitCodes = {
  /** The service refused a call, or a run failed. */
  failed: 1,
  /** `plan` found something that differs. */
  differs: 2,
  /** The command line, the settings or a file is wrong. */
  wrong: 3,
  /** Somebody else changed the project since this folder was in step with it. */
  drift: 4,
  /** The call waits for an approval. */
  held: 5,
  /** The service does not accept the key, for example because somebody revoked it. */
  signedOut: 6,
} as const;

/** Ends the program with this line and exit code. The text says what is wrong and what is expected. */
export class Problem extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode: number = exitCodes.wrong) {
    super(message);
    this.exitCode = exitCode;
  }
}
