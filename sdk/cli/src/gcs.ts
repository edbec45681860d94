import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { ServiceError, type Client } from '../../node/src/index.js';
import cli from '../package.json' with { type: 'json' };
import { exportProject, importProject } from './archive.js';
import { test } from './cases.js';
import { completionScript } from './completion.js';
import { readState } from './folder.js';
import { kinds } from './kinds.js';
import { agentflows } from './kinds/agentflows.js';
import { login, logout } from './login.js';
import { exitCodes, Problem } from './problem.js';
import { push, type PushOptions } from './push.js';
import { diff, history, promote, rollback, type PointOptions } from './releases.js';
import { logs, run, type RunOptions } from './runs.js';
import { clientOf, howToReplaceKey, readSettings } from './settings.js';
import type { Selection } from './plan.js';
import { init, plan, pull } from './sync.js';
import { openPage, print, report } from './terminal.js';

const root = process.cwd();
const connected = () => clientOf(readSettings());

/** Finds an agentflow by its file, its name or its id. */
async function idOf(client: Client, given: string): Promise<string> {
  const file = given.replace(/^agentflows\/|\.yaml$/g, '');
  const known = readState(root, client.projectId).resources.agentflows.get(file);
  if (known) return known.id;
  const found = (await agentflows.list(client)).filter(({ id, content }) => id === given || content.name === given);
  const [only] = found;
  if (!only)
    throw new Problem(`there is no agentflow ${JSON.stringify(given)}; name a file, a name or an id of the project`);
  if (found.length > 1)
    throw new Problem(
      `${found.length} agentflows are named ${JSON.stringify(given)}; use an id: ${found.map(({ id }) => id).join(', ')}`,
    );
  return only.id;
}

const only = () => new Option('--only <folder...>', 'only these folders').choices(kinds.map(({ folder }) => folder));

function versionIn(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('must be the number of a release.');
  return Number(text);
}

function addFileCommands(program: Command): void {
  const files = 'only these files; agentflows in code, such as flow.ts, are run only if they are named';
  program
    .command('init')
    .description('prepare this folder')
    .action(() => init(connected(), root));
  program
    .command('pull')
    .description('write the resources of the project to files')
    .option('--force', 'also replace files that differ')
    .addOption(only())
    .action((options: Selection & { force?: boolean }) => pull(connected(), root, options));
  program
    .command('plan')
    .argument('[file...]', files)
    .description('show what push would change; ends with 2 if anything differs')
    .option('--json', 'print JSON')
    .addOption(only())
    .action(async (files: string[], options: Selection & { json?: boolean }) => {
      if (await plan(connected(), root, { ...options, files })) process.exitCode = exitCodes.differs;
    });
  program
    .command('push')
    .argument('[file...]', files)
    .description('save the files in the project, agentflows as drafts')
    .option('--release', 'also publish the agentflows; no channel points to the releases yet')
    .option('--note <text>', 'what has changed, for the releases')
    .option('--prune', 'also delete what files no longer have')
    .option('--force', 'also overwrite what was changed in the project')
    .addOption(only())
    .action((files: string[], options: PushOptions) => push(connected(), root, { ...options, files }));
}

function addArchiveCommands(program: Command): void {
  program
    .command('export <file>')
    .description('write the files of the project to a ZIP archive')
    .addOption(only())
    .action((file: string, options: Selection) => exportProject(connected(), file, options));
  program
    .command('import <file>')
    .description('save the files of an archive in the project, as push does')
    .option('--plan', 'only show what differs; ends with 2 if anything does')
    .option('--release', 'also publish the agentflows')
    .option('--note <text>', 'what has changed, for the releases')
    .option('--force', 'also overwrite what the project has')
    .addOption(only())
    .action(async (file: string, options: PushOptions & { plan?: boolean }) => {
      if (await importProject(connected(), file, options)) process.exitCode = exitCodes.differs;
    });
}

function addReleaseCommands(program: Command): void {
  for (const [name, move, description] of [
    ['promote', promote, 'point a channel to a release, by default to the latest one'],
    ['rollback', rollback, 'point a channel to an earlier release, by default to the one before'],
  ] as const)
    program
      .command(`${name} <flow>`)
      .description(description)
      .option('--channel <name>', 'the channel', 'production')
      .option('--version <number>', 'the release', versionIn)
      .option('--note <text>', 'why, for the history of the channel')
      .action(async (flow: string, options: PointOptions) => {
        const client = connected();
        await move(client, await idOf(client, flow), options);
      });
  program
    .command('history <flow>')
    .description('show who pointed a channel to which release')
    .option('--channel <name>', 'the channel', 'production')
    .option('--json', 'print JSON')
    .action(async (flow: string, { channel, json = false }: { channel: string; json?: boolean }) => {
      const client = connected();
      await history(client, await idOf(client, flow), channel, json);
    });
  program
    .command('diff <flow>')
    .description('compare releases, and show what a run may do in addition')
    .option('--from <place>', 'draft, a channel or the number of a release', 'production')
    .option('--to <place>', 'like --from', 'draft')
    .option('--json', 'print JSON')
    .action(async (flow: string, { from, to, json = false }: { from: string; to: string; json?: boolean }) => {
      const client = connected();
      await diff(client, await idOf(client, flow), { from, to }, json);
    });
}

