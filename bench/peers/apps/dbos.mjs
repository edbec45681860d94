import { DBOS } from '@dbos-inc/dbos-sdk';
import { serve, step } from './serve.mjs';

DBOS.setConfig({ name: 'peer', systemDatabaseUrl: process.env.DATABASE_URL, systemDatabasePoolSize: 20 });
const flow = DBOS.registerWorkflow(
  async (steps) => {
    let output = '';
    for (let number = 1; number <= steps; number += 1)
      output = await DBOS.runStep(async () => step(number, 'bench'), { name: `s${number}` });
    return output;
  },
  { name: 'flow' },
);
await DBOS.launch();
serve(async (steps) => (await DBOS.startWorkflow(flow)(steps)).getResult());
