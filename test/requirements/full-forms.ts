interface Extent {
  /** The size of a run without the variable. */
  readonly usual: number;
  /** The size that the requirement promises. */
  readonly full: number;
}

/** Environment variables that set the size of tests that take too long to run in full each time. */
export const fullForms = {
  /** Load, in minutes. */
  SOAK_MINUTES: { usual: 0.8, full: 30 },
  /** Rounds of 50 parallel refreshes. */
  REFRESH_ROUNDS: { usual: 8, full: 200 },
  /** Schedules that are due at the same time. */
  DUE: { usual: 20, full: 500 },
  /** Runs whose stored data is searched. */
  ENCRYPTION_RUNS: { usual: 20, full: 1000 },
  /** MCP sessions that are opened. */
  MCP_SESSIONS: { usual: 200, full: 5000 },
  /** Calls of MCP tools by 50 people, each with their own token. */
  MCP_OAUTH_CALLS: { usual: 50, full: 10_000 },
  /** The percentage of the worst-case inputs that is sent. */
  EVENT_LOOP_PERCENT: { usual: 10, full: 100 },
  /** Examples that the fuzzer generates for each operation. */
  FUZZ_EXAMPLES: { usual: 3, full: 40 },
  /** How often a worker that embeds is killed. */
  EMBEDDING_KILLS: { usual: 2, full: 100 },
  /** Nodes of a large project, next to one with 1 % of them. */
  SHARE_NODES: { usual: 5000, full: 350_000 },
  /** Viewers of a run. */
  VIEWERS: { usual: 100, full: 1000 },
  /** Runs in progress while API and worker are killed. */
  KILLED_RUNS: { usual: 20, full: 200 },
  /** Runs with held acts while worker, API and Temporal are killed. */
  KILLED_ACT_RUNS: { usual: 10, full: 500 },
  /** Events of a burst. */
  BURST_EVENTS: { usual: 2000, full: 10_000 },
  /** Entities and relationships under a commit of the ontology; a multiple of 2,000. */
  ONTOLOGY_ELEMENTS: { usual: 6000, full: 24_000 },
  /** How many of 10,000 runs a person scrolls through in the console. */
  SCROLLED_RUNS: { usual: 1000, full: 10_000 },
  /** How many generators of clients run on the API reference; the first two need little time. */
  GENERATORS: { usual: 2, full: 8 },
  /** The percentage of the files of other projects that is uploaded. */
  WORLD_FILES_PERCENT: { usual: 25, full: 100 },
  /** Random flows whose outputs are compared with those of an interpreter. */
  RANDOM_FLOWS: { usual: 40, full: 300 },
  /** How long random queries are sent to the query guard, in milliseconds. */
  GUARD_FUZZ_MS: { usual: 5000, full: 20_000 },
} as const satisfies Record<string, Extent>;

export type FullForm = keyof typeof fullForms;

/** The size in which this run verifies a requirement. */
export function sizeOf(variable: FullForm, environment: NodeJS.ProcessEnv = process.env): number {
  const text = environment[variable];
  const size = text === undefined ? fullForms[variable].usual : Number(text);
  if (!(size > 0)) throw new Error(`${variable} must be a number above 0`);
  return size;
}

export function isReduced(variable: FullForm, environment?: NodeJS.ProcessEnv): boolean {
  return sizeOf(variable, environment) < fullForms[variable].full;
}
