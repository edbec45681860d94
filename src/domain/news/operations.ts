import { z } from 'zod';
import { ProjectId } from '../../ids.js';
import { defineStream } from '../operation.js';
import { ProjectEvent } from './record.js';

/** Carried out by its route, which streams the events. Whoever may list the runs of a project may follow it. */
export const followProject = defineStream({
  name: 'project.follow',
  effect: 'read',
  grant: 'svc:orchestrate.read',
  key: z.object({ projectID: ProjectId }),
  output: ProjectEvent,
});
