// The SDK uses a function that Node.js has from version 22 on.
Promise.withResolvers ??= () => {
  let resolve, reject;
  const promise = new Promise((...functions) => ([resolve, reject] = functions));
  return { promise, resolve, reject };
};
const { serve, service } = await import('@restatedev/restate-sdk');
const { step } = await import('./serve.mjs');

const run = async (context, { steps }) => {
  let output = '';
  for (let number = 1; number <= steps; number += 1)
    output = await context.run(`s${number}`, () => step(number, 'bench'));
  return { output };
};
serve({ services: [service({ name: 'flow', handlers: { run } })], port: Number(process.env.PORT) });
