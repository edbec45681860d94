import { SelectField, TextField, type Option } from '../field.js';
import { listIn } from '../flow/pointers.js';
import { ActionButton } from '../parts.js';
import { Changes } from '../read-only.js';
import { AnswersField, TimeoutField } from './ask-fields.js';
import { ActionStepFields } from './action-step.js';
import type { AgentOptions } from './agent-form.js';
import {
  idOf,
  nodeName,
  nodesOf,
  text,
  titleOf,
  valueAt,
  withValueAt,
  type Fields,
  type FlowDocument,
} from './document.js';
import { Entries, NamedExpressions } from './entries.js';
import { ExpressionField, ExpressionPlace } from './expression-field.js';
import { completionsAt, namesAt, namesInPart, withNode, withoutNode } from './nodes.js';
import { DecideField, isDecidedByModel } from './decide-field.js';
import { IdField } from './id-field.js';
import { ItemsField } from './items-field.js';
import { JoinField } from './join-field.js';
import { NumberField } from './number-field.js';
import { PastRunField } from './past-run.js';
import { SchemaField } from './schema-field.js';
import { stepKindOf, type StepField, type StepValueOptions } from './step-fields.js';
import { TryButton } from './try-step.js';
import { WaitFields } from './wait-fields.js';
import textStyles from '../styles/text.module.css';

export function StepForm({ document, at, problems, onChange }: AgentOptions) {
  const step = nodesOf(document)[at];
  const kind = step && stepKindOf(step);
  if (!step) return null;
  const set = (path: string, value: unknown) => onChange(withNode(document, at, withValueAt(step, path, value)));
  const field = (path: string, label: string, hint?: string) => ({
    ...{ label, hint, problem: problems[`${at}.${path}`] },
    ...{ text: text(step[path]), onChange: (value: string) => set(path, value) },
  });
  return (
    <fieldset>
      <legend>
        {kind?.name ?? 'Step'} {titleOf(step)}
      </legend>
      <TextField key={`${at}.title`} {...field('title', 'Title')} />
      <IdField
        key={`${at}._id`}
        label="Id"
        hint='Pointers and expressions refer to this id. Letters, digits, "_" and "-".'
        problem={problems[`${at}._id`]}
        document={document}
        at={at}
        onChange={onChange}
      />
      {kind === undefined && <p className={textStyles.soft}>Edit this step in the JSON view.</p>}
      {kind && <ExpressionNames document={document} step={step} />}
      <ExpressionPlace value={{ step: idOf(step), names: completionsAt(document, step) }}>
        {kind?.fields.map((each) => (
          <StepValue
            // Another step has other problems.
            key={`${at}.${each.path}`}
            field={each}
            step={step}
            document={document}
            problemOf={(path) => problems[`${at}.${path}`]}
            onChange={(changed) => onChange(withNode(document, at, changed))}
          />
        ))}
      </ExpressionPlace>
      <p>
        <TryButton node={step} />{' '}
        <Changes>
          <ActionButton name="Remove step" onClick={() => onChange(withoutNode(document, at))} />
        </Changes>
      </p>
    </fieldset>
  );
}

/** Says which names the expressions of a step can use. */
function ExpressionNames({ document, step }: { document: FlowDocument; step: Fields }) {
  const names = namesAt(document, idOf(step));
  const own = step.type === 'loop' ? namesInPart(step).filter((name) => !names.includes(name)) : [];
  if (step.type === 'parallel') return null;
  return (
    <>
      <p className={textStyles.soft}>
        Expressions are in CEL and know{' '}
        {[...names, ...own].map((name, index) => (
          <span key={name}>
            {index > 0 && ', '}
            <code>{name}</code>
          </span>
        ))}
        .
      </p>
      <PastRunField />
    </>
  );
}

