import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { components } from '@client/openapi.js';
import { call } from '../api.js';
import { SelectField } from '../field.js';
import { ActionButton, Problem, Window } from '../parts.js';
import { readAll } from '../read-all.js';
import { useSubmit } from '../use-submit.js';
import { SlotFields, type ChosenSlots } from './slot-fields.js';
import textStyles from '../styles/text.module.css';

type Publication = components['schemas']['Publication'];

interface TemplateChoice {
  /** Undefined while they load. */
  all: readonly Publication[] | undefined;
  error: unknown;
  chosen: Publication | undefined;
  choose: (id: string) => void;
}

/** The agentflows of the marketplace, of which the person chooses one. */
export function useTemplates(): TemplateChoice {
  const [id, choose] = useState('');
  const { data: all, error } = useQuery({
    queryKey: ['marketplace'],
    queryFn: () => readAll((query) => call('get', '/marketplace', { query })),
    staleTime: 60_000,
  });
  return { all, error, chosen: all?.find(({ _id }) => _id === id) ?? all?.[0], choose };
}

/** Chooses an agentflow of the marketplace and copies it into the project. */
export function AddTemplate({ all, error: loadError, chosen, choose }: TemplateChoice) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [slots, setSlots] = useState<ChosenSlots>({});
  const { error, isBusy, submit } = useSubmit(async (options, id: string) => {
    const hire = { params: { id }, body: { slots } };
    const added = await call('post', '/marketplace/coworker/{id}/hire', hire, options);
    for (const key of ['onboarding', 'agentflows', 'first-agentflow'])
      void queries.invalidateQueries({ queryKey: [key] });
    await navigate({ to: '/agentflows/$agentflowId', params: { agentflowId: added._id } });
  });
  return (
    <>
      <Problem error={loadError ?? error} />
      {all?.length === 0 && <p className={textStyles.soft}>The marketplace of this service has no templates.</p>}
      {chosen && (
        <>
          <SelectField
            label="Template"
            value={chosen._id}
            options={(all ?? []).map(({ _id, name }) => ({ value: _id, name }))}
            onChange={(id) => {
              choose(id);
              setSlots({});
            }}
          />
          <p className={textStyles.soft}>
            <bdi>{chosen.description}</bdi>
          </p>
          <SlotFields publicationId={chosen._id} value={slots} onChange={setSlots} />
          <p>
            <ActionButton name="Add to this project" isDisabled={isBusy} onClick={() => void submit(chosen._id)} />
          </p>
        </>
      )}
    </>
  );
}

/** A button that offers the agentflows of the marketplace in a dialog. */
export function TemplatesButton() {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <ActionButton name="Add a template…" onClick={() => setOpen(true)} />
      {isOpen && (
        <Window title="Add a template" onClose={() => setOpen(false)}>
          <p>A template is a finished agentflow. A copy of it becomes yours, and you can run and change it.</p>
          <Templates />
        </Window>
      )}
    </>
  );
}

function Templates() {
  return <AddTemplate {...useTemplates()} />;
}