function addRunCommands(program: Command): void {
  program
    .command('run <flow>')
    .description('start a run')
    .requiredOption('--goal <text>', 'what the run is to do')
    .option('--input <name=value...>', 'input variables; a value may be JSON')
    .option('--channel <name>', 'take the release of this channel')
    .option('--version <number>', 'take this release', versionIn)
    .option('--draft', 'take the draft')
    .option('--wait', 'follow the run to its end')
    .option('--json', 'print JSON')
    .action(async (flow: string, options: RunOptions) => {
      const client = connected();
      await run(client, await idOf(client, flow), options, inboxOf(client));
    });
  program
    .command('test [flow...]')
    .description('run drafts with the cases of agentflows/<flow>.test.yaml, and compare their outputs')
    .option('--json', 'print JSON')
    .action((flows: string[], { json = false }: { json?: boolean }) => {
      const client = connected();
      return test(client, root, flows, json, (flow) => idOf(client, flow));
    });
  program
    .command('logs <run>')
    .description('show the steps of a run')
    .option('-f, --follow', 'show its events until it has ended')
    .option('--json', 'print JSON')
    .action((id: string, { follow = false, json = false }: { follow?: boolean; json?: boolean }) => {
      const client = connected();
      return logs(client, id, { isFollowed: follow, json }, inboxOf(client));
    });
  for (const decision of ['approve', 'reject'] as const)
    program
      .command(`${decision} <approval>`)
      .description(`${decision} a call that waits`)
      .action(async (id: string) => {
        const { status } = await connected().call('post', `/v1/approvals/{id}/${decision}`, { params: { id } });
        print(status);
      });
  program
    .command('open [flow]')
    .description('open the console')
    .action(async (flow?: string) => {
      const client = connected();
      const path = flow === undefined ? '' : `/agentflows/${encodeURIComponent(await idOf(client, flow))}`;
      const address = `${consoleOf(client)}${path}`;
      print(address);
      openPage(address);
    });
}

/** The address of the project in the console. */
function consoleOf({ projectId }: Client): string {
  return `${readSettings().url.replace(/\/+$/, '')}/console/projects/${encodeURIComponent(projectId)}`;
}

const inboxOf = (client: Client) => `${consoleOf(client)}/inbox`;

function addOtherCommands(program: Command): void {
  program
    .command('login')
    .description(
      'store settings for this user: GCS_URL, GCS_PROJECT and GCS_API_KEY, or a key that you allow in a browser',
    )
    .option('--url <address>', 'the address of the service')
    .option('--project <id>', 'the project')
    .action(login);
  program
    .command('logout')
    .description('remove the stored settings, and revoke the key if you allowed it in a browser')
    .action(logout);
  program
    .command('completion <shell>')
    .description('print the completion for bash, zsh or fish')
    .action((shell: string) => print(completionScript(program, shell)));
}

/** Returns the exit code for an error, and prints its line. */
function codeFor(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.wrong;
  report(`gcs: ${textOf(error)}`);
  if (error instanceof Problem) return error.exitCode;
  if (error instanceof ServiceError && error.status === 202) return exitCodes.held;
  if (error instanceof ServiceError && error.status === 401) return exitCodes.signedOut;
  return error instanceof ServiceError && error.status === 409 ? exitCodes.drift : exitCodes.failed;
}

function isUnreachable(error: unknown): boolean {
  if (error instanceof TypeError) return error.message === 'fetch failed';
  return error instanceof DOMException && error.name === 'TimeoutError';
}

function textOf(error: unknown): string {
  if (error instanceof ServiceError && error.approval_id !== undefined)
    return `the call waits for the approval ${error.approval_id}; when somebody has approved it, run the command again`;
  if (error instanceof ServiceError && error.status === 401)
    return `the service does not accept the key: ${error.message}; ${howToReplaceKey()}`;
  if (isUnreachable(error)) return 'the service cannot be reached; GCS_URL or --url must be its address';
  return error instanceof Error ? error.message : String(error);
}

const program = new Command('gcs')
  .description('Projects as files, releases and runs of agentflows.')
  .version(cli.version, '-V, --version', 'print the version')
  // Commands have an option of this name too.
  .enablePositionalOptions()
  .exitOverride()
  .configureHelp({ showGlobalOptions: false });
for (const add of [addFileCommands, addArchiveCommands, addReleaseCommands, addRunCommands, addOtherCommands])
  add(program);
try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = codeFor(error);
}
