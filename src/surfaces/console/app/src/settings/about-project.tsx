import { useQuery, useQueryClient } from '@tanstack/react-query';
import { call, type Project } from '../api.js';
import { Facts } from '../facts.js';
import { Form, TextField } from '../field.js';
import { Problem, Time, useDraft } from '../parts.js';
import { projectId, useMay } from '../session.js';
import { useSubmit } from '../use-submit.js';

const params = { project_id: projectId };

/** Edits the name and the description of the project. */
export function AboutProject() {
  const { data, error } = useQuery({
    queryKey: ['project'],
    queryFn: () => call('get', '/v1/project/{project_id}', { params }),
  });
  return (
    <section aria-labelledby="project">
      <h2 id="project">Name and description</h2>
      <Problem error={error} />
      {data && <Name project={data} />}
    </section>
  );
}

function Name({ project }: { project: Project }) {
  const may = useMay();
  const queries = useQueryClient();
  const [stored, store] = useDraft('settings.about');
  const body = (stored === '' ? {} : JSON.parse(stored)) as { name?: string; description?: string };
  const { error, isBusy, submit, forget } = useSubmit(async (options) => {
    queries.setQueryData(['project'], await call('patch', '/v1/project/{project_id}', { params, body }, options));
    store('');
  });
  const isReadOnly = !may('patch /v1/project/{project_id}');
  const field = (name: 'name' | 'description') => ({
    ...{ name, isReadOnly, text: body[name] ?? project[name] },
    onChange: (text: string) => store(JSON.stringify({ ...body, [name]: text })),
  });
  return (
    <>
      <Facts
        rows={[
          ['Id', <code key="id">{project._id}</code>],
          ['Organization', <code key="organization">{project.organization_id}</code>],
          ['Created', <Time key="created" at={project.created_at} />],
          ['State', project.status],
        ]}
      />
      <Form className="narrow" error={error} onSubmit={() => void (isBusy || submit())}>
        <TextField label="Name" {...field('name')} />
        <TextField label="Description" rows={3} {...field('description')} />
        {!isReadOnly && (
          <p className="actions">
            <button className="primary" disabled={stored === ''}>
              Save
            </button>
            <button
              type="button"
              disabled={stored === ''}
              onClick={() => {
                store('');
                forget();
              }}
            >
              Discard changes
            </button>
          </p>
        )}
      </Form>
    </>
  );
}
