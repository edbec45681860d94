import { z } from 'zod';
import type { Principal } from '../../../auth/principal.js';
import { AppError } from '../../../base/errors.js';
import { pick } from '../../../base/pick.js';
import type { Collections } from '../../../stores/collections.js';
import { readFresh } from '../../../stores/fresh-reads.js';
import { ChannelName, ownValue, production } from '../../agentflows/record/channels.js';
import type { AgentflowDocument } from '../../agentflows/record.js';
import { findAgentflow } from '../../agentflows/operations/store.js';
import type { DefaultModel, RunningRelease } from '../record.js';
import { boundAgentflow, chosenVersion } from '../rules/bind.js';
import { pinnedVersions } from '../rules/starts.js';
import { slotProblems, tablesOfSlots } from './problems.js';
import { findRelease } from './publish.js';

/** What whoever starts a run may say about the release that it takes. */
export const choiceFields = {
  version: z
    .int()
    .min(1)
    .optional()
    .describe('The release to run. By default the one to which the channel points.')
    .meta({ example: 3 }),
  channel: ChannelName.optional().describe(
    'The channel whose release and connectors the run takes. Default `production`.',
  ),
  draft: z
    .boolean()
    .optional()
    .describe(
      'Runs the saved agentflow. Excludes `version` and `channel`. Without a release, a run of `POST /execute_flow` is a draft anyway.',
    ),
};
export const StartChoice = z.object(choiceFields);
export type StartChoice = z.infer<typeof StartChoice>;

/** Whether a start without a choice may run the saved agentflow while there is no release. */
type BeforeFirstRelease = 'runs the draft' | 'is refused';

export interface StartRequest extends StartChoice {
  agentflowId: string;
  beforeFirstRelease: BeforeFirstRelease;
}

/** What a run executes, whatever is edited afterwards. */
export interface Runnable {
  agentflow: AgentflowDocument;
  /** Null for a draft. */
  release: RunningRelease | null;
  default_model: DefaultModel | null;
  /** The releases that calls of its agents start, by the step id of the call. Empty for a draft. */
  calls: ReadonlyMap<string, number>;
  /** The people who published the release and pointed the channel to it. */
  causedBy: string[];
}

/**
 * Finds what a run executes.
 * @throws AppError `not_found`, `conflict` if there is no such release or no draft may run, `validation_failed` if the slots do not fit
 */
export async function resolveStart(
  collections: Collections,
  principal: Principal,
  { agentflowId, beforeFirstRelease, ...choice }: StartRequest,
  executionId: string,
): Promise<Runnable> {
  const saved = await findAgentflow(collections, principal, agentflowId);
  const { version, channel = production } = choice;
  refuseBoth(choice);
  if (runsDraft(saved, choice, beforeFirstRelease)) return draftOf(collections, saved);
  const pointer = ownValue(saved.channels, channel);
  const chosen = version ?? (pointer && chosenVersion(pointer, executionId));
  if (chosen === undefined) throw new AppError('conflict', whyNoRelease(saved, channel));
  const release = await findRelease(collections, agentflowId, chosen);
  const slots = pointer?.slots ?? {};
  const problems = await slotProblems(collections, release, slots);
  if (problems.length > 0) throw new AppError('validation_failed', problems.join('; '));
  return {
    agentflow: {
      ...boundAgentflow(release, slots, await tablesOfSlots(collections, release, slots)),
      ...pick(saved, 'isActive', 'concurrency'),
    },
    release: { version: chosen, digest: release.digest, channel },
    default_model: release.default_model,
    calls: pinnedVersions(release),
    causedBy: [release.published_by, ...(pointer ? [pointer.promoted_by] : [])],
  };
}

function refuseBoth({ version, channel, draft }: StartChoice): void {
  if (draft === true && (version !== undefined || channel !== undefined))
    throw new AppError('invalid_request', 'draft: leave out version and channel to run the saved agentflow');
}

function runsDraft(saved: AgentflowDocument, choice: StartChoice, before: BeforeFirstRelease): boolean {
  if (choice.draft !== undefined) return choice.draft;
  const { version, channel } = choice;
  const isUnreleased = saved.latest_version === undefined && version === undefined && channel === undefined;
  return isUnreleased && before === 'runs the draft';
}

function whyNoRelease({ _id, name, latest_version }: AgentflowDocument, channel: string): string {
  if (latest_version === undefined)
    return `the agentflow ${JSON.stringify(name)} has no release: publish it with POST /agentflow/${_id}/promote`;
  return `the channel ${JSON.stringify(channel)} points to no release of the agentflow ${JSON.stringify(name)}: point it to one with PUT /agentflow/${_id}/channels/${channel}`;
}

async function draftOf(collections: Collections, saved: AgentflowDocument): Promise<Runnable> {
  await refuseDraft(collections, saved.projectID);
  const default_model = await readFresh(collections.project_models, saved.projectID);
  return { agentflow: saved, release: null, default_model, calls: new Map(), causedBy: [] };
}

/** @throws AppError `conflict` if the project runs only releases */
export async function refuseDraft(collections: Collections, projectId: string): Promise<void> {
  if (await requiresRelease(collections, projectId))
    throw new AppError(
      'conflict',
      'the project runs only releases (setting `require_release`), and this would be a draft: publish the agentflow with POST /agentflow/{id}/promote',
    );
}

/** The setting of the project. By default it is on in governed mode. */
async function requiresRelease({ settings, project_modes }: Collections, projectId: string): Promise<boolean> {
  const [own, mode] = await Promise.all([readFresh(settings, projectId), readFresh(project_modes, projectId)]);
  return own?.require_release ?? mode?.mode === 'governed';
}

/**
 * What rules read about a start: whether it runs a draft, and the channel. An agentflow that the project does not have is
 * refused later.
 */
export async function startFacts(
  collections: Collections,
  { projectId }: Pick<Principal, 'projectId'>,
  { agentflowId, beforeFirstRelease, ...choice }: StartRequest,
): Promise<{ draft: boolean; release_channel: string }> {
  const saved = await readFresh(collections.agentflows, agentflowId);
  const draft = saved?.projectID === projectId ? runsDraft(saved, choice, beforeFirstRelease) : choice.draft === true;
  return { draft, release_channel: draft ? '' : (choice.channel ?? production) };
}

/** What an approval of a start is bound to. Both releases of a split count, because the id of the run chooses one. */
export async function startState(
  collections: Collections,
  principal: Principal,
  { agentflowId, beforeFirstRelease, ...choice }: StartRequest,
): Promise<Record<string, unknown>> {
  const saved = await findAgentflow(collections, principal, agentflowId);
  if (runsDraft(saved, choice, beforeFirstRelease)) return { agentflow_revision: saved.revision };
  const { version, channel = production } = choice;
  const pointer = ownValue(saved.channels, channel);
  const target = version === undefined ? pointer : await findRelease(collections, agentflowId, version);
  return {
    ...(target && pick(target, 'version', 'digest')),
    ...(version === undefined && pointer?.split && { split: pointer.split }),
    slots: pointer?.slots ?? {},
  };
}
