import { SpanKind, type Span } from '@opentelemetry/api';
import type { Driver, ManagedTransaction, Session } from 'neo4j-driver';
import { activeSpan, runInSpan, type Tracing } from './tracing.js';

/**
 * Creates spans for the statements of traced calls. A span contains the kind of statement but never its text or
 * parameters.
 */
export function traceSessions(driver: Driver, { tracer }: Tracing): void {
  const open = driver.session.bind(driver);
  driver.session = (options) => {
    const session = open(options);
    return activeSpan() ? tracedSession(session, tracer) : session;
  };
}

function tracedSession(session: Session, tracer: Tracing['tracer']): Session {
  const { run, close, executeRead, executeWrite } = boundTo(session);
  const begin = (operation: string) =>
    tracer.startSpan(`neo4j ${operation}`, {
      kind: SpanKind.CLIENT,
      attributes: { 'db.system.name': 'neo4j', 'db.operation.name': operation },
    });

  // A session runs one statement at a time, so the next statement or the end of the session ends the current span.
  let running: Span | undefined;
  const endRunning = () => {
    running?.end();
    running = undefined;
  };
  const transaction =
    (operation: string, execute: Session['executeRead']): Session['executeRead'] =>
    (work, config) => {
      const span = begin(operation);
      return runInSpan(span, () => execute((tx) => work(recordStatements(tx, span)), config));
    };
  return Object.assign(session, {
    run: ((query, parameters, config) => {
      endRunning();
      running = begin(kindOf(query));
      return run(query, parameters, config);
    }) satisfies Session['run'],
    close: async () => {
      endRunning();
      await close();
    },
    executeRead: transaction('executeRead', executeRead),
    executeWrite: transaction('executeWrite', executeWrite),
  });
}

function boundTo(session: Session): Pick<Session, 'run' | 'close' | 'executeRead' | 'executeWrite'> {
  return {
    run: session.run.bind(session),
    close: session.close.bind(session),
    executeRead: session.executeRead.bind(session),
    executeWrite: session.executeWrite.bind(session),
  };
}

function recordStatements(tx: ManagedTransaction, span: Span): ManagedTransaction {
  const run = tx.run.bind(tx);
  return Object.assign(tx, {
    run: ((query, parameters) => {
      span.addEvent(kindOf(query));
      return run(query, parameters);
    }) satisfies ManagedTransaction['run'],
  });
}

const kinds =
  /^\s*(?:CYPHER\s[^\n]*?)?\b(EXPLAIN|MATCH|OPTIONAL MATCH|MERGE|CREATE|UNWIND|CALL|RETURN|WITH|DROP|SHOW)\b/i;

function kindOf(query: Parameters<Session['run']>[0]): string {
  const text = typeof query === 'object' && 'text' in query ? query.text : String(query);
  return kinds.exec(text)?.[1]?.toUpperCase() ?? 'statement';
}
