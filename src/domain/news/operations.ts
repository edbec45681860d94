import { z } from 'zod';
import { ProjectId } from '../../base/ids.js';
import { defineOperation, readsOwn } from '../operation.js';
import { ProjectEvent } from './record.js';

/** Its route streams the events. It requires the grant for listing the runs of the project. */
export const followProject = defineOperation({
  name: 'project.follow',
  ...readsOwn,
  key: z.object({ projectID: ProjectId }),
  output: ProjectEvent,
});
