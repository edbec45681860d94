import type { FlowStep } from '../../workflows/agentflow-execution/flow/flow-steps.js';

/** What expressions of a random flow can use. */
interface Scope {
  outputs: Record<string, any>;
  item?: number;
  index?: number;
  carry?: number | null;
}

interface Expression {
  text: string;
  /** The same in JavaScript. */
  value: (scope: Scope) => unknown;
}

export interface RandomFlow {
  initialAgent: string;
  steps: FlowStep[];
  /** What the flow returns; throws if it fails. */
  interpret: () => unknown;
}

/** A generator of numbers that a seed determines (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const failure = new Error('the flow fails');

/** A flow of up to `maxSteps` steps, nested at most three deep, which the same seed always makes. */
export function randomFlow(seed: number, maxSteps = 40): RandomFlow {
  const random = randomNumbers(seed);
  const steps: FlowStep[] = [];
  const meanings = new Map<string, Expression['value']>();
  const upTo = (limit: number) => Math.floor(random() * limit);
  const oneOf = <T>(list: readonly T[]): T => list[upTo(list.length)] as T;

  const remember = ({ text, value }: Expression): string => {
    meanings.set(text, value);
    return text;
  };

  interface Place {
    depth: number;
    /** The ids of `set` and `code` steps whose outputs are known. */
    known: readonly string[];
    names: readonly ('item' | 'carry')[];
  }

  const number = ({ known, names }: Place): Expression => {
    const constant = upTo(20);
    const choices: Expression[] = [
      { text: `${constant} + 0.0`, value: () => constant },
      ...known.map((id) => ({
        text: `outputs.${id}.n * 2 + ${constant}`,
        value: ({ outputs }: Scope) => outputs[id].n * 2 + constant,
      })),
    ];
    if (names.includes('item'))
      choices.push({ text: `item + index + ${constant}`, value: ({ item = 0, index = 0 }) => item + index + constant });
    if (names.includes('carry'))
      choices.push({
        text: `carry == null ? ${constant}.0 : carry + 1`,
        value: ({ carry = null }) => (carry === null ? constant : carry + 1),
      });
    return oneOf(choices);
  };

  const compared = (place: Place): Expression => {
    const { text, value } = number(place);
    const limit = upTo(40);
    return { text: `(${text}) > ${limit}`, value: (scope) => Number(value(scope)) > limit };
  };

  const newId = (type: string) => `${type}_${steps.length}`;

  /** Adds a step, and returns it so that its pointers can be set when its followers exist. */
  const add = <S extends FlowStep>(step: S): S => {
    steps.push(step);
    return step;
  };
  const base = (type: string) => ({ _id: newId(type), title: '', next: null });

  /** Adds a chain of steps and returns the id of the first. */
  const chain = (place: Place): string => {
    const length = 1 + upTo(3);
    let known = place.known;
    let first: string | undefined;
    let link: ((id: string) => void) | undefined;
    for (let at = 0; at < length || first === undefined; at += 1) {
      const made = step({ ...place, known });
      first ??= made.id;
      link?.(made.id);
      if (made.known) known = [...known, made.known];
      link = made.link;
      if (!link) break;
    }
    return first;
  };

  interface Made {
    id: string;
    /** The id of a `set` or `code` step that later steps can use. */
    known?: string;
    /** Sets the follower; absent where the chain ends. */
    link?: (id: string) => void;
  }

  const linkOf = (made: { next: string | null }) => (id: string) => void (made.next = id);

  const step = (place: Place): Made => {
    const { depth } = place;
    const isFull = steps.length >= maxSteps;
    const kinds = ['set', 'set', 'wait', ...(isFull ? [] : ['branch']), ...(isFull || depth === 3 ? [] : parted)];
    switch (oneOf(kinds)) {
      case 'wait': {
        const wait = add({ ...base('wait'), type: 'wait' as const, seconds: oneOf([0, 0.001, 0.02]) });
        return { id: wait._id, link: linkOf(wait) };
      }
      case 'branch': {
        const when = remember(compared(place));
        const cases = [{ name: 'yes', when, next: null as string | null }];
        const branch = add({
          _id: newId('branch'),
          title: '',
          type: 'branch' as const,
          cases,
          otherwise: null as string | null,
        });
        const [yes] = cases;
        if (yes && random() < 0.8) yes.next = chain(place);
        if (random() < 0.8) branch.otherwise = chain(place);
        return { id: branch._id };
      }
      case 'parallel': {
        const parallel = add({
          ...base('parallel'),
          type: 'parallel' as const,
          branches: [] as { name: string; first: string }[],
          join: 'all' as const,
          on_error: oneOf(['fail', 'collect'] as const),
        });
        for (let at = 0; at < 2 + upTo(3); at += 1)
          parallel.branches.push({ name: `b${at}`, first: chain({ ...place, depth: depth + 1 }) });
        return { id: parallel._id, link: linkOf(parallel) };
      }
      case 'map': {
        const items = Array.from({ length: upTo(6) }, () => upTo(10));
        const map = add({
          ...base('map'),
          type: 'map' as const,
          items: remember({ text: `[${items.map((item) => `${item}.0`).join(', ')}]`, value: () => items }),
          as: 'item',
          first: '',
          concurrency: 1 + upTo(4),
          on_error: oneOf(['fail', 'skip', 'collect'] as const),
        });
        map.first = chain({ ...place, depth: depth + 1, names: [...place.names, 'item'] });
        return { id: map._id, link: linkOf(map) };
      }
      case 'loop': {
        const loop = add({
          ...base('loop'),
          type: 'loop' as const,
          first: '',
          until: '',
          max_rounds: 8,
          carry: remember({ text: 'carry == null ? 1.0 : carry + 1', value: ({ carry = null }) => (carry ?? 0) + 1 }),
        });
        const rounds = 1 + upTo(4);
        loop.until = remember({
          text: `carry != null && carry >= ${rounds}`,
          value: ({ carry = null }) => carry !== null && carry >= rounds,
        });
        loop.first = chain({
          ...place,
          depth: depth + 1,
          names: [...place.names.filter((name) => name !== 'item'), 'carry'],
        });
        return { id: loop._id, link: linkOf(loop) };
      }
      default: {
        const fails = depth > 0 && random() < 0.05;
        const n = fails
          ? {
              text: 'int("x")',
              value: () => {
                throw failure;
              },
            }
          : number(place);
        const text = remember(n);
        const made =
          random() < 0.3
            ? add(codeThatReturns(base('code'), text))
            : add({ ...base('set'), type: 'set' as const, values: { n: text } });
        return { id: made._id, known: made._id, link: linkOf(made) };
      }
    }
  };

  const main: Place = { depth: 0, known: [], names: [] };
  let initialAgent = chain(main);
  // Small flows test little.
  while (steps.length < 4) {
    steps.length = 0;
    meanings.clear();
    initialAgent = chain(main);
  }
  return { initialAgent, steps, interpret: () => interpret({ initialAgent, steps }, meanings) };
}

