import type { Requirement } from './requirement.js';

const ofCli = { source: 'docs/guides/cli.md' } as const;

/** The command line tool. */
export const cli = [
  {
    ...ofCli,
    id: 'cli.round-trip',
    says: 'The command `gcs pull` writes the same bytes each time, and a push of what was pulled changes nothing.',
  },
  {
    ...ofCli,
    id: 'cli.resources',
    says: 'Tables, agentflows, connectors, schedules, components of the dashboard and policies are files, with names of files instead of ids and without secrets.',
  },
  {
    ...ofCli,
    id: 'cli.another-project',
    says: 'A push of the files of one project to another one makes the same resources with references to each other, also in circles.',
  },
  {
    ...ofCli,
    id: 'cli.archive',
    says: 'The command `gcs export` writes the same archive each time, and `gcs import` makes the same project of it elsewhere.',
  },
  {
    ...ofCli,
    id: 'cli.hostile-archive',
    says: 'The command `gcs import` refuses an archive with paths outside of its folder, links, duplicates, other files, or too many or too large files, and changes nothing.',
  },
  {
    ...ofCli,
    id: 'cli.secrets',
    says: 'The command `gcs push` takes secrets of new connectors from the environment, and names those that are missing before it changes anything.',
  },
  {
    ...ofCli,
    id: 'cli.grants',
    says: 'The tool `gcs` leaves out kinds of resources that the key may not read, and refuses files of them.',
  },
  {
    ...ofCli,
    id: 'cli.push',
    says: 'The command `gcs push` creates and changes drafts as the files say, and `gcs plan` shows this and ends with 2.',
  },
  {
    ...ofCli,
    id: 'cli.drift',
    says: 'The commands `gcs push` and `gcs pull` overwrite nothing that was changed on the other side since both were in step, unless forced.',
  },
  {
    ...ofCli,
    id: 'cli.prune',
    says: 'The command `gcs push` deletes only with `--prune`, and only agentflows whose files were in the folder.',
  },
  {
    ...ofCli,
    id: 'cli.names',
    says: 'Agentflows with any name have files whose names every file system accepts, below the folder.',
  },
  {
    ...ofCli,
    id: 'cli.wrong-files',
    says: 'A file that is no agentflow, or reaches outside of the folder, is refused in one line.',
  },
  {
    ...ofCli,
    id: 'cli.code',
    says: 'The commands `gcs plan` and `gcs push` take agentflows in TypeScript, JavaScript and Python. They run such a file only if the command line names it.',
  },
  {
    ...ofCli,
    id: 'cli.many',
    says: 'The commands `gcs pull` and `gcs plan` handle 500 agentflows, with one request for 200 of them.',
  },
  {
    ...ofCli,
    id: 'cli.releases',
    says: 'The tool `gcs` publishes, promotes, rolls back and compares releases; a push promotes nothing.',
  },
  {
    ...ofCli,
    id: 'cli.run',
    says: 'The command `gcs run --wait` follows a run to its end, and `gcs logs` shows its events.',
  },
  {
    ...ofCli,
    id: 'cli.run-reasons',
    says: 'A failed run ends with its whole reason, and a run that waits for a person says where to answer.',
  },
  { ...ofCli, id: 'cli.run-inputs', says: 'Inputs of the command line keep the digits of their numbers.' },
  {
    ...ofCli,
    id: 'cli.test',
    says: 'The command `gcs test` runs drafts with the cases of files, shows what differs from the expected outputs, and then ends with 1.',
  },
  {
    ...ofCli,
    id: 'cli.errors',
    says: 'A wrong call ends with a documented exit code and says what is wrong and what is expected.',
  },
  {
    ...ofCli,
    id: 'cli.approvals',
    says: 'A command whose call is held ends with 5, asks only once, and does it when it is repeated after `gcs approve`.',
  },
  {
    ...ofCli,
    id: 'cli.login',
    says: 'The command `gcs login` stores the settings with mode 0600 once the service accepts them.',
  },
  {
    source: 'https://www.rfc-editor.org/rfc/rfc8628#section-3.5',
    id: 'cli.login.network',
    says: 'The command `gcs login` goes on, with longer pauses, after polls that get no answer.',
  },
  {
    source: 'docs/guides/cli.md#settings',
    id: 'cli.login.browser',
    says: 'The command `gcs login` prints a code, waits until a person has allowed it in a browser, and stores a key that the commands can use; `gcs logout` revokes it.',
  },
  {
    ...ofCli,
    id: 'cli.completion',
    says: 'The command `gcs completion` prints a script that completes commands in a shell.',
  },
] as const satisfies readonly Requirement[];
