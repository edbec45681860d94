import { call } from '../api.js';
import { Confirm } from '../confirm.js';
import { TextField } from '../field.js';
import { useDraft } from '../use-draft.js';

interface NewProjectOptions {
  onDone: (projectId: string) => void;
  onClose: () => void;
}

export function NewProject({ onDone, onClose }: NewProjectOptions) {
  const [name, setName] = useDraft('project.name');
  const [description, setDescription] = useDraft('project.description');
  return (
    <Confirm
      title="New project"
      action="Create project"
      act={(options) => call('post', '/v1/project', { body: { name: name.trim(), description } }, options)}
      invalidates={[['projects']]}
      onDone={({ _id }) => {
        setName('');
        setDescription('');
        onDone(_id);
      }}
      onClose={onClose}
    >
      <p>
        A project has its own agentflows, data, members and keys. Policies belong to the organization. People with a
        role in the whole organization have it in the new project as well.
      </p>
      <TextField label="Name" name="name" text={name} onChange={setName} maxLength={200} autoFocus />
      <TextField label="Description" name="description" rows={3} text={description} onChange={setDescription} />
    </Confirm>
  );
}
