import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { call } from '../api.js';
import { Difference } from '../difference.js';
import { ActionButton, Problem, Section } from '../parts.js';
import { useVersions } from '../runs/choices.js';
import { ChannelHistory } from './channel-history.js';
import { documentIn, documentOf, type FlowDocument } from './document.js';
import { Releases } from './releases.js';
import type { Editor } from './use-editor.js';
import { SelectField } from '../field.js';
import textStyles from '../styles/text.module.css';
import messageStyles from '../styles/message.module.css';
import formStyles from '../styles/form.module.css';

const current = 'current';

function useVersion(id: string, version: string, stored: FlowDocument) {
  const { data, error } = useQuery({
    queryKey: ['agentflow', id, 'version', version],
    queryFn: () => call('get', '/agentflow/{id}/versions/{version}', { params: { id, version: Number(version) } }),
    enabled: version !== '' && version !== current,
    staleTime: Infinity,
  });
  const document = useMemo(
    () => (version === current ? stored : data && documentOf(data.agentflow)),
    [version, stored, data],
  );
  return { document, error };
}

function WhatVersionsAreFor() {
  return (
    <p className={textStyles.soft}>
      Schedules, triggers, /v1/run-agent and /execute_flow run the release in production. A saved change takes effect
      there when it is promoted; test runs take it at once.
    </p>
  );
}

interface VersionsOptions {
  id: string;
  editor: Editor;
  mayEdit: boolean;
  /** Called when a version has replaced the content of the editor. */
  onLoad: (version: string) => void;
}

export function Versions({ id, editor, mayEdit, onLoad }: VersionsOptions) {
  const { data, error } = useVersions(id);
  const [chosen, setChosen] = useState<{ from?: string; to?: string }>({});
  const from = chosen.from ?? (data?.[0] ? String(data[0].version) : '');
  const to = chosen.to ?? current;
  const before = useVersion(id, from, editor.stored);
  const after = useVersion(id, to, editor.stored);
  if (!data) return <Problem error={error} />;
  if (data.length === 0)
    return (
      <>
        <WhatVersionsAreFor />
        <p className={messageStyles.empty}>
          This agentflow has no versions yet. Promote it to create version 1. Until then people run it as it is saved,
          and schedules and triggers start nothing.
        </p>
      </>
    );
  const versions = data.map(({ version }) => ({ value: String(version), name: `Version ${version}` }));
  const options = [{ value: current, name: 'Saved agentflow' }, ...versions];
  return (
    <Section title="Versions">
      <WhatVersionsAreFor />
      <Releases id={id} releases={data} />
      <ChannelHistory id={id} />
      <h3>Compare versions</h3>
      <div className={formStyles.filter}>
        <SelectField
          label="From"
          value={from}
          options={options}
          onChange={(next) => setChosen({ ...chosen, from: next })}
        />
        <SelectField label="To" value={to} options={options} onChange={(next) => setChosen({ ...chosen, to: next })} />
        {mayEdit && from !== current && before.document && (
          <ActionButton
            name={`Load version ${from} into the editor`}
            onClick={() => {
              editor.change(before.document ?? documentIn(editor.text));
              onLoad(from);
            }}
          />
        )}
      </div>
      <Problem error={before.error ?? after.error} />
      {before.document && after.document && <Difference from={before.document} to={after.document} />}
    </Section>
  );
}
