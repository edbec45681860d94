import { describe, expect, test } from '@jest/globals';
import type { Session } from 'neo4j-driver';
import { prepareGraph } from '../../../src/graph/store/schema.js';
import { useDeps } from '../../support/fixture.js';

const deps = useDeps();

/** The graph of the test run, and the number of write transactions through it. */
function countingWrites() {
  const { driver } = deps.graph;
  const counted = { writes: 0, graph: { driver, embeds: true } };
  const session = () => {
    const real = driver.session();
    const executeWrite: Session['executeWrite'] = (...call) => {
      counted.writes += 1;
      return real.executeWrite(...call);
    };
    return new Proxy(real, {
      get: (target, name) => (name === 'executeWrite' ? executeWrite : Reflect.get(target, name, target)),
    });
  };
  counted.graph.driver = new Proxy(driver, {
    get: (target, name) => (name === 'session' ? session : Reflect.get(target, name, target)),
  });
  return counted;
}

describe('the schema of the context graph', () => {
  test('is completed at a start, and only read if it is complete', async () => {
    await prepareGraph(deps.graph);
    await deps.graph.driver.executeQuery('DROP INDEX analyzer_next IF EXISTS');
    await prepareGraph(deps.graph);
    const { records } = await deps.graph.driver.executeQuery('SHOW INDEXES YIELD name, state');
    const states = new Map(records.map((each) => [each.get('name'), each.get('state')]));
    expect(states.get('analyzer_next')).toBe('ONLINE');
    const counted = countingWrites();
    await prepareGraph(counted.graph);
    expect(counted.writes).toBe(0);
  });
});
