import { defineCollection } from '../../stores/collections.js';
import { z } from 'zod';
import { AgentflowContent } from '../agentflows/record.js';
import { EpochSeconds } from '../../base/time.js';
import { Id, OrganizationId, exampleId } from '../../base/ids.js';

const Time = EpochSeconds.describe('Epoch seconds.');

const Version = z.object({
  version: z.int().meta({ example: 2 }),
  notes: z.string().meta({ example: 'Reads scanned claims too' }),
  published_at: Time,
  release: z
    .int()
    .nullable()
    .describe('The release of the agentflow that was published. Null if the agentflow had none.')
    .meta({ example: 3 }),
});

export const PublicationSlot = z.object({
  name: z.string().meta({ example: 'mail' }),
  category: z.string().describe('The category that its connector must have.').meta({ example: 'mail' }),
  is_table: z.boolean().describe('Whether it must be the connector of a table.'),
  used_by: z
    .array(z.string())
    .describe('The skills and steps that use it.')
    .meta({ example: ['agents/reader/skills/look'] }),
});
export type PublicationSlot = z.infer<typeof PublicationSlot>;

/** An agentflow that every organization may hire. */
export const Publication = z
  .object({
    _id: Id,
    name: z.string().meta({ example: 'Claims reader' }),
    description: z.string().meta({ example: 'Reads a claim and sums it up' }),
    role: z.string().meta({ example: 'assessor' }),
    image: z.string().meta({ example: 'https://cdn.acme.dev/claims.png' }),
    organization_id: OrganizationId.describe('The organization that published it.'),
    agentflow_id: Id.describe('The published agentflow; only its own project can read it.'),
    latest_version: z.int().meta({ example: 2 }),
    created_at: Time.describe('When its first version was published, in epoch seconds.'),
    updated_at: Time.describe('When its latest version was published, in epoch seconds.'),
  })
  .meta({ id: 'Publication' });
export type Publication = z.infer<typeof Publication>;

export const PublicationDetails = Publication.extend({
  versions: z.array(Version).describe('Newest first.'),
  slots: z.array(PublicationSlot).describe('The connectors that a copy of the latest version needs.'),
  agentflow: AgentflowContent.meta({
    description: 'The content of a copy of the latest version.',
    example: AgentflowContent.meta()?.example,
  }),
}).meta({ id: 'PublicationDetails' });
export type PublicationDetails = z.infer<typeof PublicationDetails>;

export const NewPublication = z
  .strictObject({
    agentflow_id: z.string().max(100),
    notes: z.string().max(10_000).default(''),
    projectID: z.string().optional(),
  })
  .meta({ id: 'PublicationInput', example: { agentflow_id: exampleId, notes: 'Reads scanned claims too' } });

export const NewHire = z
  .strictObject({
    slots: z
      .record(z.string().max(100), Id)
      .default({})
      .describe(
        'The connectors of the project that the copy uses, by slot. Those of other slots can be chosen in the copy later.',
      )
      .meta({ example: { mail: exampleId } }),
    projectID: z.string().optional(),
  })
  .meta({ id: 'HireInput', example: { slots: {} } });

export const UpdateCheck = z
  .object({
    marketplace_id: z.string(),
    agentflow_id: z.string().describe('The hired copy.'),
    hired_version: z.int(),
    latest_version: z.int(),
    update_available: z.boolean(),
  })
  .meta({
    id: 'UpdateCheck',
    example: {
      marketplace_id: 'publication_1',
      agentflow_id: 'agentflow_2',
      hired_version: 1,
      latest_version: 2,
      update_available: true,
    },
  });

/** `_id` is the id of the published agentflow, so that concurrent calls create only one publication. */
type PublicationDocument = Publication;

/** `_id` is `<publication>:<version>`. */
export interface PublicationVersionDocument extends Omit<z.infer<typeof Version>, 'release'> {
  _id: string;
  marketplace_id: string;
  published_by: string;
  /** Absent in versions that were published before there were slots. */
  release?: number | null;
  content: AgentflowContent;
  /** Absent like `release`. */
  slots?: PublicationSlot[];
  /** The request that created it, which may be repeated. */
  request_id: string;
}

export const publicationsCollection = defineCollection('publications', {
  indexes: [{ keys: { created_at: -1, _id: -1 } }],
});
export const publicationVersionsCollection = defineCollection('publication_versions', {
  indexes: [{ keys: { marketplace_id: 1, version: -1 } }],
});

declare module '../../stores/collections.js' {
  interface Documents {
    publications: PublicationDocument;
    publication_versions: PublicationVersionDocument;
  }
}
