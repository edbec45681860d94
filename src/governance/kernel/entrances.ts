/** How a call arrived, as rules and records name it. `agent`: a run calls on behalf of the person who started it. */
export const channels = ['rest', 'mcp', 'console', 'schedule', 'agent', 'callback'] as const;
export type Channel = (typeof channels)[number];

/** What the kernel checks for the calls of one entrance. S1, S2 and S4 apply to all of them. */
interface Checks {
  channel: Channel;
  /**
   * S3. `quota`: the sliding windows of project and organization. `requests`: the limits of credential and organization.
   * `none` for work that people do not start directly.
   */
  limit: 'quota' | 'requests' | 'none';
  /** S5. Reads of the platform are only authorized and limited. */
  policies: boolean;
  /**
   * S6. `token`: the caller repeats the call with a resume token. `repeat`: it repeats the call as it is, and an approval
   * that was given for it counts. `named`: it repeats the call with the id of the approval. Otherwise the caller cannot
   * wait, and the text says why. `none` without policies.
   */
  approval: 'token' | 'repeat' | 'named' | 'none' | { refused: string };
  /** S7. Whether a call can ask for a dry run. */
  dryRun: boolean;
  /** Which calls have a lifecycle and an audit entry. `refusals`: work that records its outcome itself when it ends. */
  records: 'all' | 'changes' | 'refusals' | 'none';
}

const refusedFor = (caller: string) => ({
  refused: `the policies require an approval, but ${caller} cannot wait for one`,
});
const byRequest = { limit: 'requests', policies: true, dryRun: false, records: 'changes' } as const;
const byTool = { limit: 'quota', policies: true, approval: 'token', dryRun: true, records: 'all' } as const;
const byService = { limit: 'none', policies: true, dryRun: false, records: 'changes' } as const;

/** Every way into the kernel, and what it checks there (docs/architecture.md, "One operation"). */
const checksOf = {
  /** A tool of the gateway over REST. */
  tool: { ...byTool, channel: 'rest' },
  /** A tool of the gateway over MCP. */
  mcp: { ...byTool, channel: 'mcp' },
  /** A route that changes something. */
  route: { ...byRequest, channel: 'rest', approval: 'token' },
  /** A route that receives a file, whose content is known only once it is received. */
  upload: { ...byRequest, channel: 'rest', approval: refusedFor('an upload') },
  /** A route that only reads. */
  read: { ...byRequest, channel: 'rest', approval: 'none', policies: false, records: 'none' },
  /** A page that a person opens in the console, or on which they allow `gcs` a key. */
  page: { ...byService, channel: 'console', approval: 'repeat' },
  /** An act of a run. */
  act: { ...byService, channel: 'agent', approval: 'named' },
  /** A read of the context graph by a run. */
  query: { ...byTool, channel: 'agent', approval: refusedFor('a run that reads the context graph'), dryRun: false },
  /** A write to the context graph by a remembered text. */
  memory: { ...byTool, channel: 'agent', approval: refusedFor('a memory'), dryRun: false },
  /** A document whose text is remembered. */
  document: { ...byService, channel: 'agent', approval: refusedFor('a document') },
  schedule: { ...byService, channel: 'schedule', approval: refusedFor('a schedule') },
  /** An event that starts a run. */
  event: { ...byService, channel: 'callback', approval: refusedFor('an event') },
  /** A call of the address that ends a wait. */
  address: { ...byService, channel: 'callback', approval: refusedFor('the call of an address') },
  /** A callback that writes to the context graph at once. */
  ingest: { ...byService, channel: 'callback', approval: refusedFor('a service'), records: 'all' },
  /** A callback that starts work. */
  sync: { ...byService, channel: 'callback', approval: refusedFor('a service'), records: 'refusals' },
  /** A schedule that loads data. */
  load: { ...byService, channel: 'schedule', approval: refusedFor('a service'), records: 'refusals' },
} as const satisfies Record<string, Checks>;

export type Entrance = keyof typeof checksOf;

export const entrances = Object.keys(checksOf) as Entrance[];

export function checksAt(entrance: Entrance): Checks {
  return checksOf[entrance];
}
