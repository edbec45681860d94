import type { Requirement } from './requirement.js';

/** Platform routes of data and customers. */
export const platformData = [
  {
    id: 'platform.dashboards.get',
    source: 'docs/specification.md#tables',
    says: 'GET /dashboard/{projectID} returns the dashboard of the project.',
  },
  {
    id: 'platform.dashboards.refresh',
    source: 'docs/specification.md#tables',
    says: 'POST /dashboard/refresh/{projectID} has no body and returns the dashboard with recomputed data.',
  },
  {
    id: 'platform.dashboards.component-add',
    source: 'docs/specification.md#tables',
    says: 'POST /dashboard/{projectID}/component adds a component with its place in the layout.',
  },
  {
    id: 'platform.dashboards.component-delete',
    source: 'docs/specification.md#tables',
    says: 'DELETE /dashboard/{projectID}/component/{component_id} removes a component and its layout cell.',
  },
  {
    id: 'resource.dashboard',
    source: 'docs/specification.md#tables',
    says: 'A dashboard has the fields of its table, with tabs and layout cells in their shape.',
  },
  {
    id: 'resource.dashboard.component',
    source: 'docs/specification.md#tables',
    says: 'A component has the fields listed for it, and a taskManager groups the tasks by status.',
  },
  {
    id: 'dashboard.pipeline-allow-list',
    source: 'docs/specification.md#tables',
    says: 'aggregation_code with a stage or operator outside the allow-list is refused at any depth.',
  },
  {
    id: 'dashboard.pipeline-own-project',
    source: 'docs/specification.md#tables',
    says: 'A component sees only rows of its own project, whatever its pipeline matches.',
  },

  {
    id: 'platform.tables.list',
    source: 'docs/specification.md#tables',
    says: 'GET /storage/{projectID} returns total_count and tables.',
  },
  {
    id: 'platform.tables.database',
    source: 'docs/specification.md#tables',
    says: 'POST /storage/{projectID}/database prepares the storage of a project and can be repeated.',
  },
  {
    id: 'platform.tables.create',
    source: 'docs/specification.md#tables',
    says: 'POST /storage/{projectID}/table creates a table with the given columns and its own connector.',
  },
  {
    id: 'platform.tables.names',
    source: 'docs/specification.md#tables',
    says: 'GET /storage/{projectID}/table_names lists the names.',
  },
  {
    id: 'platform.tables.column-add',
    source: 'docs/specification.md#tables',
    says: 'POST …/table/{table_id}/column adds a column.',
  },
  {
    id: 'platform.tables.column-delete',
    source: 'docs/specification.md#tables',
    says: 'DELETE /delete/column/{projectID} removes the column from the table and from every record and confirms it in a JSON string.',
  },
  {
    id: 'platform.tables.row-insert',
    source: 'docs/specification.md#tables',
    says: 'POST …/{table_id}/row inserts one record or an array of up to 1,000.',
  },
  {
    id: 'platform.tables.records',
    source: 'docs/specification.md#tables',
    says: 'GET …/{table_id}/records filters, sorts by any column and pages stably.',
  },
  {
    id: 'platform.tables.record-get',
    source: 'docs/specification.md#tables',
    says: 'GET …/{table_id}/records/{record_id} returns one record.',
  },
  {
    id: 'platform.tables.record-update',
    source: 'docs/specification.md#tables',
    says: 'PUT …/{table_id}/records/{record_id} replaces one record.',
  },
  {
    id: 'platform.tables.record-delete',
    source: 'docs/specification.md#tables',
    says: 'DELETE …/{table_id}/records/{record_id} removes one record.',
  },
  {
    id: 'resource.table',
    source: 'docs/specification.md#tables',
    says: 'A table has every field of the specification.',
  },
  {
    id: 'resource.column',
    source: 'docs/specification.md#tables',
    says: 'A column has every field of the specification.',
  },
  {
    id: 'table.system-columns',
    source: 'docs/specification.md#tables',
    says: 'A new table has _id, row_id with default 1 and coworker_user_id under their display names.',
  },
  {
    id: 'table.values-checked',
    source: 'docs/specification.md#tables',
    says: 'A value must fit the type, enum, array or object of its column; a missing value gets the default.',
  },
  {
    id: 'table.row-id-gapless',
    source: 'docs/specification.md#tables',
    says: '50 concurrent inserts get 50 consecutive row_ids, and last_row_id is the last of them.',
  },
  {
    id: 'table.filter-safe',
    source: 'docs/specification.md#tables',
    says: 'A filter cannot contain $where, $expr or a regular expression with catastrophic backtracking.',
  },
  {
    id: 'table.large-column-delete',
    source: 'docs/specification.md#tables',
    says: 'In a large table, a visible workflow removes the column and continues after a restart.',
  },
  {
    id: 'table.row-limit',
    source: 'docs/specification.md#tables',
    says: 'A row beyond the plan is refused with plan_limit, also in bulk inserts.',
  },

  {
    id: 'platform.files.upload',
    source: 'docs/specification.md#files-and-knowledge',
    says: 'POST /file/{projectID} streams one or many files with tags and connector_id.',
  },
  {
    id: 'platform.files.get',
    source: 'docs/specification.md#tables',
    says: 'GET /file/{projectID}/{file_id} returns the record of a file.',
  },
  {
    id: 'platform.files.connector',
    source: 'docs/specification.md#files-and-knowledge',
    says: 'GET /file/{projectID}/{file_id}/connector returns the connector of a file.',
  },
  {
    id: 'platform.files.by-connector',
    source: 'docs/specification.md#files-and-knowledge',
    says: 'GET /file/{projectID}/connector/{connector_id} lists the files of a connector.',
  },
  {
    id: 'resource.file',
    source: 'docs/specification.md#files-and-knowledge',
    says: 'A file has every field of its table, with uploaded_on in epoch milliseconds.',
  },
  {
    id: 'file.signed-url',
    source: 'docs/specification.md#files-and-knowledge',
    says: 'url downloads only that file until it expires, read-only, with ranges and safe headers.',
  },
  {
    id: 'file.tricks',
    source: 'docs/specification.md#tables',
    says: 'A changed signature, expiry or path and a name with path segments give access to nothing.',
  },
  {
    id: 'file.memory-flat',
    source: 'docs/specification.md#tables',
    says: 'Memory does not grow with the size of a 100 MiB upload.',
  },
  {
    id: 'file.mime-type',
    source: 'docs/specification.md#tables',
    says: 'mime_type follows the bytes of the file, whatever the sender declares.',
  },
  {
    id: 'file.stores',
    source: 'docs/specification.md#tables',
    says: 'Local disk and an S3-compatible server behave identically; the latter uses presigned addresses.',
  },
  {
    id: 'file.storage-quota',
    source: 'docs/specification.md#tables',
    says: 'An upload beyond the storage of the plan is refused with plan_limit and leaves nothing behind.',
  },
  {
    id: 'file.states',
    source: 'docs/specification.md#files-and-knowledge',
    says: 'An interrupted upload is failed, and a deleted file is removed with its bytes.',
  },

  {
    id: 'platform.settings.get',
    source: 'docs/specification.md#tables',
    says: 'GET /settings/{projectID} returns the settings.',
  },
  {
    id: 'platform.settings.update',
    source: 'docs/specification.md#projects-and-members',
    says: 'PATCH /settings/{projectID} changes the given fields.',
  },
  {
    id: 'resource.settings',
    source: 'docs/specification.md#projects-and-members',
    says: 'Settings have the six fields of the specification.',
  },
  {
    id: 'platform.customer.get',
    source: 'docs/specification.md#tables',
    says: 'GET /customer returns the account of the organization.',
  },
  {
    id: 'resource.customer',
    source: 'docs/specification.md#projects-and-members',
    says: 'A customer has every field of its table, with times as ISO 8601 without zone.',
  },
  {
    id: 'resource.customer.quota',
    source: 'docs/specification.md#projects-and-members',
    says: 'quota has every limit and every access control of the specification.',
  },
  {
    id: 'resource.customer.usage',
    source: 'docs/specification.md#projects-and-members',
    says: 'usage has every count of the specification.',
  },
  {
    id: 'customer.quota-enforced',
    source: 'docs/specification.md#conventions',
    says: 'Each limit of the plan is enforced when a resource is created, also under concurrent creation.',
  },
  {
    id: 'customer.usage-exact',
    source: 'docs/specification.md#tables',
    says: 'usage equals the existing resources after concurrent creates and deletes.',
  },
  {
    id: 'customer.credits-reserved',
    source: 'docs/decisions/0013-plan-limits-and-credits.md',
    says: 'What begins at the same time never begins beyond the credits that are left; reserved credits are free again after a crash.',
  },
  {
    id: 'customer.credits-once',
    source: 'docs/specification.md#tables',
    says: 'An execution costs its base credits once, even if a worker dies.',
  },
  {
    id: 'platform.credits.history',
    source: 'docs/specification.md#projects-and-members',
    says: 'GET /credit/history lists how the organization spent its credits.',
  },

  {
    id: 'platform.members.summary',
    source: 'docs/specification.md#projects-and-members',
    says: 'GET /project-member/{projectID}/summary returns total_count and user_ids.',
  },
  {
    id: 'platform.members.list',
    source: 'docs/specification.md#projects-and-members',
    says: 'GET /project-member/{projectID} lists the members with their roles.',
  },
  {
    id: 'platform.members.add',
    source: 'docs/specification.md#projects-and-members',
    says: 'POST /project-member/{projectID} adds a member, within the plan.',
  },
  {
    id: 'platform.members.update',
    source: 'docs/specification.md#projects-and-members',
    says: 'PATCH /project-member/{projectID}/{user_id} changes the role of a member.',
  },
  {
    id: 'platform.members.remove',
    source: 'docs/specification.md#projects-and-members',
    says: 'DELETE /project-member/{projectID}/{user_id} removes a member.',
  },
  {
    id: 'platform.tags.create',
    source: 'docs/specification.md#executions',
    says: 'POST /tag creates a tag of the project.',
  },
  {
    id: 'platform.tags.list',
    source: 'docs/specification.md#executions',
    says: 'GET /tag lists the tags of the project.',
  },
  { id: 'platform.tags.delete', source: 'docs/specification.md#executions', says: 'DELETE /tag/{id} removes a tag.' },
  {
    id: 'platform.analytics',
    source: 'docs/specification.md#executions',
    says: 'GET /analytics/{projectID} counts executions by status, agentflow and day, durations and credits, right to the unit.',
  },

  {
    id: 'platform.marketplace.list',
    source: 'docs/specification.md#agentflows-and-skills',
    says: 'GET /marketplace lists the publications.',
  },
  {
    id: 'platform.marketplace.get',
    source: 'docs/specification.md#agentflows-and-skills',
    says: 'GET /marketplace/{id} returns one publication with its versions.',
  },
  {
    id: 'platform.marketplace.publish',
    source: 'docs/specification.md#agentflows-and-skills',
    says: 'POST /marketplace publishes an agentflow without its secrets.',
  },
  {
    id: 'platform.marketplace.hire',
    source: 'docs/specification.md#agentflows-and-skills',
    says: 'POST /marketplace/coworker/{id}/hire copies it into the project with parent_agentflow_id and marketplace_id.',
  },
  {
    id: 'platform.marketplace.slots',
    source: 'docs/guides/accounts.md#marketplace',
    says: 'A publication is made from the release in production and has slots, for which a hired copy gets connectors of its own project.',
  },
  {
    id: 'platform.marketplace.check-update',
    source: 'docs/specification.md#agentflows-and-skills',
    says: 'GET /marketplace/coworker/{id}/check_update reports whether a newer version is published.',
  },
  {
    id: 'platform.knowledge-base.upload',
    source: 'docs/specification.md#files-and-knowledge',
    says: 'POST /knowledge_base/{projectID}/upload accepts text, Markdown, PDF, CSV and HTML.',
  },
  {
    id: 'knowledge-base.csv',
    source: 'docs/guides/knowledge-base.md',
    says: 'A CSV file has one delimiter, detected outside quotes, wherever CSV is read; each chunk of a row names its columns.',
  },
  {
    id: 'knowledge-base.encodings',
    source: 'docs/guides/knowledge-base.md',
    says: 'Text is read in its encoding; control characters are dropped; bytes that are not text are refused.',
  },
  {
    id: 'knowledge-base.formats',
    source: 'docs/guides/knowledge-base.md',
    says: 'Documents of Office, books, mails and data files are read with the names of their sheets, slides, columns and paths.',
  },
  {
    id: 'knowledge-base.safe-formats',
    source: 'docs/guides/knowledge-base.md',
    says: 'Packed documents are bounded in entries and bytes, and XML cannot include entities.',
  },
  {
    id: 'knowledge-base.pdf',
    source: 'docs/guides/knowledge-base.md',
    says: 'A PDF is read with its form values, its divided words joined and its spaced text closed up.',
  },
  {
    id: 'knowledge-base.world',
    source: 'docs/guides/knowledge-base.md',
    says: 'Files of other projects are read with the words that they show, or refused with the reason.',
    fullForm: 'WORLD_FILES_PERCENT',
  },
  {
    id: 'file.charset',
    source: 'docs/guides/files.md',
    says: 'A served text file names its encoding if it is known, and no other.',
  },
  {
    id: 'table.ignore-case',
    source: 'docs/guides/tables.md',
    says: 'ignore_case applies to every operator that compares texts, and is refused for others.',
  },
  {
    id: 'knowledge-base.chunks',
    source: 'docs/specification.md#tables',
    says: 'A workflow with progress writes chunks with provenance to the context graph, where full-text search finds them.',
  },
  { id: 'knowledge-base.removed', source: 'docs/specification.md#tables', says: 'Deleting a file deletes its chunks.' },
  {
    id: 'file.all-or-none',
    source: 'docs/specification.md#tables',
    says: 'Either all files of an upload are kept or none, whichever process dies.',
  },
  {
    id: 'knowledge-base.nothing-left',
    source: 'docs/specification.md#tables',
    says: 'A document that fails leaves none of its batches in the store.',
  },
] as const satisfies readonly Requirement[];
