import type { EventEmitter } from 'node:events';
import { createRequire } from 'node:module';

/** What we use of the driver's own connection; checked below, since it is not its public interface. */
interface DriverConnection extends EventEmitter {
  error: Error | null;
  writeCommand(command: unknown, options: unknown): Promise<void>;
}

const { Connection } = createRequire(import.meta.url)('mongodb/lib/cmap/connection.js') as { Connection: { prototype: DriverConnection } };
const { writeCommand } = Connection.prototype;
if (typeof writeCommand !== 'function') throw new Error('this mongodb driver has no Connection.writeCommand: see docs/decisions/0048');

/**
 * A command that is being written when its connection closes fails with the connection's error. The driver (7.8, 7.9) waits for
 * the socket's `drain` alone, which a closed socket never emits, so that the operation and its place in the pool would
 * be lost for good (docs/decisions/0048).
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
