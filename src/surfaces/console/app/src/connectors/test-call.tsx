import { useMutation, useQueryClient } from '@tanstack/react-query';
import { call, newKey } from '../api.js';
import { Facts } from '../facts.js';
import { Form, TextField } from '../field.js';
import { Badge, durationText, useDraft } from '../parts.js';

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
      <Form className="filter" error={error} onSubmit={() => mutate()}>
        <TextField
          label="GET, below the base URL"
          name="path"
          text={path}
          onChange={setPath}
          placeholder="/"
          maxLength={2000}
        />
        <button aria-disabled={isPending}>{isPending ? 'Calling…' : 'Call it'}</button>
      </Form>
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
