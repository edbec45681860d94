import { useEffect, useRef } from 'react';

/** Returns a reference whose value is true after the component was removed from the page. */
export function useIsGone() {
  const isGone = useRef(false);
  useEffect(() => {
    isGone.current = false;
    return () => void (isGone.current = true);
  }, []);
  return isGone;
}
