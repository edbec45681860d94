import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { tryLock } from './lock-file.js';
import { identify, isAlive, type ProcessIdentity } from './process-identity.js';
import type { ServiceName } from './service.js';
import type { Ports } from './service-options.js';
import { StackError } from './stack-error.js';
import { signalGroup } from './supervised-process.js';

/** The content of `stack.json`, for the next stack with the same data. */
interface StackState {
  /** Absent in folders of release 0.1. */
  format?: number;
  ports: Partial<Ports>;
  servers: Partial<Record<ServiceName, ProcessIdentity>>;
}

interface DataFolder {
  ports: Partial<Ports>;
  rememberPorts(ports: Ports): void;
  rememberServer(name: ServiceName, pid: number): void;
  release(): void;
}

const leftoverDeadlineMs = 12_000;
/** The servers cannot read the data of another format. */
const dataFormat = 2;

/** @throws StackError that names the other process if another stack uses the folder, and for data of another format */
export async function openDataFolder(dataDir: string): Promise<DataFolder> {
  const folder = path.resolve(dataDir);
  mkdirSync(folder, { recursive: true });
  // Records, graph and logs are only for this user.
  chmodSync(folder, 0o700);
  const lock = tryLock(path.join(folder, 'stack.lock'));
  if ('heldBy' in lock) {
    const holder = `the stack of process ${lock.heldBy}`;
    throw new StackError(`${folder} is in use by ${holder}: stop that one, or choose another data folder.`);
  }
  const file = path.join(folder, 'stack.json');
  const state = read(file);
  if (state.format !== dataFormat) {
    lock.release();
    const place = 'move the folder away, or set DATA_DIR to another one';
    throw new StackError(`${folder} contains data that another release wrote, and this one cannot read: ${place}.`);
  }
  await endLeftovers(Object.values(state.servers));
  state.servers = {};
  const save = (): void => {
    writeFileSync(`${file}.new`, JSON.stringify(state, undefined, 2));
    renameSync(`${file}.new`, file);
  };
  return {
    ports: state.ports,
    rememberPorts(ports) {
      state.ports = ports;
      save();
    },
    rememberServer(name, pid) {
      state.servers[name] = identify(pid);
      save();
    },
    release: lock.release,
  };
}

function read(file: string): StackState {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as StackState;
  } catch {
    return { format: dataFormat, ports: {}, servers: {} };
  }
}

/** The servers of a stack that was just killed may still be shutting down and using the data. */
async function endLeftovers(servers: readonly ProcessIdentity[]): Promise<void> {
  const deadline = Date.now() + leftoverDeadlineMs;
  for (;;) {
    const alive = servers.filter(isAlive);
    if (alive.length === 0) return;
    if (Date.now() > deadline) alive.forEach(({ pid }) => signalGroup(pid, 'SIGKILL'));
    await pause(100);
  }
}
