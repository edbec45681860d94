import { afterAll, beforeAll } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Service } from '../../stack/service.js';
import { startTemporal } from '../../stack/temporal.js';

export interface OwnTemporal {
  /** For `ownProduct`: names the server once it is up. */
  environment: Record<string, string>;
  service: Service;
}

/** A Temporal server that the tests of a file may kill. */
export function useOwnTemporal(): OwnTemporal {
  const own = { environment: {} } as OwnTemporal;
  const dataDir = mkdtempSync(path.join(tmpdir(), 'own-temporal-'));
  beforeAll(async () => {
    const { service, environment } = await startTemporal({ dataDir, env: { ...process.env, TEMPORAL_ADDRESS: '', TEMPORAL_NAMESPACE: '' } });
    own.service = service;
    Object.assign(own.environment, environment);
  });
  afterAll(async () => {
    await own.service.stop();
    rmSync(dataDir, { recursive: true });
  });
  return own;
}
