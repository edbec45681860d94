import { useRef, type KeyboardEvent, type PointerEvent } from 'react';
import styles from './table.module.css';

const keySteps: Readonly<Record<string, number>> = { ArrowLeft: -16, ArrowRight: 16 };

interface HandleOptions {
  name: string;
  /** Undefined returns to the width that fits. */
  onResize(width: number | undefined): void;
}

/** The edge of a column, which is dragged, or moved with the arrow keys. A double click lets the column fit again. */
export function ResizeHandle({ name, onResize }: HandleOptions) {
  const handle = useRef<HTMLButtonElement>(null);
  const widthNow = () => handle.current?.parentElement?.getBoundingClientRect().width ?? 0;
  const drag = (down: PointerEvent<HTMLButtonElement>) => {
    const [from, width] = [down.clientX, widthNow()];
    const element = down.currentTarget;
    element.setPointerCapture(down.pointerId);
    const move = (event: globalThis.PointerEvent) => onResize(width + event.clientX - from);
    element.addEventListener('pointermove', move);
    element.addEventListener('lostpointercapture', () => element.removeEventListener('pointermove', move), {
      once: true,
    });
  };
  const press = (event: KeyboardEvent) => {
    const step = keySteps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    onResize(widthNow() + step);
  };
  return (
    <button
      ref={handle}
      type="button"
      className={styles.handle}
      title={`Resize ${name} by dragging or with the arrow keys; a double click lets it fit again`}
      onPointerDown={drag}
      onKeyDown={press}
      onDoubleClick={() => onResize(undefined)}
    />
  );
}
