import { lazy, Suspense, useEffect, useState } from 'react';
import buttonStyles from '../styles/button.module.css';

const Palette = lazy(() => import('./palette.js').then(({ Palette: component }) => ({ default: component })));

/** Opens the palette by a button, Ctrl+K or Cmd+K, and loads it at the first use. */
export function OpenPalette() {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey || event.key.toLowerCase() !== 'k') return;
      event.preventDefault();
      setOpen((before) => !before);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  return (
    <>
      <button
        type="button"
        className={buttonStyles.small}
        aria-keyshortcuts="Control+K Meta+K"
        onClick={() => setOpen(true)}
      >
        Go to… <kbd aria-hidden="true">Ctrl K</kbd>
      </button>
      {isOpen && (
        <Suspense>
          <Palette onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
