import { send } from './pages/layout.js';
import { schedulesContent } from './pages/schedules.js';
import type { Visit } from './visit.js';

export async function showSchedules(visit: Visit): Promise<void> {
  const schedules = await visit.ports.schedules?.list(visit.principal);
  send(visit, { title: 'Schedules', content: schedulesContent(schedules), ...(schedules && { refreshSeconds: 10 }) });
}
