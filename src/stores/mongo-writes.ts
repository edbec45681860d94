import type { EventEmitter } from 'node:events';
// @ts-expect-error The driver has no types for its internal modules.
import * as connections from 'mongodb/lib/cmap/connection.js';

/** The internal interface of the driver that this file uses. The check below detects driver changes. */
interface DriverConnection extends EventEmitter {
  error: Error | null;
  writeCommand(command: unknown, options: unknown): Promise<void>;
}

const { Connection } = connections as { Connection: { prototype: DriverConnection } };
const { writeCommand } = Connection.prototype;
if (typeof writeCommand !== 'function')
  throw new Error('this mongodb driver has no Connection.writeCommand: see docs/decisions/0048');

/**
 * Fails a command with the error of its connection if the connection closes while the command is being written. The
 * driver (7.8, 7.9) waits only for the `drain` event of the socket, which a closed socket never emits, so the operation
 * and its place in the pool would be lost (docs/decisions/0048).
 */
Connection.prototype.writeCommand = async function (command, options) {
  let onClose: () => void = () => undefined;
  const closed = new Promise<never>((_, reject) => {
    onClose = () => reject(this.error ?? new Error('the connection closed'));
    this.once('close', onClose);
  });
  try {
    await Promise.race([writeCommand.call(this, command, options), closed]);
  } finally {
    this.off('close', onClose);
  }
};
