import { SpanKind, type Span } from '@opentelemetry/api';
import type { CommandStartedEvent, MongoClient } from 'mongodb';
import { activeSpan, markFailed, type Tracing } from './tracing.js';

/**
 * Creates a span for each command of a traced call. The span contains the command's name and collection but never its
 * values. Requires a driver with `monitorCommands`.
 */
export function traceCommands(client: MongoClient, { tracer }: Tracing): void {
  const open = new Map<string, Span>();
  const keyOf = ({
    address,
    requestId,
    connectionId,
  }: Pick<CommandStartedEvent, 'address' | 'requestId' | 'connectionId'>) =>
    `${address} ${String(connectionId)} ${requestId}`;
  client.on('commandStarted', (event) => {
    if (!activeSpan()) return;
    const { commandName, databaseName } = event;
    const collection = collectionOf(event);
    const attributes = {
      'db.system.name': 'mongodb',
      'db.namespace': databaseName,
      'db.operation.name': commandName,
      ...(collection && { 'db.collection.name': collection }),
    };
    open.set(
      keyOf(event),
      tracer.startSpan(`mongodb ${commandName}${collection ? ` ${collection}` : ''}`, {
        kind: SpanKind.CLIENT,
        attributes,
      }),
    );
  });
  const end = (key: string, error?: unknown) => {
    const span = open.get(key);
    if (!span) return;
    open.delete(key);
    if (error !== undefined) markFailed(span, error);
    span.end();
  };
  client.on('commandSucceeded', (event) => end(keyOf(event)));
  client.on('commandFailed', (event) => end(keyOf(event), event.failure));
}

function collectionOf({ command, commandName }: CommandStartedEvent): string | undefined {
  const { [commandName]: target, collection } = command as Record<string, unknown>;
  return [target, collection].find((name) => typeof name === 'string');
}
