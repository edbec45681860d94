import { useMutation, useQueryClient } from '@tanstack/react-query';
import { call, newKey } from '../api.js';
import { Facts } from '../facts.js';
import { Badge, durationText, Problem, useDraft } from '../parts.js';

/** Sends a GET to the API of the connector, with its credentials, and shows the answer. */
export function TestCall({ connectorId: id }: { connectorId: string }) {
  const [path, setPath] = useDraft(`connector.${id}.test`);
  const queries = useQueryClient();
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: () =>
      call(
        'post',
        '/connectors/{projectID}/{connector_id}/test',
        { params: { connector_id: id }, body: { path: path.trim() } },
        { idempotencyKey: newKey() },
      ),
    // The use of the connector is part of its record.
    onSettled: () => queries.invalidateQueries({ queryKey: ['connector', id] }),
  });
  return (
    <section aria-labelledby="test-call">
      <h2 id="test-call">Test call</h2>
      <form
        className="filter"
        onSubmit={(event) => {
          event.preventDefault();
          mutate();
        }}
      >
        <label>
          GET, below the base URL
          <input value={path} placeholder="/" maxLength={2000} onChange={(event) => setPath(event.target.value)} />
        </label>
        <button aria-disabled={isPending}>{isPending ? 'Calling…' : 'Call it'}</button>
      </form>
      <Problem error={error} />
      <div role="status">
        {data && (
          <Facts
            rows={[
              ['Result', <Badge key="result" state={data.succeeded ? 'completed' : 'failed'} />],
              ['Status', data.status ?? 'no answer'],
              ['Duration', durationText(data.duration_ms / 1000)],
              ['Failure', data.failure],
              ['Begin of the answer', data.excerpt !== '' && <bdi key="excerpt">{data.excerpt}</bdi>],
            ]}
          />
        )}
      </div>
    </section>
  );
}
