import { useQuery } from '@tanstack/react-query';
import { diffLines } from 'diff';
import { useMemo, useState } from 'react';
import { call } from '../api.js';
import { Problem, Time } from '../parts.js';
import { documentIn, documentOf, type FlowDocument } from './document.js';
import type { Editor } from './use-editor.js';

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

/** The promoted versions, and what differs between two of them. */
export function Versions({ id, editor, mayEdit }: { id: string; editor: Editor; mayEdit: boolean }) {
  const { data, error } = useQuery({
    queryKey: ['agentflow', id, 'versions'],
    queryFn: () => call('get', '/agentflow/{id}/versions', { params: { id }, query: { limit: 200 } }),
  });
  const [chosen, setChosen] = useState<{ from?: string; to?: string }>({});
  const from = chosen.from ?? (data?.data[0] ? String(data.data[0].version) : '');
  const to = chosen.to ?? current;
  const before = useVersion(id, from, editor.stored);
  const after = useVersion(id, to, editor.stored);
  if (!data) return <Problem error={error} />;
  if (data.data.length === 0)
    return <p className="note">No version was promoted yet. Promote freezes the saved agentflow as version 1.</p>;
  const options = [current, ...data.data.map(({ version }) => String(version))];
  return (
    <section aria-labelledby="versions">
      <h2 id="versions">Versions</h2>
      <ul className="rows">
        {data.data.map(({ version, promoted_at, promoted_by }) => (
          <li key={version}>
            Version {version}, promoted <Time at={promoted_at} /> by <code>{promoted_by}</code>
          </li>
        ))}
      </ul>
      <h2>Difference</h2>
      <div className="filter">
        <VersionChoice
          label="From"
          value={from}
          options={options}
          onChange={(next) => setChosen({ ...chosen, from: next })}
        />
        <VersionChoice
          label="To"
          value={to}
          options={options}
          onChange={(next) => setChosen({ ...chosen, to: next })}
        />
        {mayEdit && from !== current && before.document && (
          <button type="button" onClick={() => editor.change(before.document ?? documentIn(editor.text))}>
            Edit from version {from}
          </button>
        )}
      </div>
      <Problem error={before.error ?? after.error} />
      {before.document && after.document && <Difference from={before.document} to={after.document} />}
    </section>
  );
}

interface VersionChoiceOptions {
  label: string;
  value: string;
  options: readonly string[];
  onChange: (version: string) => void;
}

function VersionChoice({ label, value, options, onChange }: VersionChoiceOptions) {
  return (
    <label>
      {label}
      <select value={value} onChange={(event) => onChange(event.target.value)}>
        {options.map((version) => (
          <option key={version} value={version}>
            {version === current ? 'what is saved now' : `version ${version}`}
          </option>
        ))}
      </select>
    </label>
  );
}

const context = 3;

/** The lines that differ, with a few around them. */
export function Difference({ from, to }: { from: FlowDocument; to: FlowDocument }) {
  const parts = useMemo(() => diffLines(canonicalText(from), canonicalText(to)), [from, to]);
  if (parts.every(({ added, removed }) => !added && !removed)) return <p className="note">There is no difference.</p>;
  return (
    <pre className="diff" tabIndex={0} role="region" aria-label="Difference">
      {parts.map(({ added, removed, value }, at) => {
        const lines = value.replace(/\n$/, '').split('\n');
        if (added) return <ins key={at}>{lines.map((line) => `+ ${line}\n`)}</ins>;
        if (removed) return <del key={at}>{lines.map((line) => `- ${line}\n`)}</del>;
        return <span key={at}>{shortened(lines, at > 0, at < parts.length - 1).map((line) => `  ${line}\n`)}</span>;
      })}
    </pre>
  );
}

function shortened(lines: readonly string[], isAfterChange: boolean, isBeforeChange: boolean): readonly string[] {
  const first = isAfterChange ? context : 0;
  const last = isBeforeChange ? context : 0;
  const hidden = lines.length - first - last;
  if (hidden <= 1) return lines;
  return [...lines.slice(0, first), `… ${hidden} lines`, ...lines.slice(lines.length - last)];
}

/** Fields in alphabetical order, so that their order makes no difference. */
export function canonicalText(value: unknown): string {
  const sorted = (_name: string, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part;
  return `${JSON.stringify(value, sorted, 2)}\n`;
}