function StepValue({ field, ...options }: StepValueOptions & { field: StepField }) {
  const { step, document, problemOf, onChange } = options;
  const { path, label, hint } = field;
  const value = valueAt(step, path);
  const set = (next: unknown) => onChange(withValueAt(step, path, next));
  const control = { label, hint, problem: problemOf(path) };
  switch (field.kind) {
    case 'text':
      return <TextField {...control} text={text(value)} onChange={(typed) => set(typed || undefined)} />;
    case 'number':
      return <NumberField {...control} value={value} onChange={set} />;
    case 'expression':
      return (
        <ExpressionField
          {...control}
          value={value}
          onChange={(typed) => set(field.isNull && typed === '' ? null : typed)}
        />
      );
    case 'code':
      return (
        <TextField
          {...control}
          text={text(value)}
          onChange={set}
          rows={10}
          className={textStyles.code}
          spellCheck={false}
        />
      );
    case 'choice':
      return (
        <SelectField
          {...control}
          value={text(value) || (field.options[0]?.value ?? '')}
          options={field.options}
          onChange={set}
        />
      );
    case 'next':
    case 'first':
      // A model always chooses a case.
      if (path === 'otherwise' && isDecidedByModel(step)) return null;
      return (
        <SelectField
          {...control}
          value={text(value)}
          options={targetsOf(document, step, field.kind)}
          onChange={(next) => set(next || (field.kind === 'first' ? '' : null))}
        />
      );
    case 'schema':
      return <SchemaField {...control} value={value} onChange={set} isRequired />;
    case 'answers':
      return <AnswersField {...control} value={value} onChange={set} />;
    case 'timeout':
      return <TimeoutField {...control} value={value} targets={targetsOf(document, step, 'next')} onChange={set} />;
    case 'action':
      return <ActionStepFields {...options} />;
    case 'join':
      return <JoinField {...control} value={value} onChange={set} />;
    case 'wait':
      return <WaitFields {...options} />;
    case 'items':
      return <ItemsField key={idOf(step)} {...options} />;
    case 'decide':
      return <DecideField {...options} />;
    case 'values':
      return (
        <NamedExpressions
          {...{ label, hint, value, one: field.one }}
          problemOf={(name) => problemOf(name === undefined ? path : `${path}.${name}`)}
          onChange={set}
        />
      );
    case 'cases':
    case 'branches':
      return <Parts {...options} {...{ path, label, hint }} />;
  }
}

/** Returns the agents and steps to which a pointer of a step can lead. */
function targetsOf(document: FlowDocument, step: Fields, kind: 'next' | 'first'): Option[] {
  const nodes = nodesOf(document).filter((node) => node !== step);
  const none = kind === 'first' ? 'Select an agent or a step' : 'None (end of this part)';
  return [{ value: '', name: none }, ...nodes.map((node) => ({ value: idOf(node), name: nodeName(node) }))];
}

type PartsOptions = StepValueOptions & Pick<StepField, 'path' | 'label' | 'hint'>;

/** Edits the cases of a branch, or the branches of a parallel step. */
function Parts({ step, document, problemOf, onChange, path, label, hint }: PartsOptions) {
  const parts = listIn(step[path]);
  const isBranch = path === 'cases';
  const isByModel = isDecidedByModel(step);
  const [one, pointer] = isBranch ? (['Case', 'next'] as const) : (['Branch', 'first'] as const);
  const rule = isByModel ? { description: '' } : { when: '' };
  const blank = { name: '', ...(isBranch ? { ...rule, next: null } : { first: '' }) };
  const set = (next: readonly Fields[]) => onChange({ ...step, [path]: next });
  return (
    <Entries
      {...{ label, hint, one }}
      count={parts.length}
      problem={problemOf(path)}
      onAdd={() => set([...parts, { ...blank, name: freeName(parts, `${one.toLowerCase()}_`) }])}
      onRemove={(at) => set(parts.filter((_, index) => index !== at))}
    >
      {(at) => {
        const part = parts[at] ?? {};
        const change = (name: string, value: unknown) =>
          set(parts.map((each, index) => (index === at ? { ...each, [name]: value } : each)));
        const problem = (name: string) => problemOf(`${path}.${at}.${name}`);
        return (
          <>
            <TextField
              label="Name"
              problem={problem('name')}
              text={text(part.name)}
              onChange={(name) => change('name', name)}
            />
            {isBranch && isByModel && (
              <TextField
                label="Description"
                problem={problem('description')}
                text={text(part.description)}
                onChange={(description) => change('description', description)}
              />
            )}
            {isBranch && !isByModel && (
              <ExpressionField
                label="Condition"
                problem={problem('when')}
                value={part.when}
                onChange={(when) => change('when', when)}
              />
            )}
            <SelectField
              label={isBranch ? 'Next' : 'First'}
              problem={problem(pointer)}
              value={text(part[pointer])}
              options={targetsOf(document, step, pointer)}
              onChange={(to) => change(pointer, to || (isBranch ? null : ''))}
            />
          </>
        );
      }}
    </Entries>
  );
}

function freeName(parts: readonly Fields[], prefix: string): string {
  const taken = new Set(parts.map(({ name }) => name));
  let number = parts.length + 1;
  while (taken.has(`${prefix}${number}`)) number += 1;
  return `${prefix}${number}`;
}
