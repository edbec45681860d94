import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { components } from '@client/openapi.js';
import { call } from '../api.js';
import { ActionButton, Problem, Window } from '../parts.js';
import { readAll } from '../read-all.js';
import { useSubmit } from '../use-submit.js';
import { SlotFields, type ChosenSlots } from './slot-fields.js';
import { firstSentence, TemplateList, type TemplateListOptions } from './template-list.js';
import textStyles from '../styles/text.module.css';

type Publication = components['schemas']['Publication'];

interface TemplateChoice extends TemplateListOptions {
  /** Undefined while they load. */
  all: readonly Publication[] | undefined;
  error: unknown;
}

/** The agentflows of the marketplace, of which the person chooses one. */
export function useTemplates(): TemplateChoice {
  const [id, choose] = useState('');
  const [typed, search] = useState('');
  const { data: all, error } = useQuery({
    queryKey: ['marketplace'],
    queryFn: () => readAll((query) => call('get', '/marketplace', { query })),
    staleTime: 60_000,
  });
  const words = typed.toLowerCase().split(/\s+/);
  const matching = (all ?? []).filter(({ name, description }) => {
    const text = `${name} ${description}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  // What is added is always in sight: if the words hide the chosen one, the first of the others is chosen.
  const chosen = matching.find(({ _id }) => _id === id) ?? matching[0];
  return { all, error, typed, search, matching, chosen, choose };
}

/** Chooses an agentflow of the marketplace and copies it into the project. */
export function AddTemplate({ all, error, chosen, ...list }: TemplateChoice) {
  return (
    <>
      <Problem error={error} />
      {all?.length === 0 && <p className={textStyles.soft}>The marketplace of this service has no templates.</p>}
      {all && all.length > 0 && <TemplateList {...list} chosen={chosen} />}
      {chosen && <ChosenTemplate key={chosen._id} template={chosen} />}
    </>
  );
}

function ChosenTemplate({ template: { _id, description } }: { template: Publication }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [slots, setSlots] = useState<ChosenSlots>({});
  const { error, isBusy, submit } = useSubmit(async (options) => {
    const hire = { params: { id: _id }, body: { slots } };
    const added = await call('post', '/marketplace/coworker/{id}/hire', hire, options);
    for (const key of ['onboarding', 'agentflows', 'first-agentflow'])
      void queries.invalidateQueries({ queryKey: [key] });
    await navigate({ to: '/agentflows/$agentflowId', params: { agentflowId: added._id } });
  });
  return (
    <>
      <p className={textStyles.soft}>
        <bdi>{description.slice(firstSentence(description).length)}</bdi>
      </p>
      <SlotFields publicationId={_id} value={slots} onChange={setSlots} />
      <Problem error={error} />
      <p>
        <ActionButton name="Add to this project" isDisabled={isBusy} onClick={() => void submit()} />
      </p>
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
