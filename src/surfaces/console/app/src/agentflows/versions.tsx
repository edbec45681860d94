import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { call } from '../api.js';
import { Difference } from '../difference.js';
import { ActionButton, Problem, Time, Section } from '../parts.js';
import { useVersions } from '../runs/choices.js';
import { useNames } from '../use-names.js';
import { documentIn, documentOf, type FlowDocument } from './document.js';
import type { Editor } from './use-editor.js';
import { SelectField } from '../field.js';

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
    <p className="soft">
      /v1/run-agent runs the version that was promoted last. Schedules, triggers, test runs and /execute_flow run the
      saved agentflow: a change takes effect there when you save it, and promoting a version changes nothing there.
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
  const nameOf = useNames();
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
        <p className="empty">This agentflow has no versions yet. Promote it to create version 1.</p>
      </>
    );
  const versions = data.map(({ version }) => ({ value: String(version), name: `Version ${version}` }));
  const options = [{ value: current, name: 'Saved agentflow' }, ...versions];
  return (
    <Section title="Versions">
      <WhatVersionsAreFor />
      <ul className="rows">
        {data.map(({ version, promoted_at, promoted_by }) => (
          <li key={version}>
            Version {version}, promoted <Time at={promoted_at} /> by <bdi>{nameOf(promoted_by)}</bdi>
          </li>
        ))}
      </ul>
      <h3>Compare versions</h3>
      <div className="filter">
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
