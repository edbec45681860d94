import type { Duplex } from 'node:stream';
// @ts-expect-error The driver has no types for its internal modules.
import * as connections from 'mongodb/lib/cmap/connection.js';

/** The internal interface of the driver that this file uses. The check below detects driver changes. */
interface DriverConnection {
  socket: Duplex;
  cleanup(error: Error): void;
}

const { Connection } = connections as { Connection: { prototype: DriverConnection } };
const { cleanup } = Connection.prototype;
if (typeof cleanup !== 'function')
  throw new Error('this mongodb driver has no Connection.cleanup: see docs/decisions/0010');

/**
 * Ends the writes of a closed connection. The driver (7.8, 7.9) waits for the `drain` event of the socket, which a closed
 * socket never emits, so the operation and its place in the pool would be lost (docs/decisions/0010). After a write,
 * the driver checks whether the connection has failed, and throws its error.
 */
Connection.prototype.cleanup = function (error) {
  cleanup.call(this, error);
  this.socket.write = () => true;
  this.socket.emit('drain');
};
