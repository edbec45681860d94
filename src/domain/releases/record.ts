import { z } from 'zod';
import { Digest } from '../../base/hash.js';
import { exampleId, Id, UserId } from '../../base/ids.js';
import { pickShown } from '../../base/pick.js';
import { EpochSeconds } from '../../base/time.js';
import { defineCollection } from '../../stores/collections.js';
import type { ProjectModelDocument } from '../../stores/project-models.js';
import { ChannelName } from '../agentflows/record/channels.js';
import type { AgentflowDocument } from '../agentflows/record.js';

const Slot = z.object({
  name: z.string().describe('Made from the name of the connector.').meta({ example: 'mail' }),
  category: z.string().describe('The category that its connector must have.').meta({ example: 'mail' }),
  connector_id: Id.describe('The connector that is used where a channel names no other one.'),
  table_id: Id.optional().describe(
    'The table of this connector, if a `map` reads its rows. A channel can name the connector of another table.',
  ),
});

const ReleasedTool = z.object({
  slot: z.string().meta({ example: 'search' }),
  name: z.string().meta({ example: 'find_documents' }),
  hash: Digest.describe('The hash of the accepted definition.'),
  is_destructive: z
    .boolean()
    .describe('Whether the server says, by `destructiveHint`, that the tool may destroy data.'),
});
export type ReleasedTool = z.infer<typeof ReleasedTool>;

const ReleasedFlow = z.object({
  step_id: z
    .string()
    .describe('The `flow` step, or `agent/skill/action` for an action with which an agent calls the agentflow.')
    .meta({ example: 'assess' }),
  agentflow_id: Id,
  version: z
    .int()
    .describe('The release of that agentflow. 0: the same release, for an agentflow that starts itself.')
    .meta({ example: 2 }),
  digest: z.string().meta({ example: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08' }),
});
export type ReleasedFlow = z.infer<typeof ReleasedFlow>;

/** A published version of an agentflow, which never changes. */
export const Release = z
  .object({
    agentflow_id: Id,
    version: z.int().describe('From 1, without gaps.').meta({ example: 3 }),
    digest: Digest.describe(
      'SHA-256 of the canonical JSON (RFC 8785) of all that decides what a run does: the agentflow with its prompts, skills and actions, its slots, model names, the hashes of accepted MCP tools, and the digests of the agentflows that it starts.',
    ),
    base: Digest.nullable().describe('The digest of the release before it. Null for the first one.'),
    published_at: EpochSeconds,
    published_by: UserId,
    note: z.string().meta({ example: 'Checks the register first' }),
    external_id: z.string().nullable().meta({ example: 'build-117' }),
    slots: z.array(Slot),
    tools: z.array(ReleasedTool).describe('The tools of MCP servers that it may call.'),
    flows: z
      .array(ReleasedFlow)
      .describe('The releases of other agentflows that its `flow` steps and the calls of its agents start.'),
  })
  .meta({ id: 'Release' });
export type Release = z.infer<typeof Release>;
export type Slot = Release['slots'][number];

/** The release that a run executes. */
export const RunningRelease = z.object({
  version: z.int().meta({ example: 2 }),
  digest: Digest,
  channel: ChannelName.describe(
    'The channel that chose the release or, if the caller named the release, its connectors.',
  ),
});
export type RunningRelease = z.infer<typeof RunningRelease>;

export type DefaultModel = Pick<ProjectModelDocument, 'model' | 'temperature' | 'max_tokens'>;

/** What a release contains; also that of the saved agentflow, to compare it. */
export interface ReleaseContent extends Pick<Release, 'slots' | 'tools' | 'flows'> {
  agentflow: AgentflowDocument;
  /** The model settings of the project, which apply to agents without a model. Null if there were none, or no agent needs them. */
  default_model: DefaultModel | null;
}

/** `_id` is `<agentflow id>:<version>`; `request` is the record id of the call that published it. */
export interface ReleaseDocument extends Release, ReleaseContent {
  _id: string;
  projectID: string;
  request: string;
}

export function toRelease(document: ReleaseDocument): Release {
  return pickShown(Release, document);
}

export const exampleRelease: Release = {
  agentflow_id: exampleId,
  version: 3,
  digest: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  base: null,
  published_at: 1763683200.5,
  published_by: 'user_1',
  note: 'Checks the register first',
  external_id: 'build-117',
  slots: [{ name: 'mail', category: 'mail', connector_id: exampleId }],
  tools: [],
  flows: [],
};

export const releasesCollection = defineCollection('agentflow_versions', {
  indexes: [
    { keys: { agentflow_id: 1, version: -1 } },
    { keys: { agentflow_id: 1, request: 1 } },
    { keys: { agentflow_id: 1, external_id: 1 } },
  ],
});

declare module '../../stores/collections.js' {
  interface Documents {
    agentflow_versions: ReleaseDocument;
  }
}
