import { autocompletion, completionKeymap, type Completion } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { bracketMatching, HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { lintGutter, setDiagnostics } from '@codemirror/lint';
import { EditorState } from '@codemirror/state';
import { EditorView, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { useEffect, useRef } from 'react';
import type { TextProblem } from '../json-field.js';
import type { Place } from '../json-place.js';
import { languageOf, type Language } from './languages.js';
import styles from './code-editor.module.css';

export interface CodeOptions {
  label: string;
  language: Language;
  text: string;
  onChange(text: string): void;
  problems: readonly TextProblem[];
  isReadOnly?: boolean;
  /** What can be written at any place. */
  completions?: readonly Completion[];
  /** A place to select, with a new object for each request. */
  selected?: { place: Place } | undefined;
}

const looks = EditorView.theme({
  '&': { color: 'var(--ink)', backgroundColor: 'var(--card)', font: 'var(--code)', maxHeight: '60vh' },
  '.cm-content': { font: 'var(--code)', minHeight: '5rem', caretColor: 'var(--ink)' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '&.cm-focused': { outline: '0.1875rem solid var(--accent)' },
  '.cm-gutters': { font: 'var(--code)', color: 'var(--soft)', backgroundColor: 'var(--page)', border: 'none' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground, ::selection': { backgroundColor: 'var(--line)' },
  '.cm-tooltip': { color: 'var(--ink)', backgroundColor: 'var(--card)', border: '1px solid var(--strong-line)' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { color: 'var(--on-accent)', backgroundColor: 'var(--accent)' },
});

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.bool, tags.null], color: 'var(--held-ink)', fontWeight: '600' },
  { tag: tags.string, color: 'var(--good-ink)' },
  { tag: [tags.propertyName, tags.variableName], color: 'var(--accent)' },
  { tag: [tags.number, tags.typeName], color: 'var(--bad-ink)' },
  { tag: tags.comment, color: 'var(--soft)' },
]);

/**
 * Edits code with highlighting, completion and marked problems. It is in a shadow root, because there its library uses
 * constructed style sheets, which the content security policy permits.
 */
export function CodeEditor(options: CodeOptions) {
  const { text, problems, selected } = options;
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const current = useRef(options);
  current.current = options;
  useEffect(() => {
    if (!host.current) return undefined;
    const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: 'open' });
    const editor = new EditorView({ parent: root, root, state: stateOf(current) });
    view.current = editor;
    return () => editor.destroy();
  }, []);
  useEffect(() => {
    const editor = view.current;
    const before = editor?.state.doc.toString() ?? text;
    if (before !== text) editor?.dispatch({ changes: { from: 0, to: before.length, insert: text } });
  }, [text]);
  useEffect(() => {
    const editor = view.current;
    if (!editor) return;
    const end = editor.state.doc.length;
    const marks = problems.flatMap(({ message, at }) =>
      at ? [{ from: Math.min(at[0], end), to: Math.min(at[1], end), severity: 'error' as const, message }] : [],
    );
    editor.dispatch(setDiagnostics(editor.state, marks));
  }, [problems]);
  useEffect(() => {
    const editor = view.current;
    if (!editor || !selected) return;
    const [anchor, head] = selected.place;
    editor.dispatch({ selection: { anchor, head }, scrollIntoView: true });
    editor.focus();
  }, [selected]);
  return <div ref={host} className={styles.host} />;
}

function stateOf(current: { current: CodeOptions }): EditorState {
  const { text, label, language, isReadOnly = false } = current.current;
  return EditorState.create({
    doc: text,
    extensions: [
      lineNumbers(),
      history(),
      bracketMatching(),
      languageOf(language),
      syntaxHighlighting(colours),
      looks,
      lintGutter(),
      EditorView.lineWrapping,
      EditorState.readOnly.of(isReadOnly),
      EditorView.contentAttributes.of({ 'aria-label': label }),
      autocompletion({
        override: [
          (context) => {
            const word = context.matchBefore(/[\w.]+/);
            if (!word && !context.explicit) return null;
            return {
              from: word?.from ?? context.pos,
              options: [...(current.current.completions ?? [])],
              validFor: /^[\w.]*$/,
            };
          },
        ],
      }),
      // Tab leaves the editor, so that the keyboard is not trapped in it.
      keymap.of([...completionKeymap, ...historyKeymap, ...defaultKeymap]),
      EditorView.updateListener.of(({ docChanged, state }) => {
        const next = state.doc.toString();
        // Another text that the page sets is no change of the person.
        if (docChanged && next !== current.current.text) current.current.onChange(next);
      }),
    ],
  });
}
