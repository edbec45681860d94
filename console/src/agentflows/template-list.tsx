import { useId } from 'react';
import type { components } from '@client/openapi.js';
import { TextField } from '../field.js';
import textStyles from '../styles/text.module.css';
import styles from './template-list.module.css';

type Publication = components['schemas']['Publication'];

export interface TemplateListOptions {
  /** What the person has typed to find one. */
  typed: string;
  search: (typed: string) => void;
  /** Those with all of the words. */
  matching: readonly Publication[];
  chosen: Publication | undefined;
  choose: (id: string) => void;
}

/** A list of which one is chosen, and a field that finds some by their words. */
export function TemplateList({ typed, search, matching, chosen, choose }: TemplateListOptions) {
  const name = useId();
  return (
    <>
      <TextField label="Find a template" type="search" text={typed} onChange={search} />
      <fieldset className={styles.list} aria-label="Template">
        {matching.map(({ _id, name: title, description }) => (
          <label key={_id} className={styles.item}>
            <input type="radio" name={name} checked={_id === chosen?._id} onChange={() => choose(_id)} />
            <span>
              <bdi className={styles.title}>{title}</bdi>
              <bdi className={textStyles.soft}>{firstSentence(description)}</bdi>
            </span>
          </label>
        ))}
        {matching.length === 0 && <p className={textStyles.soft}>No template has these words.</p>}
      </fieldset>
    </>
  );
}

export function firstSentence(text: string): string {
  return /^.*?[.!?](?=\s|$)/s.exec(text)?.[0] ?? text;
}
