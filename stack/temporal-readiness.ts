import { connect } from 'node:net';
import { Connection } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { searchAttributeTypes } from '../workflows/search-attributes.js';
import { messageOf, StackError } from './stack-error.js';

interface TemporalTarget {
  address: string;
  namespace: string;
  /** Contains Temporal's TLS and API key variables. */
  env: NodeJS.ProcessEnv;
}

/** temporal.api.enums.v1.IndexedValueType */
const wireTypes = { KEYWORD: 2 } as const;

/**
 * Checks that the server responds, has the namespace and can query every search attribute. Registers missing search
 * attributes first.
 * @throws StackError that names what is missing
 */
export async function checkTemporal({ address, namespace, env }: TemporalTarget): Promise<void> {
  if (address.startsWith('127.0.0.1:')) await portAccepts(Number(address.split(':')[1]));
  const options = {
    ...loadClientConnectConfig(environmentOnly(env)).connectionOptions,
    address,
    connectTimeout: 5_000,
  };
  const connection = await Connection.connect(options).catch((error: unknown) => {
    throw new StackError(`Temporal at ${address} does not answer (${messageOf(error)}).`);
  });
  try {
    await connection.workflowService.describeNamespace({ namespace }).catch((error: unknown) => {
      throw new StackError(`Temporal at ${address} does not provide namespace ${namespace} (${messageOf(error)}).`);
    });
    await registerMissing(connection, namespace);
    await connection.workflowService.countWorkflowExecutions({ namespace, query: queryOnAll });
  } finally {
    await connection.close();
  }
}

/** Unset and empty variables mean the same, as in `src/config.ts`. */
function environmentOnly(env: NodeJS.ProcessEnv): { disableFile: true; overrideEnvVars: Record<string, string> } {
  const present = Object.entries(env).filter((entry): entry is [string, string] => Boolean(entry[1]));
  return { disableFile: true, overrideEnvVars: Object.fromEntries(present) };
}

const queryOnAll = Object.keys(searchAttributeTypes)
  .map((name) => `${name} = 'none'`)
  .join(' AND ');

async function registerMissing({ operatorService }: Connection, namespace: string): Promise<void> {
  const { customAttributes } = await operatorService.listSearchAttributes({ namespace });
  const missing = Object.entries(searchAttributeTypes).filter(([name]) => !(name in customAttributes));
  if (missing.length === 0) return;
  const searchAttributes = Object.fromEntries(missing.map(([name, type]) => [name, wireTypes[type]]));
  await operatorService.addSearchAttributes({ namespace, searchAttributes }).catch((error: unknown) => {
    const names = missing.map(([name, type]) => `${name} (${type.toLowerCase()})`).join(', ');
    const lack = `Temporal's namespace ${namespace} lacks the search attributes ${names}`;
    throw new StackError(`${lack} and refuses to register them (${messageOf(error)}): ask its operator to add them.`);
  });
}

/** Avoids the second that gRPC waits before it retries a refused port. */
function portAccepts(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.destroy();
      resolve();
    });
  });
}
