import type { ConnectorTest } from '../api.js';
import { Facts } from '../facts.js';
import { Badge, durationText } from '../parts.js';

/** What a test call returned. */
export function TestAnswer({ result }: { result: ConnectorTest | undefined }) {
  return (
    <div role="status">
      {result && (
        <Facts
          of={{
            Result: <Badge state={result.succeeded ? 'completed' : 'failed'} />,
            Status: result.status ?? 'No response',
            Duration: durationText(result.duration_ms / 1000),
            Error: result.failure,
            'Response excerpt': result.excerpt !== '' && <bdi>{result.excerpt}</bdi>,
          }}
        />
      )}
    </div>
  );
}
