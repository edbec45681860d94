import { useQuery, useQueryClient } from '@tanstack/react-query';
import { call, type Project } from '../api.js';
import { Facts } from '../facts.js';
import { Form, SaveButtons, TextField } from '../field.js';
import { Problem, Section } from '../parts.js';
import { Time } from '../time.js';
import { useJsonDraft } from '../use-draft.js';
import { projectId, useMay } from '../session.js';
import { useSubmit } from '../use-submit.js';
import formStyles from '../styles/form.module.css';

const params = { project_id: projectId };

export function AboutProject() {
  const { data, error } = useQuery({
    queryKey: ['project'],
    queryFn: () => call('get', '/v1/project/{project_id}', { params }),
  });
  return (
    <Section title="Name and description">
      <Problem error={error} />
      {data && <Name project={data} />}
    </Section>
  );
}

function Name({ project }: { project: Project }) {
  const may = useMay();
  const queries = useQueryClient();
  const [body, store, forget] = useJsonDraft<{ name: string; description: string }>('settings.about');
  const { error, submit, clearError } = useSubmit(async (options) => {
    queries.setQueryData(['project'], await call('patch', '/v1/project/{project_id}', { params, body }, options));
    forget();
  });
  const isReadOnly = !may('patch /v1/project/{project_id}');
  const field = (name: 'name' | 'description') => ({
    ...{ name, isReadOnly, text: body[name] ?? project[name] },
    onChange: (text: string) => store({ ...body, [name]: text }),
  });
  return (
    <>
      <Facts
        of={{
          Id: <code>{project._id}</code>,
          Organization: <code>{project.organization_id}</code>,
          Created: <Time at={project.created_at} />,
          State: project.status,
        }}
      />
      <Form className={formStyles.narrow} error={error} onSubmit={() => void submit()}>
        <TextField label="Name" {...field('name')} />
        <TextField label="Description" rows={3} {...field('description')} />
        {!isReadOnly && (
          <SaveButtons
            isChanged={Object.keys(body).length > 0}
            onDiscard={() => {
              store({});
              clearError();
            }}
          />
        )}
      </Form>
    </>
  );
}
