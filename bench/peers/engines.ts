import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { choosePorts } from '../../stack/ports.js';
import { runToEnd } from '../../stack/run-to-end.js';
import { runSupervised } from '../../stack/supervised-process.js';
import { postForText, untilItAnswers, type Engine, type Steps } from './engine.js';
import { installed, type Packages } from './install.js';
import { workflowsOfN8n } from './n8n-workflows.js';
import type { Postgres } from './postgres.js';

/** The folder for data and logs, and the database that the engines share. */
interface Place {
  folder: string;
  postgres: Postgres;
}

/** Starts an engine and waits until it runs flows. */
export type StartEngine = (place: Place) => Promise<Engine>;

export const startDbos = library('DBOS', 'dbos', { dependencies: { '@dbos-inc/dbos-sdk': '5.3.0' } });

export const startLangGraph = library('LangGraph with `sync`', 'langgraph', {
  dependencies: {
    '@langchain/core': '1.4.0',
    '@langchain/langgraph': '1.7.3',
    '@langchain/langgraph-checkpoint-postgres': '1.0.5',
  },
});

/** An engine that is a library over PostgreSQL, behind a small HTTP server of its own. */
function library(name: string, app: string, packages: Packages): StartEngine {
  return async ({ folder, postgres }) => {
    const root = await installed(app, packages);
    const { port } = await choosePorts(['port'], {});
    const server = runSupervised({
      command: process.execPath,
      args: [path.join(root, `${app}.mjs`)],
      env: { ...process.env, PORT: String(port), DATABASE_URL: await postgres.database(app) },
      logFile: path.join(folder, `${app}.log`),
    });
    const run = (steps: Steps) => postForText(`http://127.0.0.1:${port}/?steps=${steps}`, steps, {});
    await untilItAnswers(name, server, () => run(2));
    return { name, run, pids: [server.pid, postgres.pid], stop: () => server.stop() };
  };
}

const restatePackages: Packages = {
  dependencies: { '@restatedev/restate-server': '1.7.12', '@restatedev/restate-sdk': '1.17.2' },
};

export const startRestate: StartEngine = async ({ folder }) => {
  const root = await installed('restate', restatePackages);
  const ports = await choosePorts(['app', 'ingress', 'admin', 'node'], {});
  const logFile = path.join(folder, 'restate.log');
  const app = runSupervised({
    command: process.execPath,
    args: [path.join(root, 'restate.mjs')],
    env: { ...process.env, PORT: String(ports.app) },
    logFile,
  });
  const server = runSupervised({
    command: path.join(root, 'node_modules/.bin/restate-server'),
    args: ['--no-logo', '--base-dir', path.join(folder, 'restate')],
    env: {
      ...process.env,
      RESTATE_BIND_ADDRESS: `127.0.0.1:${ports.node}`,
      RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ports.ingress}`,
      RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${ports.admin}`,
    },
    logFile,
  });
  const run = (steps: Steps) => postForText(`http://127.0.0.1:${ports.ingress}/flow/run`, steps, { steps });
  await untilItAnswers('Restate', server, async () => {
    const answer = await fetch(`http://127.0.0.1:${ports.admin}/deployments`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ uri: `http://127.0.0.1:${ports.app}` }),
    });
    if (!answer.ok) throw new Error(`the registration was answered with ${answer.status}: ${await answer.text()}`);
    await run(2);
  });
  const stop = async () => void (await Promise.all([server.stop(), app.stop()]));
  return { name: 'Restate', run, pids: [server.pid, app.pid], stop };
};

/** The version that still runs on Node.js 20. One of its dependencies has a newer release on another registry. */
const n8nPackages: Packages = { dependencies: { n8n: '2.8.4' }, overrides: { xlsx: '0.18.5' } };

export const startN8n: StartEngine = async ({ folder, postgres }) => {
  const root = await installed('n8n', n8nPackages);
  const ports = await choosePorts(['port', 'broker'], {});
  await postgres.database('n8n');
  const home = path.join(folder, 'n8n');
  await mkdir(home, { recursive: true });
  const workflows = path.join(home, 'workflows.json');
  await writeFile(workflows, JSON.stringify(workflowsOfN8n()));
  const command = path.join(root, 'node_modules/.bin/n8n');
  const logFile = path.join(folder, 'n8n.log');
  const env = {
    ...process.env,
    DB_TYPE: 'postgresdb',
    DB_POSTGRESDB_HOST: postgres.host,
    DB_POSTGRESDB_PORT: String(postgres.port),
    DB_POSTGRESDB_DATABASE: 'n8n',
    DB_POSTGRESDB_USER: postgres.user,
    DB_POSTGRESDB_PASSWORD: 'none',
    DB_POSTGRESDB_POOL_SIZE: '10',
    N8N_USER_FOLDER: home,
    N8N_ENCRYPTION_KEY: randomBytes(16).toString('hex'),
    N8N_PORT: String(ports.port),
    N8N_LISTEN_ADDRESS: '127.0.0.1',
    N8N_RUNNERS_BROKER_PORT: String(ports.broker),
    N8N_DIAGNOSTICS_ENABLED: 'false',
    N8N_VERSION_NOTIFICATIONS_ENABLED: 'false',
    N8N_TEMPLATES_ENABLED: 'false',
  };
  await runToEnd({ command, args: ['import:workflow', `--input=${workflows}`], env, logFile });
  for (const { id } of workflowsOfN8n())
    await runToEnd({ command, args: ['publish:workflow', `--id=${id}`], env, logFile });
  const server = runSupervised({ command, args: ['start'], env, logFile });
  const run = (steps: Steps) =>
    postForText(`http://127.0.0.1:${ports.port}/webhook/run${steps}`, steps, { goal: 'bench' });
  await untilItAnswers('n8n', server, () => run(2));
  return { name: 'n8n with saved progress', run, pids: [server.pid, postgres.pid], stop: () => server.stop() };
};
