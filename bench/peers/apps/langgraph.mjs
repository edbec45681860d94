import { randomUUID } from 'node:crypto';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres';
import { serve, step } from './serve.mjs';

const checkpointer = PostgresSaver.fromConnString(process.env.DATABASE_URL);
await checkpointer.setup();
const State = Annotation.Root({ output: Annotation() });

function graphOf(steps) {
  const graph = new StateGraph(State);
  for (let number = 1; number <= steps; number += 1) {
    graph.addNode(`s${number}`, async () => ({ output: step(number, 'bench') }));
    graph.addEdge(number === 1 ? START : `s${number - 1}`, `s${number}`);
  }
  return graph.addEdge(`s${steps}`, END).compile({ checkpointer });
}

const graphs = new Map();
serve(async (steps) => {
  if (!graphs.has(steps)) graphs.set(steps, graphOf(steps));
  // `sync`: a checkpoint is stored before the next step begins.
  const options = { configurable: { thread_id: randomUUID() }, recursionLimit: 100, durability: 'sync' };
  return (await graphs.get(steps).invoke({ output: '' }, options)).output;
});
