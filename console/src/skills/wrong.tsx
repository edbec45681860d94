import textStyles from '../styles/text.module.css';

/** A problem that belongs to no single field. */
export function Wrong({ text }: { text: string | undefined }) {
  if (text === undefined) return null;
  return (
    <p className={textStyles.bad} role="alert">
      {text}
    </p>
  );
}
