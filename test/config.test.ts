import { describe, expect, test } from '@jest/globals';
import { loadConfig } from '../src/config.js';
import { verifies } from './support/verifies.js';

describe('the environment', () => {
  test('has the defaults of the contract, and treats empty like unset', () => {
    verifies('env.downstream-port', 'env.catalog-quiet-window');
    for (const environment of [{}, { PORT: '', DOWNSTREAM_PORT: '', CATALOG_QUIET_WINDOW_MS: '' }]) {
      const config = loadConfig(environment);
      expect(config).toMatchObject({
        port: 8080,
        downstreamPort: 8081,
        quota: { projectMax: 120, organizationMax: 600, windowSeconds: 60 },
      });
      expect(config.callbacks).toMatchObject({ bodyLimit: 25 * 1024 * 1024 });
      expect(config.catalog).toMatchObject({ quietWindowMs: 5000 });
      expect(config.surfaces).toEqual(['gateway', 'platform', 'callbacks']);
    }
    expect(loadConfig({ DOWNSTREAM_PORT: '9', CATALOG_QUIET_WINDOW_MS: '7' })).toMatchObject({
      downstreamPort: 9,
      catalog: { quietWindowMs: 7 },
    });
  });

  test('is refused as a whole with the names of all invalid variables and without their values', () => {
    const wrong = () => loadConfig({ PORT: 'secret-port', SURFACES: 'gateway,moon', QUOTA_PROJECT_MAX: '-1' });
    expect(wrong).toThrow(/PORT[\s\S]*SURFACES[\s\S]*QUOTA_PROJECT_MAX/);
    expect(wrong).not.toThrow(/secret-port/);
  });
});