/** Like a `set` step with this value, but a light step. */
function codeThatReturns(base: { _id: string; title: string; next: string | null }, n: string) {
  const code = { type: 'code' as const, language: 'javascript' as const, timeout_seconds: 10 };
  return { ...base, ...code, source: 'return { n: inputs.n };', inputs: { n } };
}

const parted = ['parallel', 'map', 'loop'];

/** Runs a flow of these steps in the simplest way: one thing after the other. */
function interpret(
  { initialAgent, steps }: Pick<RandomFlow, 'initialAgent' | 'steps'>,
  meanings: ReadonlyMap<string, Expression['value']>,
): unknown {
  const byId = new Map(steps.map((step) => [step._id, step]));
  const valueOf = (text: string, scope: Scope) => meanings.get(text)?.(scope);

  const runPart = (first: string, outer: Scope): { output: unknown; scope: Scope } => {
    const scope = { ...outer, outputs: { ...outer.outputs } };
    let output: unknown = null;
    for (let id: string | null = first; id !== null;) {
      const step = byId.get(id);
      if (!step) throw new Error(`no step ${id}`);
      const [result, next] = runStep(step, scope);
      output = result;
      scope.outputs[id] = result;
      id = next;
    }
    return { output, scope };
  };

  const collected = (work: () => unknown): unknown => {
    try {
      return work();
    } catch {
      return { error: true };
    }
  };

  const runStep = (step: FlowStep, scope: Scope): [output: unknown, next: string | null] => {
    switch (step.type) {
      case 'set':
        return [
          Object.fromEntries(Object.entries(step.values).map(([name, text]) => [name, valueOf(text, scope)])),
          step.next,
        ];
      case 'code':
        return [{ n: valueOf(step.inputs.n ?? '', scope) }, step.next];
      case 'wait':
        return [{}, step.next];
      case 'branch': {
        const chosen = step.cases.find(({ when = 'false' }) => valueOf(when, scope));
        return [{ case: chosen?.name ?? null }, chosen ? chosen.next : step.otherwise];
      }
      case 'parallel': {
        const run = (first: string) => () => runPart(first, scope).output;
        const all = step.branches.map(({ name, first }) => [
          name,
          step.on_error === 'collect' ? collected(run(first)) : run(first)(),
        ]);
        return [Object.fromEntries(all), step.next];
      }
      case 'map': {
        const items = valueOf(typeof step.items === 'string' ? step.items : '', scope) as number[];
        const all = items.map((item, index) => {
          const run = () => runPart(step.first, { ...scope, item, index }).output;
          return step.on_error === 'fail' ? run() : collected(run);
        });
        const isKept = (one: unknown) =>
          step.on_error !== 'skip' || typeof one !== 'object' || one === null || !('error' in one);
        return [all.filter(isKept), step.next];
      }
      case 'loop': {
        let carry: number | null = null;
        for (let index = 0; index < step.max_rounds; index += 1) {
          const round = runPart(step.first, { ...scope, carry, index });
          const known = { ...round.scope, carry, index };
          const isDone = valueOf(step.until, known);
          if (isDone === true) return [{ output: round.output, rounds: index + 1 }, step.next];
          carry = valueOf(step.carry ?? '', known) as number;
        }
        throw failure;
      }
      case 'action':
      case 'flow':
      case 'ask':
        throw new Error('random flows call and ask nobody');
    }
  };

  return runPart(initialAgent, { outputs: {} }).output;
}
