import type { Requirement } from './requirement.js';

const ofConsole = { source: 'docs/guides/console.md' } as const;

/** The operator's console as an app. */
export const consoleApp = [
  {
    ...ofConsole,
    id: 'console.signed-requests',
    says: 'The cookie of the console signs requests of its own pages to the whole API, with a CSRF token; every other use of it is refused.',
  },
  {
    ...ofConsole,
    id: 'console.app',
    says: 'The app is served with a strict policy and hashed files, its first page takes at most 250 KiB, and errors show the text of the API.',
  },
  {
    ...ofConsole,
    id: 'console.onboarding',
    says: 'Home of an empty project shows five first steps with lines that do them, ticks off what is done, and can be told not to.',
  },
  {
    ...ofConsole,
    id: 'console.agentflows.history',
    says: 'The graph and the form of an agentflow are side by side and have one history to undo and redo; agents and steps are copied.',
  },
  {
    ...ofConsole,
    id: 'console.agentflows.skills',
    says: 'Skills and actions of every category are created and edited in a form, with fitting connectors, tools as checkboxes, a governed test call, and each problem at its field.',
  },
  {
    ...ofConsole,
    id: 'console.agentflows.read-only',
    says: 'Who may only read an agentflow sees every value of its agents, steps and skills, is told why they cannot be changed, and is offered no change.',
  },
  {
    ...ofConsole,
    id: 'console.dashboard',
    says: 'The dashboard shows its widgets as numbers, bars, boards and tables in their layout, and they are refreshed, added, edited and deleted in dialogs; a refused query and a failed widget say why.',
  },
  {
    ...ofConsole,
    id: 'console.tags',
    says: 'Tags are listed, created and deleted, chosen when files are uploaded, and shown with the files.',
  },
  {
    ...ofConsole,
    id: 'console.agentflows.drafts',
    says: 'The browser keeps unsaved changes to an agentflow for its person, with their time, until they are saved or discarded. A save over a version that somebody else stored is refused, says who and when, and lets the person compare, keep the changes or take the other version.',
  },
  {
    id: 'console.tasks',
    source: 'docs/guides/console.md#tasks-and-their-clicks',
    says: 'Each task of the guide can be done in a browser with the number of clicks that the guide names.',
  },
  {
    ...ofConsole,
    id: 'console.agentflows.editors',
    says: 'The editor of an agentflow names the others who have it open, and who of them has unsaved changes.',
  },
  {
    ...ofConsole,
    id: 'console.agentflows.import',
    says: 'Actions are imported from an OpenAPI document or a curl line, within limits, with a sentence for what was not understood, and without values and credentials.',
  },
  {
    ...ofConsole,
    id: 'console.agentflows.schemas',
    says: 'The schemas of an agentflow and the form of a question are edited as fields or as JSON, and keep what the fields do not show.',
  },
  {
    ...ofConsole,
    id: 'console.agentflows.expressions',
    says: 'An expression completes the names that it can use, and shows its value in a past run.',
  },
  {
    ...ofConsole,
    id: 'executions.filters',
    says: 'Executions are filtered by the state that people name, by time, text, agentflow version, starter and schedule.',
  },
  {
    ...ofConsole,
    id: 'console.runs.many',
    says: 'The list of runs refreshes itself and scrolls through 10,000 runs.',
    fullForm: 'SCROLLED_RUNS',
  },
  {
    ...ofConsole,
    id: 'console.runs.views',
    says: 'The filter and the columns of the list of runs are kept under a name in the browser of the person, shown again, replaced and removed.',
  },
  {
    ...ofConsole,
    id: 'console.runs.bulk',
    says: 'Several runs are paused, resumed, cancelled or rerun with a reason and a result for each.',
  },
  {
    ...ofConsole,
    id: 'console.run',
    says: 'The page of a run follows it, shows its steps with attempts and its conclusion as safe Markdown, and acts after a confirmation.',
  },
  {
    ...ofConsole,
    id: 'console.runs.compare',
    says: 'Two runs are compared on one page, whose address names them: facts, inputs, results, and steps aligned by their ids, with what differs.',
  },
  {
    ...ofConsole,
    id: 'console.run.as-curl',
    says: 'The HTTP request of a step is shown as a curl command, whose texts the shell and curl take literally.',
  },
  {
    ...ofConsole,
    id: 'executions.steps',
    says: 'A step of a run can be read with the prompt, or the request and response, of its attempts: bounded, without secrets, sealed at rest.',
  },
  {
    ...ofConsole,
    id: 'console.run.step',
    says: 'The drawer of a step shows what each attempt sent and received, with links to its lifecycle and its audit entries.',
  },
  {
    ...ofConsole,
    id: 'console.inbox',
    says: 'The inbox shows the items that wait for a person, oldest first, with the exact call and the votes, and is decided by keyboard.',
  },
  {
    ...ofConsole,
    id: 'console.memories',
    says: 'The remembered texts of a project are listed with their state, and lead to their review.',
  },
  {
    ...ofConsole,
    id: 'console.ontology',
    says: 'The types, properties and personal marks of the ontology are edited in a form, saved as a draft and put into force; people who may not see them read-only.',
  },
  {
    ...ofConsole,
    id: 'console.schedules.week',
    says: 'The planned runs of a week are a calendar with a column for each day in the zone of the person.',
  },
  {
    id: 'console.time-zone',
    source: 'docs/guides/console.md',
    says: 'Times are relative for a day, then have the weekday and later the date, in the zone of the browser or the one that the person chose in their profile, with the whole time and UTC as a tooltip. The header leads to the profile, also on a phone.',
  },
  {
    id: 'console.words',
    source: 'docs/guides/console.md',
    says: 'The pages name operations and stages in words; their names and ids are under "Details".',
  },
  {
    id: 'console.inbox.several',
    source: 'docs/guides/console.md',
    says: 'Items of the same kind are marked and decided at once, each on the text that was marked; afterwards the inbox says what was decided, and on which text.',
  },
  {
    id: 'console.inbox.memory',
    source: 'docs/guides/console.md',
    says: 'The review of a remembered text is shown in tables, and Home links to it.',
  },
  {
    id: 'console.inbox.elicitation',
    source: 'docs/guides/console.md',
    says: 'The inbox shows what an MCP server asks as untrusted text of the server, and a form of its fields.',
  },
  {
    ...ofConsole,
    id: 'console.inbox.edit',
    says: 'An approver edits the fields of a held call in the inbox. A wrong value is explained, and what was typed survives a reload.',
  },
  {
    ...ofConsole,
    id: 'console.home',
    says: 'Home shows what failed and what waits first, with its agentflow, and says in one line what is fine; each number leads to its list.',
  },
  {
    ...ofConsole,
    id: 'console.home.figures',
    says: 'Home shows runs, durations and credits of a day, a week or a month; each bar leads to the runs of its time.',
  },
  {
    ...ofConsole,
    id: 'console.sessions',
    says: 'The profile lists where a person is signed in, and ends one of these sessions or all others.',
  },
  { ...ofConsole, id: 'console.try-again', says: 'A page that could not read its data offers to try again.' },
  {
    ...ofConsole,
    id: 'queues.state',
    says: 'GET /{projectID}/queues says whether workers keep up with each task queue and for how long its oldest task waits, without counts.',
  },
  {
    ...ofConsole,
    id: 'connectors.use',
    says: 'A connector says when it was last used, how many calls have failed since the last success, and why.',
  },
  {
    ...ofConsole,
    id: 'console.connectors',
    says: 'Connectors are listed, created and edited by a form, tested, paused and deleted; the tools and the authorization of an MCP server are accepted, granted and withdrawn.',
  },
  {
    ...ofConsole,
    id: 'connectors.test-call',
    says: 'An HTTP connector has a test call, which rules govern as act.http and which answers status, beginning and duration.',
  },
  {
    ...ofConsole,
    id: 'tables.expected',
    says: 'A change of a record that names what was read is refused with 409 if somebody else has changed it since.',
  },
  {
    ...ofConsole,
    id: 'console.tables',
    says: 'The rows of a table are filtered, sorted, edited in place, added, deleted, and imported from and exported to CSV without formulas; what is refused or was changed by others stays typed.',
  },
  {
    ...ofConsole,
    id: 'tables.delete',
    says: 'A table is deleted with its rows and connector; a repeat completes a deletion that a crash interrupted.',
  },
  {
    ...ofConsole,
    id: 'files.list',
    says: 'GET /file/{projectID} lists the files of a project with the progress of their documents.',
  },
  {
    ...ofConsole,
    id: 'console.files',
    says: 'Files are dropped or chosen, uploaded with their progress, downloaded and deleted; a refusal shows the text of the API.',
  },
  {
    ...ofConsole,
    id: 'syncs.state',
    says: 'The state of the catalog and the followed repositories of a project can be read, and a sync of the catalog can be started.',
  },
  {
    ...ofConsole,
    id: 'console.every-page',
    says: 'Every page says what to do when it is empty, with a command for lists, shows what a failing API says with its record, and offers nothing that a role may not do, which the API refuses.',
  },
  {
    ...ofConsole,
    id: 'schedule.times',
    says: 'The planned times of a past or coming range are listed, with those that have fired.',
  },
  {
    ...ofConsole,
    id: 'console.schedules.backfill',
    says: 'A backfill shows the planned times of its range before it is sent, and a wrong range is explained at its field.',
  },
  {
    ...ofConsole,
    id: 'console.schedules.form',
    says: 'A schedule is made and changed in a form. A wrong value is explained at its field, and what was typed survives a reload.',
  },
  {
    ...ofConsole,
    id: 'agentflow.versions',
    says: 'The promoted versions of an agentflow are listed and read, and agentflows are found by text.',
  },
  {
    ...ofConsole,
    id: 'console.agentflows',
    says: 'Agentflows are found by text, shown with their version and last run, compared between versions, promoted, and tried with inputs.',
  },
  {
    ...ofConsole,
    id: 'console.agentflows.edit',
    says: 'An agentflow is edited as a form, a graph and JSON. The messages of the API are at their fields, and what was typed survives a reload and the end of the sign-in.',
  },
  {
    ...ofConsole,
    id: 'quota.read',
    says: 'Every credential can read how much of the quota of its project and organization is used.',
  },
  {
    ...ofConsole,
    id: 'console.policies.builder',
    says: 'A rule is built from who, what, where and when in a form over its Cedar text, and tried on recorded and on written calls; a version shows who stored it and why.',
  },
  {
    ...ofConsole,
    id: 'console.columns',
    says: 'The columns of a table are as wide as their content needs; a person changes their widths with the pointer or the keyboard, and this browser keeps them.',
  },
  {
    ...ofConsole,
    id: 'console.audit.filters',
    says: 'The audit page offers people, actions and outcomes as choices, and a click on a cell filters by it.',
  },
  {
    ...ofConsole,
    id: 'console.policies',
    says: 'Administrators edit the policies with each problem at its line, try them on recorded calls, and lose nothing to a version that somebody else stored.',
  },
  {
    ...ofConsole,
    id: 'console.context',
    says: 'The context graph is asked in words or Cypher; its answer is a table and a graph, with the source of each element and the parts of its score.',
  },
  {
    ...ofConsole,
    id: 'console.members',
    says: 'Members are added, change their role and are removed, as far as the role of the person allows.',
  },
  { ...ofConsole, id: 'console.keys', says: 'API keys are listed, created with grants, shown once and revoked.' },
  {
    ...ofConsole,
    id: 'console.settings',
    says: 'The name, the governance mode, the data events and the other settings of a project are changed after a confirmation.',
  },
  {
    ...ofConsole,
    id: 'console.real-time',
    says: 'The tabs of a browser share one event stream of the project; changes show without a reload, also after a kill of the API.',
  },
  {
    ...ofConsole,
    id: 'console.run.graph',
    says: 'The page of a run shows its agents as a graph with their states, and the same as a list.',
  },
  {
    ...ofConsole,
    id: 'console.run.flow',
    says: 'The page of a run shows the agents and steps of a flow with all pointers, counts the items of a map and the rounds of a loop, and says in which part each step ran.',
  },
  {
    ...ofConsole,
    id: 'console.agentflows.try',
    says: 'The form of each agent and step tries it alone with typed or past values, and shows its output, error and duration.',
  },
  {
    ...ofConsole,
    id: 'console.agentflows.steps',
    says: 'The editor keeps the steps of a flow, adds, connects, edits and removes them by form, graph and keyboard, and shows their problems at their fields. The action of a step has the form of an action of a skill.',
  },
  {
    ...ofConsole,
    id: 'console.run.rerun',
    says: 'A run is rerun from an agent with other inputs after a confirmation; what was typed survives a wrong value and a reload.',
  },
  {
    ...ofConsole,
    id: 'console.palette',
    says: 'A command palette opens pages, lists, runs and the dialogs of what a person may do by keyboard.',
  },
  {
    ...ofConsole,
    id: 'executions.rerun.edited',
    says: 'A rerun takes another goal and other inputs than its source, and refuses inputs that its prompts lack.',
  },
  {
    ...ofConsole,
    id: 'project.events',
    says: 'GET /{projectID}/events streams new states of executions, inbox items and schedules and which other records changed, continues after Last-Event-ID at any process, and ends with its credential and its process.',
  },
  {
    id: 'schedule.listed',
    source: 'docs/guides/schedules.md#list',
    says: 'The list of schedules has the next times and the latest run of each one; without Temporal, the next times are null.',
  },
  {
    id: 'console.layout',
    source: 'docs/guides/console.md',
    says: 'On every page, at 1440 and 375 px, the header and a filter take one line, a list begins in the upper part of the window, and no control covers or touches another one.',
  },
  {
    id: 'console.pictures',
    source: 'docs/conventions.md',
    says: 'The main pages of the console look like their stored pictures, and a broken style sheet does not.',
  },
  {
    id: 'console.decision-seen',
    source: 'docs/guides/tasks-and-inbox.md',
    says: 'A decision applies to the call that its dialog showed; after a change, the person must look again.',
  },
  {
    id: 'console.call-fields',
    source: 'docs/guides/govern-agents.md#what-people-see',
    says: 'The console shows every field of a held call under a name of its own, values without text too, and invisible characters as their code points.',
  },
  {
    id: 'console.inbox-keys',
    source: 'docs/guides/tasks-and-inbox.md',
    says: 'The keys of the inbox work on page load and after each decision.',
  },
  {
    id: 'console.tables.import-faults',
    source: 'docs/guides/console.md',
    says: 'An import of a CSV file names repeated columns and dates that do not exist, and skips a first line with the delimiter.',
  },
  {
    id: 'members.invitations',
    source: 'docs/guides/accounts.md#members',
    says: 'An administrator invites a new person by a link that works once, until it expires, and only while the inviter may give the roles.',
  },
  {
    id: 'console.invitations',
    source: 'docs/guides/console.md',
    says: 'A person is invited in the console, sets name and password on the page of the link, and is signed in.',
  },
  {
    id: 'console.requests',
    source: 'docs/guides/console.md',
    says: 'The first page takes at most eight requests for the app, compressed.',
  },
  {
    id: 'console.profile',
    source: 'docs/guides/accounts.md#members',
    says: 'A person reads and changes their own name, changes their password, and chooses a theme.',
  },
  {
    id: 'console.projects',
    source: 'docs/guides/console.md',
    says: 'The header changes to another project, and creates one for people who may.',
  },
] as const satisfies readonly Requirement[];
