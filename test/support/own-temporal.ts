import { afterAll, beforeAll } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ServiceOptions } from '../../stack/service-options.js';
import type { Service } from '../../stack/service.js';
import { startTemporal } from '../../stack/temporal.js';

interface OwnTemporal {
  /** For `ownProduct`: names the server once it is up. */
  environment: Record<string, string>;
  service: Service;
  /** The folder of its store. */
  dataDir: string;
}

/** A Temporal server with its own settings that the tests of a file can kill. */
export function useOwnTemporal(dynamicConfig: ServiceOptions['dynamicConfig'] = {}): OwnTemporal {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'own-temporal-'));
  const own = { environment: {}, dataDir } as OwnTemporal;
  beforeAll(async () => {
    const { service, environment } = await startTemporal({
      dataDir,
      dynamicConfig,
      env: { ...process.env, TEMPORAL_ADDRESS: '', TEMPORAL_NAMESPACE: '' },
    });
    own.service = service;
    Object.assign(own.environment, environment);
  });
  afterAll(async () => {
    await own.service.stop();
    rmSync(dataDir, { recursive: true });
  });
  return own;
}
