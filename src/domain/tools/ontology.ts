import { flag } from '../../governance/operations/operation.js';
import { z } from 'zod';
import { AppError } from '../../base/errors.js';
import { commitOntology, currentOntology, refuseViolations, violationsOf } from '../../graph/ontology/commit.js';
import { Ontology, OntologyDefinition } from '../../graph/ontology/definition.js';
import {
  deleteDraft,
  listVersions,
  readDraft,
  recordVersion,
  saveDraft,
  type Draft,
} from '../../graph/ontology/drafts.js';
import type { Collections } from '../../stores/collections.js';
import type { Graph } from '../../stores/neo4j.js';
import { epochSeconds, EpochSeconds } from '../../base/time.js';
import { defineTool } from '../../governance/tools/tool.js';
import { UserId } from '../../base/ids.js';

const OntologyInput = z
  .strictObject({ define: OntologyDefinition.optional(), commit: z.literal(true).optional() })
  .refine(({ define, commit }) => !(define && commit), 'must not contain both define and commit')
  .meta({ id: 'OntologyRequest', example: { commit: true } });

const { version: Version } = Ontology.shape;
const DraftView = z.object({
  base_version: Version,
  updated_at: EpochSeconds,
  updated_by: UserId,
  ...OntologyDefinition.shape,
});
const OntologyAnswer = z
  .object({
    version: Version.describe('The version in force; 0 if none has been committed.'),
    ontology: Ontology.nullable(),
    draft: DraftView.nullable().meta({ example: null }),
    versions: z.array(z.object({ version: Version, committed_at: EpochSeconds, committed_by: UserId })),
  })
  .meta({ id: 'OntologyState' });

interface OntologyDeps {
  graph: Graph;
  collections: Pick<Collections, 'ontology_drafts' | 'ontology_versions'>;
}

type Prepared =
  { step: 'read' } | { step: 'define'; definition: OntologyDefinition } | { step: 'commit'; draft: Draft };

const isChange = ({ define, commit }: Readonly<Record<string, unknown>>) =>
  define !== undefined || commit !== undefined;

/** Drafts the project's ontology, and commits a draft (contract, `POST /v1/ontology`). */
export const ontologyTool = defineTool(
  {
    name: 'ontology',
    grant: (asked) => (isChange(asked) ? 'svc:ontology.write' : 'svc:docs.read'),
    effect: (input) => (isChange(input) ? 'write' : 'read'),
    changesContext: { when: 'context.input.commit' },
    facts: { commit: flag('commit') },
  },
  ({ graph, collections }: OntologyDeps) => ({
    title: 'Define and commit the ontology',
    description:
      '`define` saves a draft of entity and relationship types. `commit` checks the draft against stored data and puts it in force as a new version. Without either, returns the draft and the version in force.',
    input: OntologyInput,
    output: OntologyAnswer,
    hints: { readOnly: false, destructive: false, idempotent: false },
    resource: () => ({ type: 'ontology', id: 'project' }),
    async prepare(input, { projectId }): Promise<Prepared> {
      if (input.define) return { step: 'define', definition: input.define };
      if (!input.commit) return { step: 'read' };
      const draft = await readDraft(collections, projectId);
      if (!draft) throw new AppError('conflict', 'there is no draft to commit; define one first');
      refuseViolations(await violationsOf(graph, projectId, draft.definition));
      return { step: 'commit', draft };
    },
    boundState: async (prepared) =>
      prepared.step === 'commit'
        ? { draft_revision: prepared.draft.revision, base_version: prepared.draft.base_version }
        : undefined,
    async dryRun(prepared, { projectId }): Promise<Record<string, unknown>> {
      if (prepared.step === 'read') return { read: 'ontology' };
      if (prepared.step === 'commit') return { commit: prepared.draft.base_version + 1 };
      const { count, samples } = await violationsOf(graph, projectId, prepared.definition);
      return { define: Object.keys(prepared.definition.entity_types), violations: count, samples };
    },
    async execute(prepared, ctx) {
      const { projectId, principal } = ctx;
      if (prepared.step === 'define') {
        const { definition } = prepared;
        const baseVersion = (await currentOntology(graph, projectId))?.version ?? 0;
        await saveDraft(collections, ctx, { definition, baseVersion, userId: principal.userId });
      }
      if (prepared.step === 'commit') {
        const { definition, base_version: baseVersion, revision } = prepared.draft;
        const by = { committedAt: epochSeconds(), committedBy: principal.userId };
        await commitOntology(graph, projectId, { definition, baseVersion, ...by });
        await deleteDraft(collections, projectId, revision);
      }
      return { body: await stateOf({ graph, collections }, projectId) };
    },
  }),
);

/** The graph determines the version in force. If a crash kept it out of the history, it is added when it is read. */
export async function stateOf(
  { graph, collections }: OntologyDeps,
  projectId: string,
): Promise<z.infer<typeof OntologyAnswer>> {
  const ontology = await currentOntology(graph, projectId);
  if (ontology) await recordVersion(collections, projectId, ontology);
  const [draft, versions] = await Promise.all([
    readDraft(collections, projectId),
    listVersions(collections, projectId),
  ]);
  return {
    version: ontology?.version ?? 0,
    ontology,
    draft: draft && {
      base_version: draft.base_version,
      updated_at: draft.updated_at,
      updated_by: draft.updated_by,
      ...draft.definition,
    },
    versions,
  };
}
