import type { Requirement } from './requirement.js';

const ofReleases = { source: 'docs/guides/releases.md' } as const;

/** Releases of agentflows, and the channels that point to them. */
export const releases = [
  {
    ...ofReleases,
    id: 'release.publish',
    says: 'POST /agentflow/{id}/versions publishes the saved agentflow as a release with a digest, which never changes.',
  },
  {
    ...ofReleases,
    id: 'release.external-id',
    says: 'Publishing the same content under the same external_id returns the same release; other content is 409, and so is a base that is not the latest release.',
  },
  {
    ...ofReleases,
    id: 'release.complete',
    says: 'An agentflow is published only if its connectors, its accepted tools and the releases of the agentflows that it starts exist.',
  },
  {
    ...ofReleases,
    id: 'release.starts',
    says: 'Execute flow, run-agent, schedules, triggers and flow steps run the release of a channel, regardless of later edits.',
  },
  {
    ...ofReleases,
    id: 'release.unreleased',
    says: 'Until the first release, a person runs the draft, and the answer, the run, its monitoring and the audit say so; schedules and triggers start nothing and say how to publish.',
  },
  {
    ...ofReleases,
    id: 'release.choice',
    says: 'A start may name a version, a channel or the draft; a schedule may name a channel, and a backfill and a rerun a version.',
  },
  {
    ...ofReleases,
    id: 'release.no-drafts',
    says: 'Rules read whether a run is a draft. With require_release, or by default in governed mode, a draft is answered 409.',
  },
  { ...ofReleases, id: 'release.kept', says: 'A run, the runs that it starts, and its reruns keep their release.' },
  {
    ...ofReleases,
    id: 'release.point',
    says: 'A channel is promoted and rolled back by compare-and-set: of many calls with the same expected digest, one succeeds.',
  },
  {
    ...ofReleases,
    id: 'release.history',
    says: 'The history of a channel has every release to which it has pointed, with who did it, when, the note and the approval.',
  },
  {
    ...ofReleases,
    id: 'release.durable',
    says: 'After a kill of API or worker between publication, approval and pointing, a repeat of the call ends it, once; runs and schedules keep one release wholly.',
  },
  {
    ...ofReleases,
    id: 'release.point.governed',
    says: 'Rules about release.point, also by the name agentflow.promote, apply to both ways to promote; an approval holds for both digests, and the audit names the difference.',
  },
  {
    ...ofReleases,
    id: 'release.split',
    says: 'A share of the runs of a channel takes another release, chosen by the id of the run.',
  },
  {
    ...ofReleases,
    id: 'release.slots',
    says: 'A channel names the connectors of the slots of a release; missing connectors and those of another category are refused.',
  },
  {
    ...ofReleases,
    id: 'release.difference',
    says: 'GET /agentflow/{id}/diff compares the draft, releases and channels by agent, skill, action and step, prompts line by line, and lists the risks.',
  },
  {
    ...ofReleases,
    id: 'release.covers-fields',
    says: 'A release covers each field of an agentflow that decides what a run does, and a difference shows a change of it.',
  },
  {
    ...ofReleases,
    id: 'release.risks',
    says: 'The risks of a difference name new calls, connectors, agentflows and limits, and previews, questions, checks and marks that are gone.',
  },
  {
    ...ofReleases,
    id: 'release.upgrade',
    says: 'The upgrade publishes, once, promoted versions and what schedules and triggers run, and the log says so.',
  },
] as const satisfies readonly Requirement[];
