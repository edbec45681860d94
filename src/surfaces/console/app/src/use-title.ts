import { useEffect } from 'react';
import { useSession } from './session.js';

export function useTitle(title: string): void {
  const { project } = useSession().session;
  useEffect(() => {
    document.title = `${title} – ${project?.name ?? 'Console'}`;
  }, [title, project]);
}
