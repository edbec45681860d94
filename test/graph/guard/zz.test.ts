import { attacks } from './attacks.js';
import { honestQueries } from './honest.js';
import { createWorlds } from './worlds.js';
import { writeFileSync } from 'node:fs';
it('x', async () => {
  const w = await createWorlds(process.env); const out=[];
  for (const a of attacks) { const t=performance.now(); const o:any = await w.run(a,'beset'); const ms=Math.round(performance.now()-t); out.push(`${ms} ${a.name} => ${o.refused?'REFUSED '+o.refused:o.failed?'FAILED '+o.failed:'rows '+o.rows.length+' '+JSON.stringify(o.rows[0]).slice(0,100)}`); }
  writeFileSync('/tmp/gexp/outcomes.txt', out.join('\n')); await w.close();
},300000);
