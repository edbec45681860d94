import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call, type Project } from '../api.js';
import { Confirm } from '../confirm.js';
import { Facts } from '../facts.js';
import { Problem, Time, useDraft } from '../parts.js';
import { projectId, useMay } from '../session.js';

const params = { project_id: projectId };

/** The name and the description of the project. */
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
  const [name, setName] = useDraft('settings.name');
  const [description, setDescription] = useDraft('settings.description');
  const [isAsked, setAsked] = useState(false);
  const isChanged = name !== '' || description !== '';
  const body = { ...(name !== '' && { name }), ...(description !== '' && { description }) };
  const discard = () => {
    setName('');
    setDescription('');
  };
  return (
    <>
      <Facts
        rows={[
          ['Id', <code key="id">{project._id}</code>],
          ['Organization', <code key="organization">{project.organization_id}</code>],
          ['Made', <Time key="made" at={project.created_at} />],
          ['State', project.status],
        ]}
      />
      <form
        className="narrow"
        onSubmit={(event) => {
          event.preventDefault();
          setAsked(true);
        }}
      >
        <label>
          Name
          <input
            value={name || project.name}
            readOnly={!may('patch /v1/project/{project_id}')}
            maxLength={200}
            onChange={(event) => setName(event.target.value)}
          />
        </label>
        <label>
          Description
          <textarea
            value={description || project.description}
            readOnly={!may('patch /v1/project/{project_id}')}
            rows={3}
            maxLength={10_000}
            onChange={(event) => setDescription(event.target.value)}
          />
        </label>
        {may('patch /v1/project/{project_id}') && (
          <p className="actions">
            <button className="primary" disabled={!isChanged}>
              Save…
            </button>
            <button type="button" disabled={!isChanged} onClick={discard}>
              Discard changes
            </button>
          </p>
        )}
      </form>
      {isAsked && (
        <Confirm
          title="Change the project?"
          action="Change the project"
          act={(options) => call('patch', '/v1/project/{project_id}', { params, body }, options)}
          invalidates={[['project']]}
          onDone={discard}
          onClose={() => setAsked(false)}
        >
          <p>Everybody who works on the project sees it.</p>
        </Confirm>
      )}
    </>
  );
}
